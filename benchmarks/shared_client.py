"""A client of a cluster in a process of its own, for `shared_cluster.py`: `shared_client.py SPEC`, a JSON object.

It enters the cluster and runs jobs until it has run as many as it should, or standard input ends. Then it prints as
JSON when it began, when each job ended (seconds of the machine's monotonic clock), and how often something failed.
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
    """What a client does.

    Args:
        urls: the servers.
        per_server: how many jobs it sends to a server at once.
        lasts_s: how long its jobs take, the least and the most, in seconds.
        limit_s: the wall clock limit of its jobs, in seconds.
        jobs: how many it runs; `None` for as many as it can.
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
class Told:
    """What a client did.

    Args:
        began_s: when it began to enter the cluster.
        ended_s: when its jobs ended.
        failures: how many jobs were sent again or had no answer, and how often a worker was given no jobs for a while.
    """

    began_s: float
    ended_s: tuple[float, ...]
    failures: dict[str, int]

    def between(self, start_s: float, end_s: float) -> int:
        """How many jobs ended in this time."""
        return sum(start_s <= ended < end_s for ended in self.ended_s)


class Failures:
    """Counts events of a client that another client must not cause."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def listen(self, event: Event) -> None:
        """Take note of an event."""
        self.counts[event["event"]] += 1

    def close(self) -> None:
        """Nothing is open."""


async def run(client: Client) -> Told:
    """Run jobs."""
    began, ended, failures = time.monotonic(), [], Failures()
    events = Events()
    events.add(failures, "job_repeated", "worker_lost")
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
        asyncio.get_running_loop().add_reader(sys.stdin, working.cancel)  # nothing is written to it: it has ended
        await asyncio.wait([working])
    return Told(began_s=began, ended_s=tuple(ended), failures=dict(failures.counts))


def main() -> None:
    """Run what the argument says."""
    spec = json.loads(sys.argv[1])
    print(json.dumps(asdict(asyncio.run(run(Client(**spec))))), flush=True)


if __name__ == "__main__":
    main()
