"""What is run, and in what order it ends, never changes what a submission is worth."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from judging_model import (
    KINDS,
    Behaviours,
    all_behaviours,
    drive,
    drive_one_by_one,
    exhaustive_model,
    problems,
    result_of,
)

from ioi_eval.judging import Judging
from ioi_eval.model import Problem, Verdict


@settings(max_examples=400)
@given(problems, all_behaviours, st.data())
def test_no_schedule_changes_the_result(problem: Problem, behaviours: Behaviours, data: st.DataObject) -> None:
    """Any bundle sizes, parallelism and order of ends give exactly the result of exhaustive judging."""
    assert result_of(problem, drive(problem, behaviours, data).outcomes()) == exhaustive_model(problem, behaviours)


@given(problems, all_behaviours, st.data())
def test_exhaustive_judging_runs_and_settles_everything(
    problem: Problem, behaviours: Behaviours, data: st.DataObject
) -> None:
    """Exhaustive judging settles every test that a subtask lists, and gives the same result."""
    outcomes = drive(problem, behaviours, data, exhaustive=True).outcomes()
    listed = {test for subtask in problem.subtasks for test in subtask.tests}
    assert outcomes == {test: behaviours[test].settled(test) for test in listed}
    assert result_of(problem, outcomes, keep_all=True) == exhaustive_model(problem, behaviours, keep_all=True)


@given(problems, all_behaviours)
def test_one_by_one_nothing_runs_in_vain(problem: Problem, behaviours: Behaviours) -> None:
    """One test at a time, only what stands up to the first zero of some subtask is run, and hardly ever repeated."""
    expected = exhaustive_model(problem, behaviours)
    judging, runs = drive_one_by_one(problem, behaviours)
    assert result_of(problem, judging.outcomes()) == expected
    counted = {shown.test for s in expected.subtasks for shown in s.tests if shown.verdict is not Verdict.SKIPPED}
    assert sorted(test for way, test in runs if way == "usual") == sorted(counted)
    assert {test for _, test in runs} == counted
    assert max(Counter(test for _, test in runs).values()) <= 4


@given(problems, all_behaviours)
def test_outcomes_are_listed_in_order_of_appearance(problem: Problem, behaviours: Behaviours) -> None:
    """What is written down does not depend on which box ended first."""
    forward, backward = Judging(problem, exhaustive=True), Judging(problem, exhaustive=True)
    tests = [planned.test for planned in forward.pending()]
    for test in tests:
        forward.record(replace(KINDS[behaviours[test].usual], test=test))
    for test in reversed(tests):
        backward.record(replace(KINDS[behaviours[test].usual], test=test))
    assert list(forward.outcomes()) == list(backward.outcomes()) == tests
    assert list(forward.outcomes().values()) == list(backward.outcomes().values())
