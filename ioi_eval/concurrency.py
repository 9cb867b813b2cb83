"""Work at the same time: blocking work in threads, two tasks at once, and the same work for many items."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future
from typing import Any, ParamSpec, TypeVar

A = TypeVar("A")
B = TypeVar("B")
P = ParamSpec("P")
ValueT = TypeVar("ValueT")

_LOOK_S = 0.05
"""How often `until` looks."""


async def in_new_thread(work: Callable[[], ValueT]) -> ValueT:
    """Do blocking work in a thread of its own.

    `asyncio.to_thread` fails once the main thread has ended, and the caller's thread may go on after that.
    """
    done: Future[ValueT] = Future()
    done.set_running_or_notify_cancel()  # a cancelled caller does not cancel it

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised in the caller
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(done)


async def in_thread(work: Callable[P, ValueT], /, *args: P.args, **kwargs: P.kwargs) -> ValueT:
    """Run the work in a thread, to its end: like `asyncio.to_thread`, but a cancelled caller waits for the thread.

    A thread cannot be stopped. Without waiting, it could still write to a journal that is being closed, or read a file
    that is being read again from its beginning; and it uses memory until its end.
    """
    running = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        while not running.done():
            with contextlib.suppress(asyncio.CancelledError):  # a second one
                await asyncio.wait([running])
        running.exception()  # else asyncio prints it: of two threads that fail at once, only one has a caller left
        raise


async def wait_for_all(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Wait for tasks. If one fails, or the caller is cancelled, the others are cancelled, and end before this raises.
    If several fail together, the error is that of the first in order.

    Not a task group: before Python 3.13 one with an error loses a cancellation that comes while it ends. A caller that
    handles the error would go on with its next work.
    """
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in tasks:
        if not task.cancelled():
            task.result()


async def both(first: Coroutine[Any, Any, A], second: Coroutine[Any, Any, B]) -> tuple[A, B]:
    """The results of two coroutines that run concurrently; errors as of `wait_for_all`."""
    tasks = asyncio.create_task(first), asyncio.create_task(second)
    await wait_for_all(tasks)
    return tasks[0].result(), tasks[1].result()


async def until(is_so: Callable[[], bool]) -> None:
    """Wait until another thread has made something true. A cancelled caller does not wait for that thread."""
    while not is_so():  # noqa: ASYNC110 - the other thread has no event loop
        await asyncio.sleep(_LOOK_S)


async def for_each(items: Iterable[ValueT], work: Callable[[ValueT], Awaitable[None]], *, workers: int) -> None:
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
