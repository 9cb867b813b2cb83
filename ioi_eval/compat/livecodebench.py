"""LiveCodeBench: stops at the first failure; compares decimal numbers exactly; a row without tests passes.

It reads functions' arguments as lines of JSON. APPS has no such lines, so rows with functions always fail; rows with
lists of lines fail too.

Source: LiveCodeBench, lcb_runner/evaluation/testing_util.py and compute_code_generation_metrics.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from ioi_eval.compat.terms import (
    Calls,
    Code,
    CompatGrader,
    Ending,
    Graded,
    Match,
    TestRun,
    can_grade,
    encode_text,
    too_long,
    truncated,
)
from ioi_eval.model.apps import AppsProblem, AppsTest, StdinTest

WRONG, TIMED_OUT, FAILED = -2, -3, -4
PER_TEST_S = 6.0
_SHOWN = 300


class _OwnError(Exception):
    """An error of the grader's own code, by which all earlier results are lost."""


def _grade(problem: AppsProblem, runs: Sequence[TestRun], all_tests_s: float) -> Graded:
    """Its results up to the first failure."""
    if not can_grade(problem):
        return Graded(crash=problem.reason)
    try:
        return _results(problem, runs, all_tests_s)
    except _OwnError as error:
        return Graded(codes=(FAILED,), rules=(str(error),))


def _results(problem: AppsProblem, runs: Sequence[TestRun], all_tests_s: float) -> Graded:
    if problem.fn_name is not None:
        raise _OwnError("'list' object has no attribute 'split'")
    if any(run.ending is Ending.LOAD_FAILED for run in runs):
        raise _OwnError(runs[0].error)
    codes: list[Code] = []
    rules: list[str] = []
    for number, (test, run) in enumerate(zip(problem.tests, runs, strict=False)):
        if run.ending is Ending.DIED or too_long(runs[: number + 1], all_tests_s):
            return Graded(codes=(-2,), rules=(f"the whole set: {run.ending.value}",))
        code, rule = _result_of_test(test, run)
        codes.append(code)
        rules.append(rule)
        if code is not True:
            break
    return Graded(codes=tuple(codes), rules=tuple(rules))


def _result_of_test(test: AppsTest, run: TestRun) -> tuple[Code, str]:
    """A test's code, and the rule by which it passes or fails."""
    assert isinstance(test, StdinTest)
    if run.ending is not Ending.FINISHED:
        return TIMED_OUT if run.ending is Ending.TIMED_OUT else FAILED, run.error or run.ending.value
    if not isinstance(test.expected, str):
        raise _OwnError("'list' object has no attribute 'strip'")
    match = match_output(test.expected, run.text)
    if match is None:
        raise _OwnError("a signaling NaN")
    return match.right or WRONG, match.rule


def match_output(expected: str, printed: str) -> Match | None:
    """Compare line by line: equal after stripping blanks, else the same decimal numbers; `None` if that fails."""
    ours = [line.strip() for line in printed.strip().split("\n")]
    theirs = [line.strip() for line in expected.strip().split("\n")]
    if len(ours) != len(theirs):
        return Match(right=False, rule="Wrong answer: mismatched output length")
    rule = "equal lines"
    for number, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        if our == their:
            continue
        difference = f"output_line_idx={number}: {truncated(our, _SHOWN)} != {truncated(their, _SHOWN)}"
        try:
            numbers = [Decimal(word) for word in our.split()], [Decimal(word) for word in their.split()]
        except InvalidOperation:
            return Match(right=False, rule=f"Wrong answer at {difference}")
        try:
            same = numbers[0] == numbers[1]
        except InvalidOperation:
            return None
        if not same:
            return Match(right=False, rule=f"Wrong answer at {difference}")
        rule = "the same decimal numbers"
    return Match(right=True, rule=rule)


GRADER = CompatGrader(
    name="livecodebench",
    harness_grader="livecodebench",
    calls=Calls.NEVER,
    per_test_s=PER_TEST_S,
    all_tests_s=lambda tests, test_s: (test_s + 1) * tests + 5,
    stops=True,
    encode_input=encode_text,
    grade_runs=_grade,
    least_python=(3, 9),  # it rewrites programs by `ast.unparse`
)
