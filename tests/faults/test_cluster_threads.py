"""A cluster cannot be used by other threads or a forked process: its connections belong to one event loop."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import SetupError, UnavailableError
from ioi_eval.model import Blob, Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox import Target
from ioi_eval.sandbox.piston.cluster import PistonCluster
from tests.faults.stub_jobs import echo, until
from tests.forks import in_a_fork
from tests.small_targets import small_target

JOB = Job(
    kind=JobKind.SCRIPTS,
    files=(JobFile(name="run", content=b"echo 1\\n"),),
    run_limits=StageLimits(wall_ms=10_000, cpu_ms=10_000, output_bytes=1000),
)


def test_other_event_loops_are_refused(start: Callable[..., Any]) -> None:
    """Use in another thread or in a child process is an error that says what to do. The cluster still works after."""

    def refused(cluster: PistonCluster, target: Target) -> None:
        with pytest.raises(SetupError, match=r"entered in another event loop .* enter one in each"):
            asyncio.run(cluster.execute(JOB, target))

    async def scenario() -> None:
        async with PistonCluster(start("stub_piston.py", "--count", "2").urls) as cluster:
            target = cluster.targets()[0]
            async with asyncio.TaskGroup() as group:
                for _ in range(4):
                    group.create_task(asyncio.to_thread(refused, cluster, target))
            in_a_fork(lambda: refused(cluster, target))
            assert (await cluster.execute(JOB, target)).run.code == 0

    asyncio.run(scenario())


def test_a_cluster_that_was_left_is_refused(start: Callable[..., Any]) -> None:
    """A reward function may be called after the training has ended, or before it. The cluster may be entered again."""
    cluster = PistonCluster(start("stub_piston.py", "--count", "1").urls)

    async def scenario() -> None:
        with pytest.raises(SetupError, match="the cluster is not entered"):
            await cluster.execute(JOB, small_target())
        async with cluster:
            target = cluster.targets()[0]
            assert (await cluster.execute(JOB, target)).run.code == 0
        with pytest.raises(SetupError, match="the cluster is not entered"):
            await cluster.execute(JOB, target)

    asyncio.run(scenario())
    asyncio.run(scenario())


def test_a_cluster_that_is_entered_again_knows_nothing_of_its_workers(start: Callable[..., Any]) -> None:
    """A worker that was out of service when the cluster was left is used if it answers now."""
    stub = start("stub_piston.py", "--count", "1")
    cluster = PistonCluster(stub.urls, patience_s=60.0)

    async def scenario() -> None:
        async with asyncio.timeout(300):
            async with cluster:
                stub.kill()
                job = asyncio.create_task(cluster.execute(JOB, cluster.targets()[0]))
                await until(lambda: cluster.busy() == (0, 0))
            assert isinstance((await asyncio.gather(job, return_exceptions=True))[0], UnavailableError)
            start("stub_piston.py", "--port", str(stub.ports[0]))
            async with cluster:
                assert cluster.busy() == (0, 1)
                assert (await cluster.execute(JOB, cluster.targets()[0])).run.code == 0

    asyncio.run(scenario())


def test_a_cluster_that_is_entered_in_another_event_loop(start: Callable[..., Any], tmp_path: Path) -> None:
    """Its jobs wait for each other while test data is encoded, in each of the loops."""
    cluster = PistonCluster(start("stub_piston.py", "--count", "4").urls)

    def job(number: int) -> Job:
        data = bytes([number]) * 1_000_000
        path = tmp_path / str(number)
        path.write_bytes(data)
        blob = Blob(path=path, size=len(data), sha256=hashlib.sha256(data).hexdigest())
        return replace(JOB, files=(*JOB.files, JobFile(name="input", content=blob)))

    async def scenario(first: int) -> None:
        async with cluster:
            await until(lambda: cluster.busy() == (0, 4))
            jobs = [cluster.execute(job(first + number), cluster.targets()[0]) for number in range(8)]
            assert {execution.run.code for execution in await asyncio.gather(*jobs)} == {0}

    asyncio.run(scenario(0))
    asyncio.run(scenario(8))


def test_a_cluster_that_is_left_while_jobs_run(start: Callable[..., Any]) -> None:
    """Each job, also one that would be sent again, ends with an error of ours."""
    cluster = PistonCluster(start("stub_piston.py").urls)

    async def scenario() -> None:
        async with cluster, asyncio.timeout(60):
            target = cluster.targets()[0]
            jobs = [asyncio.create_task(cluster.execute(echo("x", delay_ms=60_000), target)) for _ in range(3)]
            await until(lambda: cluster.busy() == (1, 1))
        ended = await asyncio.gather(*jobs, return_exceptions=True)
        assert {type(each) for each in ended} == {SetupError, UnavailableError}
        assert "the cluster was left while a job ran" in str(ended[0])

    asyncio.run(scenario())


def test_a_cluster_that_is_left_while_many_jobs_run(start: Callable[..., Any]) -> None:
    """They would be sent again after a pause, some only if the budget of retries allows it: none waits for that."""
    cluster = PistonCluster(start("stub_piston.py", "--count", "8").urls)

    async def scenario() -> None:
        async with asyncio.timeout(300):
            async with cluster:
                target = cluster.targets()[0]
                jobs = [asyncio.create_task(cluster.execute(echo("x", delay_ms=300_000), target)) for _ in range(8)]
                await until(lambda: cluster.busy() == (8, 8))
                await asyncio.sleep(1.5)  # then a lost connection is not one that had been closed before
            ended = await asyncio.gather(*jobs, return_exceptions=True)
        assert {type(each) for each in ended} == {SetupError}

    asyncio.run(scenario())
