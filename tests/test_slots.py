"""Slots: none is lost or duplicated, and a job that must run alone runs alone."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioi_eval.errors import TransientError
from ioi_eval.slots import MAX_OVERTAKING_PER_SLOT, Once, Slots


@settings(deadline=None)
@given(st.integers(1, 4), st.lists(st.tuples(st.booleans(), st.integers(0, 6), st.booleans()), max_size=25))
def test_no_slot_is_lost_whatever_is_cancelled(count: int, jobs: list[tuple[bool, int, bool]]) -> None:
    """A slot never has two holders, a job that runs alone is the only one, and at the end all slots are free."""
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


def order_of(count: int, arriving: Sequence[bool], *, later: Mapping[int, Sequence[bool]]) -> list[int]:
    """The order in which jobs get slots. Jobs have numbers in the order of arrival; each ends before the next starts.

    Args:
        count: the number of slots.
        arriving: for each of the first jobs, whether it must run alone.
        later: the same for jobs that arrive while a job runs, by the number of that job.
    """
    turns: list[int] = []

    async def scenario() -> None:
        slots = Slots(count)
        jobs: list[asyncio.Task[None]] = []

        async def work(number: int, alone: bool) -> None:
            async with slots.take(alone=alone):
                turns.append(number)
                arrive(later.get(number, ()))
                await asyncio.sleep(0)

        def arrive(wanted: Sequence[bool]) -> None:
            for alone in wanted:
                jobs.append(asyncio.ensure_future(work(len(jobs), alone)))

        arrive(arriving)
        for job in jobs:  # also those that arrive meanwhile
            await job

    asyncio.run(scenario())
    return turns


def test_jobs_that_run_alone_share_a_reserved_time() -> None:
    """A few other jobs run first; then all waiting jobs that run alone, also new ones; then the rest."""
    jobs = [False, True, False, True, *[False] * 8]
    turns = order_of(1, jobs, later={3: [True]})
    assert turns == [0, 2, 4, 5, 6, 1, 3, 12, 7, 8, 9, 10, 11]


def test_without_other_jobs_the_reserved_time_begins_at_once() -> None:
    """Without other jobs before them, jobs that run alone do not wait for later jobs."""
    assert order_of(2, [True, True], later={}) == [0, 1]
    assert order_of(1, [False, True, False], later={}) == [0, 2, 1]


@given(st.integers(1, 4), st.lists(st.booleans(), max_size=60))
def test_a_job_that_runs_alone_is_overtaken_by_few(count: int, jobs: list[bool]) -> None:
    """At most `MAX_OVERTAKING_PER_SLOT` later jobs per slot overtake a job that must run alone."""
    turns = order_of(count, jobs, later={})
    assert sorted(turns) == list(range(len(jobs)))
    for place, number in enumerate(turns):
        if jobs[number]:
            assert sum(not jobs[other] and other > number for other in turns[:place]) <= MAX_OVERTAKING_PER_SLOT * count


@pytest.mark.parametrize("count", [2, 3])
def test_what_delays_jobs_that_run_alone_keeps_no_others_waiting(count: int) -> None:
    """While it holds its slot, any number of other jobs overtake a job that must run alone, which is next after it."""
    others = 2 * MAX_OVERTAKING_PER_SLOT * count
    turns: list[str] = []

    async def scenario() -> None:
        slots = Slots(count)

        async def work(name: str, *, alone: bool = False) -> None:
            async with slots.take(alone=alone):
                turns.append(name)

        async with asyncio.TaskGroup() as group:
            async with slots.take(delays_alone=True):
                group.create_task(work("alone", alone=True))
                jobs = [group.create_task(work("other")) for _ in range(others)]
                await asyncio.wait_for(asyncio.gather(*jobs), 20)
            group.create_task(work("later"))

    asyncio.run(scenario())
    assert turns == [*["other"] * others, "alone", "later"]


def test_a_slot_is_released_once_if_the_event_loop_of_its_task_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cancelled task releases the slot that it was just given, and the thread that gave it does not again."""
    slots = Slots(1)
    tell = slots._wake_in_its_loop
    tasks: list[asyncio.Task[None]] = []
    started = threading.Event()

    async def wait() -> None:
        tasks.append(cast("asyncio.Task[None]", asyncio.current_task()))
        started.set()
        async with slots.take():
            pass

    def run() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(wait())

    async def scenario() -> None:
        thread = threading.Thread(target=run)
        async with slots.take():
            thread.start()
            started.wait()
            loop = tasks[0].get_loop()
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result()  # then the task waits

            def tell_too_late(waiter: Any) -> None:
                loop.call_soon_threadsafe(tasks[0].cancel)
                thread.join()
                tell(waiter)

            monkeypatch.setattr(slots, "_wake_in_its_loop", tell_too_late)

    asyncio.run(scenario())
    assert slots.taken == 0


def test_a_machine_without_slots_is_refused() -> None:
    """Zero slots raise ValueError, because jobs would wait without end."""
    with pytest.raises(ValueError, match="at least one"):
        Slots(0)


def test_a_value_is_computed_once() -> None:
    """Tasks that ask for it at the same time get the same one. A failure is not stored: the next caller tries again."""
    calls: list[str] = []

    async def compute() -> object:
        calls.append("")
        await asyncio.sleep(0)
        if len(calls) == 1:
            raise TransientError("the first answer is lost")
        return object()

    async def ask() -> list[object]:
        once: Once[str, object] = Once()
        with pytest.raises(TransientError):
            await once.get("key", compute)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(once.get("key", compute)) for _ in range(5)]
        return [task.result() for task in tasks]

    assert len(set(asyncio.run(ask()))) == 1
    assert len(calls) == 2
