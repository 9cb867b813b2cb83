"""LiveCodeBench: exact decimals, stop at the first failure, and a pass for rows without tests."""

from __future__ import annotations

import pytest

from ioi_eval.compat.livecodebench import GRADER, match_output
from ioi_eval.compat.terms import Ending, TestRun
from ioi_eval.model.apps import AppsProblem
from ioi_eval.problems.apps import apps_problem
from ioi_eval.problems.row import Row
from tests.compat.compared_runs import printed, problem


@pytest.mark.parametrize(
    ("expected", "text", "right"),
    [
        ("1\n2\n", "\n1 \r\n 2\n\n", True),
        ("1\n\n2\n", "1\n2\n", False),
        ("1\n \n2\n", "1\n\n2\n", True),
        ("1.0 2\n", "1  2.00\n", True),
        ("50000000000000000\n", "50000000000000001\n", False),
        ("1" + "0" * 400 + "1\n", "1" + "0" * 400 + "7\n", False),
        ("1000\n", "1_000\n", True),
        ("1000\n", "1e3\n", True),
        ("7\n", "007\n", True),
        ("0.1\n", "0.10000001\n", False),
        ("YES\n", "Yes\n", False),
        ("nan\n", "nan\n", True),
        ("nan 1\n", "nan 1.0\n", False),
        ("Infinity\n", "inf\n", True),
        ("", "", True),
        ("", "1", False),
        ("a\x0cb", "a\nb", False),
    ],
)
def test_outputs(expected: str, text: str, right: bool) -> None:
    """Lines are equal without blanks around them, or have equal decimal numbers."""
    match = match_output(expected, text)
    assert match is not None
    assert match.right is right


def test_signaling_nan_makes_its_comparison_fail() -> None:
    """Decimal raises an error for a signaling NaN, and the whole program fails."""
    assert match_output("1\n", "sNaN\n") is None
    graded = GRADER.grade(problem(["1", "2"], ["1", "2"]), [printed("1"), printed("sNaN")])
    assert list(graded.codes) == [-4]


@pytest.mark.parametrize(
    ("row", "runs", "codes"),
    [
        (problem(["1", "2"], ["1", "2"]), [printed("1"), printed("2")], [True, True]),
        (problem(["1", "2"], ["1", "2"]), [printed("1"), printed("1")], [True, -2]),
        (problem(["1", "2"], ["1", "2"]), [printed("1"), TestRun(ending=Ending.TIMED_OUT)], [True, -3]),
        (problem(["1", "2"], ["1", "2"]), [TestRun(ending=Ending.RAISED, error="E()")], [-4]),
        (problem(["1", "2"], ["1", "2"]), [TestRun(ending=Ending.LOAD_FAILED, error="E()")], [-4]),
        (problem(["1", "2"], ["1", "2"]), [printed("1"), TestRun(ending=Ending.DIED)], [-2]),
        (problem(["1"], ["1"]), [printed("1", wall_s=13)], [-2]),
        (problem(["1"], ["1"]), [printed("1", exit_code=1)], [True]),
        (problem(["1", "2"], ["1"]), [printed("1")], [True]),
        (problem([], []), [], []),
        (problem([[1]], [1], "f"), [], [-4]),
        (problem(["1", "2"], ["1", ["2"]]), [printed("1"), printed("2")], [-4]),
        (problem([["1", "2"]], ["1"]), [printed("1")], [True]),
    ],
)
def test_codes(row: AppsProblem, runs: list[TestRun], codes: list[bool | int]) -> None:
    """The grader's codes up to the first failure. If its own code fails, earlier codes are lost."""
    assert list(GRADER.grade(row, runs).codes) == codes


def test_rules() -> None:
    """The reason of a failure is the grader's message."""
    assert GRADER.grade(problem(["in"], ["1 2\n3"]), [printed("1 2\n4\n")]).rules == (
        "Wrong answer at output_line_idx=1: 4 != 3",
    )
    short = GRADER.grade(problem(["in"], ["1\n2"]), [printed("1")])
    assert short.rules == ("Wrong answer: mismatched output length",)
    call = GRADER.grade(problem([[1]], [1], "f"), [])
    assert call.rules == ("'list' object has no attribute 'split'",)


def test_requested_runs() -> None:
    """None for functions, none after a failure, and one to load a program without tests."""
    assert not GRADER.wants_another(problem([[1]], [1], "f"), [])
    assert not GRADER.wants_another(problem(["1", "2"], ["1", "2"]), [printed("3")])
    assert GRADER.wants_another(problem([], []), [])
    assert GRADER.all_tests_s is not None
    assert GRADER.all_tests_s(2, 6.0) == 19
    assert GRADER.grade(problem([], []), [printed("")]).all_passed
    assert list(GRADER.grade(problem([], []), [TestRun(ending=Ending.LOAD_FAILED)]).codes) == [-4]


def test_rows_that_it_cannot_read() -> None:
    """Where the grader's own code fails, there is no result."""
    row = apps_problem(Row(source="test", number=1, values={"input_output": "{"}), 0)
    assert GRADER.grade(row, []).crash
