"""The state of a submission before any of its tests has run."""

from __future__ import annotations

from typing import Any

import pytest

from ioi_eval.model import (
    BatchAndOutput,
    OutputFile,
    Problem,
    Submission,
    Subtask,
    TestCase,
    Verdict,
)
from ioi_eval.scorer.submission_run import SubmissionRun
from tests.small_problems import small_problem
from tests.small_targets import small_target

TARGET = small_target()
BOTH = small_problem(
    name="Both",
    year=2026,
    method=BatchAndOutput(output_tests=("b", "c"), output_only_tests=("c",)),
    subtasks=(Subtask(name="1", points=1, tests=("a", "b")), Subtask(name="2", points=1, tests=("b", "c"))),
    tests={name: TestCase(name=name, input=b"", answer=b"") for name in ("a", "b", "c", "in no subtask")},
    cxx_std="gnu++17",
)
OUTPUT = (OutputFile(test="b", content=b"1"),)


def run(problem: Problem = BOTH, **submitted: Any) -> SubmissionRun:
    """The beginning of a submission's judging."""
    submission = Submission(id="mine", problem=problem.key, **{"code": None, **submitted})
    return SubmissionRun(problem, submission, TARGET, exhaustive=False, near_limit_repeats=1)


@pytest.mark.parametrize(
    ("submitted", "missing"),
    [
        ({"code": "x"}, ["c"]),
        ({"code": "x", "outputs": OUTPUT}, ["c"]),
        ({"outputs": OUTPUT}, ["a", "c"]),
    ],
)
def test_tests_without_output_or_program_are_0(submitted: dict[str, Any], missing: list[str]) -> None:
    """A test is run if there is an output for it, or a program that can produce one. Otherwise it scores 0."""
    begun = run(**submitted)
    begun.record_missing()
    outcomes = begun.judging.outcomes()
    assert list(outcomes) == missing
    assert {(one.verdict, one.score, one.message) for one in outcomes.values()} == {
        (Verdict.WA, 0.0, "File not submitted")
    }
