"""Sends requests to servers in segments, and reads whole answers. Its errors say what a failure means for the endpoint.

The only module of the client that uses aiohttp.

Piston closes a connection that was idle for 5 s. We keep idle connections for less, but a request may still arrive just
as the server closes its connection. We assume this if a connection that was used before breaks within a second, and no
headers of an answer have arrived: the request is sent once more, on another connection, and no failure is counted.

All deadlines are measured on the client's clock (`client_clock.py`), which does not advance while this process is late.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import errno
import socket
import weakref
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Self

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from aiohttp.connector import Connection
from aiohttp.payload import Payload
from aiohttp.tracing import Trace
from yarl import URL

from ioi_eval.errors import InputError, SetupError
from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.sandbox.piston import answer
from ioi_eval.sandbox.piston.client_clock import SWEEP_S, ClientClock
from ioi_eval.sandbox.piston.job_end import AnswerLostError, JobEnd
from ioi_eval.sandbox.piston.wire import Body

IDLE_CONNECTION_S = 4.0
"""Below Node's default of 5 s (recorded: `keepalive_idle`)."""

CONNECT_S = 3.0
"""Connecting takes milliseconds in a cluster; SYN is repeated after 1 s. A job that is sent to a dead machine must soon
go elsewhere."""

_TCP_KEEPALIVE = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
)
"""Servers send nothing until a job ends, so clients of a machine that lost its power keep waiting. Once it is up again
it answers checks, and only TCP keepalive shows that the old connections are lost. It starts after 10 s of silence."""

_BEGINNING = 4096  # of an answer that is too long: enough to see whether it is Piston's
_STALE_S = 1.0  # a used connection that breaks sooner than this was closed while it was idle
_GZIPPED = {"Content-Encoding": "gzip"}
_ANNOUNCED = {"Expect": "100-continue"}
_PLAIN = "identity"  # without this word a server may compress its answers as it likes (RFC 9110, 12.5.3)


@fast_dataclass
class Reply:
    """An HTTP answer: complete, or, if it is too long, with only the beginning of its body (`is_cut`). `asked_wait_s`:
    how long the server asks its clients to wait before the next request."""

    status: int
    body: bytes
    is_cut: bool = False
    asked_wait_s: float = 0.0


class Wait:
    """The wait for an answer. `lost`: why none is expected any more; `timeout` ends the wait."""

    def __init__(self, within_s: float, client: HttpClient) -> None:
        self.lost: AnswerLostError | None = None
        self.timeout: asyncio.Timeout | None = None
        self._client = client
        self._within_s = within_s
        self._deadline = client.time() + within_s

    def end_if_lost(self, now: float) -> None:
        """End the wait if its deadline has passed."""
        if now >= self._deadline:
            self.end(AnswerLostError(f"no answer within {self._within_s:g} s", JobEnd.TIMED_OUT))

    def end(self, reason: AnswerLostError) -> None:
        """End the wait: no answer is expected any more."""
        if self.lost is None:
            self.lost = reason
            if self.timeout is not None and not self.timeout.expired():
                self.timeout.reschedule(0.0)


class Sending(Wait, Payload):
    """A job that is being sent, and the wait for its answer. Segments of its body on disk are read piece by piece.
    `unreadable`: why one could not be read, which aiohttp takes for a failure of the connection."""

    def __init__(self, body: Body, within_s: float, client: HttpClient) -> None:
        Wait.__init__(self, within_s, client)
        Payload.__init__(self, body, content_type="application/json")
        self.on_used_connection = False
        self.unreadable: SetupError | None = None
        self.connecting_since: float | None = None
        self.receiving: Connection | None = None
        self._overdue: tuple[float, Callable[[], None]] | None = None

    def call_if_overdue(self, after_s: float, call: Callable[[], None]) -> None:
        """Call this, once, if no answer has come after so many seconds. The wait goes on."""
        self._overdue = self._client.time() + after_s, call

    @property
    def size(self) -> int:
        """The Content-Length."""
        return int(self._value.size)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Not supported: the body is never in memory as a whole."""
        raise NotImplementedError

    def give_up(self) -> None:
        """Abort the request, as its endpoint fails checks."""
        self.end(AnswerLostError("neither the job nor checks were answered", JobEnd.TIMED_OUT))

    def end_if_lost(self, now: float) -> None:
        """End the wait at its deadline, or if no connection is made, or the answer is damaged in its middle. Before
        that, report that it is overdue.

        (If aiohttp cannot read a later part of a body, such as the size of a chunk, it closes the connection, and would
        let the reader wait for ever.)
        """
        super().end_if_lost(now)
        protocol = None if self.receiving is None else self.receiving.protocol
        if protocol is not None and protocol.exception() is not None:
            self.end(AnswerLostError("the answer is not HTTP", JobEnd.BROKEN))
        if self.connecting_since is not None and now - self.connecting_since >= CONNECT_S:
            self.end(AnswerLostError(f"no connection within {CONNECT_S:g} s", JobEnd.NOT_SERVED))
        if self._overdue is not None and now >= self._overdue[0] and self.lost is None:
            (_, call), self._overdue = self._overdue, None
            call()

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Write all segments, waiting whenever the connection is full."""
        self.connecting_since = None
        transport = writer.transport
        self.on_used_connection = transport is not None and self._client.connections.requests.get(transport, 0) > 1
        try:
            for segment in self._value.segments:
                for piece in (segment,) if isinstance(segment, bytes) else segment:
                    await writer.write(piece)
        except SetupError as error:
            self.unreadable = error
            raise


class _Announced(Sending):
    """A request of which only the headers are sent."""

    async def write(self, writer: AbstractStreamWriter) -> None:  # noqa: ARG002 - a parameter of aiohttp's method
        """Abort the request, as the server expects its body now."""
        raise ConnectionAbortedError


class Connector(aiohttp.TCPConnector):
    """Connections to all servers, and for how many requests each open one was used.

    If a server sends something after its answer, such as the same answer again, aiohttp takes it for the answer to the
    next request on that connection, or waits for the rest of it for ever. So such a connection is not used again.
    """

    def __init__(self) -> None:
        super().__init__(limit=0, keepalive_timeout=IDLE_CONNECTION_S, ttl_dns_cache=300)
        self.requests: weakref.WeakKeyDictionary[asyncio.BaseTransport, int] = weakref.WeakKeyDictionary()

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - a parameter of aiohttp's method
    ) -> Connection:
        """A connection for a request."""
        while True:
            connection = await super().connect(req, traces, timeout)
            transport, protocol = connection.transport, connection.protocol
            if transport is None or protocol is None:  # closed already: sending will fail
                return connection
            before = self.requests.get(transport, 0)
            if not (before and protocol.should_close):
                break
            connection.close()
        self.requests[transport] = before + 1
        opened = transport.get_extra_info("socket")
        with contextlib.suppress(OSError):  # it was closed at once; writing will fail
            for level, option, value in _TCP_KEEPALIVE if not before else ():
                opened.setsockopt(level, option, value)
        return connection


class HttpClient:
    """Connections to all servers of a cluster. An async context manager. The headers are sent with every request
    (`Authorization`, if a proxy needs it)."""

    def __init__(self, headers: Mapping[str, str] | None = None) -> None:
        self._headers = {"Accept-Encoding": _PLAIN, **(headers or {})}
        for name, value in self._headers.items():
            if not isinstance(value, str) or not f"{name}{value}".isprintable():
                raise InputError(f"the header {name!r} is not one line of text; does a line break of a file end it?")
        self._logins: dict[URL, str] = {}  # by the base URL of the server's API
        self._session: aiohttp.ClientSession | None = None
        self._under_way: set[Wait] = set()

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._clock = ClientClock(self._loop.time())
        self._next_sweep = self._loop.call_later(SWEEP_S, self._sweep)
        self.connections = Connector()
        self._session = aiohttp.ClientSession(
            connector=self.connections,
            timeout=aiohttp.ClientTimeout(total=None),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._headers,
            auto_decompress=False,
            skip_auto_headers=("User-Agent",),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self._next_sweep.cancel()
        session, self._session = self._session, None  # first, as a job whose connection breaks is sent again at once
        if session is not None:
            await session.close()

    @property
    def is_open(self) -> bool:
        """Whether it is entered, and was not left."""
        return self._session is not None

    def take_login(self, url: URL) -> URL:
        """The URL without its user and password, which are sent with every request below it from now on: the name of an
        endpoint is in messages, which may be published."""
        base = url.with_user(None)
        if url.user is not None or url.password is not None:
            login = f"{url.user or ''}:{url.password or ''}".encode()
            self._logins[base] = f"Basic {base64.b64encode(login).decode()}"
        return base

    async def get(self, url: URL, *, within_s: float) -> Reply:
        """Send a GET request, which costs the server nothing; AnswerLostError if no answer comes in time, or one that
        is too long."""
        reply = await self._answer(url, Wait(within_s, self), self._exchange("GET", url, None, max_bytes=16 << 20))
        if reply.is_cut:
            raise AnswerLostError(f"{url}: the answer is too long to be Piston's", JobEnd.BROKEN)
        return reply

    async def is_too_large(self, url: URL, size: int, *, within_s: float) -> bool:
        """Whether a proxy refuses requests of this size. One that does says so before the body is sent.

        Piston, and proxies without a limit, answer "100 Continue", or nothing. Source: RFC 9110, 10.1.1.
        """
        announced = _Announced(Body(segments=(), size=size, max_run_s=0.0), within_s, self)
        exchange = self._exchange("POST", url, announced, max_bytes=_BEGINNING, headers=_ANNOUNCED)
        with contextlib.suppress(AnswerLostError):
            return (await self._answer(url, announced, exchange)).status == 413
        return False

    async def post(self, url: URL, sending: Sending, *, max_bytes: int, gzipped: bool = False) -> Reply:
        """Send a job and wait for its answer, which is cut if it is longer than `max_bytes`.

        Raises:
            AnswerLostError: no answer arrived.
            SetupError: this machine has no descriptor left for the connection, or cannot read a part of the job.
        """
        if sending.lost is not None:
            raise AnswerLostError(f"{url}: {sending.lost}", sending.lost.end)
        headers = _GZIPPED if gzipped else {}
        return await self._answer(url, sending, self._post(url, sending, max_bytes=max_bytes, headers=headers))

    async def _post(self, url: URL, sending: Sending, *, max_bytes: int, headers: Mapping[str, str]) -> Reply:
        started = sending.connecting_since = self.time()
        try:
            return await self._exchange("POST", url, sending, max_bytes=max_bytes, headers=headers)
        except AnswerLostError as lost:
            is_stale = lost.before_answer and sending.on_used_connection and self.time() - started < _STALE_S
            if not is_stale:
                raise
        sending.connecting_since = self.time()
        return await self._exchange("POST", url, sending, max_bytes=max_bytes, headers=headers)

    async def _answer(self, url: URL, wait: Wait, exchange: Awaitable[Reply]) -> Reply:
        """The answer, if the wait for it does not end before. If it is lost, the server's name is looked up again."""
        self._under_way.add(wait)
        try:
            async with asyncio.timeout(None) as wait.timeout:
                return await exchange
        except (TimeoutError, AnswerLostError) as error:  # a lasting variable for it would keep the job in memory
            self.connections.clear_dns_cache(url.raw_host, url.port)
            if isinstance(error, AnswerLostError):
                raise
            assert wait.lost is not None, "only `Wait.end` ends the wait"
            raise AnswerLostError(f"{url}: {wait.lost}", wait.lost.end) from None
        finally:
            wait.timeout = None
            self._under_way.discard(wait)

    def time(self) -> float:
        """The time on the client's clock."""
        return self._clock.time(self._loop.time())

    def _sweep(self) -> None:
        now = self._clock.sweep(self._loop.time())
        self._next_sweep = self._loop.call_later(SWEEP_S, self._sweep)
        for wait in tuple(self._under_way):
            wait.end_if_lost(now)

    async def _exchange(
        self, method: str, url: URL, sending: Sending | None, *, max_bytes: int, headers: Mapping[str, str] = {}
    ) -> Reply:
        if self._session is None:
            raise SetupError("the cluster was left while a job ran: keep `async with PistonCluster(…)` open until then")
        if login := self._logins.get(url.parent):
            headers = {**headers, "Authorization": login}
        response: aiohttp.ClientResponse | None = None
        try:
            request = self._session.request(method, url, data=sending, headers=headers, allow_redirects=False)
            async with request as response:
                if sending is not None:
                    sending.receiving = response.connection
                if (coding := response.headers.get("Content-Encoding", _PLAIN)) != _PLAIN:
                    reason = f"the answer is encoded ({coding[:20]!r}): no proxy in between may compress answers"
                    raise AnswerLostError(f"{url}: {reason}", JobEnd.BROKEN)
                body, is_cut = await _body(response, max_bytes)
                if 300 <= response.status < 400 and "Location" in response.headers:
                    body = answer.redirection(response.headers["Location"])
                wait_s = answer.asked_wait_s(*(response.headers.get(name, "") for name in ("Retry-After", "Date")))
                return Reply(status=response.status, body=body, is_cut=is_cut, asked_wait_s=wait_s)
        except (aiohttp.ClientConnectorError, aiohttp.InvalidURL) as error:
            if isinstance(error, OSError) and error.errno in {errno.EMFILE, errno.ENFILE}:
                raise SetupError(f"no file descriptor is left for a connection to {url}: raise `ulimit -n`") from error
            message = str(error).replace(" ssl:default", "")  # which is in the message for plain http too
            message += answer.tls_advice(message)
            raise AnswerLostError(f"{url}: no connection: {message}", JobEnd.NOT_SERVED) from error
        except (aiohttp.ClientError, ConnectionError) as error:
            if sending is not None and sending.unreadable is not None:
                raise sending.unreadable from error
            message = str(error) or type(error).__name__
            if isinstance(error, aiohttp.ClientResponseError):  # whose text begins with a status that nobody sent
                message = f"the answer is not HTTP: {' '.join(error.message.split())}"
            elif isinstance(error, aiohttp.ServerDisconnectedError):  # whose text may be a dump of an answer's headers
                message = "the server closed the connection before the answer"
            elif isinstance(error, aiohttp.ClientPayloadError):  # whose text has a status that nobody sent
                message = "the answer ended before its end, or was damaged"
            raise AnswerLostError(f"{url}: {message}", JobEnd.BROKEN, before_answer=response is None) from error


@cache  # reading a URL for each job took 11 % of the client's CPU time
def job_url(worker: str) -> URL:
    """The address for jobs of a worker, whose name is its URL."""
    return URL(worker) / "execute"


async def _body(response: aiohttp.ClientResponse, max_bytes: int) -> tuple[bytes, bool]:
    """The body, and whether only its beginning was read because it is longer than that.

    Only bytes that have arrived count: a wrong `Content-Length` must not make an answer one that is over the limit.
    """
    length = response.content_length
    if length is not None and length <= max_bytes:
        return await response.read(), False
    parts, size = [], 0
    async for part in response.content.iter_any():
        parts.append(part)
        size += len(part)
        if size > max_bytes:
            return b"".join(parts)[:_BEGINNING], True
    return b"".join(parts), False
