"""Limits how long a server's connections may wait, how many may be open without a complete request, and the memory that
all requests use together.

A connection is in one of three states: it *waits* (new or answered, without the head of a next request), it *sends* (a
body), or it is *served*. A connection that waits is closed after a while, even if it sends a byte a second; for one
that sends, `server.py` has a deadline. A connection that waits costs a descriptor only; one that sends also has its
body in memory, which `HeldBytes` counts. The number of both is limited: if there is one too many, the one that has been
unserved for longest is closed. So clients that are slow on purpose can only displace each other.

A connection that is served is closed when its client disconnects. aiohttp sees this when it reads, and it stops reading
if more requests wait on the connection than it keeps. So for such connections we ask the kernel every second.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from ioi_eval.sandbox.serve.request import Refusal

_LOOK_S = 1.0
_ESTABLISHED = 1  # the first byte of TCP_INFO is the state. Source: Linux, net/tcp_states.h


def log_of_server() -> logging.Logger:
    """A log for aiohttp's server, without the stack trace that aiohttp logs for each request in invalid HTTP."""

    def is_wanted(record: logging.LogRecord) -> bool:
        return record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError)

    log = logging.Logger("ioi_eval.serve")
    log.parent = logging.getLogger()
    log.addFilter(is_wanted)
    return log


class Connections(web.Server):
    """aiohttp's server, with the connections that it has: `max_unserved` may wait or send at once, and none may wait
    for longer than `silent_s`. (aiohttp has an object for each connection, its `RequestHandler`.)"""

    def __init__(self, *arguments: Any, silent_s: float, max_unserved: int, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._silent_s = silent_s
        self._max_unserved = max_unserved
        self._unserved: dict[web.RequestHandler, None] = {}  # the longest unserved first
        self._timers: dict[web.RequestHandler, asyncio.TimerHandle] = {}

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        """A connection was opened."""
        super().connection_made(handler, transport)
        self._start_waiting(handler)

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        """A connection was closed."""
        self._forget(handler)
        super().connection_lost(handler, exc)

    @contextmanager
    def busy(self, connection: web.RequestHandler) -> Iterator[None]:
        """While a request is read and answered, its connection does not wait."""
        if timer := self._timers.get(connection):  # else it is closed
            timer.cancel()
        try:
            yield
        finally:
            if connection in self._timers:
                self._start_waiting(connection)

    def mark_served(self, connection: web.RequestHandler) -> None:
        """A complete request has arrived: until it is answered, its connection is not closed in favour of others."""
        self._unserved.pop(connection, None)
        if connection in self._timers:  # else it is closed
            self._look(connection)

    def _look(self, connection: web.RequestHandler) -> None:
        """Close a connection that is served if its client has disconnected; else look again later."""
        transport = connection.transport
        if isinstance(transport, asyncio.Transport) and not transport.is_reading() and _has_left(transport):
            self._close(connection)
        else:
            self._timers[connection] = asyncio.get_running_loop().call_later(_LOOK_S, self._look, connection)

    def _start_waiting(self, connection: web.RequestHandler) -> None:
        self._forget(connection)
        self._timers[connection] = asyncio.get_running_loop().call_later(self._silent_s, self._close, connection)
        self._unserved[connection] = None
        while len(self._unserved) > self._max_unserved:
            self._close(next(iter(self._unserved)))

    def _forget(self, connection: web.RequestHandler) -> None:
        self._unserved.pop(connection, None)
        if timer := self._timers.pop(connection, None):
            timer.cancel()

    def _close(self, connection: web.RequestHandler) -> None:
        self._forget(connection)
        if connection.transport is not None:
            connection.transport.abort()  # close() would wait until the client has read all data that was sent


def _has_left(transport: asyncio.Transport) -> bool:
    """Whether a client has disconnected, also if there is data of it that was not read."""
    state: bytes = transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)
    return state[0] != _ESTABLISHED


@dataclass(slots=True)
class HeldBytes:
    """The bytes that all requests of a server hold together, and the most that they may hold."""

    most: int
    size: int = 0


class RequestBytes:
    """The bytes that one request holds, until this context manager is left."""

    def __init__(self, total: HeldBytes) -> None:
        self._total = total
        self._size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.set_size(0)

    def grow(self, size: int) -> None:
        """Count more bytes that the request needs, or fewer if `size` is negative. Refuse it if all requests together
        hold too many; they are counted all the same."""
        self.set_size(self._size + size)
        if size > 0 and self._total.size > self._total.most:
            raise Refusal(503, "the queue is full: too many bytes are waiting")

    def set_size(self, size: int) -> None:
        """Count the request as holding this many bytes now. They are in memory already, so nothing is refused."""
        self._total.size += size - self._size
        self._size = size
