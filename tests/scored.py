"""Outcomes of tests that are named by letters, and the scores that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from ioi_eval.config import Unscored
from ioi_eval.model import (
    CompileOutcome,
    Problem,
    ProblemKey,
    Submission,
    SubmissionResult,
    Subtask,
    TestOutcome,
    Verdict,
)
from ioi_eval.report.rows import JudgedSubmission, ResultColumns
from ioi_eval.report.summary import Summary
from ioi_eval.scores import submission_result
from tests.small_problems import small_problem

KEY = ProblemKey(year=2024, id="nile")

COMPILED = CompileOutcome(verdict=None)

ZEROS = (Verdict.WA, Verdict.TLE, Verdict.MLE, Verdict.OLE, Verdict.SV, Verdict.RE)


SCORES = {Verdict.AC: 1.0, Verdict.PA: 0.5, Verdict.JE: None, Verdict.SKIPPED: None}


def make_problem(*subtasks: tuple[float, str], precision: int = 2, key: ProblemKey = KEY) -> Problem:
    """A problem from (points, test names as letters) pairs; the subtasks are named 00, 01, …"""
    return small_problem(
        key=key,
        name="Nile",
        memory_limit_bytes=2**30,
        score_precision=precision,
        subtasks=tuple(
            Subtask(name=f"{number:02}", points=points, tests=tuple(tests))
            for number, (points, tests) in enumerate(subtasks)
        ),
    )


def sampled_problem(first: float, second: float) -> Problem:
    """A problem with the tests 1, 2 and 3: samples (1), and two subtasks (1 and 2; 2 and 3) worth these points."""
    return small_problem(
        time_limit_s=2.0,
        subtasks=(
            Subtask(name="00-samples", points=0, tests=("1",)),
            Subtask(name="01", points=first, tests=("1", "2")),
            Subtask(name="02", points=second, tests=("2", "3")),
        ),
    )


def outcome(test: str, result: str | float, **fields: Any) -> TestOutcome:
    """A test's outcome from a score, or from a verdict with its usual score."""
    if isinstance(result, str):
        verdict = Verdict(result)
        return TestOutcome(test=test, verdict=verdict, score=SCORES.get(verdict, 0.0), **fields)
    verdict = Verdict.AC if result == 1.0 else Verdict.WA if result == 0.0 else Verdict.PA
    return TestOutcome(test=test, verdict=verdict, score=result, **fields)


def outcomes(tests: str, *results: str | float) -> dict[str, TestOutcome]:
    """Outcomes of tests named by letters."""
    return {test: outcome(test, result) for test, result in zip(tests, results, strict=True)}


def result_of(
    problem: Problem,
    found: Mapping[str, TestOutcome],
    *,
    compiled: CompileOutcome = COMPILED,
    submission: str = "s",
    keep_all: bool = False,
) -> SubmissionResult:
    """The result of a submission with these outcomes."""
    asked = Submission(id=submission, problem=problem.key, code="…")
    return submission_result(problem, asked, compiled, found, keep_all=keep_all)


def judge(problem: Problem, *results: str | float, submission: str = "s", keep_all: bool = False) -> SubmissionResult:
    """The result of a submission with these outcomes, in alphabetical order of the tests."""
    return result_of(
        problem, outcomes("".join(sorted(problem.tests)), *results), submission=submission, keep_all=keep_all
    )


def verdicts(tests: Sequence[TestOutcome]) -> list[Verdict]:
    """The verdicts of tests as a subtask shows them."""
    return [test.verdict for test in tests]


scores = st.sampled_from([0.0, 1e-9, 0.25, 1 / 3, 0.9999, 1.0])

any_result = st.one_of(scores, st.sampled_from([*ZEROS, Verdict.JE]))


def add_to(
    summary: Summary, judged: JudgedSubmission, row: Mapping[str, Any], *, target_subtask: str | None = None
) -> None:
    """Add a submission to a summary, as a run does with a row of a dump."""
    columns, reason = ResultColumns.of(judged, unscored=Unscored.NULL), judged.reason(row)
    summary.add(
        columns.row(row, judged, target_subtask=target_subtask, reason=reason),
        row,
        judged.problem,
        judged.result,
        submission=judged.submission.id,
        cpu=columns.cpu,
        reason=reason,
    )
