"""Two clients on one cluster: `shared_cluster.py short|long`.

Each client is a separate process, and sends twice as many jobs at once as the cluster has slots. The servers silently
queue the jobs that they cannot run, start jobs in the order of arrival, and cannot cancel.

short   60 servers with 2 slots, jobs of 200 to 500 ms: one client; two that start together; one that starts while the
        other is running; and one with 200 jobs, alone and beside one with an endless number of jobs
long    12 servers with 2 slots, two clients: jobs of 1 s, limited to 2 s, wait behind jobs of 80 s

A share is that of the client with fewer jobs. Failures are jobs that were sent again or got no answer, and workers that
were taken out of service for a while.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from figures import Figure, arguments, report
from shared_client import Client, ClientFigures

HERE = Path(__file__).resolve().parent
PORT = 25_000
SLOTS = 2
SHORT_S = (0.2, 0.5)
TOGETHER_S, LATER_S, SETTLED_S = 15.0, 5.0, 2.0
SMALL_JOBS, SMALL_RUNS = 200, 3
LONG_S = 250.0


class Running:
    """A running client."""

    def __init__(self, client: Client) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "shared_client.py"), client.json],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def finish(self, *, stop: bool = True) -> ClientFigures:
        """Stop it, or wait for its end. Returns its figures."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if stop:
            self.process.stdin.close()
        text = self.process.stdout.read()
        self.process.wait()
        if not text:
            raise SystemExit("a client failed")
        figures = ClientFigures(**json.loads(text))
        if not figures.ended_s:
            raise SystemExit("a client finished no job: the machine is too busy to measure this")
        return figures


class Cluster:
    """Running servers. `figures` are set when they have ended."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.figures: dict[str, Any] = {}

    def client(self, lasts_s: tuple[float, float], **more: Any) -> Running:
        """Start a client whose jobs have this duration."""
        urls = tuple(f"http://127.0.0.1:{PORT + number}" for number in range(self.count))
        return Running(Client(**{"urls": urls, "per_server": SLOTS, "lasts_s": lasts_s, "limit_s": 5.0, **more}))


@contextmanager
def cluster(count: int) -> Iterator[Cluster]:
    """Servers in a separate process."""
    command = [sys.executable, str(HERE / "queueing_cluster.py"), "--port", str(PORT)]
    command += ["--count", str(count), "--slots", str(SLOTS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stub:
        assert stub.stdout is not None
        assert stub.stdin is not None
        stub.stdout.readline()
        servers = Cluster(count)
        yield servers
        stub.stdin.close()
        servers.figures = json.loads(stub.stdout.read())


def failures(*figures: ClientFigures) -> int:
    """The number of failures."""
    counts = [each.failures for each in figures]
    if any(counts):
        print(f"failures: {counts}", flush=True)
    return sum(sum(each.values()) for each in counts)


def rate(figures: ClientFigures) -> float:
    """Jobs a second, without the start and the end."""
    start, end = figures.ended_s[0] + SETTLED_S, figures.ended_s[-1] - SETTLED_S
    return figures.between(start, end) / (end - start)


def share_and_rate(first: ClientFigures, second: ClientFigures) -> tuple[float, float]:
    """The share of the client with fewer jobs, and the sum of both rates, while both ran."""
    start = max(each.ended_s[0] for each in (first, second)) + SETTLED_S
    end = min(each.ended_s[-1] for each in (first, second)) - SETTLED_S
    counts = [each.between(start, end) for each in (first, second)]
    print(f"{counts[0]} and {counts[1]} jobs in {end - start:.1f} s", flush=True)
    return 100 * min(counts) / sum(counts), sum(counts) / (end - start)


def two_clients(alone: float) -> int:
    """Two clients that start together, and one that starts later. Returns the failures."""
    failed = 0
    for what, later_s in (("together", 0.0), ("later", LATER_S)):
        with cluster(60) as servers:
            first = servers.client(SHORT_S)
            time.sleep(later_s)
            second = servers.client(SHORT_S)
            time.sleep(TOGETHER_S)
            figures = first.finish(), second.finish()
        share, both = share_and_rate(*figures)
        failed += failures(*figures)
        first_job = figures[1].ended_s[0] - figures[1].began_s
        print(f"{what}: {servers.figures}", flush=True)
        report(
            Figure(name=f"{what}: share", value=share, unit="%", bound=45, larger_is_better=True),
            Figure(name=f"{what}: rate / alone", value=both / alone, unit="×", bound=0.97, larger_is_better=True),
            Figure(name=f"{what}: longest wait on a server", value=servers.figures["waited_most_s"], unit="s"),
            Figure(name=f"{what}: first answer to the second client", value=first_job, unit="s", bound=5),
        )
    return failed


def small_run() -> int:
    """A client with few jobs, alone and beside one with many. Returns the failures."""
    taken: dict[str, list[float]] = {"alone": [], "beside": []}
    failed = 0
    with cluster(60) as servers:
        for what in ("alone", "beside"):
            many = servers.client(SHORT_S) if what == "beside" else None
            time.sleep(LATER_S if many else 0)
            for _ in range(SMALL_RUNS):
                small = servers.client(SHORT_S, jobs=SMALL_JOBS).finish(stop=False)
                taken[what].append(small.ended_s[-1] - small.began_s)
                failed += failures(small)
            failed += failures(many.finish()) if many else 0
    alone, beside = (statistics.median(times) for times in taken.values())
    print(f"{SMALL_JOBS} jobs: {taken}", flush=True)
    report(Figure(name="small run: beside a large one / alone", value=beside / alone, unit="×", bound=3))
    return failed


def short() -> None:
    """Jobs of 200 to 500 ms."""
    with cluster(60) as servers:
        client = servers.client(SHORT_S)
        time.sleep(TOGETHER_S)
        alone = client.finish()
    failed = failures(alone)
    report(Figure(name="one client", value=rate(alone), unit="/s"))
    failed += two_clients(rate(alone))
    failed += small_run()
    report(Figure(name="failures", value=failed, unit="", bound=0))


def long() -> None:
    """One client with jobs of 1 s, then another one with jobs of 80 s."""
    with cluster(12) as servers:
        first = servers.client((1.0, 1.0), limit_s=2.0)
        time.sleep(LATER_S)
        second = servers.client((80.0, 80.0), limit_s=90.0)
        time.sleep(LONG_S)
        figures = first.finish(), second.finish()
    print([len(each.ended_s) for each in figures], servers.figures, flush=True)
    report(
        Figure(name="longest wait on a server", value=servers.figures["waited_most_s"], unit="s"),
        Figure(name="failures", value=failures(*figures), unit="", bound=0),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("load", choices=("short", "long"))
    options = parser.parse_args(arguments())
    {"short": short, "long": long}[options.load]()
