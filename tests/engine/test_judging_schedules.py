"""The selection of tests and the order in which they end do not change a submission's score."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ioi_eval.engine.judging import TestHistory
from ioi_eval.model import Problem, TestOutcome, Verdict
from tests.judging_model import (
    KINDS,
    Behaviours,
    all_behaviours,
    drive,
    drive_one_by_one,
    exhaustive_model,
    late_behaviours,
    problems,
    result_of,
    round_model,
)
from tests.small_problems import judging_of


@settings(max_examples=400)
@given(problems, all_behaviours, st.data())
def test_no_schedule_changes_the_result(problem: Problem, behaviours: Behaviours, data: st.DataObject) -> None:
    """With any bundle sizes, parallelism and order of ends, the result equals that of exhaustive judging."""
    assert result_of(problem, drive(problem, behaviours, data).outcomes()) == exhaustive_model(problem, behaviours)


@given(problems, all_behaviours, st.data())
def test_exhaustive_judging_runs_all_tests(problem: Problem, behaviours: Behaviours, data: st.DataObject) -> None:
    """Exhaustive judging runs every test of every subtask, and gives the same result in any order of ends."""
    outcomes = drive(problem, behaviours, data, exhaustive=True).outcomes()
    assert outcomes == round_model(problem, behaviours)
    assert result_of(problem, outcomes, keep_all=True) == exhaustive_model(problem, behaviours, keep_all=True)


@settings(max_examples=300)
@given(problems, late_behaviours, st.data())
def test_repeated_late_tests_do_not_depend_on_the_order(
    problem: Problem, behaviours: Behaviours, data: st.DataObject
) -> None:
    """If many tests are late and each counts, the same tests are repeated in any schedule."""
    outcomes = drive(problem, behaviours, data, exhaustive=True).outcomes()
    assert outcomes == round_model(problem, behaviours)


@settings(max_examples=300)
@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.5, 1.0, None]), st.booleans()), min_size=9, max_size=9),
    st.integers(1, 5),
)
def test_a_program_that_behaves_differently_in_repetitions_gains_nothing(
    runs: list[tuple[bool, float | None, bool]], near_limit_repeats: int
) -> None:
    """Its score is at most the score of each of its runs, the last run must be in time, and if it crashes the checker
    (`None`), it has no score.
    """
    state = TestHistory(near_limit_repeats)
    ran: list[tuple[bool, float | None]] = []
    for late, worth, near in runs:
        if worth is None:
            outcome = KINDS["checker"]
        elif late:
            outcome = replace(KINDS["TLE"], near_limit=near, in_time_score=worth)
        else:
            verdict = {0.0: Verdict.WA, 1.0: Verdict.AC}.get(worth, Verdict.PA)
            outcome = TestOutcome(test="", verdict=verdict, score=worth)
        state.record(replace(outcome, test="a", cpu_ms=1050.0))
        ran.append((late, worth))
        if state.rerun is None:
            break
    assert state.outcome is not None
    assert len(ran) <= 1 + near_limit_repeats
    late, last = ran[-1]
    scores = [worth for _, worth in ran if worth is not None]
    assert state.outcome.score == (None if last is None else 0.0 if late else min(scores))


@given(problems, all_behaviours)
def test_one_by_one_only_needed_tests_are_run(problem: Problem, behaviours: Behaviours) -> None:
    """One test at a time: only the tests up to the first zero of each subtask are run, each at most four times."""
    expected = exhaustive_model(problem, behaviours)
    judging, runs = drive_one_by_one(problem, behaviours)
    assert result_of(problem, judging.outcomes()) == expected
    counted = {shown.test for s in expected.subtasks for shown in s.tests if shown.verdict is not Verdict.SKIPPED}
    assert sorted(test for way, test in runs if way == "usual") == sorted(counted)
    assert {test for _, test in runs} == counted
    assert max(Counter(test for _, test in runs).values()) <= 4


@given(problems, all_behaviours)
def test_outcomes_are_listed_in_order_of_appearance(problem: Problem, behaviours: Behaviours) -> None:
    """The list of outcomes does not depend on which job ended first."""
    forward, backward = judging_of(problem, exhaustive=True), judging_of(problem, exhaustive=True)
    tests = [planned.test for planned in forward.pending()]
    for test in tests:
        forward.record(behaviours[test].line(test, "usual"))
    for test in reversed(tests):
        backward.record(behaviours[test].line(test, "usual"))
    assert list(forward.outcomes()) == list(backward.outcomes()) == tests
    assert list(forward.outcomes().values()) == list(backward.outcomes().values())
