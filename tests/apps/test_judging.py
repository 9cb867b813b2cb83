"""Facts about a program's result for the run, for example whether a JE is the sandbox's failure."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import orjson
import pytest

from ioi_eval.apps.family import apps_facts
from ioi_eval.apps.result import AppsResult, decode_result, encode_result
from ioi_eval.apps.settings import AppsSettings
from ioi_eval.apps.verdicts import assessed, is_right, judged, result_of_grader
from ioi_eval.compat import grader_named
from ioi_eval.model import HarnessReport, RunDetails, TestOutcome, Verdict
from ioi_eval.model.apps import AppsProblem, CallTest, RowFault, StdinTest

PASSED = TestOutcome(test="0", verdict=Verdict.AC, score=1.0)


def judge_error(program: str | None) -> TestOutcome:
    """A test at which a judge program or the sandbox failed."""
    outcome = TestOutcome(test="1", verdict=Verdict.JE, score=None, message="it crashed", failed_program=program)
    test = StdinTest(number=1, given="", expected="")
    return judged(test, outcome, AppsSettings())


@pytest.mark.parametrize(
    ("expected", "of_result"),
    [
        (True, {}),
        (True, {"tests": (PASSED, judge_error(None))}),
        (True, {"tests": (judge_error("checker"), judge_error(None))}),
        (False, {"tests": (PASSED, judge_error("checker"))}),
        (False, {"fault": RowFault.UNEQUAL}),
    ],
)
def test_judge_errors_that_are_sandbox_failures(expected: bool, of_result: dict[str, Any]) -> None:
    """Failures of the user's own checker, or rows with a fault, are no failures of the sandbox."""
    result = AppsResult(problem="0", verdict=Verdict.JE, passed=0, total=2, **of_result)
    assert apps_facts(result).is_sandbox_failure is expected


@pytest.mark.parametrize("opening", ['["l",', '["t",', '["d","",', '["d",["t",1],'])
@pytest.mark.parametrize("deep", [199, 250, 333, 450, 900])
def test_a_deeply_nested_result_is_wa(opening: str, deep: int) -> None:
    """A result of any depth that a program returns or forges is wrong. With JE, the program would avoid its zero."""
    output = (opening * deep + "1" + "]" * deep).encode()
    details = RunDetails(judged=False, output_bytes=len(output))
    outcome = TestOutcome(test="0", verdict=Verdict.JE, score=None, output=output, details=details)
    test = CallTest(number=0, given=(1,), expected="a" * 10 * deep, accepts=("a" * 10 * deep,))
    problem, settings = AppsProblem(id="0", index=0, fn_name="f", tests=(test,)), AppsSettings()
    outcome = assessed(outcome, partial(is_right, problem, settings), time_limit_s=settings.cpu_s)
    result = judged(test, outcome, settings)
    assert result.verdict is Verdict.WA
    assert result.message.startswith("expected ")


@pytest.mark.parametrize(("name", "passes"), [("eval-protocol", True), ("hendrycks", False)])
def test_the_limit_of_all_tests_follows_from_that_of_one(name: str, passes: bool) -> None:
    """As in Eval Protocol's code, where `execution_timeout` changes both. hendrycks' limit of all tests is fixed."""
    tests = tuple(StdinTest(number=number, given="", expected="1") for number in range(2))
    problem = AppsProblem(id="0", index=0, tests=tests, inputs=2, outputs=2)
    compat = grader_named(name)
    details = RunDetails(judged=False, output_bytes=2, report=HarnessReport(phase="done"))
    run = TestOutcome(
        test="0", verdict=Verdict.JE, score=None, cpu_ms=6000, output=b"1\n", exit_code=0, details=details
    )
    settings = AppsSettings(compat=compat, time_limit_s=20)
    outcomes = {str(number): replace(run, test=str(number)) for number in range(2)}
    assert result_of_grader(problem, outcomes, settings, compat=compat).verdict is (
        Verdict.AC if passes else Verdict.WA
    )


RECORD = {
    "verdict": "JE",
    "passed": 1,
    "total": 6,
    "isolation": "full",
    "fault": None,
    "judged_by": "lines",
    "message": "it crashed",
    "tests": [
        [0, "AC", True, 0.021345, 0.030001, 9027584, "", "", "1\n", None, "lines"],
        [1, "WA", False, 0.000007, None, 4096, "line 1 differs", "", "", None, "lines", 0],
        [2, "RE", False, 1.1, 2.2, None, "exit 1", "KeyError(1)", "", None, "lines", 1, None, None, {"socket": 2}, "x"],
        [3, "TLE", False, 9.9, 9.9, 1, "", "", "", None, "lines", None, "SIGKILL", "cpu", {}, "", None, False, True, True],  # noqa: E501
        [4, "JE", None, None, None, None, "crashed", "", "", None, "lines", None, None, None, {}, "", "checker", True],
        [5, "SKIPPED", False, None, None, None, "", "", "", None, "lines"],
    ],
    "graded": None,
}  # fmt: skip
GRADED = {
    "verdict": "RE",
    "passed": 1,
    "total": 3,
    "isolation": "full",
    "fault": None,
    "judged_by": "mcpbr",
    "tests": [
        [0, "RE", True, 0.1, 0.2, 1, "", "", "", True, "mcpbr", 1],
        [1, "WA", False, 0.1, 0.2, 1, "", "", "", -1, "mcpbr"],
        [2, "SKIPPED", False, None, None, None, "", "", "", None, "mcpbr"],
    ],
    "graded": [[True, -1], ["", "line 1"], [], ""],
}


@pytest.mark.parametrize("record", [RECORD, GRADED])
def test_journal_records_of_earlier_releases(record: dict[str, Any]) -> None:
    """They can be read. They are written in the same form, but without each test's code, judge and exit code 0."""
    result = decode_result({**record, "problem": "7"})
    assert [test.passed for test in result.tests] == [test[2] for test in record["tests"]]
    assert [test.time_s for test in result.tests] == [test[3] for test in record["tests"]]
    written = encode_result(result)
    expected = {**record, "tests": [_as_stored_now(test) for test in record["tests"]]}
    assert {name: written[name] for name in record} == expected


def _as_stored_now(test: list[Any]) -> list[Any]:
    """The test without these three, and so without the empty values before them."""
    values = [*test[:9], None, "", *(value or None for value in test[11:12]), *test[12:]]
    while len(values) > 3 and values[-1] in (None, ""):
        values.pop()
    return values


def test_a_test_is_stored_without_what_the_record_has() -> None:
    """A journal may have 20 million tests."""
    test = TestOutcome(
        test="7", verdict=Verdict.AC, score=1.0, cpu_ms=2.692, wall_ms=3.001, memory_bytes=11796480, exit_code=0
    )
    result = AppsResult(problem="7", verdict=Verdict.AC, passed=1, total=1, tests=(test,), judged_by="lines")
    (stored,) = encode_result(result)["tests"]
    assert stored == [7, "AC", True, 0.002692, 0.003001, 11796480]
    assert orjson.dumps(stored) == b'[7,"AC",true,0.002692,0.003001,11796480]'
