"""A server that answers checks, and accepts no connection for a job: jobs there fail when patience runs out."""

from __future__ import annotations

import asyncio
import functools
import socket
from collections.abc import Mapping
from typing import Any

import pytest
from yarl import URL

from ioi_eval.errors import UnavailableError
from ioi_eval.events import Events
from ioi_eval.sandbox.piston import endpoint_state, pool
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.piston.http_client import HttpClient
from ioi_eval.sandbox.piston.job_end import AnswerLostError
from tests.faults.stub_jobs import echo, fails

pytestmark = pytest.mark.usefixtures("short_requests")

PAUSE_S = 0.1
PATIENCE_S = 50 * PAUSE_S  # an endpoint that is paused for all of it fails the job for another reason


class Gate:
    """A port that passes each connection to another one, until it is shut; then new connections are refused.

    It is shut while its endpoint is in service, so that only checks are accepted, never jobs.
    """

    def __init__(self, port: int) -> None:
        self.behind = port
        self.port = 0
        self.refuses_jobs = False
        self.in_service: list[bool] = []
        self.tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Accept connections."""
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.port)
        self.port = self.server.sockets[0].getsockname()[1]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass one request and its answer, and close: a connection that is kept could take a job."""
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self.behind)
        head = await reader.readuntil(b"\r\n\r\n")
        size = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length")), 0)
        inner_writer.write(head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1) + await reader.readexactly(size))
        writer.write(await inner_reader.read())
        for each in (inner_writer, writer):
            each.close()

    def listen(self, event: Mapping[str, Any]) -> None:
        """The endpoint enters service, as a check was answered, or leaves it, as a job was refused."""
        self.in_service.append(event["event"] == "worker_joined")
        if not self.refuses_jobs:
            return
        if self.in_service[-1]:
            self.server.close()
        else:
            task = asyncio.get_running_loop().create_task(self.open())
            self.tasks.add(task)

    def close(self) -> None:
        """There is nothing to close after the last event."""


def test_a_job_that_no_connection_is_made_for_fails_in_the_end(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks go on to succeed; the job is tried again after each, and fails after its patience, with the reason."""
    monkeypatch.setattr(endpoint_state, "FIRST_PAUSE_S", PAUSE_S)
    monkeypatch.setattr(endpoint_state, "LONGEST_PAUSE_S", PAUSE_S)
    stub = start("stub_piston.py")

    async def run() -> tuple[Exception, Gate]:
        gate = Gate(stub.ports[0])
        await gate.open()
        url = f"http://127.0.0.1:{gate.port}"
        async with asyncio.timeout(60), PistonCluster([url], patience_s=PATIENCE_S, events=Events([gate])) as cluster:
            gate.refuses_jobs = True
            gate.server.close()
            failure = await fails(cluster, echo("x"))
        return failure, gate

    failure, gate = asyncio.run(run())
    assert isinstance(failure, UnavailableError)
    assert f"answer checks, but have accepted no job for {PATIENCE_S:g} s" in str(failure)
    assert "no connection" in str(failure.__cause__)
    assert gate.in_service.count(True) >= pool.LEAST_UNCONNECTED, "it came back after each check"


def test_a_worker_comes_back_under_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container that is started again may have another address, so its name is looked up again."""
    addresses = {"worker.invalid": "127.0.0.1"}
    lookup = socket.getaddrinfo

    def getaddrinfo(host: str, *arguments: Any, **options: Any) -> Any:
        return lookup(addresses.get(host, host), *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)

    async def answer(text: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n" + text)
        writer.close()

    async def run() -> list[bytes]:
        async with HttpClient() as client:
            async with await asyncio.start_server(functools.partial(answer, b"1"), "127.0.0.1", 0) as server:
                port = server.sockets[0].getsockname()[1]
                url = URL(f"http://worker.invalid:{port}/runtimes")
                first = await client.get(url, within_s=60)
            addresses["worker.invalid"] = "127.0.0.2"
            async with await asyncio.start_server(functools.partial(answer, b"2"), "127.0.0.2", port):
                with pytest.raises(AnswerLostError):
                    await client.get(url, within_s=60)
                return [first.body, (await client.get(url, within_s=60)).body]

    assert asyncio.run(run()) == [b"1", b"2"]
