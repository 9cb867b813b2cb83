"""The code of Eval Protocol 0.3: stops at the first failure, and never calls a function.

With rows that ask for a function, or have lists of lines, its code fails after loading the program. A test that runs
out of time kills its process, and all results are lost, because it sets an alarm without a handler.

Source: eval-protocol 0.3, rewards/apps_testing_util.py and rewards/apps_execution_utils.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from ioi_eval.compat.terms import (
    Calls,
    Code,
    CompatGrader,
    Ending,
    Graded,
    Match,
    TestRun,
    allclose,
    different,
    encode_text,
    too_long,
    truncated,
)
from ioi_eval.model.apps import AppsProblem, AppsTest, StdinTest
from ioi_eval.problems.apps_values import shown_texts

PER_TEST_S = 10.0
NO_RESULTS = "Execution utility returned no results."
_FAILED = "Exception in _temp_run/run_test"
KILLED = {
    "error": "Global timeout or process killed prematurely",
    "details": "No results returned from subprocess.",
}
"""Its message about a test whose process was stopped or died."""


def _grade(problem: AppsProblem, runs: Sequence[TestRun], all_tests_s: float) -> Graded:
    """Its results up to the first failure, and their metadata, which is one dictionary."""
    if any(run.ending is Ending.LOAD_FAILED for run in runs):
        return Graded(codes=(-2,), rules=("the program does not load",), metadata=(_error(runs[0]),))
    codes: list[Code] = []
    rules: list[str] = []
    for number in range(problem.inputs):
        test = problem.tests[number] if number < len(problem.tests) else None
        if not isinstance(test, StdinTest) or not (isinstance(test.given, str) and isinstance(test.expected, str)):
            rule = "it calls no function, and needs a text for each input and output"
            return _failed_on_all(problem, rule, ({"error": _FAILED, "traceback": ""},))
        if number >= len(runs):
            break
        run = runs[number]
        ended_badly = run.ending in (Ending.TIMED_OUT, Ending.DIED)
        if ended_badly or too_long(runs[: number + 1], all_tests_s):
            rule = run.ending.value if ended_badly else f"all tests together took more than {all_tests_s:g} s"
            return _failed_on_all(problem, rule, (KILLED,) * problem.inputs)
        if run.ending is Ending.RAISED:
            return Graded(codes=(*codes, -1), rules=(*rules, run.error), metadata=(_error(run),))
        match = match_output(test.expected, run.text)
        codes.append(match.right)
        rules.append(match.rule)
        if not match.right:
            return Graded(codes=tuple(codes), rules=tuple(rules), metadata=(failure(test, run.text.rstrip()),))
    crash = "" if problem.inputs else NO_RESULTS
    return Graded(codes=tuple(codes), rules=tuple(rules), metadata=({},), crash=crash)


def match_output(expected: str, printed: str) -> Match:
    """Compare the output with the row's text: stripped lines, else the number on each line."""
    ours = [line.strip() for line in printed.rstrip().splitlines()]
    theirs = [line.strip() for line in expected.splitlines()]
    if ours == theirs:
        return Match(right=True, rule="equal lines")
    try:
        close = len(ours) == len(theirs) and allclose([float(line) for line in ours], [float(line) for line in theirs])
    except ValueError:
        close = False
    return Match(right=True, rule="a close number on each line") if close else different(theirs, ours)


def failure(test: AppsTest, printed: str) -> dict[str, str]:
    """The metadata of a wrong answer: an output, or a returned value as JSON, without trailing blanks."""
    asked, expected = shown_texts(test)
    return {
        "output": truncated(printed, 200),
        "expected": truncated(expected, 200),
        "inputs": truncated(asked, 300),
        "error_message": "Wrong Answer",
    }


def clean_traceback(traceback: str) -> str:
    """A traceback, beginning with the program's first frame."""
    start = traceback.find('File "<string>"')
    return "Traceback (most recent call last):\n  " + traceback[start:] if start >= 0 else traceback


def _error(run: TestRun) -> dict[str, str]:
    return {"error": run.error, "traceback": clean_traceback(run.traceback)}


def _failed_on_all(problem: AppsProblem, rule: str, metadata: tuple[dict[str, str], ...]) -> Graded:
    return Graded(codes=(-1,) * problem.inputs, rules=(rule,) * problem.inputs, metadata=metadata)


GRADER = CompatGrader(
    name="eval-protocol",
    harness_grader="eval_protocol",
    calls=Calls.LOAD,
    per_test_s=PER_TEST_S,
    all_tests_s=lambda _, test_s: test_s + 1,
    stops=True,
    encode_input=encode_text,
    grade_runs=_grade,
    least_python=(3, 9),  # it rewrites programs by `ast.unparse`
)
