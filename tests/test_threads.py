"""One sandbox with several callers: threads with their own event loops, or a forked process."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.apps.execution import AppsExecutor
from ioi_eval.apps.settings import AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.model import Problem, Submission, Subtask, TestCase
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from ioi_eval.slots import Slots, TaskLock
from tests.forks import in_a_fork
from tests.python_box import row
from tests.small_problems import small_problem

THREADS, PROGRAMS, SLOTS = 4, 2, 2

Score = Callable[[int], Coroutine[Any, Any, object]]
"""Score the n-th program; what it is worth."""

ADD: Problem = small_problem(
    year=2026,
    subtasks=(Subtask(name="01", points=100, tests=("a",)),),
    tests={"a": TestCase(name="a", input=b"1 2\n", answer=b"3\n")},
)


def from_threads(score: Score) -> list[object]:
    """The scores of programs that several threads score. Each thread has its own event loop."""
    worth: dict[int, object] = {}

    async def score_some(numbers: range) -> None:
        async def one(number: int) -> None:
            worth[number] = await score(number)

        async with asyncio.TaskGroup() as group:
            for number in numbers:
                group.create_task(one(number))

    threads = [
        threading.Thread(
            target=lambda first=first: asyncio.run(score_some(range(first, first + PROGRAMS))), daemon=True
        )
        for first in range(0, THREADS * PROGRAMS, PROGRAMS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
        assert not thread.is_alive(), "it hangs"
    return [worth[number] for number in range(THREADS * PROGRAMS)]


def contest_score(sandbox: Any, cache: Path) -> Score:
    """Score programs in C++: even numbers are right, odd ones are wrong."""
    scorer = Scorer(sandbox, artifacts=ArtifactStore(cache))

    async def score(number: int) -> object:
        body = f'int a, b; scanf("%d %d", &a, &b); printf("%d\\n", a + b + {number % 2});'
        code = f"#include <cstdio>\nint main() {{ {body} }}\n"
        result = await scorer.score(ADD, Submission(id=str(number), problem=ADD.key, code=code))
        return result.verdict.value

    return score


def apps_score(sandbox: Any, cache: Path) -> Score:
    """Score programs in Python: even numbers are right, odd ones are wrong."""
    executor = AppsExecutor(sandbox, artifacts=ArtifactStore(cache), settings=AppsSettings())
    problem = row(["1 2\n"], ["3\n"])

    async def score(number: int) -> object:
        result = await executor.score(problem, f"print(sum(map(int, input().split())) + {number % 2})\n")
        return result.verdict.value

    return score


@pytest.mark.parametrize("make", [contest_score, apps_score])
def test_threads_and_forks_share_an_embedded_sandbox(cache: Path, make: Callable[[Any, Path], Score]) -> None:
    """The loop in which the sandbox was entered is running, is blocked by a caller that waits for the threads, or has
    ended.
    """
    right = ["AC" if number % 2 == 0 else "WA" for number in range(THREADS * PROGRAMS)]

    async def scored(*, held_up: bool) -> None:
        async with LocalSandbox(slots=SLOTS) as sandbox:
            score = make(sandbox, cache)
            assert (from_threads(score) if held_up else await asyncio.to_thread(from_threads, score)) == right
            under_way = [asyncio.ensure_future(score(number)) for number in range(2 * SLOTS)]
            await asyncio.sleep(0)
            assert in_a_fork(lambda: asyncio.run(asyncio.wait_for(score(0), 120))) == "AC"
            assert [await one for one in under_way] == right[: 2 * SLOTS]

    asyncio.run(scored(held_up=True))
    asyncio.run(scored(held_up=False))


OUTLIVES = """
import asyncio, sys, threading
from ioi_eval import ArtifactStore, LocalSandbox, Policy
from ioi_eval.concurrency import in_new_thread
from ioi_eval.precompiled_headers import PrecompiledHeaders
from ioi_eval.programs import Builder

async def main():
    artifacts = ArtifactStore(sys.argv[1])
    artifacts.put("header-of-another-compiler", b"")  # so that the compiler's headers are looked at
    async with LocalSandbox() as sandbox:
        headers = PrecompiledHeaders(Builder(sandbox, artifacts, Policy()), artifacts, Policy().compile)
        print(await headers.header(sandbox.targets()[0], "gnu++20"))
    try:
        await in_new_thread(lambda: 1 // 0)
    except ZeroDivisionError as error:
        print(error)

def run():
    threading.main_thread().join()
    asyncio.run(main())

threading.Thread(target=run).start()
"""


@pytest.mark.skipif(
    (3, 12) <= sys.version_info < (3, 12, 3), reason="this Python then starts no thread: python/cpython#113964"
)
def test_a_thread_that_outlives_the_main_thread(tmp_path: Path) -> None:
    """`asyncio.to_thread` would fail there: the program would end in the middle of a run."""
    done = subprocess.run(
        [sys.executable, "-c", OUTLIVES, tmp_path], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.stdout, done.stderr) == ("None\ninteger division or modulo by zero\n", "")


def test_all_threads_share_the_slots() -> None:
    """No more jobs run at once than there are slots. A job that runs alone is alone. Every waiting job gets a slot."""
    slots = Slots(SLOTS)
    mutex = threading.Lock()
    running: list[bool] = []
    most = 0

    async def hold(number: int) -> object:
        nonlocal most
        for turn in range(20):
            alone = (number + turn) % 5 == 0
            async with slots.take(alone=alone):
                with mutex:
                    running.append(alone)
                    most = max(most, len(running))
                    assert not any(running) or running == [True]
                await asyncio.sleep(0)
                with mutex:
                    running.remove(alone)
        return number

    assert from_threads(hold) == list(range(THREADS * PROGRAMS))
    assert most == SLOTS


def test_a_task_cancelled_in_another_thread_releases_the_lock() -> None:
    """It is cancelled before it gets the lock, when it gets it, or afterwards."""
    lock = TaskLock()

    async def hold(number: int) -> object:
        async def one() -> None:
            async with lock.take():
                await asyncio.sleep(0)

        for turn in range(30):
            task = asyncio.ensure_future(one())
            for _ in range((number + turn) % 4):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        await one()
        return number

    assert from_threads(hold) == list(range(THREADS * PROGRAMS))


def test_a_closed_loop_does_not_take_the_lock() -> None:
    """A thread that is abandoned may close its loop while a task waits for the lock."""
    lock = TaskLock()

    async def wait() -> None:
        async with lock.take():
            raise AssertionError("it has no loop")

    def give_up() -> asyncio.Task[None]:
        loop = asyncio.new_event_loop()
        task = loop.create_task(wait())
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        return task

    async def scenario() -> None:
        async with lock.take():
            given_up = await asyncio.to_thread(give_up)
        async with asyncio.timeout(60), lock.take():
            assert not given_up.done()
        given_up._log_destroy_pending = False  # type: ignore[attr-defined]

    asyncio.run(scenario())


def test_a_closed_loop_does_not_keep_a_slot() -> None:
    """A loop is closed while its task holds a slot. Others get the slot, and the dead task releases it only once."""
    slots = Slots(1)

    async def hold() -> None:
        async with slots.take():
            await asyncio.get_running_loop().create_future()

    loop = asyncio.new_event_loop()
    task = loop.create_task(hold())
    loop.run_until_complete(asyncio.sleep(0))
    assert slots.taken == 1
    loop.close()

    async def take() -> None:
        async with asyncio.timeout(60), slots.take():
            task.get_coro().close()
            assert slots.taken == 1
        assert slots.taken == 0

    asyncio.run(take())
    task._log_destroy_pending = False  # type: ignore[attr-defined]
