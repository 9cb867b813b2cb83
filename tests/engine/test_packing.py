"""How a submission's tests are packed into jobs: as many jobs at once as slots are idle, without any effect on the
result.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import pytest

from ioi_eval.engine.judging import Judging, PlannedTests
from ioi_eval.engine.packing import BUNDLE_S, SPLIT_S, Durations, run_in_parallel
from ioi_eval.errors import TransportError
from ioi_eval.jobs.run_job import PlannedTest
from ioi_eval.model import Problem, ProblemKey, Subtask, TestCase, TestOutcome, Verdict
from tests.small_problems import judging_of, small_problem

KEY = ProblemKey(year=2024, id="tree")
TESTS = tuple(f"t{number}" for number in range(20))


def problem(*subtasks: Sequence[str]) -> Problem:
    """A problem with these subtasks."""
    return small_problem(
        key=KEY,
        name="Tree",
        memory_limit_bytes=2**30,
        subtasks=tuple(Subtask(name=str(n), points=10, tests=tuple(tests)) for n, tests in enumerate(subtasks)),
        tests={name: TestCase(name=name, input=b"1", answer=b"1") for name in TESTS},
    )


class Machine:
    """Runs bundles of two tests. Some tests score 0, and jobs end in random order."""

    def __init__(self, judging: Judging, *, zeros: frozenset[str] = frozenset(), seed: int = 0) -> None:
        self.judging, self.zeros, self.chance = judging, zeros, random.Random(seed)
        self.now = self.most = 0
        self.ran: list[str] = []

    async def run(self, bundle: Sequence[PlannedTest]) -> None:
        """Run one job."""
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(self.chance.randrange(4)):
            await asyncio.sleep(0)
        for planned in bundle:
            zero = planned.test in self.zeros
            verdict = Verdict.WA if zero else Verdict.AC
            self.judging.record(TestOutcome(test=planned.test, verdict=verdict, score=0.0 if zero else 1.0))
            self.ran.append(planned.test)
        self.now -= 1


def two(pending: PlannedTests) -> PlannedTests:
    """Bundles of two tests."""
    return pending[:2]


@pytest.mark.parametrize("jobs_at_once", [1, 2, 5])
def test_idle_slots_are_used(jobs_at_once: int) -> None:
    """As many jobs run at once as allowed, and each test runs once."""
    judging = judging_of(problem(TESTS))
    machine = Machine(judging)
    asyncio.run(run_in_parallel(judging, two, machine.run, lambda: jobs_at_once))
    assert machine.most == jobs_at_once
    assert sorted(machine.ran) == sorted(TESTS)
    assert judging.is_done()


def test_idle_slots_take_other_subtasks_first() -> None:
    """Further tests of a subtask may become unnecessary while one of it runs. Tests of another subtask are needed in
    any case.
    """
    judging = judging_of(problem(TESTS[:4], TESTS[4:8], TESTS[8:12]))
    begun: list[str] = []

    def one(pending: PlannedTests) -> PlannedTests:
        begun.append(pending[0].test)
        return pending[:1]

    asyncio.run(run_in_parallel(judging, one, Machine(judging).run, lambda: 3))
    assert begun[:3] == ["t0", "t4", "t8"]
    assert sorted(begun) == sorted(TESTS[:12])


@pytest.mark.parametrize("seed", range(20))
def test_parallel_jobs_give_the_result_of_one_at_a_time(seed: int) -> None:
    """In any order of ends, the first zero of each subtask is the same."""
    subtasks = (TESTS[:7], TESTS[5:15], TESTS[10:])
    zeros = frozenset(random.Random(seed).sample(TESTS, 3))

    def first_zeros(jobs_at_once: int) -> list[str | None]:
        judging = judging_of(problem(*subtasks))
        asyncio.run(run_in_parallel(judging, two, Machine(judging, zeros=zeros, seed=seed).run, lambda: jobs_at_once))
        known = judging.outcomes()
        return [next((t for t in tests if t in known and known[t].score == 0.0), None) for tests in subtasks]

    assert first_zeros(4) == first_zeros(1)


def test_a_failure_ends_the_other_jobs() -> None:
    """The error of a job is raised, and at that time no job of the submission is running."""
    judging = judging_of(problem(TESTS))
    ended: list[str] = []

    async def run(bundle: Sequence[PlannedTest]) -> None:
        if bundle[0].test == "t2":
            raise TransportError("lost")
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(bundle[0].test)

    with pytest.raises(TransportError, match="lost"):
        asyncio.run(run_in_parallel(judging, two, run, lambda: 3))
    assert ended == ["t0", "t4"]


def test_jobs_are_sized_by_measured_times() -> None:
    """The first job has a few tests. Later jobs take about two seconds, within the limit."""
    durations = Durations(64)
    assert durations.tests_for_job(KEY, 100, 1) == 8
    durations.observe(KEY, TestOutcome(test="a", verdict=Verdict.AC, score=1.0, cpu_ms=1000 * BUNDLE_S / 4))
    assert durations.tests_for_job(KEY, 100, 1) == 4
    for _ in range(100):
        durations.observe(KEY, TestOutcome(test="a", verdict=Verdict.AC, score=1.0, cpu_ms=1.0))
    assert durations.tests_for_job(KEY, 100, 1) == 64
    durations.observe(KEY, TestOutcome(test="a", verdict=Verdict.JE, score=None))
    assert durations.tests_for_job(KEY, 100, 1) == 64
    assert Durations(1).tests_for_job(KEY, 100, 1) == 1


def test_idle_slots_share_the_remaining_tests() -> None:
    """Four jobs get a quarter each, unless a quarter is shorter than the overhead of a job."""
    durations = Durations(64)
    assert durations.tests_for_job(KEY, 12, 4) == 3
    durations.observe(KEY, TestOutcome(test="a", verdict=Verdict.AC, score=1.0, cpu_ms=1000 * SPLIT_S / 5))
    assert [durations.tests_for_job(KEY, pending, 4) for pending in (100, 12, 2)] == [25, 5, 5]
