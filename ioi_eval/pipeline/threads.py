"""Waits for what another thread does, and does the same work for many items with a fixed number of workers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from ioi_eval.slots import in_thread

T = TypeVar("T")

_LOOK_S = 0.05
"""How often `until` looks."""


async def until(is_so: Callable[[], bool]) -> None:
    """Wait until another thread has made something true. A cancelled caller does not wait for that thread."""
    while not is_so():  # noqa: ASYNC110 - the other thread has no event loop
        await asyncio.sleep(_LOOK_S)


async def for_each(items: Iterable[T], work: Callable[[T], Awaitable[None]], *, workers: int) -> None:
    """Do the work for every item, in order, for at most `workers` items at once.

    Args:
        items: read in a thread, each when a worker is free. No item may be `None`.

    Raises:
        ExceptionGroup: of the errors of `work`, or of reading the items; the other work is cancelled then.
    """
    left, reading = iter(items), asyncio.Lock()

    async def work_on() -> None:
        while True:
            async with reading:
                item = await in_thread(next, left, None)
            if item is None:
                return
            await work(item)

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(work_on())
