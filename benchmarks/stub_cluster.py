"""Many Piston servers in one process that uses as little CPU time as possible, so that the client has the rest.

    stub_cluster.py --count 1500 --delay 0.5 [--slots 2] [--deaths-per-minute 25 --down 5] [--port 20000]

Every endpoint answers the probe of an exploration. Then it answers every job after the delay with one fixed execution,
without parsing its body. With `--slots` it runs no more requests at once, those of explorations included, and queues
the others silently, as Piston does. A job whose client has gone runs to its end. A client chooses how long its jobs
take by the header `X-Lasts-S: 0.2-0.5`, the least and the most.
Endpoints that fail refuse connections, reset those that they had, and come back on the same port.

When stdin ends the program prints as JSON: jobs answered; how busy the working endpoints were on average; how long jobs
waited in the servers' queues, in seconds; and how many jobs ended after their client had gone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sys
import time
from collections import deque

RUNTIMES = json.dumps([{"language": "ioi_eval", "version": "1.0.0", "aliases": []}]).encode()
STAGE = '{"stdout":%s,"stderr":"","output":"","code":0,"signal":null,"memory":936000,"cpu_time":3,"wall_time":13}'
ANSWER = b'{"run":%s,"language":"ioi_eval","version":"1.0.0"}'

PROBE_S = 0.1  # of a real server

_MOST_KB = (1 << 31) - 1
REFUSED = (
    b'{"stdout":"","stderr":"Numeric parameter out of range","output":"","code":null,"signal":null,'
    b'"message":null,"status":null,"memory":null,"cpu_time":null,"wall_time":null}'
)
"""The stage of a job whose memory limit isolate cannot parse (`opt_uint`). Such a client is not measured."""


def http(body: bytes) -> bytes:
    """A complete answer, with the headers of an express server."""
    head = (
        "HTTP/1.1 200 OK\r\nX-Powered-By: Express\r\nContent-Type: application/json; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n"
    )
    return head.encode() + body


FIXED = http(ANSWER % (STAGE % '"1\\n"').encode())
LISTED = http(RUNTIMES)


def value_of(head: bytes, name: bytes) -> bytes:
    """The value of a header, in lower case; empty if it is not there."""
    at = head.find(b"\r\n" + name + b":")
    return head[at + len(name) + 3 :].split(b"\r\n", 1)[0].strip() if at >= 0 else b""


def look(body: bytes) -> bytes:
    """The answer to a probe: its nonce and padding, and a fixed description of a machine."""
    request = json.loads(body)
    for name in ("compile_memory_limit", "run_memory_limit"):
        if request[name] // 1000 > _MOST_KB:
            return http(ANSWER % REFUSED)
    script, padding = request["files"][0]["content"], int(request["args"][0])
    match = re.search(r"tell begin (\w+)", script)
    nonce = match[1] if match else ""
    lines = [
        f"begin\t{nonce}",
        "compiler\t/usr/bin/g++\tg++ (Debian 12.2.0-14) 12.2.0\tx86_64-linux-gnu\tstatic",
        "kernel\t6.1.0",
        "processors\t2",
        f"clock\t{int(time.time())}",
        "x" * padding,
        f"end\t{nonce}",
        "",
    ]
    return http(ANSWER % (STAGE % json.dumps("\n".join(lines))).encode())


class Execution:
    """A request that is executed.

    Args:
        connection: it came on this one.
        answer: the answer to it.
        lasts_s: how long it runs: the least and the most.
        is_job: whether it is a job, and not a part of an exploration.
    """

    def __init__(self, connection: Connection, answer: bytes, lasts_s: tuple[float, float], *, is_job: bool) -> None:
        self.connection = connection
        self.answer = answer
        self.lasts_s = lasts_s
        self.is_job = is_job
        self.arrived = time.monotonic()


class Endpoint:
    """One server: its listener, its connections, its jobs."""

    def __init__(self, stub: Stub, port: int) -> None:
        self.stub = stub
        self.port = port
        self.running: set[Execution] = set()
        self.waiting: deque[Execution] = deque()
        self.connections: set[Connection] = set()
        self.server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen."""
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(lambda: Connection(self), "127.0.0.1", self.port, backlog=64)

    def die(self) -> None:
        """Refuse connections, and reset the present ones."""
        if self.server is not None:
            self.server.close()
            self.server = None
        for connection in tuple(self.connections):
            connection.transport.abort()
        self.running.clear()
        self.waiting.clear()

    def execute(self, execution: Execution) -> None:
        """Run a request, when a slot is free."""
        self.waiting.append(execution)
        self.fill_slots()

    def fill_slots(self) -> None:
        """Start what may run now."""
        slots = self.stub.options.slots
        while self.waiting and (slots is None or len(self.running) < slots):
            execution = self.waiting.popleft()
            self.running.add(execution)
            asyncio.get_running_loop().call_later(self.stub.begin(execution), self.end, execution)

    def end(self, execution: Execution) -> None:
        """A request has been executed, unless the server failed meanwhile."""
        if execution in self.running:
            self.running.discard(execution)
            self.stub.end(execution)
            self.fill_slots()


class Connection(asyncio.Protocol):
    """One connection, with at most one request at a time."""

    transport: asyncio.Transport

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.kept = b""
        self.missing = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection begins."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.endpoint.connections.add(self)

    def connection_lost(self, _: Exception | None) -> None:
        """The connection ends. Its job runs on."""
        self.endpoint.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        """A part of a request. Long bodies are counted, not stored."""
        if self.missing:
            self.missing -= len(data)
            if self.missing <= 0:
                self.run()
            return
        self.kept += data
        end = self.kept.find(b"\r\n\r\n")
        if end < 0:
            return
        head, body = self.kept[:end].lower(), self.kept[end + 4 :]
        if head.startswith(b"get"):
            self.kept = b""
            self.transport.write(LISTED)
            return
        size = int(value_of(head, b"content-length") or b"0")
        if size < 10_000 and len(body) < size:
            return
        self.kept = b""
        self.execution = self.requested(head, body)
        self.missing = size - len(body)
        if self.missing <= 0:
            self.run()

    def requested(self, head: bytes, body: bytes) -> Execution:
        """The request, of whose body at least the first 10 kB are here."""
        is_size = b"content-encoding: gzip" in head
        if is_size or b"tell begin" in body:
            answer = FIXED if is_size else look(body)
            return Execution(self, answer, (PROBE_S, PROBE_S), is_job=False)
        lasts = value_of(head, b"x-lasts-s")
        delay = self.endpoint.stub.options.delay
        least, most = map(float, lasts.split(b"-")) if lasts else (delay, delay)
        return Execution(self, FIXED, (least, most), is_job=True)

    def run(self) -> None:
        """A request has arrived completely. Without slots an exploration takes no time: the client is measured."""
        self.missing = 0
        execution = self.execution
        execution.arrived = time.monotonic()
        if execution.is_job or self.endpoint.stub.options.slots is not None:
            self.endpoint.execute(execution)
        else:
            self.transport.write(execution.answer)


class Stub:
    """All endpoints."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.answered = 0
        self.endpoints = [Endpoint(self, options.port + number) for number in range(options.count)]
        self.busy: list[float] = []
        self.waited_s: list[float] = []
        self.useless = 0
        self.rng = random.Random(2)

    def begin(self, execution: Execution) -> float:
        """A request begins to run. Returns how long it will take, in seconds."""
        if execution.is_job:
            self.waited_s.append(time.monotonic() - execution.arrived)
        return self.rng.uniform(*execution.lasts_s)

    def end(self, execution: Execution) -> None:
        """A request has been executed."""
        transport = execution.connection.transport
        if transport.is_closing():
            self.useless += execution.is_job
            return
        self.answered += execution.is_job
        transport.write(execution.answer)

    async def kill_some(self) -> None:
        """Let endpoints fail and return, evenly distributed over the minute."""
        rng = random.Random(1)
        while True:
            await asyncio.sleep(60 / self.options.deaths_per_minute)
            victim = rng.choice([endpoint for endpoint in self.endpoints if endpoint.server])
            victim.die()
            asyncio.get_running_loop().call_later(self.options.down, self.revive, victim)

    def revive(self, endpoint: Endpoint) -> None:
        """Let an endpoint return."""
        self.group.create_task(endpoint.start())

    async def sample(self) -> None:
        """Record how many of the working endpoints have a job, ten times a second after the first job."""
        while True:
            await asyncio.sleep(0.1)
            living = [endpoint for endpoint in self.endpoints if endpoint.server]
            if self.answered:
                self.busy.append(sum(bool(endpoint.running) for endpoint in living) / len(living))

    async def main(self) -> None:
        """Serve until standard input ends."""
        for endpoint in self.endpoints:
            await endpoint.start()
        print("ready", flush=True)
        async with asyncio.TaskGroup() as self.group:
            tasks = [self.group.create_task(self.sample())]
            if self.options.deaths_per_minute:
                tasks.append(self.group.create_task(self.kill_some()))
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
            for task in tasks:
                task.cancel()
        steady = self.busy[20:-10]
        waited = sorted(self.waited_s) or [0.0]
        told = {
            "answered": self.answered,
            "busy": sum(steady) / max(1, len(steady)),
            "waited_mean_s": sum(waited) / len(waited),
            "waited_most_s": waited[-1],
            "useless": self.useless,
        }
        print(json.dumps(told))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--slots", type=int)
    parser.add_argument("--deaths-per-minute", type=float, default=0.0)
    parser.add_argument("--down", type=float, default=5.0)
    parser.add_argument("--port", type=int, default=20_000)
    asyncio.run(Stub(parser.parse_args()).main())
