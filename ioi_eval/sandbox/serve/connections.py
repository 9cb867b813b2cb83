"""Limits how long a server's connections may wait, how many may be open without a complete request, and the memory that
all requests use together.

A connection is in one of three states: it *waits* (new or answered, without the head of a next request), it *sends* (a
body), or it is *served*. A connection that waits is closed after a while, even if it sends a byte a second; for one
that sends, `server.py` has a deadline. A connection that waits costs a descriptor only; one that sends also has its
body in memory, which `HeldBytes` counts. The number of both is limited: if there is one too many, the one that has been
unserved for longest is closed. So clients that are slow on purpose can only displace each other.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

from ioi_eval.sandbox.serve.request import Refusal


def errors_of_ours() -> logging.Logger:
    """A log for aiohttp's server without the stack traces that aiohttp would log for each request in invalid HTTP."""
    from aiohttp.http_exceptions import HttpProcessingError

    def is_ours(record: logging.LogRecord) -> bool:
        return record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError)

    log = logging.Logger("ioi_eval.serve")
    log.parent = logging.getLogger()
    log.addFilter(is_ours)
    return log


class Connections:
    """The connections of one server, of which `max_unserved` may wait or send at once."""

    def __init__(self, *, silent_s: float, max_unserved: int) -> None:
        self._silent_s = silent_s
        self._max_unserved = max_unserved
        self._unserved: dict[asyncio.BaseTransport, None] = {}  # the longest unserved first
        self._timers: dict[asyncio.BaseTransport, asyncio.TimerHandle] = {}

    def watched(self, make: Callable[[], asyncio.Protocol]) -> Callable[[], asyncio.Protocol]:
        """A factory of protocols whose connections are watched."""
        return lambda: _Watched(make(), self)

    @contextmanager
    def busy(self, transport: asyncio.BaseTransport | None) -> Iterator[None]:
        """While a request is read and answered, its connection does not wait."""
        if transport is None or transport not in self._timers:  # it is closed
            yield
            return
        self._timers[transport].cancel()
        try:
            yield
        finally:
            if transport in self._timers:
                self.start_waiting(transport)

    def mark_served(self, transport: asyncio.BaseTransport | None) -> None:
        """A complete request has arrived: until it is answered, its connection is not closed in favour of others."""
        if transport is not None:
            self._unserved.pop(transport, None)

    def start_waiting(self, transport: asyncio.BaseTransport) -> None:
        """From now on a connection waits for a request."""
        loop = asyncio.get_running_loop()
        if transport in self._timers:
            self._timers[transport].cancel()
        self._timers[transport] = loop.call_later(self._silent_s, self._close, transport)
        self._unserved.pop(transport, None)
        self._unserved[transport] = None
        while len(self._unserved) > self._max_unserved:
            self._close(next(iter(self._unserved)))

    def forget(self, transport: asyncio.BaseTransport) -> None:
        """A connection is closed."""
        self._unserved.pop(transport, None)
        if timer := self._timers.pop(transport, None):
            timer.cancel()

    def _close(self, transport: asyncio.BaseTransport) -> None:
        self.forget(transport)
        if isinstance(transport, asyncio.Transport):
            transport.abort()  # close() would wait until the client has read all data that was sent


class _Watched(asyncio.Protocol):
    """Passes everything on, and reports to `Connections` when its connection begins and ends."""

    def __init__(self, inner: asyncio.Protocol, connections: Connections) -> None:
        self._inner = inner
        self._connections = connections
        self._transport: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._connections.start_waiting(transport)
        self._inner.connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._connections.forget(self._transport)
        self._inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()


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
            raise Refusal(503, {"message": "the queue is full: too many bytes are waiting"})

    def set_size(self, size: int) -> None:
        """Count the request as holding this many bytes now. They are in memory already, so nothing is refused."""
        self._total.size += size - self._size
        self._size = size
