"""A proxy between a client and a server that counts the transferred bytes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class CountingProxy:
    """Counts of the transferred bytes.

    Attributes:
        url: the proxy's URL.
        up, down: bytes to the server and from it.
    """

    def __init__(self, upstream: str) -> None:
        self.url = ""
        self.up = self.down = 0
        self._host, _, port = upstream.removeprefix("http://").rstrip("/").partition(":")
        self._port = int(port)

    def taken(self) -> tuple[int, int]:
        """The bytes up and down since the last call."""
        counts = self.up, self.down
        self.up = self.down = 0
        return counts

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        to_server = await asyncio.open_connection(self._host, self._port)
        with contextlib.suppress(asyncio.CancelledError):  # the test has ended
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pipe(reader, to_server[1], is_up=True))
                group.create_task(self._pipe(to_server[0], writer, is_up=False))

    async def _pipe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_up: bool) -> None:
        with contextlib.suppress(ConnectionError):
            while piece := await reader.read(1 << 20):
                if is_up:
                    self.up += len(piece)
                else:
                    self.down += len(piece)
                writer.write(piece)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def counting_proxy(upstream: str) -> AsyncIterator[CountingProxy]:
    """Listen until the block ends."""
    proxy = CountingProxy(upstream)
    listening = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=1 << 20)
    proxy.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        listening.close()
