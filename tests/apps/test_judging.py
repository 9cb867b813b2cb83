"""Facts about a program's result for the run, for example whether a JE is the sandbox's failure."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import orjson
import pytest

from ioi_eval.apps.family import apps_facts
from ioi_eval.apps.result import AppsResult, decode_result, encode_result
from ioi_eval.apps.settings import AppsSettings, run_rules
from ioi_eval.apps.verdicts import assessed, is_right, judged, result_of_grader, wants_another
from ioi_eval.compat import grader_named
from ioi_eval.compat.terms import Graded
from ioi_eval.model import HarnessReport, Isolation, RunDetails, TestOutcome, Verdict
from ioi_eval.model.apps import AppsProblem, CallTest, RowFault, StdinTest
from ioi_eval.pipeline.family import JudgingEnd

PASSED = TestOutcome(test="0", verdict=Verdict.AC, score=1.0)


def judge_error(program: str | None) -> TestOutcome:
    """A test at which a judge program or the sandbox failed."""
    outcome = TestOutcome(test="1", verdict=Verdict.JE, score=None, message="it crashed", failed_program=program)
    test = StdinTest(number=1, given="", expected="")
    return judged(test, outcome, AppsSettings())


@pytest.mark.parametrize(
    ("expected", "of_result"),
    [
        (JudgingEnd.SANDBOX_FAILED, {}),
        (JudgingEnd.SANDBOX_FAILED, {"tests": (PASSED, judge_error(None))}),
        (JudgingEnd.SANDBOX_FAILED, {"tests": (judge_error("checker"), judge_error(None))}),
        (JudgingEnd.NOT_JUDGEABLE, {"tests": (PASSED, judge_error("checker"))}),
        (JudgingEnd.NOT_JUDGEABLE, {"fault": RowFault.UNEQUAL}),
        (JudgingEnd.RESULT, {"graded": Graded(crash="it fails on this row")}),
        (JudgingEnd.SANDBOX_FAILED, {"graded": Graded()}),
        (JudgingEnd.RESULT, {"verdict": Verdict.WA, "tests": (PASSED,)}),
    ],
)
def test_judge_errors_that_are_sandbox_failures(expected: JudgingEnd, of_result: dict[str, Any]) -> None:
    """Failures of the user's own checker, or rows with a fault, are no failures of the sandbox. If another grader fails
    on the row, that is its result.
    """
    result = AppsResult(**{"verdict": Verdict.JE, "passed": 0, "total": 2, **of_result})
    assert apps_facts(result).end is expected


def test_cpu_time_is_that_of_the_program_and_of_the_checker() -> None:
    """Times that are not known count nothing."""
    tests = (replace(PASSED, cpu_ms=1200.0, check_cpu_ms=300.0), replace(PASSED, test="1"))
    result = AppsResult(verdict=Verdict.AC, passed=2, total=2, tests=tests)
    assert apps_facts(result).cpu.as_dict() == {"compile": 0.0, "run": 1.2, "check": 0.3}


@pytest.mark.parametrize("mib", [1, 5, 17])
def test_an_official_answer_of_any_length_can_be_printed_for_another_grader(mib: int) -> None:
    """The bound on outputs that another grader compares is never shorter."""
    test = StdinTest(number=0, given="", expected="x" * mib * 2**20)
    problem = AppsProblem(id="0", index=0, tests=(test,), inputs=1, outputs=1)
    rules = run_rules(problem, AppsSettings(compat=grader_named("hendrycks")), checker=None)
    assert rules.output_limit_bytes is not None
    assert rules.output_limit_bytes > len(test.expected)


@pytest.mark.parametrize("opening", ['["l",', '["t",', '["d","",', '["d",["t",1],'])
@pytest.mark.parametrize("deep", [199, 250, 333, 450, 900])
def test_a_deeply_nested_result_is_wa(opening: str, deep: int) -> None:
    """A result of any depth that a program returns or forges is wrong. With JE, the program would avoid its zero."""
    output = (opening * deep + "1" + "]" * deep).encode()
    details = RunDetails(judged_in_box=False, output_bytes=len(output))
    outcome = TestOutcome(test="0", verdict=Verdict.JE, score=None, output=output, details=details)
    test = CallTest(number=0, given=(1,), expected="a" * 10 * deep, accepts=("a" * 10 * deep,))
    problem, settings = AppsProblem(id="0", index=0, fn_name="f", tests=(test,)), AppsSettings()
    outcome = assessed(outcome, partial(is_right, problem, settings), time_limit_s=settings.cpu_s)
    result = judged(test, outcome, settings)
    assert result.verdict is Verdict.WA
    assert result.message.startswith("expected ")


@pytest.mark.parametrize("bits", [20_000, 20_001])
def test_only_integers_of_some_length_are_written_in_decimal(bits: int) -> None:
    """Quadratic work: a wrong result of 30 MB, of integers of 200,000 bits, would keep the scorer busy for 98 s."""
    output = f'["i","{1 << (bits - 1):#x}"]'.encode()
    details = RunDetails(judged_in_box=False, output_bytes=len(output))
    outcome = TestOutcome(test="0", verdict=Verdict.WA, score=0.0, output=output, details=details)
    result = judged(CallTest(number=0, given=(1,), expected=1, accepts=(1,)), outcome, AppsSettings())
    assert ("an integer of" in result.message) is (bits > 20_000)


@pytest.mark.parametrize(("name", "passes"), [("eval-protocol", True), ("hendrycks", False)])
def test_the_limit_of_all_tests_follows_from_that_of_one(name: str, passes: bool) -> None:
    """As in Eval Protocol's code, where `execution_timeout` changes both. hendrycks' limit of all tests is fixed."""
    tests = tuple(StdinTest(number=number, given="", expected="1") for number in range(2))
    problem = AppsProblem(id="0", index=0, tests=tests, inputs=2, outputs=2)
    compat = grader_named(name)
    details = RunDetails(judged_in_box=False, output_bytes=2, report=HarnessReport(phase="done"))
    run = TestOutcome(
        test="0", verdict=Verdict.JE, score=None, cpu_ms=6000, output=b"1\n", exit_code=0, details=details
    )
    settings = AppsSettings(compat=compat, time_limit_s=20)
    outcomes = {str(number): replace(run, test=str(number)) for number in range(2)}
    assert result_of_grader(problem, outcomes, settings, compat=compat).verdict is (
        Verdict.AC if passes else Verdict.WA
    )


def late(test: str, cpu_s: float) -> TestOutcome:
    """A right output that came too late for another grader."""
    details = RunDetails(output_bytes=2, report=HarnessReport(phase="done"))
    return TestOutcome(
        test=test,
        verdict=Verdict.TLE,
        score=0.0,
        in_time_score=1.0,
        cpu_ms=cpu_s * 1000,
        limit="cpu",
        output=b"1\n",
        details=details,
    )


def test_a_late_run_that_is_repeated_does_not_end_another_grader_s_time() -> None:
    """hendrycks waits 11 s for a program: two late runs and a slow one take as long, their repetitions do not.

    Whether the last tests run before the repetitions depends on how many tests share a job. So it must not count.
    """
    tests = tuple(StdinTest(number=number, given="", expected="1") for number in range(4))
    problem = AppsProblem(id="0", index=0, tests=tests, inputs=4, outputs=4)
    compat = grader_named("hendrycks")
    settings = AppsSettings(compat=compat)
    details = RunDetails(judged_in_box=False, output_bytes=2, report=HarnessReport(phase="done"))
    slow = TestOutcome(
        test="2", verdict=Verdict.JE, score=None, cpu_ms=2200, output=b"1\n", exit_code=0, details=details
    )
    first = {"0": late("0", 4.5), "1": late("1", 4.5), "2": slow}
    assert wants_another(problem, first, settings, compat)
    repeated = {name: replace(outcome, reran=True) for name, outcome in first.items()}
    assert not wants_another(problem, repeated, settings, compat)


def test_a_result_is_stored_in_the_journal_in_few_bytes() -> None:
    """A journal may have 20 million tests. What the harness reported is stored once for all of them."""
    tests = [
        TestOutcome(
            test="0", verdict=Verdict.AC, score=1.0, cpu_ms=2.692, wall_ms=3.001, memory_bytes=11796480, output=b"4\n"
        ),
        TestOutcome(
            test="1", verdict=Verdict.RE, score=0.0, message="exit 1", cpu_ms=1.0, wall_ms=2.0, exit_code=1, stderr="x"
        ),
        TestOutcome(test="2", verdict=Verdict.SKIPPED, score=None),
    ]
    graded = Graded(codes=(True, -1), rules=("equal", "raised"))
    result = AppsResult(
        verdict=Verdict.RE,
        passed=1,
        total=3,
        tests=tuple(tests),
        errors=("KeyError(1)",),
        judged_by="hendrycks",
        graded=graded,
        isolation=Isolation.FULL,
        target="local",
        python="python3 3.11.2",
    )
    record = orjson.loads(orjson.dumps(encode_result(result)))
    assert orjson.dumps(record["tests"][0]) == b'["0","AC",1.0,"",2.692,3.001,11796480,"NAo="]'
    assert decode_result(record) == result
