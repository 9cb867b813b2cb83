"""Slots of one machine: how many jobs run at once, and which of them runs alone. (Boxes are counted by the same rules.)

First come, first served, but for jobs that need the machine to themselves. All slots must be free for these, so while
the last of the other jobs ends most of the machine is idle: that is paid once for several of them. Those that wait let
a few others go first, so that more come to wait; then they run one after the other. Where nobody else waits they wait
for nobody. Release is synchronous, so that a cancellation cannot lose a slot on the way.

Those who wait may do so in several threads, each with an event loop of its own, as training frameworks call rewards:
the books are kept under a mutex, and who gets a slot is told so in its own loop. With one slot this is a lock for tasks
of any loop (`asyncio.Lock` is for those of one). In a process that was forked nobody holds any: what its parent's
threads held there, they hold here no more.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

OVERTAKEN = 4
"""So many jobs for each slot may overtake those that wait to be alone: with jobs of 2 s these wait 8 s, and where every
tenth program is late a few of them share the time in which the machine becomes quiet."""


@dataclass(slots=True, eq=False)
class _Waiter:
    """One that waits.

    Args:
        turn: is done when it has its slots, in its own event loop.
        held: the slots, from when they are its own.
    """

    turn: asyncio.Future[None]
    held: tuple[int, ...] = ()


_all: weakref.WeakSet[Slots] = weakref.WeakSet()


def _begin_all_anew() -> None:
    for slots in tuple(_all):
        slots.begin_anew()


os.register_at_fork(after_in_child=_begin_all_anew)


class Slots:
    """A fixed number of numbered slots.

    Args:
        count: how many; at least 1.
    """

    def __init__(self, count: int) -> None:
        if count < 1:
            raise ValueError(f"a machine needs at least one slot, not {count}")
        self.count = count
        self.begin_anew()
        _all.add(self)

    def begin_anew(self) -> None:
        """Forget who held what: nobody of them is in this process."""
        self._mutex = threading.Lock()
        self._free = deque(range(self.count))
        self._waiting: deque[_Waiter] = deque()
        self._waiting_alone: deque[_Waiter] = deque()
        self._overtaken = 0  # how many were let go first since somebody waits to be alone
        self._is_quiet = False  # whether those that wait to be alone have their turns

    @property
    def taken(self) -> int:
        """How many are held now."""
        return self.count - len(self._free)

    @asynccontextmanager
    async def take(self, *, alone: bool = False) -> AsyncIterator[int]:
        """Hold one slot, or all of them; gives the number of the (first) slot."""
        held = await self._acquire(self._waiting_alone if alone else self._waiting)
        try:
            yield held[0]
        finally:
            self._release(held)

    async def _acquire(self, waiting: deque[_Waiter]) -> tuple[int, ...]:
        waiter = _Waiter(asyncio.get_running_loop().create_future())
        with self._mutex:
            waiting.append(waiter)
        self._wake()
        try:
            await waiter.turn
        except asyncio.CancelledError:
            with self._mutex:
                if not waiter.held:
                    waiting.remove(waiter)
            self._release(waiter.held)  # they were handed over, and nobody will use them
            raise
        return waiter.held

    def _release(self, held: tuple[int, ...]) -> None:
        with self._mutex:
            self._free.extend(held)
        self._wake()

    def _wake(self) -> None:
        """Give what is free to those who wait, and tell each in its own loop."""
        while True:
            with self._mutex:
                waiter = self._next()
            if waiter is None:
                return
            try:
                self._tell(waiter)
            except RuntimeError:  # its loop was closed while it waited: nobody will use them
                with self._mutex:
                    self._free.extend(waiter.held)

    def _next(self) -> _Waiter | None:
        """The next that has its slots now; `None` if nobody has. Called under the mutex."""
        if not self._waiting_alone:
            self._overtaken = 0
            self._is_quiet = self._is_quiet and not self._free  # one that is alone still has all of them
        is_for_all = self._is_turn_of_all()
        need = self.count if is_for_all else 1
        waiting = self._waiting_alone if is_for_all else self._waiting
        if not waiting or len(self._free) < need:
            return None
        self._is_quiet = is_for_all
        self._overtaken += not is_for_all and bool(self._waiting_alone)
        waiter = waiting.popleft()
        waiter.held = tuple(self._free.popleft() for _ in range(need))
        return waiter

    def _is_turn_of_all(self) -> bool:
        """Whether the next is one that waits to be alone."""
        due = self._is_quiet or not self._waiting or self._overtaken >= OVERTAKEN * self.count
        return bool(self._waiting_alone) and due

    @staticmethod
    def _tell(waiter: _Waiter) -> None:
        loop = waiter.turn.get_loop()
        try:
            here = asyncio.get_running_loop() is loop
        except RuntimeError:
            here = False
        if here:
            _settle(waiter.turn)
        else:
            loop.call_soon_threadsafe(_settle, waiter.turn)


def _settle(turn: asyncio.Future[None]) -> None:
    """Its turn has come, unless it was cancelled: then it gives back what it holds by itself."""
    if not turn.done():
        turn.set_result(None)
