"""What faults cost a cluster's client: `cluster_faults.py [--jobs N] [--rate R]`.

The same jobs go through the fault tests' proxy, alternately without faults and with a fault in one request of twenty
(all kinds of faults). It prints the wrong answers, the requests sent, and the ratio of the times.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from figures import Figure, arguments, report

from ioi_eval.model import Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox.piston.cluster import PistonCluster

PROGRAMS = Path(__file__).parent.parent / "tests" / "faults"
FAULTS = (
    "reset-before,reset-in,reset-after,reset-answer,truncate,empty-500,html-500,html-502,busy,lie,null,not-json,"
    "delay,close-after"
)
LIMITS = StageLimits(wall_ms=2_000, cpu_ms=2_000)
SERVERS, SLOTS, ROUNDS = 3, 4, 3


class Program:
    """A running program that has printed its ports."""

    def __init__(self, name: str, *arguments: str) -> None:
        command = [sys.executable, str(PROGRAMS / name), *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.ports: list[int] = json.loads(self.process.stdout.readline())

    def ask(self, what: str) -> dict[str, int]:
        """Ask the first of its servers."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[0]}/{what}", timeout=10) as answer:
            reply: dict[str, int] = json.load(answer)
        return reply

    def kill(self) -> None:
        """End it."""
        self.process.kill()
        self.process.communicate()


def job(number: int) -> Job:
    """A job of up to 80 kB that answers with its number after 50 ms."""
    files = {"run": b"", "echo": str(number).encode(), "delay_ms": b"50", "padding": b"x" * (number % 5 * 20_000)}
    listed = tuple(JobFile(name=name, content=content) for name, content in files.items())
    return Job(kind=JobKind.SCRIPTS, files=listed, run_limits=LIMITS)


async def run(proxy: Program, jobs: int) -> tuple[float, int]:
    """Execute all jobs. Returns the time, and the number of answers that were not those of their jobs."""
    urls = [f"http://127.0.0.1:{port}" for port in proxy.ports]
    async with PistonCluster(urls, max_requests_per_endpoint=SLOTS) as cluster:
        target = cluster.targets()[0]
        await asyncio.to_thread(proxy.ask, "arm")
        numbers = iter(range(jobs))
        wrong = 0

        async def work() -> None:
            nonlocal wrong
            for number in numbers:
                answer = await cluster.execute(job(number), target)
                wrong += answer.run.stdout != str(number)

        started = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for _ in range(2 * SERVERS * SLOTS):
                group.create_task(work())
        return time.monotonic() - started, wrong


def measure(stub: Program, rate: float, jobs: int, seed: int) -> dict[str, Any]:
    """One round at this rate of faults."""
    options = ("--upstream", json.dumps(stub.ports), "--faults", FAULTS, "--rate", str(rate), "--seed", str(seed))
    proxy = Program("fault_proxy.py", *options)
    try:
        seconds, wrong = asyncio.run(run(proxy, jobs))
        done = proxy.ask("faults")
    finally:
        proxy.kill()
    requests = done.pop("requests")
    return {"seconds": seconds, "wrong": wrong, "requests": requests, "faults": sum(done.values())}


def main() -> None:
    """Measure without and with faults, alternately, because other load on the machine varies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=0.05)
    options = parser.parse_args(arguments())
    stub = Program("stub_piston.py", "--count", str(SERVERS))
    try:
        ratios, wrong, requests = [], 0, 0
        for number in range(ROUNDS):
            share = options.jobs // ROUNDS + (number < options.jobs % ROUNDS)
            plain = measure(stub, 0.0, share, number)
            faulty = measure(stub, options.rate, share, number)
            ratios.append(faulty["seconds"] / plain["seconds"])
            wrong += plain["wrong"] + faulty["wrong"]
            requests += faulty["requests"]
            print(f"{share} jobs: {plain['seconds']:.1f} s; with {faulty['faults']} faults {faulty['seconds']:.1f} s, "
                  f"{faulty['requests']} requests, {faulty['wrong']} wrong answers", flush=True)  # fmt: skip
    finally:
        stub.kill()
    report(
        Figure(name="wrong answers", value=wrong, unit="", bound=0),
        Figure(name="requests / jobs", value=requests / options.jobs, unit="×", bound=1.1),
        Figure(name="time with faults / without", value=statistics.median(ratios), unit="×", bound=1.5),
    )


if __name__ == "__main__":
    main()
