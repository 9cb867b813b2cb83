"""Many Piston servers in one process, with queues: `queueing_cluster.py --count 60 --slots 2 [--port 25000]`.

Each runs this number of requests at once, including those of explorations, and queues the others silently, as Piston
does. A client gives the duration of its jobs in the header `X-Lasts-S: 0.2-0.5`, the minimum and the maximum. Answers
are those of `stub_cluster.py`. A job whose client has disconnected runs to its end.

When stdin ends, the program prints as JSON: the number of answered jobs, how long jobs waited in the queues (in
seconds), and how many jobs ended after their client had disconnected.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections import deque
from dataclasses import dataclass

from stub_cluster import FIXED, LISTED, probe_answer

PROBE_S = 0.1  # as of a real server


@dataclass(eq=False, slots=True, kw_only=True)
class Request:
    """A request that is executed.

    Args:
        transport: its connection.
        answer: its answer.
        lasts_s: its duration: the minimum and the maximum.
        is_job: whether it is a job, and not a part of an exploration.
        arrived_s: when it had arrived completely.
    """

    transport: asyncio.Transport
    answer: bytes
    lasts_s: tuple[float, float]
    is_job: bool
    arrived_s: float


class Servers:
    """The state that all servers share."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.rng = random.Random(2)
        self.answered = self.useless = 0
        self.waited_s: list[float] = []

    def figures_as_json(self) -> str:
        """The figures as JSON."""
        waited = self.waited_s or [0.0]
        mean_s, max_s = sum(waited) / len(waited), max(waited)
        counts = {"answered": self.answered, "useless": self.useless}
        return json.dumps({**counts, "waited_mean_s": mean_s, "waited_most_s": max_s})


class Server:
    """One server: its queue and its slots."""

    def __init__(self, common: Servers) -> None:
        self.common = common
        self.running = 0
        self.waiting: deque[Request] = deque()

    def connect(self) -> Connection:
        """A connection begins."""
        return Connection(self)

    def execute(self, request: Request) -> None:
        """Run a request when a slot is free."""
        self.waiting.append(request)
        self.fill_slots()

    def fill_slots(self) -> None:
        """Start the requests that can run now."""
        while self.waiting and self.running < self.common.slots:
            request = self.waiting.popleft()
            self.running += 1
            if request.is_job:
                self.common.waited_s.append(time.monotonic() - request.arrived_s)
            asyncio.get_running_loop().call_later(self.common.rng.uniform(*request.lasts_s), self.end, request)

    def end(self, request: Request) -> None:
        """A request has been executed."""
        self.running -= 1
        if request.transport.is_closing():
            self.common.useless += request.is_job
        else:
            self.common.answered += request.is_job
            request.transport.write(request.answer)
        self.fill_slots()


class Connection(asyncio.Protocol):
    """One connection, with at most one request at a time."""

    transport: asyncio.Transport

    def __init__(self, server: Server) -> None:
        self.server = server
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection begins."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """A part of a request."""
        self.received += data
        head, end, body = self.received.partition(b"\r\n\r\n")
        lines = dict(line.lower().partition(b": ")[::2] for line in head.split(b"\r\n"))
        if not end or len(body) < int(lines.get(b"content-length", b"0")):
            return
        self.received = b""
        if head.startswith(b"GET"):
            self.transport.write(LISTED)
        else:
            self.server.execute(self.request(lines, body))

    def request(self, lines: dict[bytes, bytes], body: bytes) -> Request:
        """Handle a request."""
        is_size = lines.get(b"content-encoding") == b"gzip"
        is_job = not is_size and b"tell begin" not in body
        least, most = map(float, lines[b"x-lasts-s"].split(b"-")) if is_job else (PROBE_S, PROBE_S)
        return Request(
            transport=self.transport,
            answer=FIXED if is_job or is_size else probe_answer(body),
            lasts_s=(least, most),
            is_job=is_job,
            arrived_s=time.monotonic(),
        )


async def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--port", type=int, default=25_000)
    options = parser.parse_args()
    common, loop = Servers(options.slots), asyncio.get_running_loop()
    listening = [
        await loop.create_server(Server(common).connect, "127.0.0.1", options.port + number)
        for number in range(options.count)
    ]
    print("ready", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    for each in listening:
        each.close()
    print(common.figures_as_json())


if __name__ == "__main__":
    asyncio.run(main())
