"""What the Piston client costs: `cluster_load.py many|churn|large [--seconds S] [--steady] [--busy N]`.

Client and stub share the machine. If other programs keep it busy, the stub answers so late that the client checks
endpoints and connects again, which takes CPU time that it would not need on a quiet machine. `--steady` turns both off,
so that the CPU time of a request can be measured there too. With `--busy`, N other processes compute meanwhile; only
the comparison with aiohttp, which has the same conditions, is then a figure.

many    1,500 endpoints that answer after 500 ms: requests a second, CPU a request, memory, event-loop lag; the CPU
        time, divided by that of aiohttp alone; and when the cluster is ready for the first job
churn   500 endpoints, of which 5 % fail and return each minute: how busy the working ones are
large   16 jobs at once with 10 MB of test data each: CPU a request, memory
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for the package `tests`

import aiohttp
from figures import Figure, arguments, report

from ioi_eval.model import Blob, Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox.piston import endpoint_state, http_client
from ioi_eval.sandbox.piston.cluster import PistonCluster
from tests.busy_processes import busy_processes

STUB = Path(__file__).with_name("stub_cluster.py")
LIMITS = StageLimits(wall_ms=5_000, cpu_ms=5_000, memory_bytes=1 << 30)
BOUNDS: dict[str, dict[str, tuple[str, float]]] = {
    "many": {
        "requests_per_s": ("/s", 2400),
        "cpu_us_per_request": ("µs", 220),
        "rss_mb": ("MB", 150),
        "lag_p99_ms": ("ms", 50),
        "cpu_against_plain": ("×", 1.1),
        "first_job_s": ("s", 2),
    },
    "churn": {"busy": ("", 0.95)},
    "large": {"cpu_us_per_request": ("µs", 6000), "peak_rss_mb": ("MB", 200)},
}
"""The unit and the bound of each figure."""

MINIMA = ("requests_per_s", "busy")

SCRIPT = JobFile(name="run", content=b"#!/bin/bash\ncat input.txt\n")


def cpu_s() -> float:
    """The CPU time of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def memory_mb() -> float:
    """The resident memory of this process, now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


class Lag:
    """Measures how late the event loop is."""

    def __init__(self) -> None:
        self.late_ms: list[float] = []

    async def measure(self) -> None:
        """Sleep a hundred times a second, and record how late each sleep ends."""
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.01)
            self.late_ms.append((time.perf_counter() - before - 0.01) * 1000)

    def percentile(self, share: float) -> float:
        """The delay in ms that this share of the measurements does not exceed."""
        ordered = sorted(self.late_ms)
        return ordered[int(share * (len(ordered) - 1))]


async def keep_requesting(ask: Callable[[int], Awaitable[object]], at_once: int, seconds: float) -> dict[str, Any]:
    """Keep `at_once` requests running, and report on the time after each caller has had an answer.

    Before that, connections are made and modules are imported.
    """
    done, is_over, lag = 0, False, Lag()
    unanswered, all_answered = set(range(at_once)), asyncio.Event()

    async def work(number: int) -> None:
        nonlocal done
        while not is_over:
            await ask(number)
            done += 1
            unanswered.discard(number)
            if not unanswered:
                all_answered.set()

    async with asyncio.TaskGroup() as group:
        for number in range(at_once):
            group.create_task(work(number))
        await all_answered.wait()
        gc.collect()
        sampler = group.create_task(lag.measure())
        before = (time.perf_counter(), cpu_s(), done)
        await asyncio.sleep(seconds)
        after = (time.perf_counter(), cpu_s(), done)
        is_over = True
        sampler.cancel()
    wall, cpu, requests = (end - start for end, start in zip(after, before, strict=True))
    return {
        "requests": requests,
        "requests_per_s": round(requests / wall, 1),
        "cpu_us_per_request": round(cpu / requests * 1e6, 1),
        "rss_mb": round(memory_mb(), 1),
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, 1),
        "lag_p50_ms": round(lag.percentile(0.5), 2),
        "lag_p99_ms": round(lag.percentile(0.99), 2),
    }


async def measure(urls: list[str], job: Callable[[int], Job], at_once: int, seconds: float) -> dict[str, Any]:
    """Keep `at_once` jobs running."""
    began = time.perf_counter()
    async with PistonCluster(urls) as cluster:
        target = cluster.targets()[0]
        entered = time.perf_counter() - began
        figures = await keep_requesting(lambda number: cluster.execute(job(number), target), at_once, seconds)
    return {"first_job_s": round(entered, 2), **figures}


async def measure_plain(urls: list[str], job: Job, at_once: int, seconds: float) -> dict[str, Any]:
    """The same with only aiohttp: no choice of a worker, no limits, no retries."""
    files = [{"name": file.name, "content": bytes(file.content).decode()} for file in job.files]  # type: ignore[arg-type]
    limits = {f"{stage}_{limit}": 5_000 for stage in ("run", "compile") for limit in ("timeout", "cpu_time")}
    limits |= {f"{stage}_memory_limit": 1 << 30 for stage in ("run", "compile")}
    request = {"language": "ioi_eval", "version": "1.0.0", "args": [], **limits, "files": files}

    async def ask(number: int) -> None:
        async with session.post(f"{urls[number % len(urls)]}/api/v2/execute", json=request) as answer:
            await answer.json()

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        return await keep_requesting(ask, at_once, seconds)


def against(arguments: list[str], port: int, run: Callable[[list[str]], dict[str, Any]]) -> dict[str, Any]:
    """Run a measurement against a stub cluster; the result includes what the stub reports."""
    count = int(arguments[arguments.index("--count") + 1])
    command = [sys.executable, str(STUB), *arguments, "--port", str(port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stub:
        assert stub.stdout is not None
        assert stub.stdin is not None
        stub.stdout.readline()
        figures = run([f"http://127.0.0.1:{port + number}" for number in range(count)])
        stub.stdin.close()
        return {**figures, **json.loads(stub.stdout.read())}


def many(seconds: float) -> dict[str, Any]:
    """1,500 endpoints, small jobs; with the project's client, then with aiohttp alone."""
    job = Job(
        kind=JobKind.SCRIPTS,
        files=(SCRIPT, JobFile(name="input.txt", content=b"1 2 3\n" * 200)),
        run_limits=LIMITS,
    )
    stub = ["--count", "1500"]
    ours = against(stub, 20_000, lambda urls: asyncio.run(measure(urls, lambda _: job, 1_600, seconds)))
    plain = against(stub, 24_000, lambda urls: asyncio.run(measure_plain(urls, job, 1_600, seconds)))
    alone_us = plain["cpu_us_per_request"]
    return {**ours, "plain_cpu_us": alone_us, "cpu_against_plain": ours["cpu_us_per_request"] / alone_us}


def churn(seconds: float) -> dict[str, Any]:
    """500 endpoints, of which 25 fail each minute."""
    job = Job(kind=JobKind.SCRIPTS, files=(SCRIPT,), run_limits=LIMITS)
    return against(
        ["--count", "500", "--deaths-per-minute", "25"],
        22_000,
        lambda urls: asyncio.run(measure(urls, lambda _: job, 600, seconds)),
    )


def large(seconds: float) -> dict[str, Any]:
    """16 endpoints, 10 MB for each job, four different tests."""
    with tempfile.TemporaryDirectory() as directory:
        blobs = []
        for number in range(4):
            content = f"{number} 1000000007 998244353\n".encode() * 434_783
            path = Path(directory, str(number))
            path.write_bytes(content)
            blobs.append(Blob(path=path, size=len(content), sha256=hashlib.sha256(content).hexdigest()))
        jobs = [
            Job(kind=JobKind.SCRIPTS, files=(SCRIPT, JobFile(name="input.txt", content=blob)), run_limits=LIMITS)
            for blob in blobs
        ]
        return against(
            ["--count", "16", "--delay", "0.1"],
            23_000,
            lambda urls: asyncio.run(measure(urls, lambda number: jobs[number % 4], 16, seconds)),
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", choices=("many", "churn", "large"))
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--steady", action="store_true")
    parser.add_argument("--busy", type=int, default=0)
    options = parser.parse_args(arguments())
    if options.steady:
        http_client.IDLE_CONNECTION_S = endpoint_state.CHECK_AFTER_S = 600.0
    for limit in (resource.RLIMIT_NOFILE,):
        hard = resource.getrlimit(limit)[1]
        resource.setrlimit(limit, (hard, hard))
    with busy_processes(options.busy):
        figures = {"many": many, "churn": churn, "large": large}[options.scenario](options.seconds)
    print(json.dumps(figures, indent=1))
    report(
        *(
            Figure(name=name, value=figures[name], unit=unit, bound=bound, larger_is_better=name in MINIMA)
            for name, (unit, bound) in BOUNDS[options.scenario].items()
            if not options.busy or name == "cpu_against_plain"
        )
    )
