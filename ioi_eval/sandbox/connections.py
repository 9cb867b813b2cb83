"""How long a server's clients may take, and how many of them may do nothing.

A connection is one of three: it *waits* (for the head of a request: a new one, or one that was answered), it *sends*
(a body), or it is *served*. One that waits is closed after a while, whether it sends a byte a second or none; while it
sends, `server.py` keeps the time. Those that are not served take a descriptor each and nothing else, and there are so
many of them at most: one more, and the one that has been so for longest is closed. So those who are slow by intention
can only push out each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Connections:
    """The connections of one server.

    Args:
        silent_s: how long one may wait.
        most_unserved: how many may wait or send at once.
    """

    def __init__(self, *, silent_s: float, most_unserved: int) -> None:
        self._silent_s = silent_s
        self._most_unserved = most_unserved
        self._unserved: dict[asyncio.BaseTransport, None] = {}  # the longest first
        self._timers: dict[asyncio.BaseTransport, asyncio.TimerHandle] = {}

    def watched(self, make: Callable[[], asyncio.Protocol]) -> Callable[[], asyncio.Protocol]:
        """A maker of protocols, each with its connection watched.

        Args:
            make: makes what speaks HTTP.
        """
        return lambda: _Watched(make(), self)

    @contextmanager
    def reading(self, transport: asyncio.BaseTransport | None) -> Iterator[None]:
        """For as long as a request is read and answered, its connection does not wait."""
        if transport is None or transport not in self._timers:  # it has gone
            yield
            return
        self._timers[transport].cancel()
        try:
            yield
        finally:
            if transport in self._timers:
                self.waits(transport)

    def is_served(self, transport: asyncio.BaseTransport | None) -> None:
        """A whole request has come: until it is answered, its connection is not closed for others."""
        if transport is not None:
            self._unserved.pop(transport, None)

    def waits(self, transport: asyncio.BaseTransport) -> None:
        """From now on a connection waits for a request."""
        loop = asyncio.get_running_loop()
        if transport in self._timers:
            self._timers[transport].cancel()
        self._timers[transport] = loop.call_later(self._silent_s, self._close, transport)
        self._unserved.pop(transport, None)
        self._unserved[transport] = None
        while len(self._unserved) > self._most_unserved:
            self._close(next(iter(self._unserved)))

    def has_gone(self, transport: asyncio.BaseTransport) -> None:
        """It is closed."""
        self._unserved.pop(transport, None)
        if timer := self._timers.pop(transport, None):
            timer.cancel()

    def _close(self, transport: asyncio.BaseTransport) -> None:
        self.has_gone(transport)
        if isinstance(transport, asyncio.Transport):
            transport.abort()  # close() would wait until the client has read what it was sent


class _Watched(asyncio.Protocol):
    """Passes everything on, and says when its connection begins and ends."""

    def __init__(self, inner: asyncio.Protocol, connections: Connections) -> None:
        self._inner = inner
        self._connections = connections
        self._transport: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._connections.waits(transport)
        self._inner.connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._connections.has_gone(self._transport)
        self._inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()
