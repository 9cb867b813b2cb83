"""How a submission's tests are cut into jobs, and how many of these run at once.

A job should be long enough that its start costs nothing beside it, and short enough that the last submissions of a run
do not keep one slot busy while the others have nothing to do: about `BUNDLE_S`. How long a test takes is not known
before, so the first job of all is small, the others follow what tests of that problem have taken so far (of one that is
met for the first time, what those of all others have), and a job that has taken so long begins no other test: of a
submission that is slow among fast ones, idle slots can take the rest.

While slots are idle a submission uses them too. A test that runs there may turn out not to matter, as one before it
scores 0; `judging.py` proves that this changes no result, and an idle slot had nothing else to do.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Hashable, Mapping
from typing import Any, TypeVar

from ioi_eval.engine.judging import Bundle, Judging
from ioi_eval.errors import InputError
from ioi_eval.jobs.run_job import GivenTest, Room
from ioi_eval.model import TestOutcome

BUNDLE_S = 2.0
"""How long a job should take, and may before it begins another test, in seconds of wall clock; a job's start takes
0.01 s here, on a cluster 0.03 s."""

SPLIT_S = 0.1
"""What takes less, in seconds, is not split for the sake of an idle slot: a job's start on a Piston server takes 0.05 s
of CPU time, most of it for the programs that travel along."""

TRUST = 64
"""After so many whole answers in a row twice as many tests are tried; if these are cut, it was 2 % of the jobs."""

_FIRST_TESTS = 8
_WEIGHT = 0.2  # of a new test in the mean

A = TypeVar("A")
B = TypeVar("B")


class Paces:
    """How long tests take, as far as seen: a moving mean, of each problem and of all together.

    CPU and idle time together stand for their wall clock: how loaded this machine is does not count.

    Args:
        most_tests: in one job.
    """

    def __init__(self, most_tests: int) -> None:
        self._most_tests = most_tests
        self._mean_s: dict[Hashable, float] = {}
        self._any_s: float | None = None  # of all problems

    def observe(self, problem: Hashable, outcome: TestOutcome) -> None:
        """Take in a test that was run."""
        if outcome.cpu_ms is None:
            return
        seconds = (outcome.cpu_ms + (outcome.check_cpu_ms or 0.0)) / 1000 + outcome.returned.idle_s
        self._mean_s[problem] = _moved(self._mean_s.get(problem), seconds)
        self._any_s = _moved(self._any_s, seconds)

    def expected_s(self, problem: Hashable, tests: int) -> float:
        """How long so many tests of a problem should take, in seconds; 0 as long as nothing is known."""
        return tests * (self._mean_s.get(problem, self._any_s) or 0.0)

    def tests(self, problem: Hashable, pending: int, lanes: int) -> int:
        """How many tests the next job should hold.

        Args:
            problem: whose tests they are.
            pending: how many are left.
            lanes: how many jobs may share these.
        """
        share = -(-pending // lanes)
        mean_s = self._mean_s.get(problem, self._any_s)
        if mean_s is None:
            return min(_FIRST_TESTS, self._most_tests, share)
        least, most = (int(seconds / max(mean_s, 1e-6)) for seconds in (SPLIT_S, BUNDLE_S))
        return max(1, min(self._most_tests, max(share, least), most))


def _moved(mean: float | None, seen: float) -> float:
    return seen if mean is None else mean + _WEIGHT * (seen - mean)


class Reach:
    """How many tests one job's answer can hold on each target, as far as seen.

    What cuts an answer off is mostly a limit of the server's, and is there for the next submission too. But it may have
    been a worker that died, so after `TRUST` whole answers more are tried.

    Args:
        most_tests: in one job.
    """

    def __init__(self, most_tests: int) -> None:
        self._most_tests = most_tests
        self._tests: dict[str, int] = {}  # of targets where answers were cut
        self._whole: Counter[str] = Counter()

    def tests(self, target: str) -> int:
        """The most that the next job on this target should hold."""
        return self._tests.get(target, self._most_tests)

    def cut(self, target: str, tests: int) -> None:
        """Take in that the answer of a job with so many tests was cut off, which is not asked for in halves."""
        self._tests[target], self._whole[target] = min(self.tests(target), max(1, tests // 2)), 0

    def observe(self, target: str, *, asked: int, granted: int, held: int) -> None:
        """Take in that a whole answer arrived.

        Args:
            target: where from.
            asked: how many tests were tried first.
            granted: how many the job had in the end; fewer if answers before were cut.
            held: how many tests the answer holds; fewer if the rest did not matter any more, or took too long.
        """
        reach = self.tests(target)
        if granted < asked:
            self._tests[target], self._whole[target] = min(reach, granted), 0
        elif target in self._tests and held >= reach:
            self._whole[target] += 1
            if self._whole[target] == TRUST:
                self._tests[target], self._whole[target] = min(2 * reach, self._most_tests), 0


async def both(first: Coroutine[Any, Any, A], second: Coroutine[Any, Any, B], *, at_once: bool) -> tuple[A, B]:
    """What two pieces of work return that do not need each other.

    Args:
        first, second: the work.
        at_once: whether there is a slot for each; else one after the other.

    Raises:
        What one of them raises; of two that failed together, the first. The other is abandoned.
    """
    if not at_once:
        try:
            return await first, await second
        finally:
            second.close()  # if it was never begun
    try:
        async with asyncio.TaskGroup() as group:
            tasks = group.create_task(first), group.create_task(second)
    except ExceptionGroup:
        raise next(error for task in tasks if not task.cancelled() and (error := task.exception())) from None
    return tasks[0].result(), tasks[1].result()


async def run_spread(
    judging: Judging,
    cut: Callable[[Bundle], Bundle],
    run: Callable[[Bundle], Coroutine[Any, Any, None]],
    lanes: Callable[[], int],
    wanted: Callable[[], bool] = lambda: True,
) -> None:
    """Run what is pending until nothing is, with as many jobs at once as there are lanes.

    Args:
        judging: says what is pending; `run` records in it.
        cut: the first job's tests of those that are pending; never none.
        run: runs one job and records what came out.
        lanes: how many jobs may run now, at least 1.
        wanted: whether any of what is pending still is.

    Raises:
        What `run` raises; the other jobs are abandoned then.
    """
    # Not a task group: the next job is chosen when the first of them ends, by what all of them have recorded so far.
    under_way: dict[asyncio.Task[None], Bundle] = {}
    try:
        while True:
            running = tuple(planned for bundle in under_way.values() for planned in bundle)
            pending = judging.pending(under_way=frozenset(planned.test for planned in running))
            if pending and len(under_way) < max(1, lanes()) and wanted():
                bundle = cut(_apart(pending, running))
                under_way[asyncio.create_task(run(bundle))] = bundle
            elif under_way:
                ended, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    del under_way[task]
                    task.result()
            else:
                return
    finally:
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


def _apart(pending: Bundle, running: Bundle) -> Bundle:
    """The tests in whose groups nothing runs come first: a zero that is found meanwhile says nothing of them."""
    groups = {group for planned in running for group, _ in planned.at}
    return tuple(sorted(pending, key=lambda planned: any(group in groups for group, _ in planned.at)))


def fitting(
    pending: Bundle,
    tests: Mapping[str, GivenTest],
    room: Room,
    *,
    most_tests: int,
    wall_ms_per_test: int,
    taken_bytes: int = 0,
) -> Bundle:
    """As many of the first tests as make a job that is over no limit.

    A test that is over a limit all by itself gets a job of its own: the sandbox will say in its own words that it is
    too large, which nobody could learn from a test that was never sent.

    Args:
        pending: in the order in which they are to run.
        tests: as they travel.
        room: how much a job on this target may hold.
        most_tests: in a job.
        wall_ms_per_test: the longest that one test is expected to take (`jobs.run_job.usual_wall_ms`).
        taken_bytes: those of the program.

    Raises:
        InputError: `most_tests` is below 1.
    """
    if most_tests < 1:
        raise InputError(f"jobs of at most {most_tests} tests cannot hold one; give 1 or more")
    most = min(most_tests, room.tests)
    if room.wall_ms is not None:
        most = min(most, max(1, room.wall_ms // wall_ms_per_test))
    for number, planned in enumerate(pending[:most]):
        taken_bytes += tests[planned.test].size
        if number and room.test_bytes is not None and taken_bytes > room.test_bytes:
            return pending[:number]
    return pending[:most]
