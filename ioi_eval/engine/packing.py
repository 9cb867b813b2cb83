"""How a submission's tests are cut into jobs, and how many of these run at once.

A job should be long enough that its start costs nothing beside it, and short enough that the last submissions of a run
do not keep one slot busy while the others have nothing to do: about `BUNDLE_S`. How long a test takes is not known
before, so the first job of a problem is small, the others follow what its tests have taken so far, and a job that has
taken so long begins no other test: of a submission that is slow among fast ones, idle slots can take the rest.

While slots are idle a submission uses them too. A test that runs there may turn out not to matter, as one before it
scores 0; `judging.py` proves that this changes no result, and an idle slot had nothing else to do.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from ioi_eval.engine.judging import Bundle, Judging
from ioi_eval.errors import InputError
from ioi_eval.jobs.bundled import PlannedTest, size
from ioi_eval.model import Content, Problem, ProblemKey, TestOutcome

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
    """How long the tests of each problem take, as far as seen: a moving mean of their wall clock.

    Args:
        most_tests: in one job.
    """

    def __init__(self, most_tests: int) -> None:
        self._most_tests = most_tests
        self._mean_s: dict[ProblemKey, float] = {}

    def observe(self, problem: ProblemKey, outcome: TestOutcome) -> None:
        """Take in a test that was run."""
        if outcome.wall_ms is None:
            return
        seconds = (outcome.wall_ms + (outcome.check_cpu_ms or 0.0)) / 1000
        known = self._mean_s.get(problem)
        self._mean_s[problem] = seconds if known is None else known + _WEIGHT * (seconds - known)

    def tests(self, problem: ProblemKey, pending: int, lanes: int) -> int:
        """How many tests the next job should hold.

        Args:
            problem: whose tests they are.
            pending: how many are left.
            lanes: how many jobs may share these.
        """
        share = -(-pending // lanes)
        mean_s = self._mean_s.get(problem)
        if mean_s is None:
            return min(_FIRST_TESTS, self._most_tests, share)
        least, most = (int(seconds / max(mean_s, 1e-6)) for seconds in (SPLIT_S, BUNDLE_S))
        return max(1, min(self._most_tests, max(share, least), most))


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

    def observe(self, target: str, *, asked: int, granted: int, held: int) -> None:
        """Take in that a whole answer arrived.

        Args:
            target: where from.
            asked: how many tests were tried first.
            granted: how many the job had in the end; fewer if answers before were cut.
            held: how many of them the answer holds; fewer if the rest did not matter any more, or took too long.
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
) -> None:
    """Run what is pending until nothing is, with as many jobs at once as there are lanes.

    Args:
        judging: says what is pending; `run` records in it.
        cut: the first job's tests of those that are pending; never none.
        run: runs one job and records what came out.
        lanes: how many jobs may run now, at least 1.

    Raises:
        What `run` raises; the other jobs are abandoned then.
    """
    # Not a task group: the next job is chosen when the first of them ends, by what all of them have recorded so far.
    under_way: dict[asyncio.Task[None], Bundle] = {}
    try:
        while True:
            running = [planned for bundle in under_way.values() for planned in bundle]
            pending = judging.pending(under_way=frozenset(planned.test for planned in running))
            if pending and len(under_way) < max(1, lanes()):
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


def bundles(
    problem: Problem,
    pending: Sequence[PlannedTest],
    *,
    outputs: Mapping[str, Content] | None = None,
    max_tests: int | None = None,
    max_bytes: int | None = None,
    max_wall_ms: int | None = None,
    wall_ms_per_test: int = 0,
) -> tuple[Bundle, ...]:
    """Cut tests into bundles of consecutive ones, none over a limit; `None` is no limit.

    A test that is over a limit all by itself gets a bundle of its own: the sandbox will say in its own words that
    it is too large, which nobody could learn from a test that was never sent.

    Args:
        problem: gives the sizes of inputs and answers.
        pending: in the order in which they are to run.
        outputs: what was submitted for some of them, by test.
        max_tests: tests in a bundle.
        max_bytes: bytes of inputs, answers and outputs in a bundle, before any encoding.
        max_wall_ms: the longest that a bundle may take.
        wall_ms_per_test: the longest that one test is expected to take (`jobs.bundled.usual_wall_ms`).

    Raises:
        InputError: `max_tests` is below 1.
    """
    if max_tests is not None and max_tests < 1:
        raise InputError(f"bundles of at most {max_tests} tests cannot hold one; give 1 or more, or no limit")
    if max_wall_ms is not None and wall_ms_per_test > 0:
        by_time = max(1, max_wall_ms // wall_ms_per_test)
        max_tests = by_time if max_tests is None else min(max_tests, by_time)
    cut: list[Bundle] = []
    bundle: list[PlannedTest] = []
    bundle_bytes = 0
    for planned in pending:
        case = problem.tests[planned.test]
        carried = (case.input, case.answer, (outputs or {}).get(planned.test))
        added = sum(size(content) for content in carried if content is not None)
        full = len(bundle) == max_tests or (max_bytes is not None and bundle_bytes + added > max_bytes)
        if bundle and full:
            cut.append(tuple(bundle))
            bundle, bundle_bytes = [], 0
        bundle.append(planned)
        bundle_bytes += added
    return (*cut, tuple(bundle)) if bundle else ()
