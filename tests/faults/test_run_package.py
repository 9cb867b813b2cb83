"""Jobs of the runner are started by the package without a compile stage, on each worker that has it beside ours."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import httpx
import pytest

from ioi_eval.errors import ExhaustedError
from ioi_eval.model import Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox.piston.cluster import PistonCluster
from tests.faults.stub_jobs import arm, counts

pytestmark = pytest.mark.usefixtures("short_requests")

JOB = Job(
    kind=JobKind.RUNNER,
    files=(JobFile(name="plan", content=b"nonce abc\n"), JobFile(name="runner", content=b"")),
    run_limits=StageLimits(wall_ms=2_000, cpu_ms=2_000),
)
SCRIPTS = Job(
    kind=JobKind.SCRIPTS,
    files=(JobFile(name="compile", content=b"echo > made"), JobFile(name="run", content=b"ls made")),
    compile_limits=StageLimits(wall_ms=2_000, cpu_ms=2_000),
    run_limits=StageLimits(wall_ms=2_000, cpu_ms=2_000),
)


def started_by(url: str) -> dict[str, int]:
    """How many jobs each package of a stub server has started."""
    found: dict[str, int] = httpx.get(f"{url}/stub").json()["started_by"]
    return found


async def starters(url: str, cluster: PistonCluster, job: Job) -> dict[str, int]:
    """The packages that start a job on the only worker, with the number of requests for each."""
    before = started_by(url)
    await cluster.execute(job, cluster.targets()[0])
    return {name: count - before.get(name, 0) for name, count in started_by(url).items() if count != before.get(name)}


def test_a_job_with_a_precompiled_header(start: Any) -> None:
    """It is started by our package, which has the header."""
    url = start("stub_piston.py", "--confines", "--packages", "ioi_eval,ioi_eval_run").urls[0]

    async def run() -> None:
        async with PistonCluster(url) as cluster:
            assert await starters(url, cluster, replace(JOB, has_header=True)) == {"ioi_eval": 1}

    asyncio.run(run())


@pytest.mark.parametrize(
    ("packages", "for_runner", "for_scripts"),
    [
        ("ioi_eval", "ioi_eval", "ioi_eval"),
        ("ioi_eval,ioi_eval_run", "ioi_eval_run", "ioi_eval"),
        ("bash", "bash", "bash"),
        ("bash,ioi_eval_run", "bash", "bash"),
        ("bash,ioi_eval,ioi_eval_run", "ioi_eval_run", "ioi_eval"),
    ],
)
def test_which_package_starts_a_job(start: Any, packages: str, for_runner: str, for_scripts: str) -> None:
    """Scripts may have something to compile; the runner has not. The stock bash package is used only without ours."""
    url = start("stub_piston.py", "--confines", "--packages", packages).urls[0]

    async def run() -> None:
        async with PistonCluster(url) as cluster:
            assert await starters(url, cluster, JOB) == {for_runner: 1}
            assert await starters(url, cluster, SCRIPTS) == {for_scripts: 1}

    asyncio.run(run())


def test_workers_with_and_without_it_serve_one_target(start: Any) -> None:
    """Each worker of the target starts jobs in its own way."""
    both, old = (
        start("stub_piston.py", "--confines", "--packages", packages).urls[0]
        for packages in ("ioi_eval,ioi_eval_run", "ioi_eval")
    )

    async def run() -> None:
        async with PistonCluster([both, old]) as cluster:
            (target,) = cluster.targets()
            before = started_by(old)
            async with asyncio.TaskGroup() as group:
                for _ in range(6):
                    group.create_task(cluster.execute(JOB, target))
            new, others = started_by(both)["ioi_eval_run"], started_by(old)["ioi_eval"] - before["ioi_eval"]
            assert (new + others, new > 0, others > 0) == (6, True, True)
            assert "ioi_eval_run" not in started_by(old)

    asyncio.run(run())


def test_a_worker_that_loses_it(start: Any) -> None:
    """A job that it is removed for is started by our package, and so are later ones."""
    url = start("stub_piston.py", "--confines", "--packages", "ioi_eval,ioi_eval_run").urls[0]

    async def run() -> None:
        async with PistonCluster(url) as cluster:
            removed = {"language": "ioi_eval_run", "version": "1.0.0"}
            await asyncio.to_thread(httpx.request, "DELETE", f"{url}/api/v2/packages", json=removed)
            for _ in range(2):
                assert await starters(url, cluster, JOB) == {"ioi_eval": 1}

    asyncio.run(run())


@pytest.mark.parametrize("kind", ["broken", "lacking"])
def test_a_job_that_fails_there_is_sent_to_our_package(start: Any, kind: str) -> None:
    """A retried job has all its files and is started by our package, so a fault of the other one costs no result."""
    bad = start("stub_piston.py", "--useless", kind, "--packages", "ioi_eval,ioi_eval_run").urls[0]

    async def run() -> None:
        async with PistonCluster(bad) as cluster:
            before = started_by(bad)
            with pytest.raises(ExhaustedError, match="6 times"):
                await cluster.execute(JOB, cluster.targets()[0])
            after = started_by(bad)
            assert after["ioi_eval_run"] == 1
            assert after["ioi_eval"] - before["ioi_eval"] >= 5

    asyncio.run(run())


def test_a_job_that_a_proxy_denies_says_nothing_of_the_package(start: Any) -> None:
    """It is not sent there again with all its files. Later jobs are started by the same package as before."""
    stub = start("stub_piston.py", "--confines", "--packages", "ioi_eval,ioi_eval_run")
    proxy = start("fault_proxy.py", f"--upstream={stub.ports}", "--faults=denied", "--first=1")
    url = stub.urls[0]

    async def run() -> None:
        async with PistonCluster(proxy.urls[0]) as cluster:
            await arm(proxy)
            assert await starters(url, cluster, JOB) == {"ioi_eval": 1}, "a job that is sent again has all its files"
            assert counts(proxy.urls[0], "faults") == {"requests": 2, "denied": 1}
            assert await starters(url, cluster, JOB) == {"ioi_eval_run": 1}

    asyncio.run(run())


def test_a_retried_job_that_is_too_large_with_all_its_files(start: Any) -> None:
    """nginx accepts 1 MB by default, less than the runner takes. It is not sent again if the worker has it."""
    stub = start("stub_piston.py", "--confines", "--packages", "ioi_eval,ioi_eval_run", "--body", "1500000")
    proxy = start("fault_proxy.py", f"--upstream={stub.ports}", "--faults=empty-500", "--first=1")
    job = replace(JOB, files=(JOB.files[0], JobFile(name="runner", content=bytes(2_000_000))))

    async def run() -> None:
        async with PistonCluster(proxy.urls[0]) as cluster:
            await arm(proxy)
            assert await starters(stub.urls[0], cluster, job) == {"ioi_eval_run": 1}
            assert counts(proxy.urls[0], "faults") == {"requests": 2, "empty-500": 1}

    asyncio.run(run())


def test_limits_that_are_too_low_in_this_package_only(start: Any) -> None:
    """A server can limit each package in its own way, and the client explores ours. Later jobs are started by ours."""
    options = ("--packages", "ioi_eval,ioi_eval_run", "--limited", "ioi_eval_run")
    url = start("stub_piston.py", "--confines", *options).urls[0]

    async def run() -> None:
        async with PistonCluster(url) as cluster:
            assert await starters(url, cluster, JOB) == {"ioi_eval_run": 1, "ioi_eval": 1}
            assert await starters(url, cluster, JOB) == {"ioi_eval": 1}

    asyncio.run(run())
