"""What a run is told of a program's result."""

from __future__ import annotations

from typing import Any

import pytest

from ioi_eval.apps.judging import blames_the_sandbox
from ioi_eval.apps.outcomes import AppsResult, AppsSettings, AppsTestResult
from ioi_eval.apps.verdicts import judged
from ioi_eval.model import TestOutcome, Verdict
from ioi_eval.model.apps import RowFault, StdinTest

PASSED = AppsTestResult(number=0, verdict=Verdict.AC, passed=True)


def judge_error(program: str | None) -> AppsTestResult:
    """A test that a judge program, or the sandbox, failed at."""
    outcome = TestOutcome(test="1", verdict=Verdict.JE, score=None, message="it crashed", judge_program=program)
    test = StdinTest(number=1, given="", expected="")
    return judged(test, outcome, AppsSettings(), passed=True)


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
def test_whom_a_judge_error_blames(expected: bool, of_result: dict[str, Any]) -> None:
    """A hundred failures of the user's own checker, or rows with a fault, do not say that the sandbox is broken."""
    result = AppsResult(problem="0", verdict=Verdict.JE, passed=0, total=2, **of_result)
    assert blames_the_sandbox(result) is expected
