"""How a submission's tests are divided into jobs, and how many of these run at once.

A job should be so long that its start hardly counts, and so short that at the end of a run no slot is busy for long
while the others are idle: about `BUNDLE_S`. How long a test takes is not known in advance. So the first job of a run is
small; the size of the others follows from what tests of that problem have taken so far (for a problem without any, from
the tests of all problems). (A job that also compiles its program gets as many tests as fit: for tests in further jobs
the program would have to be sent.) A job that has taken `BUNDLE_S` begins no other test: if a submission is slower than
others, idle slots can run its remaining tests.

A submission also uses slots that are idle. A test that runs there may turn out not to matter, because one before it
scores 0. This changes no result (proof in `judging.py`), and the slot would have been idle otherwise.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable, Mapping
from typing import Any

from ioi_eval.engine.judging import Judging, PlannedTests
from ioi_eval.errors import InputError
from ioi_eval.jobs.run_job import JobBounds, JobTest
from ioi_eval.model import TestOutcome

BUNDLE_S = 2.0
"""How long a job should take, in seconds of wall clock; after this time it begins no other test. A job's start takes
0.01 s of wall clock in the embedded sandbox, and 0.03 s on a cluster."""

SPLIT_S = 0.1
"""Tests that take less than this together, in seconds, are not split to use an idle slot: a job's start costs a
Piston server 0.05 s of CPU time, for its scripts, users and directories."""

_FIRST_TESTS = 8
_WEIGHT = 0.2  # of a new test in the mean


class Durations:
    """How long tests have taken so far: a moving mean for each problem, and one for all.

    The sum of CPU and idle time is used in place of wall clock, because it does not depend on the machine's load.
    """

    def __init__(self, max_tests: int) -> None:
        self._max_tests = max_tests
        self._mean_s: dict[Hashable, float] = {}
        self._any_s: float | None = None  # of all problems

    def observe(self, problem: Hashable, outcome: TestOutcome) -> None:
        """Record a test that was run."""
        if outcome.cpu_ms is None:
            return
        seconds = (outcome.cpu_ms + (outcome.check_cpu_ms or 0.0)) / 1000 + outcome.details.idle_s
        self._mean_s[problem] = _moving_mean(self._mean_s.get(problem), seconds)
        self._any_s = _moving_mean(self._any_s, seconds)

    def expected_s(self, problem: Hashable, tests: int) -> float:
        """How long this many tests of a problem should take, in seconds; 0 as long as nothing is known."""
        return tests * (self._mean_s.get(problem, self._any_s) or 0.0)

    def tests_for_job(self, problem: Hashable, pending: int, jobs_at_once: int) -> int:
        """How many tests the next job should hold, if so many are left, and so many jobs may share them."""
        share = -(-pending // jobs_at_once)
        mean_s = self._mean_s.get(problem, self._any_s)
        if mean_s is None:
            return min(_FIRST_TESTS, self._max_tests, share)
        least, most = (int(seconds / max(mean_s, 1e-6)) for seconds in (SPLIT_S, BUNDLE_S))
        return max(1, min(self._max_tests, max(share, least), most))


def _moving_mean(mean: float | None, seen: float) -> float:
    return seen if mean is None else mean + _WEIGHT * (seen - mean)


async def run_in_parallel(
    judging: Judging,
    next_bundle: Callable[[PlannedTests], PlannedTests],
    run: Callable[[PlannedTests], Coroutine[Any, Any, None]],
    jobs_at_once: Callable[[], int],
    wanted: Callable[[], bool] = lambda: True,
) -> None:
    """Run pending tests until none is left, or `wanted()` is false, in as many jobs at once as may run now.

    `next_bundle` chooses at least one test for the next job; `run` runs that, and records the outcomes in `judging`. If
    it raises, the other jobs are cancelled.
    """
    # Not a task group: when the first job ends, the next one is chosen from what all of them have recorded so far.
    under_way: dict[asyncio.Task[None], PlannedTests] = {}
    try:
        while True:
            running = tuple(planned for bundle in under_way.values() for planned in bundle)
            pending = judging.pending(under_way=frozenset(planned.test for planned in running))
            if pending and len(under_way) < max(1, jobs_at_once()) and wanted():
                bundle = next_bundle(_other_groups_first(pending, running))
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


def _other_groups_first(pending: PlannedTests, running: PlannedTests) -> PlannedTests:
    """Put tests first in whose groups nothing runs: a zero that is found meanwhile does not affect them."""
    groups = {group for planned in running for group, _ in planned.at}
    return tuple(sorted(pending, key=lambda planned: any(group in groups for group, _ in planned.at)))


def fitting(
    pending: PlannedTests,
    tests: Mapping[str, JobTest],
    bounds: JobBounds,
    *,
    max_tests: int,
    wall_ms_per_test: int,
    taken_bytes: int = 0,
) -> PlannedTests:
    """The longest beginning of `pending` that makes a job within all limits.

    A test that is over a limit by itself gets a job of its own: the sandbox will report that it is too large.
    `wall_ms_per_test` is the longest that one is expected to take (`jobs.plan.usual_wall_ms`), `taken_bytes` the size
    of the program.
    """
    if max_tests < 1:
        raise InputError(f"jobs of at most {max_tests} tests cannot hold one; give 1 or more")
    for number, planned in enumerate(pending[:max_tests], 1):
        taken_bytes += tests[planned.test].size
        if number > 1 and not bounds.allow(number, taken_bytes, wall_ms_per_test):
            return pending[: number - 1]
    return pending[:max_tests]
