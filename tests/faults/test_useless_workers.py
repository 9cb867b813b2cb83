"""Workers that answer at once, in Piston's format, and of no use: they are always free, and must not get every job."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from ioi_eval.errors import ExhaustedError, SandboxError, TransientError
from ioi_eval.jobs.runner_answer import whole_lines
from ioi_eval.model import Isolation, Job, JobFile, JobKind, Retries, StageLimits
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.piston.endpoint_state import BROKEN_IN_A_ROW
from tests.faults.stub_jobs import counts

NONCE = "0123456789abcdef" * 2
JOB = Job(
    kind=JobKind.RUNNER,
    files=(JobFile(name="plan", content=f"nonce {NONCE}\n".encode()), JobFile(name="runner", content=b"")),
    run_limits=StageLimits(wall_ms=2_000, cpu_ms=2_000),
    nonce=NONCE,
)


async def judged(cluster: PistonCluster) -> Isolation:
    """A job's answer, as its caller reads it: it asks once more if the answer is of no use."""
    job = replace(JOB, retries=Retries())
    try:
        execution = await cluster.execute(job, cluster.targets()[0])
        return whole_lines(execution.run, NONCE)[1]
    except TransientError:
        execution = await cluster.execute(job, cluster.targets()[0])
        return whole_lines(execution.run, NONCE)[1]


@pytest.mark.parametrize("kind", ["broken", "older", "lacking", "killing"])
def test_one_of_two_is_of_no_use(start: Any, kind: str) -> None:
    """Every job is answered by the other one; the useless one soon gets none."""
    bad, good = start("stub_piston.py", "--useless", kind), start("stub_piston.py", "--confines")
    jobs = 8 * BROKEN_IN_A_ROW

    async def run() -> None:
        async with PistonCluster([*bad.urls, *good.urls], max_requests_per_endpoint=2) as cluster:
            before = counts(bad.urls[0], "stub")["executed"]
            async with asyncio.TaskGroup() as group:
                found = [group.create_task(judged(cluster)) for _ in range(jobs)]
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
def test_all_are_of_no_use(start: Any, kind: str, words: str) -> None:
    """The error names the workers and what they said; a bounded number of attempts is made."""
    url = start("stub_piston.py", "--useless", kind).urls[0]

    async def run() -> SandboxError:
        async with PistonCluster(url) as cluster:
            with pytest.raises(ExhaustedError, match=words) as raised:
                await cluster.execute(JOB, cluster.targets()[0])
            return raised.value

    assert f"on {url}/api/v2 (6 times)" in str(asyncio.run(run()))
