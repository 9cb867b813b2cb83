"""mcpbr: a process for each test, equal text, exit code 0. Values that are not texts become Python's `str` of them.

A test that runs out of time, or whose output is not valid text, has failed, as mcpbr's page says. Its code then stops
the whole evaluation of the task, because the error is not caught in the loop over the tests: the task is not resolved.

Source: mcpbr, src/mcpbr/benchmarks/apps.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ioi_eval.compat.terms import Calls, CompatGrader, Ending, Graded, Match, TestRun, graded_all, match_text
from ioi_eval.model.apps import AppsProblem, AppsTest, RowFault

PER_TEST_S = 10.0
NO_TESTS, UNREADABLE, EMPTY = "No test cases provided", "Could not parse test cases", "Empty test cases"

ERRORS = {
    RowFault.NO_TESTS: NO_TESTS,
    RowFault.BROKEN_JSON: UNREADABLE,
    RowFault.TOO_LARGE: UNREADABLE,
    RowFault.WRONG_SHAPE: EMPTY,
    RowFault.EMPTY: EMPTY,
    RowFault.WRONG_TEST: UNREADABLE,
}
"""Its messages about rows that cannot be judged. If inputs and outputs are of unequal number, it judges the pairs."""


def encode_input(test: AppsTest) -> bytes:
    """The input as Python's `str` writes it: a text unchanged, a list with brackets and quotes."""
    return _spelled(test.given).encode("utf-8", "replace")


def _grade(problem: AppsProblem, runs: Sequence[TestRun], _all_tests_s: float) -> Graded:
    """Its results for all tests with input and output."""
    if problem.fault is not None and problem.fault is not RowFault.UNEQUAL:
        return Graded(crash=ERRORS.get(problem.fault, problem.reason))
    if not problem.tests:
        return Graded(crash=EMPTY)
    return graded_all(problem, runs, lambda test, run: match_output(_spelled(test.expected), run))


def match_output(expected: str, run: TestRun) -> Match:
    """Compare the stripped text of a program that ended in time with exit code 0."""
    if run.ending is Ending.TIMED_OUT:
        return Match(right=False, rule="out of time")
    try:
        printed = run.output.decode("utf-8")
    except UnicodeDecodeError:
        return Match(right=False, rule="the output is not UTF-8")
    if run.exit_code != 0:
        ended = run.error or "a signal" if run.exit_code is None else f"exit code {run.exit_code}"
        return Match(right=False, rule=ended)
    return match_text(expected, printed)


def _spelled(value: Any) -> str:
    return str(list(value) if isinstance(value, tuple) else value)


GRADER = CompatGrader(
    name="mcpbr",
    harness_grader=None,
    calls=Calls.STDIN,
    per_test_s=PER_TEST_S,
    all_tests_s=None,
    stops=False,
    encode_input=encode_input,
    grade_runs=_grade,
)
