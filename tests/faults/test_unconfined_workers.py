"""Workers on which the runner cannot isolate programs get no jobs, and no program runs unprotected."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from ioi_eval.errors import IsolationError, TargetLostError
from ioi_eval.jobs.runner_answer import whole_lines
from ioi_eval.model import Isolation, Job, JobFile, JobKind, Retries, StageLimits
from ioi_eval.sandbox.piston import workers
from ioi_eval.sandbox.piston.cluster import PistonCluster
from tests.faults.stub_jobs import echo, until

pytestmark = pytest.mark.usefixtures("short_requests")

JOB = Job(
    kind=JobKind.RUNNER,
    files=(JobFile(name="plan", content=b"nonce abc\n"), JobFile(name="runner", content=b"")),
    run_limits=StageLimits(wall_ms=2_000, cpu_ms=2_000),
)


def test_a_worker_that_cannot_isolate_gets_no_jobs(start: Any) -> None:
    """One of two workers refuses each job: the other answers all jobs, and the run continues."""
    good, bad = start("stub_piston.py", "--confines"), start("stub_piston.py")

    async def run() -> None:
        async with PistonCluster([*bad.urls, *good.urls]) as cluster:
            await until(lambda: cluster.busy() == (0, 2))
            (target,) = cluster.targets()
            for _ in range(6):
                stage = (await cluster.execute(JOB, target)).run
                assert whole_lines(stage, "abc", Isolation.NONE) == ([], Isolation.REDUCED)
            assert cluster.targets()[0].slots == 1, "the other one is out"

    asyncio.run(run())


def test_no_worker_can_isolate(start: Any) -> None:
    """After all workers have refused, jobs end with IsolationError and the runner's message."""
    urls = start("stub_piston.py", "--count", "2").urls

    async def run() -> None:
        async with PistonCluster(urls) as cluster:
            with pytest.raises(IsolationError, match="nothing here confines programs"):
                await cluster.execute(JOB, cluster.targets()[0])

    asyncio.run(run())


def test_a_target_without_a_worker_that_can_isolate_is_lost(start: Any) -> None:
    """Jobs of the target end with TargetLostError, so that another target can judge them."""
    good, bad = start("stub_piston.py", "--confines"), start("stub_piston.py", "--packages", "bash")

    async def run() -> None:
        async with PistonCluster([*bad.urls, *good.urls]) as cluster:
            await until(lambda: cluster.busy() == (0, 2))
            target = next(target for target in cluster.targets() if "bash" in target.name)
            with pytest.raises(TargetLostError, match="can isolate programs"):
                await cluster.execute(JOB, target)

    asyncio.run(run())


def test_a_job_waits_for_the_only_worker_that_can_isolate(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others, which are free, refuse it one after another, also after their pauses."""
    monkeypatch.setattr(workers, "REDISCOVER_S", 0.05)
    good, bad = start("stub_piston.py", "--confines"), start("stub_piston.py", "--count", "4")
    listed = list(good.urls)

    async def endpoints() -> list[str]:
        return listed

    async def run() -> None:
        async with PistonCluster(endpoints) as cluster:
            (target,) = cluster.targets()
            other = asyncio.create_task(cluster.execute(echo("x", delay_ms=60_000), target))
            await until(lambda: cluster.busy() == (1, 1))
            listed.extend(bad.urls)
            await until(lambda: cluster.busy() == (1, 5))
            retries = Retries()
            waiting = asyncio.create_task(cluster.execute(replace(JOB, retries=retries), target))
            await until(lambda: len(retries.tried) > len(bad.urls) or waiting.done())
            other.cancel()
            assert whole_lines((await waiting).run, "abc", Isolation.NONE) == ([], Isolation.REDUCED)

    asyncio.run(run())
