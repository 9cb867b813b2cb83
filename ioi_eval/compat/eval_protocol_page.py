"""Eval Protocol as its page on APPS describes it: a process for each test, a prelude before the program, equal text.

If the page and the package's code differ (`eval_protocol.py`), this follows the page: a failure does not end the other
tests, and the whole output is compared, without blanks at both ends. Codes, messages and metadata are the package's. In
addition to the page, functions are called, and judged by our own rules.

Source: Eval Protocol's page on APPS; words and metadata as in eval-protocol 0.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ioi_eval.compat.eval_protocol import KILLED, NO_RESULTS, PER_TEST_S, failure
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
    graded_all,
    match_text,
)
from ioi_eval.model.apps import AppsProblem, AppsTest, CallTest, StdinTest, joined
from ioi_eval.model.methods import Comparator
from ioi_eval.problems.apps_values import arguments_of, encode, result_is_right, shown_result

_TRACEBACK = "Traceback (most recent call last):"


def encode_input(test: AppsTest) -> bytes:
    """The row's text, unchanged; for a function its arguments."""
    if isinstance(test, CallTest):
        return encode(arguments_of(test))
    return encode_text(test)


def _grade(problem: AppsProblem, runs: Sequence[TestRun], _all_tests_s: float) -> Graded:
    """The results of all tests with input and output, and the metadata of the first failure."""
    if not can_grade(problem):
        return Graded(crash=problem.reason)
    if not problem.tests:
        return Graded(crash=NO_RESULTS)
    if any(run.ending is Ending.LOAD_FAILED for run in runs):
        count = len(problem.tests)
        return Graded(codes=(-2,) * count, rules=("the program does not compile",) * count, metadata=(_error(runs[0]),))
    graded = graded_all(problem, runs, _match)
    return replace(graded, metadata=_metadata(problem, runs, graded.codes))


def _metadata(problem: AppsProblem, runs: Sequence[TestRun], codes: Sequence[Code]) -> tuple[Mapping[str, Any], ...]:
    """The metadata of the first failure; if all runs were killed, the same for each."""
    failed = next((number for number, code in enumerate(codes) if code is not True), None)
    if failed is None:
        return ({},)
    if all(_is_killed(run) for run in runs):
        return (KILLED,) * len(codes)
    run, test = runs[failed], problem.tests[failed]
    if codes[failed] is not False:
        return (_error(run),)
    printed = run.text.rstrip() if isinstance(test, StdinTest) else shown_result(run.output).decode("utf-8", "replace")
    return (failure(test, printed),)


def _is_killed(run: TestRun) -> bool:
    return run.ending in (Ending.TIMED_OUT, Ending.DIED)


def _match(test: AppsTest, run: TestRun) -> Match | None:
    """Whether the result of a test is right; `None` for an error."""
    if run.ending is not Ending.FINISHED:
        return None
    if isinstance(test, StdinTest):
        return match_output(joined(test.expected), run.output)
    right = result_is_right(test, run.output, Comparator())
    return Match(right=right, rule="equal" if right else "different")


def match_output(expected: str, printed: bytes) -> Match:
    """Compare the texts after Python's `strip`.

    Line ends are read as in text files in Python: a carriage return before a line feed does not count.
    """
    try:
        text = printed.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return Match(right=False, rule="the output is not UTF-8")
    return match_text(expected, text)


def _error(run: TestRun) -> Mapping[str, Any]:
    """The metadata of a program that failed."""
    if _is_killed(run):
        return KILLED
    begins = run.traceback.startswith(_TRACEBACK)  # the traceback of a syntax error has no frames
    traceback = run.traceback if begins or not run.traceback else f"{_TRACEBACK}\n{run.traceback}"
    return {"error": run.error or f"exit code {run.exit_code}", "traceback": traceback}


GRADER = CompatGrader(
    name="eval-protocol-page",
    harness_grader="eval_protocol_page",
    script=True,
    calls=Calls.CALL,
    per_test_s=PER_TEST_S,
    all_tests_s=None,
    stops=False,
    encode_input=encode_input,
    grade_runs=_grade,
)
