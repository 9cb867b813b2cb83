"""Slots of one machine: how many jobs run at once, and which of them runs alone. (Boxes are counted by the same rules.)

First come, first served; a job that needs every slot waits at the head of the queue until all are free. Release
is synchronous, so that a cancellation cannot lose a slot on the way.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Slots:
    """A fixed number of numbered slots.

    Args:
        count: how many; at least 1.
    """

    def __init__(self, count: int) -> None:
        if count < 1:
            raise ValueError(f"a machine needs at least one slot, not {count}")
        self.count = count
        self._free = deque(range(count))
        self._waiting: deque[tuple[int, asyncio.Future[tuple[int, ...]]]] = deque()

    @asynccontextmanager
    async def take(self, *, alone: bool = False) -> AsyncIterator[int]:
        """Hold one slot, or all of them; gives the number of the (first) slot."""
        held = await self._acquire(self.count if alone else 1)
        try:
            yield held[0]
        finally:
            self._release(held)

    async def _acquire(self, need: int) -> tuple[int, ...]:
        future: asyncio.Future[tuple[int, ...]] = asyncio.get_running_loop().create_future()
        self._waiting.append((need, future))
        self._wake()
        try:
            return await future
        except asyncio.CancelledError:
            if not future.cancelled():  # the slots were handed over, and nobody will use them
                self._release(future.result())
            else:
                with contextlib.suppress(ValueError):  # a release in between may have passed over it already
                    self._waiting.remove((need, future))
                self._wake()
            raise

    def _release(self, held: tuple[int, ...]) -> None:
        self._free.extend(held)
        self._wake()

    def _wake(self) -> None:
        while self._waiting and len(self._free) >= self._waiting[0][0]:
            need, future = self._waiting.popleft()
            if not future.done():
                future.set_result(tuple(self._free.popleft() for _ in range(need)))
