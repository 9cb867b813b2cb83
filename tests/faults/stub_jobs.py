"""Jobs for stub servers, and clusters of stub servers, with a proxy that produces faults."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Awaitable, Callable
from typing import Any

from ioi_eval.errors import (
    SandboxError,
)
from ioi_eval.model import Execution, Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox.piston.cluster import PistonCluster

LIMITS = StageLimits(wall_ms=2_000, cpu_ms=2_000)
QUICK_S = 3.0  # how long jobs wait for a server that a test has killed
TRANSIENT = (
    "reset-before", "reset-in", "reset-after", "reset-answer", "truncate", "empty-500", "html-500", "html-502",
    "busy", "limited", "lie", "null", "not-json",
)  # fmt: skip
HARMLESS = ("delay", "close-after")


def echo(text: str, *, delay_ms: int = 0, alone: bool = False, padding: int = 0) -> Job:
    """A job whose answer is this text."""
    files = [
        JobFile(name="run", content=b"cat echo\n"),
        JobFile(name="echo", content=text.encode()),
        JobFile(name="delay_ms", content=str(delay_ms).encode()),
        JobFile(name="padding", content=b"0" * padding),
    ]
    return Job(kind=JobKind.SCRIPTS, files=tuple(files), run_limits=LIMITS, alone=alone)


def counts(url: str, path: str) -> dict[str, int]:
    """The counts that a stub server or the proxy reports."""
    with urllib.request.urlopen(f"{url}/{path}", timeout=10) as answer:
        found: dict[str, int] = json.load(answer)
    return found


async def until(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds that another process changes."""
    while not holds():  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.01)


def with_cluster(urls: list[str], use: Callable[[PistonCluster], Awaitable[Any]], **settings: Any) -> Any:
    """Call a function with a cluster of these servers. Returns its result."""

    async def run() -> Any:
        async with PistonCluster(urls, **settings) as cluster:
            return await use(cluster)

    return asyncio.run(run())


async def arm(proxy: Any) -> None:
    """Start the faults. Called after the cluster has explored its workers."""
    await asyncio.to_thread(counts, proxy.urls[0], "arm")


async def run_all(cluster: PistonCluster, jobs: list[Job], at_once: int) -> list[Execution]:
    """Execute jobs, `at_once` at the same time. Returns the answers in the order of the jobs."""
    target = cluster.targets()[0]
    answers: dict[int, Execution] = {}
    rest = iter(enumerate(jobs))

    async def work() -> None:
        for number, job in rest:
            assert number not in answers
            answers[number] = await cluster.execute(job, target)

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work())
    return [answers[number] for number in range(len(jobs))]


async def all_slots_work(cluster: PistonCluster, slots: int) -> None:
    """Check that all slots can be used: run twice as many jobs as slots. The servers count jobs that run at once."""
    answers = await run_all(cluster, [echo(str(number), delay_ms=100) for number in range(2 * slots)], 2 * slots)
    assert [answer.run.stdout for answer in answers] == [str(number) for number in range(2 * slots)]


def proxied(start: Any, *, servers: int = 1, **options: Any) -> tuple[Any, Any]:
    """Stub servers, and a proxy in front of them, which produces no faults until `arm`."""
    stub = start("stub_piston.py", "--count", str(servers))
    arguments = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return stub, start("fault_proxy.py", "--upstream", json.dumps(stub.ports), *arguments)


async def attempt(cluster: PistonCluster, job: Job) -> Execution | SandboxError:
    """The execution of a job, or its error."""
    try:
        return await cluster.execute(job, cluster.targets()[0])
    except SandboxError as error:
        return error


async def fails(cluster: PistonCluster, job: Job) -> SandboxError:
    """The error of a job that must fail."""
    outcome = await attempt(cluster, job)
    assert isinstance(outcome, SandboxError)
    return outcome
