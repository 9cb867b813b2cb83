"""Proxies and web servers in front of a worker: compression, redirections, passwords, and faulty connections."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gzip
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from yarl import URL

from ioi_eval.cli.cluster import abilities
from ioi_eval.errors import SandboxError, SetupError
from ioi_eval.sandbox.piston import control
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.piston.discovery import Prober
from ioi_eval.sandbox.piston.http_client import HttpClient, Sending
from ioi_eval.sandbox.piston.job_end import AnswerLostError, JobEnd
from ioi_eval.sandbox.piston.wire import Body
from tests.faults.stub_jobs import arm, counts, echo, proxied, run_all, until, with_cluster

RUNTIMES = json.dumps([{"language": "bash", "version": "5.2.0", "aliases": []}]).encode()


def with_fixed_answer(head: str, body: bytes, use: Callable[[str], Awaitable[Any]]) -> tuple[Any, list[str]]:
    """Call a function with a server that always gives the same answer. Returns its result, and the requests' heads."""
    heads: list[str] = []

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        start = f"HTTP/1.1 {head}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(start.encode("latin-1") + body)
        await writer.drain()
        writer.close()

    async def run() -> Any:
        server = await asyncio.start_server(connection, "127.0.0.1", 0)
        async with server:
            return await use(f"127.0.0.1:{server.sockets[0].getsockname()[1]}")

    return asyncio.run(run()), heads


async def runtimes(host: str) -> Any:
    """The runtimes of a server, or the error message."""
    async with HttpClient() as client:
        try:
            return await Prober(client).runtimes(URL(f"http://{host}/api/v2"))
        except SandboxError as error:
            return str(error)


def test_compressed_answers_are_refused() -> None:
    """Requests ask for uncompressed answers. A compressed answer is an error that names the encoding."""
    found, heads = with_fixed_answer("200 OK\r\nContent-Encoding: gzip", gzip.compress(RUNTIMES), runtimes)
    assert found.endswith("/runtimes: the answer is encoded ('gzip'): no proxy in between may compress answers")
    assert "Accept-Encoding: identity\r\n" in heads[0]
    found, _ = with_fixed_answer("200 OK\r\nContent-Encoding: identity", RUNTIMES, runtimes)
    assert [runtime.language for runtime in found] == ["bash"]


def test_redirections_are_not_followed() -> None:
    """A redirection is an error that names the new address, without user, password and query of a login page."""
    head = "302 Found\r\nLocation: https://me:word@login.example/sso?token=secret#here"
    words = "it redirects to https://login.example/sso; if that is the server, name it as the endpoint"
    assert with_fixed_answer(head, b"", runtimes)[0].endswith(words)

    async def status(host: str) -> str:
        return (await control.presences([f"http://{host}/api/v2"]))[0].why_not

    assert with_fixed_answer(head, b"", status)[0].endswith(words)


@pytest.mark.parametrize("path", ["runtimes", "execute"])
def test_a_redirection_names_an_endpoint(path: str) -> None:
    """What the message says to name can be named: the address of the API, not that of one request."""
    found, _ = with_fixed_answer(f"301 Moved\r\nLocation: http://other:2000/api/v2/{path}", b"", runtimes)
    assert "it redirects to http://other:2000/api/v2; if" in found


@pytest.mark.parametrize("address", ["http://[bad", "/caf\xe9"])
def test_a_redirection_to_no_url(address: str) -> None:
    """An address that is no URL, or not in UTF-8, is an error of that server; it does not end the run."""
    found, _ = with_fixed_answer(f"302 Found\r\nLocation: {address}", b"", runtimes)
    assert "it redirects to " in found


def test_a_password_is_sent_and_not_shown() -> None:
    """User and password of an endpoint are sent, but not in messages, because messages are stored with results."""

    async def refused(host: str) -> list[str]:
        url = f"http://me:s%C3%A4cret@{host}/api/v2"
        with pytest.raises(SetupError) as raised:
            async with PistonCluster(url):
                pass
        (found,) = await abilities([url])
        return [str(raised.value), *found.why_not]

    words, heads = with_fixed_answer("403 Forbidden", b'{"message": "not you"}', refused)
    assert len(words) == 2
    assert all("not you" in each and "@" not in each and "cret" not in each for each in words)
    login = base64.b64encode("me:säcret".encode()).decode()
    assert heads
    assert all(f"Authorization: Basic {login}\r\n" in head for head in heads)


def test_two_workers_at_one_address_have_their_own_passwords() -> None:
    """A proxy may have several workers, each below a path of its own."""

    async def use(host: str) -> None:
        async with HttpClient() as client:
            prober = Prober(client)
            workers = [prober.address(f"http://me:{name}@{host}/{name}") for name in ("a", "b")]
            for worker in workers:
                await prober.runtimes(worker)

    _, heads = with_fixed_answer("200 OK", RUNTIMES, use)
    found = [(head.split()[1], re.findall("Authorization: Basic (.*)\r", head)) for head in heads]
    assert found == [(f"/{name}/runtimes", [base64.b64encode(f"me:{name}".encode()).decode()]) for name in ("a", "b")]


def test_an_answer_that_is_not_http() -> None:
    """The message says so, in one line."""

    async def greet(writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n")

    async def use(client: HttpClient, url: URL) -> bytes | AnswerLostError:
        return await posted(client, url)

    lost = with_server(greet, use)
    assert re.search(r": the answer is not HTTP: Bad status line: .*SSH", str(lost))


def test_an_answer_that_is_damaged_in_its_middle() -> None:
    """It ends with an error at once, not at the job's deadline."""
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"

    async def damaged(writer: asyncio.StreamWriter) -> None:
        writer.write(chunked)
        await writer.drain()
        await asyncio.sleep(0.1)  # if both parts arrive as one, aiohttp ends the wait
        writer.write(b"no size\r\n")

    async def use(client: HttpClient, url: URL) -> bytes | AnswerLostError:
        return await posted(client, url, within_s=600.0)

    assert "the answer is not HTTP" in str(with_server(damaged, use))


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"])
def test_an_answer_that_ends_before_its_body(head: bytes) -> None:
    """The message says so, in words."""

    async def cut(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        await writer.drain()
        writer.close()

    async def use(client: HttpClient, url: URL) -> bytes | AnswerLostError:
        return await posted(client, url)

    assert str(with_server(cut, use)).endswith(": the server closed the connection before the answer")


@pytest.mark.parametrize("framing", [b"Content-Length: 9\r\n\r\nabc", b"Transfer-Encoding: chunked\r\n\r\n9\r\nabc"])
def test_an_answer_that_ends_in_its_body(framing: bytes) -> None:
    """The message says so, in words, and has no status, as the server's was 200."""

    async def cut(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n" + framing)
        await writer.drain()
        writer.close()

    async def use(client: HttpClient, url: URL) -> bytes | AnswerLostError:
        return await posted(client, url)

    assert str(with_server(cut, use)).endswith("/: the answer ended before its end, or was damaged")


def test_a_worker_behind_a_password(start: Any) -> None:
    """The worker can be used; its name does not have the password."""
    stub = start("stub_piston.py")

    async def run() -> None:
        async with PistonCluster(stub.urls[0].replace("://", "://me:secret@")) as cluster:
            assert (await cluster.execute(echo("1"), cluster.targets()[0])).run.stdout == "1"
            assert [str(worker.url) for worker in cluster.workers] == [f"{stub.urls[0]}/api/v2"]

    asyncio.run(run())


@pytest.mark.parametrize("most", [1 << 20, 48 << 20])
def test_a_proxy_that_limits_requests(start: Any, most: int) -> None:
    """Its limit counts, although the requests that measure the worker's are compressed and shorter."""
    stub = start("stub_piston.py")
    proxy = start("fault_proxy.py", f"--upstream={stub.ports}", f"--body={most}")

    async def run() -> None:
        async with PistonCluster(proxy.urls[0]) as cluster:
            assert [worker.max_body_bytes for worker in cluster.workers] == [most]

    asyncio.run(run())


async def posted(client: HttpClient, url: URL, within_s: float = 60.0) -> bytes | AnswerLostError:
    """The answer to one request."""
    body = Body(segments=(b"{}",), size=2, max_run_s=0.0)
    try:
        return (await client.post(url, Sending(body, within_s, client), max_bytes=1 << 26)).body
    except AnswerLostError as lost:
        return lost


def with_server(
    answer: Callable[[asyncio.StreamWriter], Awaitable[None]], use: Callable[[HttpClient, URL], Awaitable[Any]]
) -> Any:
    """Call a function with a client and a server that answers each request in this way. Returns its result."""

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while await reader.readuntil(b"{}"):
                await answer(writer)
        writer.close()

    async def run() -> Any:
        server = await asyncio.start_server(connection, "127.0.0.1", 0)
        try:
            async with HttpClient() as client, asyncio.timeout(60):
                return await use(client, URL(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"))
        finally:
            server.close()  # without waiting, from Python 3.12 on, for connections that it never answers

    return asyncio.run(run())


def test_a_proxy_that_denies_access(start: Any) -> None:
    """Jobs that a proxy denies go to other workers, as the answer says nothing about the jobs."""
    _, proxy = proxied(start, faults="denied", rate=1.0)
    other = start("stub_piston.py")

    async def use(cluster: PistonCluster) -> None:
        await until(lambda: cluster.busy() == (0, 2))
        await arm(proxy)
        answers = await run_all(cluster, [echo(str(number)) for number in range(6)], 2)
        assert [answer.run.stdout for answer in answers] == [str(number) for number in range(6)]

    with_cluster([*proxy.urls, *other.urls], use)
    assert counts(proxy.urls[0], "faults")["denied"] > 0


def test_a_proxy_that_ignores_announced_requests() -> None:
    """One that answers nothing before it has the body is taken for one without a limit."""

    async def never(_: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async def use(client: HttpClient, url: URL) -> bool:
        return await client.is_too_large(url, 1 << 30, within_s=0.1)

    assert not with_server(never, use)


def copies_have_arrived(client: HttpClient) -> bool:
    """Whether on each of the client's connections something came after the answer, or it is closed."""
    protocols: list[Any] = [transport.get_protocol() for transport in client.connections.requests]
    return all(protocol is None or protocol.should_close for protocol in protocols)


@pytest.mark.parametrize("size", [1, 3_000_000])
@pytest.mark.parametrize("are_apart", [False, True])
def test_answers_that_are_sent_twice(size: int, are_apart: bool) -> None:
    """The copy is not taken for the answer to the next request, whether it comes with the answer or after it."""
    bodies = [number * size for number in (b"0", b"1", b"2", b"3")]
    rest, is_read = iter(bodies), asyncio.Event()

    async def twice(writer: asyncio.StreamWriter) -> None:
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (size, next(rest))
        writer.write(answer)
        if are_apart:
            await is_read.wait()
        writer.write(answer)

    async def use(client: HttpClient, url: URL) -> list[bytes | AnswerLostError]:
        found = []
        for _ in bodies:
            is_read.clear()
            found.append(await posted(client, url))
            is_read.set()
            await until(lambda: copies_have_arrived(client))
        return found

    assert with_server(twice, use) == bodies


def test_status_of_a_worker_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says so."""
    monkeypatch.setattr(control, "_HEALTH_S", 0.1)

    async def never(_: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async def use(_: HttpClient, url: URL) -> str:
        return (await control.presences([str(url)]))[0].why_not

    assert with_server(never, use) == "no answer in time"


def test_status_of_servers_that_cannot_be_asked() -> None:
    """A greeting that is nested deeply, or an address that httpx does not accept, is no exception."""

    async def status(host: str) -> str:
        return (await control.presences([f"http://{host}/api/v2"]))[0].why_not

    assert "depth limit exceeded" in with_fixed_answer("200 OK", b"[" * 100_000, status)[0]
    assert asyncio.run(status("10.0.0.300:2000")) == "Invalid IPv4 address: '10.0.0.300'"
    assert asyncio.run(status("xn--n3h.invalid")) == "Codepoint U+2603 at position 1 of '\u2603' not allowed"


def test_request_ends_at_its_deadline_or_is_given_up() -> None:
    """A request ends with AnswerLostError at its deadline, or if it is given up before it is sent. The task that waits
    for it is not cancelled.
    """

    async def never(_: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async def use(client: HttpClient, url: URL) -> None:
        late = await posted(client, url, within_s=0.1)
        assert isinstance(late, AnswerLostError)
        assert late.end is JobEnd.TIMED_OUT
        assert str(late) == f"{url}: no answer within 0.1 s"
        sending = Sending(Body(segments=(b"{}",), size=2, max_run_s=0.0), 60.0, client)
        sending.give_up()
        with pytest.raises(AnswerLostError, match="neither the job nor checks were answered"):
            await client.post(url, sending, max_bytes=1)
        task = asyncio.current_task()
        assert task is not None
        assert not task.cancelling()

    with_server(never, use)


def test_caller_is_cancelled() -> None:
    """A cancelled caller gets CancelledError, also if the request is given up at the same moment."""

    async def never(_: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async def use(client: HttpClient, url: URL) -> None:
        sending = Sending(Body(segments=(b"{}",), size=2, max_run_s=0.0), 60.0, client)
        task = asyncio.create_task(client.post(url, sending, max_bytes=1))
        await asyncio.sleep(0.1)
        task.cancel()
        sending.give_up()
        with pytest.raises(asyncio.CancelledError):
            await task

    with_server(never, use)


def test_the_status_of_an_unknown_host() -> None:
    """The message has the resolver's reason, without a number. (No resolver looks for so long a name.)"""
    host = ".".join(["a" * 60] * 5)
    (found,) = asyncio.run(control.presences([f"http://{host}:2000/api/v2"]))
    assert re.fullmatch("no connection: [A-Z][^][]+", found.why_not), found.why_not
