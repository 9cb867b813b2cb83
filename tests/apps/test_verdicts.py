"""What the outcome of a run means for its test, and what the tests mean for a program: without running any."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from ioi_eval.apps.settings import AppsSettings
from ioi_eval.apps.verdicts import assessed, is_right, judged, result_of, result_of_grader, wants_another, why_unusable
from ioi_eval.compat import grader_named
from ioi_eval.compat.hendrycks import GUESSED_TESTS
from ioi_eval.jobs.plan import cpu_stop_ms
from ioi_eval.model import HarnessReport, RunDetails, TestOutcome, Verdict
from ioi_eval.model.apps import AppsProblem, CallTest, RowFault, StdinTest
from ioi_eval.model.methods import Comparator
from ioi_eval.problems.apps_values import encode

LIMIT_S = 4.0
CALL = CallTest(number=0, given=(1,), expected=7, accepts=(7,))
OURS = RunDetails(judged_in_box=False)


def outcome(verdict: str, score: float | None, **fields: Any) -> TestOutcome:
    """The outcome of the first test."""
    return TestOutcome(test="0", verdict=Verdict(verdict), score=score, **fields)


RIGHT, WRONG, LATE = outcome("AC", 1.0), outcome("WA", 0.0), outcome("TLE", 0.0)
FAILED = outcome("JE", None, message="no space")
LOADS_NOT = outcome(
    "RE", 0.0, exit_code=1, details=RunDetails(report=HarnessReport(phase="compile", error="SyntaxError('x')"))
)


@pytest.mark.parametrize(
    ("late", "right", "in_time_score"),
    [
        ({"cpu_ms": 4100.0}, True, 1.0),
        ({"cpu_ms": 4100.0}, False, 0.0),
        ({"cpu_ms": None}, True, 1.0),
        ({"cpu_ms": 4100.0}, None, None),  # the box judges
        ({"cpu_ms": 4100.0, "limit": "idle"}, True, None),
        ({"cpu_ms": cpu_stop_ms(LIMIT_S)}, True, None),
        ({"cpu_ms": 4100.0, "in_time_score": 0.5}, None, 0.0),
        ({"cpu_ms": 4100.0, "in_time_score": 1.0}, None, 1.0),
        ({"cpu_ms": 4100.0, "in_time_score": 0.0}, True, 0.0),
    ],
)
def test_the_output_of_a_late_run_is_judged_if_it_ended(
    late: Mapping[str, Any], right: bool | None, in_time_score: float | None
) -> None:
    """Else it is not known what a faster run would print. It is late all the same."""
    judge = None if right is None else lambda _: right
    found = assessed(outcome("TLE", 0.0, **late), judge, time_limit_s=LIMIT_S)
    assert (found.verdict, found.score, found.in_time_score) == (Verdict.TLE, 0.0, in_time_score)


@pytest.mark.parametrize(
    ("given", "right", "verdict", "score"),
    [
        (outcome("JE", None, details=OURS, message="not judged"), True, "AC", 1.0),
        (outcome("JE", None, details=OURS, message="not judged"), False, "WA", 0.0),
        (outcome("JE", None), True, "JE", None),  # the box failed to judge it
        (outcome("JE", None, details=OURS), None, "JE", None),
        (outcome("RE", 0.0), True, "RE", 0.0),
        (outcome("PA", 0.5), None, "PA", 0.0),
        (outcome("AC", 1.0), None, "AC", 1.0),
    ],
)
def test_a_test_passes_with_the_full_score_only(
    given: TestOutcome, right: bool | None, verdict: str, score: float | None
) -> None:
    """Our side judges an output only if the box has not done so."""
    found = assessed(given, None if right is None else lambda _: right, time_limit_s=LIMIT_S)
    assert (found.verdict, found.score) == (verdict, score)
    if verdict in ("AC", "WA"):
        assert found.message == ""


@pytest.mark.parametrize(
    ("test", "output", "length", "right"),
    [
        (CALL, encode(7), len(encode(7)), True),
        (CALL, encode(8), len(encode(8)), False),
        (CALL, encode(7), len(encode(7)) + 1, False),  # only its beginning was returned
        (StdinTest(number=0, given="", expected="7"), encode(7), len(encode(7)), False),
    ],
)
def test_only_a_whole_result_of_a_call_is_right(
    test: CallTest | StdinTest, output: bytes, length: int, right: bool
) -> None:
    """What programs print is judged in the box."""
    problem = AppsProblem(id="0", index=0, fn_name="f", tests=(test,), inputs=1, outputs=1)
    returned = outcome("JE", None, output=output, details=RunDetails(judged_in_box=False, output_bytes=length))
    assert is_right(problem, AppsSettings(), returned) is right


@pytest.mark.parametrize(
    ("fields", "report", "verdict", "message"),
    [
        ({"exit_code": 1}, {"error": "MemoryError()", "traceback": "t"}, "MLE", "MemoryError(): it asked for more mem"),
        ({"exit_code": 3}, {"error": "MemoryError()", "traceback": "t"}, "RE", "exit code: t"),
        ({"exit_code": 1}, {"error": "KeyError(1)", "traceback": "t"}, "RE", "exit code: t"),
        ({"exit_code": 1, "stderr": "s"}, {"exit": True, "traceback": "t"}, "RE", "exit code\ns"),
        ({"exit_code": 1, "stderr": "s"}, {}, "RE", "exit code\ns"),
        ({"limit": "threads"}, {"traceback": "t"}, "RE", "more than "),
    ],
)
def test_how_a_program_failed(fields: Mapping[str, Any], report: Mapping[str, Any], verdict: str, message: str) -> None:
    """Python ends with exit code 1 if it gets no memory; a program may also print such an error and exit."""
    failed = outcome("RE", 0.0, message="exit code", details=RunDetails(report=HarnessReport(**report)), **fields)
    found = judged(StdinTest(number=0, given="", expected="1"), failed, AppsSettings())
    assert (found.verdict, found.score) == (verdict, 0.0)
    assert found.message.startswith(message)


def test_a_comparator_that_failed_gives_no_score() -> None:
    """The message has the comparator's name in place of the runner's. Other failures are named as they are."""
    test = StdinTest(number=0, given="", expected="1")
    crashed = outcome("JE", None, message="checker: it crashed", failed_program="checker", final=True)
    found = judged(test, crashed, AppsSettings())
    assert (found.verdict, found.score, found.failed_program) == ("JE", None, "checker")
    assert found.message.endswith("failed on this output: it crashed")
    assert judged(test, FAILED, AppsSettings()).message == "no space"


def problem(fault: RowFault | None = None, **fields: Any) -> AppsProblem:
    """A problem with two tests by default."""
    tests = tuple(StdinTest(number=number, given="", expected="1") for number in range(2))
    reason = "" if fault is None else "the row is broken"
    return AppsProblem(
        id="0", index=0, fault=fault, reason=reason, **{"tests": tests, "inputs": 2, "outputs": 2, **fields}
    )


@pytest.mark.parametrize(
    ("compat", "row", "usable"),
    [
        (None, problem(), True),
        (None, problem(RowFault.UNEQUAL, inputs=3), False),
        (None, problem(RowFault.EMPTY, tests=(), inputs=0, outputs=0), False),
        ("hendrycks", problem(), True),
        ("hendrycks", problem(RowFault.UNEQUAL, inputs=3), True),
        ("hendrycks", problem(RowFault.BROKEN_JSON, tests=(), inputs=0, outputs=0), False),
        ("mcpbr", problem(RowFault.EMPTY, tests=(), inputs=0, outputs=0), False),
        ("mcpbr", problem(RowFault.UNEQUAL, inputs=3), True),
        ("eval-protocol", problem(RowFault.UNEQUAL, inputs=3), True),
        ("eval-protocol", problem(RowFault.BROKEN_JSON, inputs=2), False),
        ("livecodebench", problem(), True),
        (None, problem(fn_name="f"), True),
    ],
)
def test_which_rows_can_be_judged(compat: str | None, row: AppsProblem, usable: bool) -> None:
    """By our rules only whole ones; other graders judge the pairs of a row with unequal numbers."""
    settings = AppsSettings(compat=None if compat is None else grader_named(compat))
    assert (why_unusable(row, settings) == "") is usable


def verdicts_of(*outcomes: TestOutcome | None, fail_fast: bool = False) -> tuple[str, int, list[str], str]:
    """Verdict, number of passed tests, their verdicts, and message of a program; `None` for a test that did not run."""
    tests = tuple(StdinTest(number=number, given="", expected="1") for number in range(len(outcomes)))
    found = {str(number): each for number, each in enumerate(outcomes) if each is not None}
    row = AppsProblem(id="0", index=0, tests=tests, inputs=len(tests), outputs=len(tests))
    result = result_of(row, found, AppsSettings(fail_fast=fail_fast))
    assert result.judged_by == str(Comparator())
    return result.verdict.value, result.passed, [test.verdict.value for test in result.tests], result.message


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ((RIGHT, RIGHT), ("AC", 2, ["AC", "AC"], "")),
        ((RIGHT, LATE, WRONG), ("TLE", 1, ["AC", "TLE", "WA"], "")),
        ((WRONG, FAILED), ("JE", 0, ["WA", "JE"], "no space")),
        ((LOADS_NOT, LOADS_NOT), ("CE", 0, ["CE", "CE"], "SyntaxError('x')")),
        ((LOADS_NOT, FAILED), ("JE", 0, ["CE", "JE"], "SyntaxError('x')")),
        ((LOADS_NOT, RIGHT), ("CE", 0, ["CE", "CE"], "SyntaxError('x')")),
    ],
)
def test_the_verdict_of_a_program(outcomes: tuple[TestOutcome, ...], expected: tuple[str, int, list[str], str]) -> None:
    """That of the first failed test; JE if a test could not be judged; CE if the program does not load."""
    assert verdicts_of(*outcomes) == expected


def test_after_the_first_failure_nothing_counts() -> None:
    """With `--fail-fast` tests of the same job may have run. A JE is no failure of the program."""
    assert verdicts_of(WRONG, RIGHT, fail_fast=True) == ("WA", 0, ["WA", "SKIPPED"], "")
    assert verdicts_of(FAILED, RIGHT, fail_fast=True)[2] == ["JE", "AC"]
    assert verdicts_of(RIGHT, WRONG, None, fail_fast=True)[:2] == ("WA", 1)
    assert verdicts_of(WRONG, RIGHT)[2] == ["WA", "AC"]


def printed(text: str, **fields: Any) -> TestOutcome:
    """A program that printed this, for another grader to compare."""
    report = HarnessReport(phase=fields.pop("phase", "done"), error=fields.pop("error", ""))
    details = RunDetails(judged_in_box=False, output_bytes=len(text), report=report)
    return outcome(
        "JE", None, **{"output": text.encode(), "details": details, "exit_code": 0, "cpu_ms": 10.0, **fields}
    )


def stopped(verdict: str, phase: str = "", error: str = "", **fields: Any) -> TestOutcome:
    """A program that failed, or was stopped, in this phase of the harness."""
    details = RunDetails(output_bytes=2, report=HarnessReport(phase=phase, error=error))
    return outcome(verdict, 0.0, **{"output": b"1\n", "details": details, "cpu_ms": 10.0, **fields})


DIED = (-1,) * GUESSED_TESTS


@pytest.mark.parametrize(
    ("compat", "second", "verdict", "codes", "of_second"),
    [
        ("hendrycks", printed("1\n"), "AC", (True, True), "AC"),
        ("hendrycks", printed("2\n"), "WA", (True, False), "WA"),
        ("hendrycks", printed("1\n", cpu_ms=4000.0), "TLE", (True, -1), "TLE"),  # its limit is one of wall clock
        ("hendrycks", printed("1\n", exit_code=3), "WA", DIED, "WA"),  # a forged report
        ("hendrycks", stopped("RE", "run", "KeyError(1)", exit_code=1), "RE", (True, -1), "RE"),
        ("hendrycks", stopped("RE", "compile", "SyntaxError()", exit_code=1), "WA", (-2,), "RE"),
        ("hendrycks", stopped("RE", "run", signal=11), "WA", DIED, "RE"),
        ("hendrycks", stopped("RE", "run", limit="threads"), "WA", DIED, "RE"),
        ("hendrycks", stopped("MLE", "run", exit_code=1), "WA", DIED, "MLE"),
        ("hendrycks", stopped("SV", "run", exit_code=1), "WA", DIED, "SV"),
        ("hendrycks", stopped("TLE", "run", limit="cpu"), "TLE", (True, -1), "TLE"),
        ("hendrycks", stopped("OLE", "run", limit="output"), "OLE", (True, False), "OLE"),
        ("hendrycks", stopped("OLE", "run", limit="files"), "WA", DIED, "OLE"),
        ("mcpbr", printed("1\n"), "AC", (True, True), "AC"),
        ("mcpbr", printed("1\n", exit_code=1), "WA", (True, False), "WA"),
        ("mcpbr", stopped("MLE", exit_code=0), "MLE", (True, False), "MLE"),
        ("mcpbr", stopped("OLE", exit_code=0, limit="output"), "OLE", (True, False), "OLE"),
    ],
)
def test_how_another_grader_sees_a_run(
    compat: str, second: TestOutcome, verdict: str, codes: tuple[object, ...], of_second: str
) -> None:
    """The first output is right, but a grader that dies passes no test. The verdict of a test is the runner's, if it
    has one.
    """
    grader = grader_named(compat)
    found = {"0": printed("1\n"), "1": replace(second, test="1")}
    result = result_of_grader(problem(), found, AppsSettings(compat=grader), compat=grader)
    assert result.graded is not None
    assert (result.verdict, result.graded.codes) == (verdict, codes)
    assert result.passed == sum(code is True for code in codes)
    assert result.tests[1].verdict == of_second


@pytest.mark.parametrize("compat", ["hendrycks", "mcpbr", "livecodebench", "eval-protocol"])
def test_another_grader_gives_no_score_if_the_box_failed(compat: str) -> None:
    """Whatever the other test is, up to the test at which the grader stops."""
    grader = grader_named(compat)
    settings = AppsSettings(compat=grader)
    for found in ({"0": FAILED}, {"0": printed("1\n"), "1": replace(FAILED, test="1")}):
        result = result_of_grader(problem(), found, settings, compat=grader)
        assert (result.verdict, result.score, result.message) == ("JE", None, "no space")
        assert result.judged_by == compat
        assert not wants_another(problem(), found, settings, grader)


@pytest.mark.parametrize(("compat", "second"), [("hendrycks", "AC"), ("livecodebench", "SKIPPED")])
def test_runs_after_the_one_at_which_another_grader_stops_do_not_count(compat: str, second: str) -> None:
    """They may have shared a job with it."""
    grader = grader_named(compat)
    found = {"0": printed("2\n"), "1": replace(printed("1\n"), test="1")}
    result = result_of_grader(problem(), found, AppsSettings(compat=grader), compat=grader)
    assert [test.verdict for test in result.tests] == ["WA", second]
    assert result.verdict == "WA"
