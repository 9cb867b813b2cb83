"""Cancels work at each moment at which Ctrl-C may come."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest


async def cancel_in_each_turn(begin: Callable[[], Awaitable[object]], *, turns: int) -> None:
    """Begin the work anew for each of its first turns of the event loop, and cancel it in that turn: it must end with
    this cancellation, unless it has ended before."""
    for turn in range(turns):
        task = asyncio.ensure_future(begin())
        for _ in range(turn):
            await asyncio.sleep(0)
        if task.cancel():
            with pytest.raises(asyncio.CancelledError):
                await task
