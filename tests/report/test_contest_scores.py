"""The score of all of a contestant's submissions: each subtask counts with its best result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.errors import InputError
from ioi_eval.model import Problem, ScoreType, Submission, SubmissionResult, Subtask, SubtaskResult, Verdict
from ioi_eval.report.result_values import light_row
from ioi_eval.report.summary import ProblemTally
from ioi_eval.scores import submission_result
from tests.scored import COMPILED, KEY, any_result, judge, make_problem, outcome


def contest_score(problem: Problem, results: Iterable[SubmissionResult]) -> ProblemTally:
    """All of these submissions."""
    tally = ProblemTally(problem=problem)
    for result in results:
        tally.add(result.submission, result, light_row(compiles=True, target_subtask=None, subtasks=(), length=0))
    return tally


def subtasks(tally: ProblemTally, column: str) -> list[Any]:
    """A column of each subtask in `summary.json`."""
    return [subtask[column] for subtask in tally.as_dict()["subtasks"]]


def test_contest_score_takes_the_best_of_each_subtask() -> None:
    """Since 2017 a contestant keeps the best of each subtask over all submissions."""
    problem = make_problem((0, "a"), (40, "b"), (60, "c"))
    results = [
        judge(problem, 1.0, 1.0, 0.0, submission="first"),
        judge(problem, 1.0, 0.5, 0.25, submission="second"),
        judge(problem, 1.0, 1.0, 0.25, submission="third"),
    ]
    best = contest_score(problem, results)
    assert best.sum_of_best_subtasks == 55.0
    assert subtasks(best, "best_submission") == ["first", "first", "second"]
    assert not any(subtasks(best, "undecided"))


def test_contest_score_rounds_once() -> None:
    """A problem's score is rounded from the unrounded sum, like a submission's total."""
    problem = make_problem((10, "a"), (10, "b"), (10, "c"))
    assert contest_score(problem, [judge(problem, 1 / 3, 1 / 3, 1 / 3)]).sum_of_best_subtasks == 10.0


def test_contest_score_with_judge_errors_is_a_marked_lower_bound() -> None:
    """A submission with JE might have had a better result, except if the best already has full marks. So a subtask
    says how many are undecided.
    """
    problem = make_problem((40, "a"), (60, "b"))
    open_one = judge(problem, Verdict.JE, Verdict.JE)
    best = contest_score(problem, [open_one, judge(problem, 1.0, 0.5)])
    assert best.sum_of_best_subtasks == 70.0
    assert subtasks(best, "undecided") == [0, 1]
    nothing = contest_score(problem, [open_one])
    assert nothing.sum_of_best_subtasks == 0.0
    some = contest_score(problem, [judge(problem, 1.0, Verdict.JE)])
    assert some.sum_of_best_subtasks == 40.0
    assert subtasks(nothing, "best_score") == [None, None]


def test_contest_score_of_a_sum_is_rounded_as_a_submission_is() -> None:
    """115 of 200 tests are 57.5 of 100 points. 100 times the mean is a little less as a float, and would be rounded
    to 57. CMS gives 58.
    """
    names = [f"{number:03}" for number in range(200)]
    problem = replace(
        make_problem((100, "a"), precision=0),
        score_type=ScoreType.SUM,
        subtasks=(Subtask(name="00", points=100, tests=tuple(names)),),
    )
    found = {name: outcome(name, float(number < 115)) for number, name in enumerate(names)}
    result = submission_result(problem, Submission(id="s", problem=KEY, code="…"), COMPILED, found)
    best = contest_score(problem, [result])
    assert (result.score, best.sum_of_best_subtasks, subtasks(best, "best_points")) == (58, 58, [58])


def test_equal_scores_of_the_reference_are_compared_by_their_points() -> None:
    """Its scores have two decimals: 0.9964 is 1.0 there, with 99.64 points."""
    problem = make_problem((100, "a"))
    nearly = SubtaskResult(
        subtask=problem.subtasks[0].name, verdict=Verdict.PA, score=1.0, points=100, weighted_score=99.64, tests=()
    )
    solved = replace(nearly, verdict=Verdict.AC, weighted_score=100.0)
    results = [
        replace(judge(problem, 1.0, submission=name), subtasks=(subtask,))
        for name, subtask in (("nearly", nearly), ("solved", solved), ("later", nearly))
    ]
    best = contest_score(problem, results)
    assert (best.sum_of_best_subtasks, subtasks(best, "best_submission")) == (100.0, ["solved"])
    assert contest_score(problem, results[:1]).sum_of_best_subtasks == 99.64


def test_contest_score_of_nothing_is_zero() -> None:
    """Without submissions the score is 0."""
    best = contest_score(make_problem((40, "a"), (60, "b")), [])
    assert best.sum_of_best_subtasks == 0.0
    assert (subtasks(best, "best_submission"), subtasks(best, "undecided")) == ([None, None], [0, 0])


def test_other_subtasks_are_refused() -> None:
    """A row with other subtasks than those of the problem's first row is of another version of the problem."""
    problem = make_problem((100, "a"))
    with pytest.raises(InputError, match=r"with the subtasks \['00', '01'\], others with \['00'\]"):
        contest_score(problem, [judge(make_problem((50, "a"), (50, "b")), 1.0, 1.0)])


@given(st.permutations(range(4)), st.data())
def test_contest_score_does_not_depend_on_order(order: list[int], data: st.DataObject) -> None:
    """The sum of best subtasks does not depend on the order of submissions, and no submission has more points."""
    problem = make_problem((40, "a"), (60, "ab"))
    results = [
        judge(problem, data.draw(any_result), data.draw(any_result), submission=str(number)) for number in range(4)
    ]
    best = contest_score(problem, results)
    again = contest_score(problem, [results[place] for place in order])
    assert all(subtasks(best, column) == subtasks(again, column) for column in ("best_score", "undecided"))
    assert best.sum_of_best_subtasks == again.sum_of_best_subtasks
    assert all(r.score is None or r.score <= best.sum_of_best_subtasks for r in results)
