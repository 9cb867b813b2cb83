"""Blocking work in threads."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ioi_eval.pipeline.threads import in_thread


def test_a_cancelled_caller_waits_for_the_end() -> None:
    """Else a thread would write to a journal that is being closed."""
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        may_end.wait()
        ended.set()

    async def main() -> None:
        task = asyncio.ensure_future(in_thread(work))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()

    asyncio.run(main())


def test_results_and_errors_come_back() -> None:
    """As from any function."""
    assert asyncio.run(in_thread(int, "12")) == 12
    with pytest.raises(ValueError, match="invalid literal"):
        asyncio.run(in_thread(int, "x"))
