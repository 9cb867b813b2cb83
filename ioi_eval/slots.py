"""Slots of one machine: how many jobs run at once, and which of them runs alone. (Boxes are counted by the same rules.)

First come, first served, except for jobs that must run alone. These need all slots, so most of the machine is idle
until the last other job ends. To have this idle time once for several of them, jobs that wait to run alone let a few
other jobs overtake; then they run one after the other. If no other job waits, nothing overtakes them. (If a holder of a
slot takes minutes, they wait for it, and no other job waits for them: `delays_alone`.) Release is synchronous, so that
a cancellation cannot lose a slot.

The waiting tasks may be in several threads, each with its own event loop, as training frameworks call rewards: a mutex
protects the state, and a task that gets a slot is woken in its own loop. If a loop was closed while a task of it held a
slot, that slot is freed by the next task that asks for one or releases one, because a task of a closed loop never
continues. In a forked process all slots are free: those that threads of the parent held do not count there.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
ValueT = TypeVar("ValueT")

MAX_OVERTAKING_PER_SLOT = 4
"""This many jobs for each slot may overtake those that wait to run alone. With jobs of 2 s these wait 8 s; and if every
tenth program is late, a few of them share the time until the machine is idle."""


@dataclass(slots=True, eq=False)
class _Waiter:
    """A task that waits, until `turn` is done in its event loop, and then has slots."""

    turn: asyncio.Future[None]
    delays_alone: bool = False
    held: tuple[int, ...] = ()


_all: weakref.WeakSet[Slots] = weakref.WeakSet()


def _reset_all_after_fork() -> None:
    for slots in tuple(_all):
        slots.reset_after_fork()


os.register_at_fork(after_in_child=_reset_all_after_fork)


class Slots:
    """A fixed number of numbered slots; at least 1."""

    def __init__(self, count: int) -> None:
        if count < 1:
            raise ValueError(f"a machine needs at least one slot, not {count}")
        self.count = count
        self.reset_after_fork()
        _all.add(self)

    def reset_after_fork(self) -> None:
        """Make all slots free; the holders are in the parent process."""
        self._mutex = threading.RLock()  # the collector may end a holder's coroutine in a thread that has the mutex
        self._free = deque(range(self.count))
        self._waiting: deque[_Waiter] = deque()
        self._waiting_alone: deque[_Waiter] = deque()
        self._holders: dict[_Waiter, None] = {}
        self._ended: deque[_Waiter] = deque()  # holders whose slots are to be freed; append is atomic
        self._is_waking = False
        self._overtaken = 0  # how many jobs have overtaken those that wait to run alone
        # whether the last job that got a slot runs alone, or did: then others of this kind come next
        self._last_ran_alone = False

    @property
    def taken(self) -> int:
        """How many are held now."""
        return self.count - len(self._free)

    @asynccontextmanager
    async def take(self, *, alone: bool = False, delays_alone: bool = False) -> AsyncIterator[int]:
        """Hold one slot, or all of them (`alone`); yields the number of the (first) slot. With `delays_alone` it is
        held for long, so until it is free any number of other jobs may overtake those that must run alone."""
        holder = await self._acquire(self._waiting_alone if alone else self._waiting, delays_alone=delays_alone)
        try:
            yield holder.held[0]
        finally:
            self._ended.append(holder)
            self._wake()

    async def _acquire(self, waiting: deque[_Waiter], *, delays_alone: bool) -> _Waiter:
        waiter = _Waiter(asyncio.get_running_loop().create_future(), delays_alone)
        with self._mutex:
            waiting.append(waiter)
        self._wake()
        try:
            await waiter.turn
        except asyncio.CancelledError:
            with self._mutex:
                if waiter in waiting:
                    waiting.remove(waiter)
            self._ended.append(waiter)
            self._wake()
            raise
        return waiter

    def _wake(self) -> None:
        """Give free slots to waiting tasks, and wake each in its own loop.

        If the collector ends a holder's coroutine in the midst of this, in the same thread, that holder is only in
        `_ended` afterwards, and the loop here finds it.
        """
        while True:
            with self._mutex:
                if self._is_waking:
                    return
                self._is_waking = True
                try:
                    waiter = self._next()
                finally:
                    self._is_waking = False
            if waiter is not None:
                try:
                    self._wake_in_its_loop(waiter)
                except RuntimeError:  # its loop was closed while it waited
                    self._ended.append(waiter)
            elif not self._ended:
                return

    def _next(self) -> _Waiter | None:
        """Assign slots to the next waiting task; `None` if there is none, or too few are free. Needs the mutex."""
        self._ended.extend(holder for holder in [*self._holders] if holder.turn.get_loop().is_closed())
        while self._ended:
            holder = self._ended.popleft()
            if holder in self._holders:  # not freed already, nor held before a fork
                del self._holders[holder]
                self._free.extend(holder.held)
        if not self._waiting_alone:
            self._overtaken = 0
        is_alone = self._alone_is_due()
        need = self.count if is_alone else 1
        waiting = self._waiting_alone if is_alone else self._waiting
        if not waiting or len(self._free) < need:
            return None
        self._last_ran_alone = is_alone
        self._overtaken += not is_alone and bool(self._waiting_alone)
        waiter = waiting.popleft()
        waiter.held = tuple(self._free.popleft() for _ in range(need))
        self._holders[waiter] = None
        return waiter

    def _alone_is_due(self) -> bool:
        if not self._waiting_alone or any(holder.delays_alone for holder in self._holders):
            return False
        return self._last_ran_alone or not self._waiting or self._overtaken >= MAX_OVERTAKING_PER_SLOT * self.count

    @staticmethod
    def _wake_in_its_loop(waiter: _Waiter) -> None:
        loop = waiter.turn.get_loop()
        try:
            is_current = asyncio.get_running_loop() is loop
        except RuntimeError:
            is_current = False
        if is_current:
            _settle(waiter.turn)
        else:
            loop.call_soon_threadsafe(_settle, waiter.turn)


class TaskLock(Slots):
    """A lock for the tasks of all threads: `async with lock.take()`. (`asyncio.Lock` works in one event loop only.)"""

    def __init__(self) -> None:
        super().__init__(1)


class Once(Generic[KeyT, ValueT]):
    """Values that are computed once each, also if tasks of several threads ask for one at the same time."""

    def __init__(self) -> None:
        self.known: dict[KeyT, ValueT] = {}
        self._computing: dict[KeyT, TaskLock] = {}

    async def get(self, key: KeyT, compute: Callable[[], Awaitable[ValueT]]) -> ValueT:
        """The value of a key. If computing it fails, the next call tries again."""
        if key not in self.known:
            async with self._computing.setdefault(key, TaskLock()).take():
                if key not in self.known:
                    self.known[key] = await compute()
        return self.known[key]


def _settle(turn: asyncio.Future[None]) -> None:
    """Wake the task, unless it was cancelled: then it releases its slots itself."""
    if not turn.done():
        turn.set_result(None)
