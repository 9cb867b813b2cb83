"""Sends requests to servers in segments, reads whole answers, and sorts the ways in which both can fail.

The only module of the client that uses aiohttp; it is imported when a cluster is entered.

Piston closes a connection that was idle for 5 s. We keep idle connections for less, but a request may still arrive just
as the server closes. If a connection that was used before breaks within a second, before the headers of an answer, this
is assumed: the request is sent once more, on another connection, and no failure is counted.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import errno
import socket
import weakref
from collections.abc import Mapping
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload
from yarl import URL

from ioi_eval.errors import SetupError
from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.sandbox.piston import answer
from ioi_eval.sandbox.piston.job_end import AnswerLostError, JobEnd
from ioi_eval.sandbox.piston.wire import Body

IDLE_CONNECTION_S = 4.0
"""Below Node's default of 5 s (recorded: `keepalive_idle`)."""

CONNECT_S = 3.0
"""Connecting takes milliseconds in a cluster; SYN is repeated after 1 s. A dead machine must be detected within 5 s."""

CONNECTING = 128
"""At most this many connections are made at once: a thousand would delay the event loop so much that they time out."""

_TCP_KEEPALIVE = ((socket.TCP_KEEPIDLE, 10), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3))
"""Servers send nothing until a job ends, so clients of a machine that lost its power keep waiting. Once it is up again
it answers checks, and only TCP keepalive shows that the old connections are lost. It starts after 10 s of silence."""

_STALE_S = 1.0  # a used connection that breaks sooner than this was closed while it was idle
_CLOSED_S = 1.0  # an answer on a closed connection would have been read after this
_SWEEP_S = 0.25
_LAG_S = 0.25  # a sweep that starts this late shows that the event loop lags
_LAGGING_FOR_S = 5.0  # for this long after that, timeouts say nothing about endpoints
_GZIPPED = {"Content-Encoding": "gzip"}
_PLAIN = "identity"  # without this word a server may compress its answers as it likes (RFC 9110, 12.5.3)


@fast_dataclass
class Reply:
    """A complete HTTP answer."""

    status: int
    body: bytes


class AnswerTooLongError(Exception):
    """The answer is longer than the job allows."""


class Sending(Payload):
    """A job that is being sent: its deadline, and its body in segments; segments on disk are read piece by piece.

    Args:
        body: the body.
        within_s: how long the answer may take.
        client: its connections are used.

    Attributes:
        lost: why no answer is expected any more; `None` while one is.
        timeout: ends the wait for the answer; set while there is one.
    """

    def __init__(self, body: Body, within_s: float, client: HttpClient) -> None:
        super().__init__(body, content_type="application/json")
        self.within_s = within_s
        self.deadline = client.time() + within_s
        self.lost: AnswerLostError | None = None
        self.timeout: asyncio.Timeout | None = None
        self.on_used_connection = False
        self._client = client
        self._transport: asyncio.WriteTransport | None = None
        self._closed_since: float | None = None
        self._is_connecting = False

    @property
    def size(self) -> int:
        """The Content-Length."""
        return int(self._value.size)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Not supported: the body is never in memory as a whole."""
        raise NotImplementedError

    async def wait_to_connect(self) -> None:
        """Wait until this request may make a connection."""
        await self._client.connecting.acquire()
        self._is_connecting = True

    def release_connecting(self) -> None:
        """The request has a connection, or needs none any more."""
        if self._is_connecting:
            self._is_connecting = False
            self._client.connecting.release()

    def give_up(self) -> None:
        """Abort the request: no answer is expected any more."""
        self._end(self.overdue())

    def overdue(self) -> AnswerLostError:
        """The error if its deadline has passed, or its endpoint fails checks."""
        return AnswerLostError(f"no answer within {self.within_s:.0f} s, or to checks", JobEnd.TIMED_OUT)

    def end_if_lost(self, now: float) -> None:
        """Abort the request if its connection has been closed for so long that its answer would have been read.

        If a server sends more than an answer, aiohttp may close the connection and never tell the next request on it.
        """
        if self._transport is None or not self._transport.is_closing():
            self._closed_since = None
        elif self._closed_since is None:
            self._closed_since = now
        elif now - self._closed_since >= _CLOSED_S:
            self._end(AnswerLostError("the connection was closed before the end of the answer", JobEnd.BROKEN))

    def _end(self, reason: AnswerLostError) -> None:
        if self.lost is None:
            self.lost = reason
            if self.timeout is not None and not self.timeout.expired():
                self.timeout.reschedule(self._client.time())

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Write all segments, waiting whenever the connection is full."""
        self.release_connecting()
        transport = self._transport = writer.transport
        self._closed_since = None
        if transport is not None:
            used = self._client.used_connections
            self.on_used_connection = transport in used
            if not self.on_used_connection:
                used.add(transport)
                _enable_keepalive(transport)
        for segment in self._value.segments:
            for piece in (segment,) if isinstance(segment, bytes) else segment:
                await writer.write(piece)


class HttpClient:
    """Connections to all servers of a cluster. An async context manager.

    Args:
        headers: sent with every request (`Authorization`, if a proxy needs it).
    """

    def __init__(self, headers: Mapping[str, str] | None = None) -> None:
        self._headers = {"Accept-Encoding": _PLAIN, **(headers or {})}
        self._logins: dict[URL, str] = {}
        self._session: aiohttp.ClientSession | None = None
        self._under_way: set[Sending] = set()
        self._sweep: asyncio.TimerHandle | None = None
        self._lagging_until = 0.0
        self._open_until: dict[URL, list[float]] = {}
        self.used_connections: weakref.WeakSet[asyncio.WriteTransport] = weakref.WeakSet()
        self.connecting = asyncio.Semaphore(CONNECTING)

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self.time = self._loop.time
        self._sweep = self._loop.call_later(_SWEEP_S, self._end_lost_requests)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_CONNECTION_S, ttl_dns_cache=300),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._headers,
            auto_decompress=False,
            skip_auto_headers=("User-Agent",),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._sweep is not None:
            self._sweep.cancel()
        if self._session is not None:
            await self._session.close()
            self._session = None

    def take_login(self, url: URL) -> URL:
        """The URL without its user and password, which are sent with every request to that server from now on.

        The name of an endpoint is in messages, which are stored with results and may be published.
        """
        if url.user is not None or url.password is not None:
            login = f"{url.user or ''}:{url.password or ''}".encode()
            self._logins[url.origin()] = f"Basic {base64.b64encode(login).decode()}"
        return url.with_user(None)

    async def get(self, url: URL, *, within_s: float) -> Reply:
        """Send a GET request, which costs the server nothing.

        Raises:
            AnswerLostError: no answer within that time, or a longer one than Piston sends.
        """
        try:
            async with asyncio.timeout(within_s):
                return await self._exchange("GET", url, None, max_bytes=16 << 20)
        except TimeoutError:
            end = JobEnd.CLIENT_LAGGED if self.is_lagging() else JobEnd.TIMED_OUT
            raise AnswerLostError(f"{url}: no answer within {within_s:g} s", end) from None
        except AnswerTooLongError:
            raise AnswerLostError(f"{url}: the answer is too long to be Piston's", JobEnd.BROKEN) from None

    async def post(self, url: URL, sending: Sending, *, max_bytes: int, gzipped: bool = False) -> Reply:
        """Send a job and wait for its answer.

        Raises:
            AnswerLostError: no complete answer arrived before the deadline.
            AnswerTooLongError: the answer is longer than `max_bytes`.
            SetupError: this machine has no descriptor left for the connection.
        """
        if sending.lost is not None:
            raise AnswerLostError(f"{url}: {sending.lost}", sending.lost.end)
        self._under_way.add(sending)
        open_until = self._open_until.setdefault(url, [])
        started = self.time()
        try:
            async with asyncio.timeout_at(sending.deadline) as sending.timeout:
                if not open_until or open_until.pop() < started:  # no open connection is left
                    await sending.wait_to_connect()
                reply = await self._post(url, sending, started, max_bytes=max_bytes, gzipped=gzipped)
        except TimeoutError:
            lost = sending.lost or sending.overdue()
            raise AnswerLostError(f"{url}: {lost}", lost.end) from None
        finally:
            sending.timeout = None
            sending.release_connecting()
            self._under_way.discard(sending)
        open_until.append(self.time() + IDLE_CONNECTION_S)
        return reply

    async def _post(self, url: URL, sending: Sending, started: float, *, max_bytes: int, gzipped: bool) -> Reply:
        try:
            return await self._exchange("POST", url, sending, max_bytes=max_bytes, gzipped=gzipped)
        except AnswerLostError as lost:
            is_stale = lost.before_answer and sending.on_used_connection and self.time() - started < _STALE_S
            if not is_stale:
                raise
        return await self._exchange("POST", url, sending, max_bytes=max_bytes, gzipped=gzipped)

    def is_lagging(self) -> bool:
        """Whether this process was late in the last seconds, so that its timeouts say nothing about endpoints."""
        return self.time() < self._lagging_until

    def _end_lost_requests(self) -> None:
        """End requests whose connections are closed, and note whether this process is late."""
        now, due = self.time(), self._sweep.when() if self._sweep is not None else self.time()
        if now - due > _LAG_S:
            self._lagging_until = now + _LAGGING_FOR_S
        self._sweep = self._loop.call_at(now + _SWEEP_S, self._end_lost_requests)
        for sending in tuple(self._under_way):
            sending.end_if_lost(now)

    async def _exchange(
        self, method: str, url: URL, sending: Sending | None, *, max_bytes: int, gzipped: bool = False
    ) -> Reply:
        assert self._session is not None, "the client is not entered"
        headers = {**_GZIPPED} if gzipped else {}
        if login := self._logins.get(url.origin()):
            headers["Authorization"] = login
        response: aiohttp.ClientResponse | None = None
        try:
            async with self._session.request(
                method, url, data=sending, headers=headers, allow_redirects=False
            ) as response:
                coding = response.headers.get("Content-Encoding", _PLAIN)
                if coding != _PLAIN:
                    raise AnswerLostError(
                        f"{url}: the answer is encoded ({coding[:20]!r}): no proxy in between may compress answers",
                        JobEnd.BROKEN,
                    )
                body = await _whole(response, max_bytes)
                if 300 <= response.status < 400 and "Location" in response.headers:
                    body = answer.redirection(response.headers["Location"])
                return Reply(status=response.status, body=body)
        except (aiohttp.ClientConnectorError, aiohttp.ServerTimeoutError, aiohttp.InvalidURL) as error:
            if isinstance(error, OSError) and error.errno in {errno.EMFILE, errno.ENFILE}:
                raise SetupError(f"no descriptor left for a connection to {url}: raise `ulimit -n`") from error
            late = isinstance(error, TimeoutError) and self.is_lagging()
            message = str(error).replace(" ssl:default", "")  # which is in the message for plain http too
            if isinstance(error, aiohttp.ClientConnectorCertificateError):
                message += f"; {answer.UNKNOWN_ISSUER}"
            raise AnswerLostError(
                f"{url}: no connection: {message}", JobEnd.CLIENT_LAGGED if late else JobEnd.NOT_SERVED
            ) from error
        except (aiohttp.ClientError, ConnectionError) as error:
            message = str(error) or type(error).__name__
            raise AnswerLostError(f"{url}: {message}", JobEnd.BROKEN, before_answer=response is None) from error


def _enable_keepalive(transport: asyncio.WriteTransport) -> None:
    connection = transport.get_extra_info("socket")
    with contextlib.suppress(OSError):  # it was closed at once; writing will fail
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in _TCP_KEEPALIVE:
            connection.setsockopt(socket.IPPROTO_TCP, option, value)


async def _whole(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    length = response.content_length
    if length is not None and length <= max_bytes:
        return await response.read()
    if length is not None:
        raise AnswerTooLongError
    parts, size = [], 0
    async for part in response.content.iter_any():
        parts.append(part)
        size += len(part)
        if size > max_bytes:
            raise AnswerTooLongError
    return b"".join(parts)
