"""Blocking work off the event loop, and the same work on many items by a fixed number of workers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run it in a thread, to its end: `asyncio.to_thread`, but for that a cancelled caller waits.

    A thread cannot be stopped. If nobody waited for it, it would go on to write to a journal that is being closed, or
    to read from a file that is being read anew.
    """
    running = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise


async def for_each(items: Iterable[T], work: Callable[[T], Awaitable[None]], *, workers: int) -> None:
    """Do the work for every item, in their order, for at most so many at once.

    Args:
        items: none is `None`. They are read in a thread, one when a worker is free for it.
        work: what is done for each.
        workers: how many there are.

    Raises:
        ExceptionGroup: of what `work`, or reading the items, raises; the rest is abandoned then.
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
