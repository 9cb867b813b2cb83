"""A client of a cluster in its own process, for `shared_cluster.py`: `shared_client.py SPEC`, a JSON object.

It enters the cluster and runs jobs until it has run the requested number, or standard input ends. Then it prints as
JSON when it began, when each job ended (seconds of the machine's monotonic clock), and the number of failures.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass

from ioi_eval.errors import SandboxError
from ioi_eval.events import Event, Events
from ioi_eval.model import Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox.piston.cluster import PistonCluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """The settings of a client.

    Args:
        urls: the servers.
        per_server: how many jobs it sends to a server at once.
        lasts_s: the duration of its jobs, the minimum and the maximum, in seconds.
        limit_s: the wall-clock limit of its jobs, in seconds.
        jobs: the number of jobs; `None` for as many as possible.
    """

    urls: tuple[str, ...]
    per_server: int
    lasts_s: tuple[float, float]
    limit_s: float
    jobs: int | None = None

    @property
    def json(self) -> str:
        """The argument of this program."""
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFigures:
    """The figures of a client.

    Args:
        began_s: when it began to enter the cluster.
        ended_s: when its jobs ended.
        failures: how many jobs were sent again or had no answer, and how often a worker was taken out of service.
    """

    began_s: float
    ended_s: tuple[float, ...]
    failures: dict[str, int]

    def between(self, start_s: float, end_s: float) -> int:
        """The number of jobs that ended in this time."""
        return sum(start_s <= ended < end_s for ended in self.ended_s)


class Failures:
    """Counts events that another client must not cause."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def listen(self, event: Event) -> None:
        """Count an event."""
        if event["event"] in ("job_retried", "worker_lost"):
            self.counts[event["event"]] += 1

    def close(self) -> None:
        """There is nothing to close."""


async def run(client: Client) -> ClientFigures:
    """Run jobs."""
    began, ended, failures = time.monotonic(), [], Failures()
    events = Events()
    events.add(failures)
    limit_ms = round(client.limit_s * 1000)
    job = Job(
        kind=JobKind.SCRIPTS,
        files=(JobFile(name="run", content=b"true\n"),),
        run_limits=StageLimits(wall_ms=limit_ms, cpu_ms=limit_ms, memory_bytes=1 << 30),
    )
    lasts = {"X-Lasts-S": "-".join(map(str, client.lasts_s))}
    numbers = itertools.count() if client.jobs is None else iter(range(client.jobs))
    async with PistonCluster(
        client.urls, max_requests_per_endpoint=client.per_server, headers=lasts, events=events
    ) as cluster:
        target = cluster.targets()[0]

        async def work() -> None:
            for _ in numbers:
                try:
                    await cluster.execute(job, target)
                except SandboxError as error:
                    print(error, file=sys.stderr)
                    failures.counts["job_without_answer"] += 1
                ended.append(time.monotonic())

        async def work_off() -> None:
            async with asyncio.TaskGroup() as group:
                for _ in range(2 * len(client.urls) * client.per_server):
                    group.create_task(work())

        working = asyncio.create_task(work_off())
        # standard input only becomes readable when it has ended
        asyncio.get_running_loop().add_reader(sys.stdin, working.cancel)
        await asyncio.wait([working])
    return ClientFigures(began_s=began, ended_s=tuple(ended), failures=dict(failures.counts))


def main() -> None:
    """Run the jobs that the argument describes."""
    spec = json.loads(sys.argv[1])
    print(json.dumps(asdict(asyncio.run(run(Client(**spec))))), flush=True)


if __name__ == "__main__":
    main()
