"""Slots: none is ever lost or doubled, and who runs alone runs alone."""

from __future__ import annotations

import asyncio
import contextlib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioi_eval.sandbox.slots import Slots


@settings(deadline=None)
@given(st.integers(1, 4), st.lists(st.tuples(st.booleans(), st.integers(0, 6), st.booleans()), max_size=25))
def test_no_slot_is_lost_whatever_is_cancelled(count: int, jobs: list[tuple[bool, int, bool]]) -> None:
    """Holders never overlap on a slot, alone means alone, and in the end all slots are free."""
    slots = Slots(count)
    busy: list[int] = []
    alone_running = 0

    async def work(alone: bool, turns: int) -> None:
        nonlocal alone_running
        async with slots.take(alone=alone) as slot:
            assert slot not in busy
            assert not alone_running
            assert not (alone and busy)
            busy.append(slot)
            alone_running += alone
            try:
                for _ in range(turns):
                    await asyncio.sleep(0)
            finally:
                busy.remove(slot)
                alone_running -= alone

    async def scenario() -> None:
        tasks = []
        for alone, turns, cancel in jobs:
            task = asyncio.ensure_future(work(alone, turns))
            tasks.append(task)
            await asyncio.sleep(0)
            if cancel:
                random.Random(turns).choice(tasks).cancel()
        done = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 20)
        assert all(result is None or isinstance(result, asyncio.CancelledError) for result in done)
        async with contextlib.AsyncExitStack() as stack:
            taken = [await asyncio.wait_for(stack.enter_async_context(slots.take()), 20) for _ in range(count)]
            assert sorted(taken) == list(range(count))
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(stack.enter_async_context(slots.take()), 0.001)

    asyncio.run(scenario())


def test_a_machine_without_slots_is_refused() -> None:
    """Zero slots would wait for ever."""
    with pytest.raises(ValueError, match="at least one"):
        Slots(0)
