"""Sums over the tests of a result, and the reason why there is no score."""

from __future__ import annotations

import pytest

from ioi_eval.model import CompileOutcome, TestOutcome, Verdict
from ioi_eval.report.totals import CpuSplit, count_run, distinct_outcomes, judge_error
from tests.scored import COMPILED, judge, make_problem, outcome, result_of

TWO = make_problem((40, "ab"), (60, "ac"))
FAILED = Verdict.JE


def test_a_test_that_ran_in_one_subtask_has_run() -> None:
    """Also if a later subtask does not need it: after a wrong test the others of a subtask are SKIPPED."""
    found = {"a": outcome("a", 1.0), "b": outcome("b", 1.0), "c": outcome("c", 0.0)}
    result = result_of(make_problem((40, "ab"), (60, "ca")), found)
    assert [test.verdict for subtask in result.subtasks for test in subtask.tests].count(Verdict.SKIPPED) == 1
    assert {test.test: test.verdict for test in distinct_outcomes(result)} == {"a": "AC", "b": "AC", "c": "WA"}


def test_cpu_time_of_a_test_in_two_subtasks_is_counted_once() -> None:
    """Times that are not known count nothing."""
    found = {
        "a": outcome("a", 1.0, cpu_ms=1000, check_cpu_ms=100),
        "b": outcome("b", 1.0, cpu_ms=200, check_cpu_ms=None),
        "c": outcome("c", 1.0, cpu_ms=None, check_cpu_ms=20),
    }
    result = result_of(TWO, found, compiled=CompileOutcome(verdict=None, cpu_ms=5000))
    cpu = CpuSplit.of(distinct_outcomes(result), compile_ms=result.compile.cpu_ms)
    assert cpu.as_dict() == {"compile": 5.0, "run": 1.2, "check": 0.12}


@pytest.mark.parametrize(
    ("verdict", "cpu_ms", "ran"),
    [("AC", 1.0, 1), ("WA", None, 1), ("JE", None, 0), ("JE", 1.0, 1), ("SKIPPED", None, 0)],
)
def test_a_judge_error_with_a_time_has_run(verdict: str, cpu_ms: float | None, ran: int) -> None:
    """If nothing could be started, every test is JE without a time. Outputs have a verdict and no time."""
    assert count_run([outcome("a", verdict, cpu_ms=cpu_ms)]) == ran


def test_the_reason_for_no_score() -> None:
    """The first failure in a subtask without a score; one that decides nothing is not named."""
    assert judge_error(judge(TWO, 1.0, 0.0, 1.0)) is None
    found = {"a": outcome("a", 1.0), "b": outcome("b", FAILED, message="no space"), "c": outcome("c", FAILED)}
    assert judge_error(result_of(TWO, found)) == "test b: no space"
    assert judge_error(result_of(TWO, {**found, "b": outcome("b", 1.0)})) == "test c: judge error"
    first = make_problem((40, "xy"), (60, "z"))
    undecided = {
        "x": TestOutcome(test="x", verdict=FAILED, score=None, message="of x"),
        "y": outcome("y", 0.0),
        "z": outcome("z", FAILED, message="of z"),
    }
    result = result_of(first, undecided)
    assert [subtask.score for subtask in result.subtasks] == [0.0, None]
    assert judge_error(result) == "test z: of z"


@pytest.mark.parametrize(("message", "reason"), [("g++ was killed", "g++ was killed"), ("", "judge error while comp")])
def test_a_compiler_that_failed_is_the_reason(message: str, reason: str) -> None:
    """Not one of the tests, which were not run."""
    found = {name: outcome(name, FAILED, message="not run") for name in "abc"}
    result = result_of(TWO, found, compiled=CompileOutcome(verdict=FAILED, message=message))
    assert (judge_error(result) or "").startswith(reason)
    assert judge_error(result_of(TWO, found, compiled=COMPILED)) == "test a: not run"
