"""Blocking work in threads, two tasks at once, and workers that process many items."""

from __future__ import annotations

import asyncio
import gc
import itertools
import threading
from collections.abc import Iterator

import pytest

from ioi_eval.concurrency import both, for_each, in_thread
from ioi_eval.errors import TransportError
from tests.cancelling import cancel_in_each_turn


def test_items_are_processed_in_order_by_a_fixed_number_of_workers() -> None:
    """Each item once. The next one is read when a worker is free."""
    begun: list[int] = []
    read: list[int] = []
    under_way, most = 0, 0

    def items() -> Iterator[int]:
        for number in range(20):
            read.append(number)
            yield number

    async def work(number: int) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        begun.append(number)
        assert len(read) <= len(begun) + 3
        await asyncio.sleep(0)
        under_way -= 1

    asyncio.run(for_each(items(), work, workers=3))
    assert begun == list(range(20))
    assert most <= 3


@pytest.mark.parametrize("broken", ["items", "work"])
def test_a_failure_ends_the_work_on_all_items(broken: str) -> None:
    """The failure of a worker, or of reading the items."""

    def items() -> Iterator[str]:
        yield "fine"
        if broken == "items":
            raise ValueError("unreadable")
        yield from itertools.repeat("bad")

    async def work(item: str) -> None:
        if item == "bad":
            raise ValueError("unreadable")

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(for_each(items(), work, workers=2))
    assert {str(error) for error in caught.value.exceptions} == {"unreadable"}


@pytest.mark.parametrize("times", [1, 2])
def test_a_cancelled_caller_waits_for_its_thread(times: int) -> None:
    """Otherwise a thread could write to a journal that is being closed. Also if it is cancelled again meanwhile."""
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        may_end.wait()
        ended.set()

    async def main() -> None:
        task = asyncio.ensure_future(in_thread(work))
        await asyncio.to_thread(begun.wait)
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        was_done = task.done()
        may_end.set()
        assert not was_done
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()

    asyncio.run(main())


def test_an_error_of_a_cancelled_caller_s_thread_is_not_printed() -> None:
    """On a full disk several threads fail at once. The first error ends the run, and the others are not shown."""
    begun, may_end = threading.Event(), threading.Event()
    printed: list[object] = []

    def work() -> None:
        begun.set()
        may_end.wait()
        raise OSError("no space left")

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: printed.append(context))
        task = asyncio.ensure_future(in_thread(work))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        await asyncio.sleep(0)
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        del task
        gc.collect()

    asyncio.run(main())
    assert not printed


def test_results_and_errors_are_returned() -> None:
    """As from a plain function call."""
    assert asyncio.run(in_thread(int, "12")) == 12
    with pytest.raises(ValueError, match="invalid literal"):
        asyncio.run(in_thread(int, "x"))


def test_two_pieces_of_work_and_one_fails() -> None:
    """Both results; or what failed, as it was raised, and nothing still running."""
    running: set[str] = set()

    async def work(name: str, failure: Exception | None = None) -> str:
        running.add(name)
        try:
            await asyncio.sleep(0)
            if failure is not None:
                raise failure
            await asyncio.sleep(0 if name != "slow" else 3600)
        finally:
            running.discard(name)
        return name

    async def scenario() -> None:
        assert await both(work("a"), work("b")) == ("a", "b")
        with pytest.raises(TransportError, match="lost"):
            await both(work("a", TransportError("lost")), work("slow"))
        with pytest.raises(TransportError, match="lost"):
            await both(work("a"), work("b", TransportError("lost")))

    asyncio.run(scenario())
    assert not running


def test_a_cancellation_of_two_pieces_of_work_is_not_lost() -> None:
    """Also if it comes when one of them has failed, and the other is ending: its error would only be handled."""

    async def failing() -> None:
        raise TransportError("lost")

    async def ending_slowly() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            for _ in range(5):
                await asyncio.sleep(0)

    async def together() -> None:
        await both(failing(), ending_slowly())

    asyncio.run(cancel_in_each_turn(together, turns=10))
