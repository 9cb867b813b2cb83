"""Blocking work off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
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
