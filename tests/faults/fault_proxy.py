"""A proxy between client and servers that produces the faults of networks, proxies and crashing servers.

`fault_proxy.py --upstream PORTS --faults NAMES [--rate R] [--first N] [--every N] [--seed S] [--idle S]` listens on a
port for each upstream port and prints its own ports as one line of JSON. After a request `GET /arm`, it produces faults
for requests that execute jobs: for the first N, for every Nth, and for a random share R of the others. The fault is a
random one of the names:

    reset-before  reset-in  reset-after   the connection is reset before, in the middle of, after the request's body
    reset-answer  truncate                reset, or closed, in the middle of the answer
    empty-500  html-500  html-502  busy   errors of a server, a proxy, an overloaded server
    limited  limited-1s                   429, without `Retry-After` and with one of a second
    denied                                a proxy denies access
    lie  null  not-json                   status 200, and a body that is not an execution
    delay                                 the answer comes 0.2 s late
    close-after                           the answer comes, then the connection is closed without `Connection: close`
    hang                                  no answer

`--idle S` closes connections that were idle for S seconds. `--body BYTES` refuses longer requests as soon as it knows
their length, as nginx does. `--limits-checks 1` answers requests for the runtimes with 429 after `GET /arm`.
`GET /faults` returns how many faults of each name occurred.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import random
import socket
import struct
import sys
from collections import Counter

HTML = b"<html><head><title>Bad Gateway</title></head><body>upstream failed</body></html>"
CANNED = {
    "empty-500": (500, b"", "application/json"),
    "html-500": (500, HTML, "text/html"),
    "html-502": (502, HTML, "text/html"),
    "denied": (403, HTML, "text/html"),
    "busy": (503, b'{"message": "queue is full"}', "application/json"),
    "limited": (429, b'{"message": "Requests limited to 1 per 200ms"}', "application/json"),
    "limited-1s": (429, b"", "text/plain\r\nRetry-After: 1"),
    "lie": (200, b'{"run": {"stdout": 1, "stderr": "", "code": 0, "signal": null}}', "application/json"),
    "null": (200, b"null", "application/json"),
    "not-json": (200, b"1\n", "text/plain"),
}


def http_answer(status: int, body: bytes, kind: str) -> bytes:
    """A complete HTTP answer."""
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def reset(writer: asyncio.StreamWriter) -> None:
    """End a connection by RST."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class Proxy:
    """All listeners, with a common random generator and common counts."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.rng = random.Random(options.seed)
        self.counts: Counter[str] = Counter()
        self.is_armed = False
        self.connections: set[asyncio.Task[None] | None] = set()  # Python 3.11.0rc1 keeps no reference to them

    def fault(self) -> str | None:
        """The fault for the next request, or `None`."""
        self.counts["requests"] += 1
        number, every = self.counts["requests"], self.options.every
        is_chosen = number <= self.options.first or (every > 0 and number % every == 0)
        if not is_chosen and self.rng.random() >= self.options.rate:
            return None
        name: str = self.rng.choice(self.options.faults)
        self.counts[name] += 1
        return name

    async def serve(self, upstream: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self.connections.add(asyncio.current_task())
        try:
            while await self.exchange(upstream, reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            pass  # the other side has closed, or was idle for too long
        finally:
            writer.close()
            self.connections.discard(asyncio.current_task())

    async def exchange(self, upstream: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve one request. Returns whether another can follow on this connection."""
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), self.options.idle)
        lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        size = int(lengths[0]) if lengths else 0
        if head.startswith((b"GET /faults ", b"GET /arm ")):
            self.is_armed = self.is_armed or b"/arm " in head
            writer.write(http_answer(200, json.dumps(self.counts).encode(), "application/json"))
            return True
        is_too_large = self.options.body is not None and size > self.options.body
        fault = self.fault() if self.is_armed and head.startswith(b"POST /api/v2/execute ") else None
        if self.is_armed and self.options.limits_checks and head.startswith(b"GET /api/v2/runtimes "):
            fault = "limited"
        if is_too_large:
            writer.write(http_answer(413, HTML, "text/html"))
        elif fault == "reset-before":
            reset(writer)
        if is_too_large or fault == "reset-before":
            return False
        if b"\r\nexpect: 100-continue\r\n" in head.lower():
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if fault == "reset-in":
            await reader.readexactly(size // 2)
            reset(writer)
            return False
        body = await reader.readexactly(size)
        if fault == "hang":
            await reader.read()
            return False
        if fault in CANNED:
            writer.write(http_answer(*CANNED[fault]))
            return True
        return await self.pass_on(upstream, head + body, fault, writer)

    async def pass_on(self, upstream: int, request: bytes, fault: str | None, writer: asyncio.StreamWriter) -> bool:
        """Forward the request to the server, and the answer to the client, as far as the fault allows."""
        answer = await self.ask(upstream, request)
        if fault == "delay":
            await asyncio.sleep(0.2)
        if fault == "reset-after":
            reset(writer)
            return False
        if fault in {"reset-answer", "truncate"}:
            writer.write(answer[: -len(answer) // 3])
            await writer.drain()
            if fault == "reset-answer":
                reset(writer)
            return False
        writer.write(answer)
        await writer.drain()
        return fault != "close-after"

    async def ask(self, upstream: int, request: bytes) -> bytes:
        """The complete answer of the server."""
        reader, writer = await asyncio.open_connection("127.0.0.1", upstream)
        try:
            writer.write(request)
            await writer.drain()
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            return head + await reader.readexactly(int(length.split(b":")[1]))
        finally:
            writer.close()


async def main() -> None:
    """Serve until stdin is closed, which the starter holds open."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--upstream", type=json.loads, required=True)
    parser.add_argument("--faults", type=lambda text: text.split(","), default=[])
    parser.add_argument("--rate", type=float, default=0.0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--every", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--idle", type=float, default=5.0)
    parser.add_argument("--body", type=int)
    parser.add_argument("--limits-checks", type=int, default=0)
    options = parser.parse_args()
    proxy, ports = Proxy(options), []
    for upstream in options.upstream:
        serve = functools.partial(proxy.serve, upstream)
        server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 26)
        ports.append(server.sockets[0].getsockname()[1])
    print(json.dumps(ports), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
