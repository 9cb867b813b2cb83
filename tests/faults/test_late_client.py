"""The client is late: it was stopped, or waited for a processor. It does not blame servers for that."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from yarl import URL

from ioi_eval.events import Events
from ioi_eval.sandbox.piston import endpoint_state, http_client
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.piston.http_client import HttpClient, Reply, Sending
from ioi_eval.sandbox.piston.job_end import AnswerLostError, JobEnd
from ioi_eval.sandbox.piston.wire import Body
from tests.events.listener import Listener
from tests.faults.stub_jobs import counts, echo, until

pytestmark = pytest.mark.usefixtures("short_requests")

_SYN_SENT = "02"  # in `/proc/net/tcp`


class StoppedLoop(asyncio.SelectorEventLoop):
    """An event loop whose process can be stopped for a day, without a test that takes a day."""

    stopped_s = 0.0

    def time(self) -> float:
        """The time, with that in which the process was stopped."""
        return super().time() + self.stopped_s

    async def stop_process(self) -> None:
        """Stop the process now, and let the event loop do what it finds due afterwards."""
        self.stopped_s += 100_000.0
        for _ in range(10):
            await asyncio.sleep(0)


def run(use: Callable[[StoppedLoop], Awaitable[Any]]) -> Any:
    """Call a function in such a loop. Returns its result."""

    async def call() -> Any:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, StoppedLoop)
        return await use(loop)

    with asyncio.Runner(loop_factory=StoppedLoop) as runner:
        return runner.run(call())


class Server:
    """A server in a thread, which answers one request when it is told to.

    Attributes:
        asked: set when the request has arrived.
        answers: set by the test, to let it answer.
    """

    def __init__(self) -> None:
        self.asked, self.answers = threading.Event(), threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.url = URL(f"http://127.0.0.1:{self.listener.getsockname()[1]}/")
        self.waiting: list[socket.socket] = []

    def start(self) -> None:
        """Accept connections from now on."""
        threading.Thread(target=self._serve, daemon=True).start()

    def be_silent(self) -> None:
        """Let further connections wait, until `start`: the queue of those that it has not accepted is full."""
        self.waiting = [socket.create_connection(self.listener.getsockname())]

    def is_tried(self) -> bool:
        """Whether a connection is being made."""
        remote = f"{self.listener.getsockname()[1]:04X} {_SYN_SENT}"
        return any(remote in line for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines())

    def _serve(self) -> None:
        for each in self.waiting:
            self.listener.accept()[0].close()
            each.close()
        connection, _ = self.listener.accept()
        connection.recv(1 << 16)
        self.asked.set()
        self.answers.wait()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")


@pytest.fixture
def server() -> Iterator[Server]:
    """A server, which ends with the test."""
    server = Server()
    yield server
    server.answers.set()
    server.listener.close()


async def get(client: HttpClient, url: URL) -> Reply:
    """A request like a check."""
    return await client.get(url, within_s=60.0)


async def post(client: HttpClient, url: URL) -> Reply:
    """A request like a job."""
    return await client.post(url, Sending(Body(segments=(b"{}",), size=2, max_run_s=0.0), 60.0, client), max_bytes=100)


@pytest.mark.parametrize("ask", [get, post])
def test_an_answer_that_comes_while_the_client_is_stopped(
    server: Server, ask: Callable[[HttpClient, URL], Coroutine[None, None, Reply]]
) -> None:
    """It is read, although by the wall clock its deadline has passed."""
    server.start()

    async def use(loop: StoppedLoop) -> Reply:
        async with HttpClient() as client, asyncio.TaskGroup() as group:
            task = group.create_task(ask(client, server.url))
            await until(server.asked.is_set)
            await loop.stop_process()
            server.answers.set()
        return task.result()

    assert run(use) == Reply(status=200, body=b"{}")


def test_a_connection_that_is_made_while_the_client_is_stopped(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is used."""
    monkeypatch.setattr(http_client, "CONNECT_S", 60.0)
    server.be_silent()
    server.answers.set()

    async def use(loop: StoppedLoop) -> Reply:
        async with HttpClient() as client, asyncio.TaskGroup() as group:
            task = group.create_task(post(client, server.url))
            await until(server.is_tried)
            await loop.stop_process()
            server.start()
        return task.result()

    assert run(use) == Reply(status=200, body=b"{}")


def test_no_connection_is_made(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that gets no connection in time was not started."""
    monkeypatch.setattr(http_client, "CONNECT_S", 0.1)
    server.be_silent()

    async def use(_: StoppedLoop) -> AnswerLostError:
        async with HttpClient() as client:
            with pytest.raises(AnswerLostError) as raised:
                await post(client, server.url)
            return raised.value

    lost = run(use)
    assert str(lost) == f"{server.url}: no connection within 0.1 s"
    assert lost.end is JobEnd.NOT_SERVED


def test_a_stopped_client_drops_no_worker(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its jobs get their answers, no job is sent again, and it checks no worker."""
    monkeypatch.setattr(endpoint_state, "CHECK_AFTER_S", 600.0)
    stub = start("stub_piston.py", "--count", "2")
    listener = Listener()

    async def use(loop: StoppedLoop) -> list[str]:
        async with PistonCluster(stub.urls, events=Events([listener])) as cluster:
            await until(lambda: cluster.busy() == (0, 2))
            target = cluster.targets()[0]
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(cluster.execute(echo(str(n), delay_ms=1_000), target)) for n in range(4)]
                await until(lambda: cluster.busy() == (2, 2))
                before = [counts(url, "stub")["listed"] for url in stub.urls]
                await loop.stop_process()
            assert [counts(url, "stub")["listed"] for url in stub.urls] == before
            return [task.result().run.stdout for task in tasks]

    assert run(use) == ["0", "1", "2", "3"]
    assert {event["event"] for event in listener.told} == {"worker_joined"}
