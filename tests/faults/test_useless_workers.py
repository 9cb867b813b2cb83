"""Workers that give unusable answers at once: they are always free, and still must not get all jobs."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from ioi_eval.errors import ExhaustedError, SandboxError, TargetLostError, TransientError
from ioi_eval.jobs.runner_answer import whole_lines
from ioi_eval.model import Isolation, Job, JobFile, JobKind, Retries, StageLimits
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.piston.endpoint_state import BROKEN_IN_A_ROW
from tests.faults.stub_jobs import QUICK_S, counts, until

pytestmark = pytest.mark.usefixtures("short_requests")

NONCE = "0123456789abcdef" * 2
JOB = Job(
    kind=JobKind.RUNNER,
    files=(JobFile(name="plan", content=f"nonce {NONCE}\n".encode()), JobFile(name="runner", content=b"")),
    run_limits=StageLimits(wall_ms=2_000, cpu_ms=2_000),
    nonce=NONCE,
)


async def isolation_of_answer(cluster: PistonCluster) -> Isolation:
    """The isolation level in a job's answer. If the answer cannot be used, the job is sent once more."""
    job = replace(JOB, retries=Retries())
    try:
        execution = await cluster.execute(job, cluster.targets()[0])
        return whole_lines(execution.run, NONCE, Isolation.NONE)[1]
    except TransientError:
        execution = await cluster.execute(job, cluster.targets()[0])
        return whole_lines(execution.run, NONCE, Isolation.NONE)[1]


@pytest.mark.parametrize("kind", ["broken", "older", "lacking", "killing"])
def test_one_of_two_workers_gives_unusable_answers(start: Any, kind: str) -> None:
    """All jobs get usable answers, from the other worker. The faulty one executes at most half as many jobs."""
    bad, good = start("stub_piston.py", "--useless", kind), start("stub_piston.py", "--confines")
    jobs = 8 * BROKEN_IN_A_ROW

    async def run() -> None:
        async with PistonCluster([*bad.urls, *good.urls], max_requests_per_endpoint=2) as cluster:
            await until(lambda: cluster.busy() == (0, 4))
            before = counts(bad.urls[0], "stub")["executed"]
            async with asyncio.TaskGroup() as group:
                found = [group.create_task(isolation_of_answer(cluster)) for _ in range(jobs)]
            assert {task.result() for task in found} == {Isolation.REDUCED}
            assert counts(bad.urls[0], "stub")["executed"] - before <= jobs // 2

    asyncio.run(run())


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("broken", "was not started there.*Input/output error"),
        ("older", "the answer to another job"),
        ("lacking", "Too many open files"),
    ],
)
def test_all_workers_give_unusable_answers(start: Any, kind: str, words: str) -> None:
    """After six attempts the job fails; the error names the worker and its answer."""
    url = start("stub_piston.py", "--useless", kind).urls[0]

    async def run() -> SandboxError:
        async with PistonCluster(url) as cluster:
            with pytest.raises(ExhaustedError, match=words) as raised:
                await cluster.execute(JOB, cluster.targets()[0])
            return raised.value

    assert f"on {url}/api/v2 (6 times)" in str(asyncio.run(run()))


@pytest.mark.root  # an ordinary user may have more processes than that, and could start none
@pytest.mark.parametrize("processes", [40, 64])
def test_a_worker_comes_back_with_lower_limits(start: Any, processes: int) -> None:
    """The runner refuses its job there. The worker is explored again, and used only if its limits are high enough."""
    stays, changes = start("stub_piston.py", "--confines"), start("stub_piston.py", "--confines")
    limit = f"--ulimit=ulimit -u {processes}"

    async def run() -> None:
        async with PistonCluster([*stays.urls, *changes.urls], patience_s=QUICK_S) as cluster:
            await until(lambda: cluster.targets()[0].slots == 2)
            changes.kill()
            useless = ["--useless", "limited"] if processes == 40 else ["--confines"]
            start("stub_piston.py", "--port", str(changes.ports[0]), limit, *useless)
            while counts(changes.urls[0], "stub")["executed"] == 0:
                assert await isolation_of_answer(cluster) is Isolation.REDUCED
            if processes == 40:
                await until(lambda: "PISTON_MAX_PROCESS_COUNT" in str(cluster.unusable))
                assert cluster.targets()[0].slots == 1
            else:
                assert not cluster.unusable
            assert await isolation_of_answer(cluster) is Isolation.REDUCED

    asyncio.run(run())


def test_the_caller_finds_answers_of_no_use(start: Any) -> None:
    """As if the compiler did not work there. Later jobs, which would prefer this worker, go to the other one."""
    urls = start("stub_piston.py", "--confines", "--count", "2").urls

    async def run() -> None:
        async with PistonCluster(urls) as cluster:
            await until(lambda: cluster.busy() == (0, 2))
            (target,) = cluster.targets()
            retries = Retries()
            await cluster.execute(replace(JOB, retries=retries), target)
            retries.useless += retries.tried
            others = [Retries(tried=["another"]) for _ in range(3)]
            for each in (retries, *others):
                await cluster.execute(replace(JOB, retries=each), target)
            assert not retries.useless
            assert {*retries.tried[1:], *(each.tried[-1] for each in others)} == {*retries.tried} - {retries.tried[0]}

    asyncio.run(run())


def test_the_only_worker_of_a_target_gives_unusable_answers(start: Any) -> None:
    """After six attempts a job leaves this target for another one; if it has no other, it fails."""
    bad, good = start("stub_piston.py", "--useless", "older", "--packages", "bash"), start("stub_piston.py")

    async def run() -> None:
        async with PistonCluster([*bad.urls, *good.urls]) as cluster:
            await until(lambda: len(cluster.targets()) == 2)
            target = next(target for target in cluster.targets() if "bash" in target.name)
            with pytest.raises(TargetLostError, match=r"\(6 times\).*the answer to another job"):
                await cluster.execute(JOB, target)
            with pytest.raises(ExhaustedError):
                await cluster.execute(JOB, replace(target, is_only=True))

    asyncio.run(run())
