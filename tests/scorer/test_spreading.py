"""How a submission's tests become jobs: as many at once as slots are idle, and never another result."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import pytest

from ioi_eval.errors import TransportError
from ioi_eval.jobs.bundled import PlannedTest
from ioi_eval.judging import Judging
from ioi_eval.model import Problem, ProblemKey, Subtask, TaskType, TestCase, TestOutcome, Verdict
from ioi_eval.scorer.spreading import BUNDLE_S, Paces, run_spread

KEY = ProblemKey(year=2024, id="tree")
TESTS = tuple(f"t{number}" for number in range(20))


def problem(*subtasks: Sequence[str]) -> Problem:
    """Subtasks of these tests."""
    return Problem(
        key=KEY,
        name="Tree",
        task_type=TaskType.BATCH,
        time_limit_s=1.0,
        memory_limit_bytes=2**30,
        subtasks=tuple(Subtask(name=str(n), points=10, tests=tuple(tests)) for n, tests in enumerate(subtasks)),
        tests={name: TestCase(name=name, input=b"1", answer=b"1") for name in TESTS},
        cxx_std="gnu++20",
    )


class Machine:
    """Runs bundles of two tests; some tests score 0, and jobs end in an order of chance."""

    def __init__(self, judging: Judging, *, zeros: frozenset[str] = frozenset(), seed: int = 0) -> None:
        self.judging, self.zeros, self.chance = judging, zeros, random.Random(seed)
        self.now = self.most = 0
        self.ran: list[str] = []

    async def run(self, bundle: Sequence[PlannedTest]) -> None:
        """One job."""
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


def two(pending: Sequence[PlannedTest]) -> Sequence[PlannedTest]:
    """Two tests a job."""
    return pending[:2]


@pytest.mark.parametrize("lanes", [1, 2, 5])
def test_idle_slots_are_used(lanes: int) -> None:
    """As many jobs at once as there are lanes, and each test once."""
    judging = Judging(problem(TESTS))
    machine = Machine(judging)
    asyncio.run(run_spread(judging, two, machine.run, lambda: lanes))
    assert machine.most == lanes
    assert sorted(machine.ran) == sorted(TESTS)
    assert judging.done


@pytest.mark.parametrize("seed", range(20))
def test_the_result_is_that_of_one_lane(seed: int) -> None:
    """Whatever ends first: what decides is the same first zero of each subtask."""
    subtasks = (TESTS[:7], TESTS[5:15], TESTS[10:])
    zeros = frozenset(random.Random(seed).sample(TESTS, 3))

    def first_zeros(lanes: int) -> list[str | None]:
        judging = Judging(problem(*subtasks))
        asyncio.run(run_spread(judging, two, Machine(judging, zeros=zeros, seed=seed).run, lambda: lanes))
        known = judging.outcomes()
        return [next((t for t in tests if t in known and known[t].score == 0.0), None) for tests in subtasks]

    assert first_zeros(4) == first_zeros(1)


def test_a_failure_ends_the_other_jobs() -> None:
    """What a job raises is raised, and nothing of the submission is still running then."""
    judging = Judging(problem(TESTS))
    ended: list[str] = []

    async def run(bundle: Sequence[PlannedTest]) -> None:
        if bundle[0].test == "t2":
            raise TransportError("lost")
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(bundle[0].test)

    with pytest.raises(TransportError, match="lost"):
        asyncio.run(run_spread(judging, two, run, lambda: 3))
    assert ended == ["t0", "t4"]


def test_jobs_are_sized_by_what_tests_have_taken() -> None:
    """A few tests first; then as many as take about two seconds, within the bound."""
    paces = Paces(64)
    assert paces.tests(KEY) == 8
    paces.observe(KEY, TestOutcome(test="a", verdict=Verdict.AC, score=1.0, wall_ms=1000 * BUNDLE_S / 4))
    assert paces.tests(KEY) == 4
    for _ in range(100):
        paces.observe(KEY, TestOutcome(test="a", verdict=Verdict.AC, score=1.0, wall_ms=1.0))
    assert paces.tests(KEY) == 64
    paces.observe(KEY, TestOutcome(test="a", verdict=Verdict.JE, score=None))
    assert paces.tests(KEY) == 64
    assert Paces(1).tests(KEY) == 1
