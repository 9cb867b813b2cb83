"""Many Piston servers in one process that uses as little CPU time as possible, so that the client has the rest.

    stub_cluster.py --count 1500 --delay 0.5 [--deaths-per-minute 25 --down 5] [--port 20000]

Every endpoint answers the probe of an exploration. After the delay it answers every job with one fixed execution,
without parsing its body. Endpoints that fail refuse connections, reset existing ones, and come back on the same port.
When stdin ends, the program prints as JSON: the number of answered jobs, and how busy the working endpoints were on
average.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sys
import time

RUNTIMES = json.dumps([{"language": "ioi_eval", "version": "1.0.0", "aliases": []}]).encode()
STAGE = '{"stdout":%s,"stderr":"","output":"","code":0,"signal":null,"memory":936000,"cpu_time":3,"wall_time":13}'
ANSWER = b'{"run":%s,"language":"ioi_eval","version":"1.0.0"}'

_MAX_KB = (1 << 31) - 1
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
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


def probe_answer(body: bytes) -> bytes:
    """The answer to a probe: its nonce and padding, and a fixed description of a machine."""
    request = json.loads(body)
    for name in ("compile_memory_limit", "run_memory_limit"):
        if request[name] // 1000 > _MAX_KB:
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


class Endpoint:
    """One server: its listener, its connections, its jobs."""

    def __init__(self, stub: Stub, port: int) -> None:
        self.stub = stub
        self.port = port
        self.running = 0
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


class Connection(asyncio.Protocol):
    """One connection, with at most one request at a time."""

    transport: asyncio.Transport

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.received = b""
        self.missing = 0
        self.is_running = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection begins."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.endpoint.connections.add(self)

    def connection_lost(self, _: Exception | None) -> None:
        """The connection ends, with the job that was running."""
        self.endpoint.connections.discard(self)
        if self.is_running:
            self.is_running = False
            self.endpoint.running -= 1

    def data_received(self, data: bytes) -> None:
        """A part of a request. Long bodies are counted, not stored."""
        if self.missing:
            self.missing -= len(data)
            if self.missing <= 0:
                self.run()
            return
        self.received += data
        end = self.received.find(b"\r\n\r\n")
        if end < 0:
            return
        head, body = self.received[:end].lower(), self.received[end + 4 :]
        if head.startswith(b"get"):
            self.received = b""
            self.transport.write(LISTED)
            return
        if b"expect: 100-continue" in head:  # the client asks whether it may send so much, and then does not
            self.received = b""
            self.transport.write(CONTINUE)
            return
        at = head.find(b"content-length:")
        size = int(head[at + 15 :].split(b"\r\n", 1)[0])
        if size < 10_000 and len(body) < size:
            return
        self.received = b""
        if b"content-encoding: gzip" in head:
            self.missing = max(0, size - len(body))
            self.transport.write(FIXED)
        elif b"tell begin" in body:
            self.transport.write(probe_answer(body))
        else:
            self.missing = size - len(body)
            if self.missing <= 0:
                self.run()

    def run(self) -> None:
        """A job has arrived completely."""
        self.missing = 0
        self.is_running = True
        self.endpoint.running += 1
        asyncio.get_running_loop().call_later(self.endpoint.stub.options.delay, self.answer)

    def answer(self) -> None:
        """A job has ended."""
        if self.is_running:
            self.is_running = False
            self.endpoint.running -= 1
            self.endpoint.stub.answered += 1
            self.transport.write(FIXED)


class Stub:
    """All endpoints."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.answered = 0
        self.endpoints = [Endpoint(self, options.port + number) for number in range(options.count)]
        self.busy: list[float] = []

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
                self.busy.append(sum(min(endpoint.running, 1) for endpoint in living) / len(living))

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
        print(json.dumps({"answered": self.answered, "busy": sum(steady) / max(1, len(steady))}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--deaths-per-minute", type=float, default=0.0)
    parser.add_argument("--down", type=float, default=5.0)
    parser.add_argument("--port", type=int, default=20_000)
    asyncio.run(Stub(parser.parse_args()).main())
