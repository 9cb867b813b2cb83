"""Eval Protocol's page: outputs are equal except for blanks at both ends, all tests count, and the texts are the
package's.
"""

from __future__ import annotations

import pytest

from ioi_eval.compat.eval_protocol import KILLED
from ioi_eval.compat.eval_protocol_page import GRADER, encode_input, match_output
from ioi_eval.compat.terms import Ending, TestRun
from ioi_eval.model.apps import AppsProblem, StdinTest
from ioi_eval.problems.apps_values import encode
from tests.compat.compared_runs import printed, problem


@pytest.mark.parametrize(
    ("expected", "output", "right"),
    [
        ("4", b" 4", True),
        ("4\n", b"\n\n4 \n\n", True),
        ("1\n2", b"1 \n2", False),
        ("1\n2", b"1\r\n2\r\n", True),
        ("1\r\n2", b"1\r\n2", False),
        ("1\n2", b"1\n\n2", False),
        ("1 2", b"1  2", False),
        ("1.0", b"1", False),
        ("998240000", b"998244352", False),
        ("YES", b"Yes", False),
        ("", b" \n", True),
        ("1", "\u30001\u00a0".encode(), True),
        ("1", b"1\xff", False),
    ],
)
def test_outputs(expected: str, output: bytes, right: bool) -> None:
    """As by the page's `strip() == strip()`. Output that is no text is wrong."""
    assert match_output(expected, output).right is right


HEADER = "Traceback (most recent call last):"
TWO = problem(["1", "2"], ["1", "2"])
LATE, DEAD = TestRun(ending=Ending.TIMED_OUT, exit_code=None), TestRun(ending=Ending.DIED, exit_code=None)
RAISED = TestRun(ending=Ending.RAISED, exit_code=1, error="E('x')", traceback=f"{HEADER}\n…")
WRONG = {"output": "x", "expected": "1", "inputs": "1", "error_message": "Wrong Answer"}


@pytest.mark.parametrize(
    ("runs", "codes", "metadata"),
    [
        ([printed("1"), printed("2")], [True, True], [{}]),
        ([printed("x\n"), printed("2")], [False, True], [WRONG]),
        ([printed("1"), RAISED], [True, -1], [{"error": "E('x')", "traceback": f"{HEADER}\n…"}]),
        ([RAISED, printed("x")], [-1, False], [{"error": "E('x')", "traceback": f"{HEADER}\n…"}]),
        ([printed("1"), LATE], [True, -1], [KILLED]),
        ([LATE, DEAD], [-1, -1], [KILLED, KILLED]),
        ([TestRun(ending=Ending.LOAD_FAILED, exit_code=1, error="SyntaxError()", traceback="^")], [-2, -2],
         [{"error": "SyntaxError()", "traceback": f"{HEADER}\n^"}]),
        ([TestRun(ending=Ending.RAISED, exit_code=3), printed("2")], [-1, True],
         [{"error": "exit code 3", "traceback": ""}]),
    ],
)  # fmt: skip
def test_codes(runs: list[TestRun], codes: list[bool | int], metadata: list[dict[str, str]]) -> None:
    """All tests count, and the first failure is in the metadata."""
    graded = GRADER.grade(TWO, runs)
    assert list(graded.codes) == codes
    assert list(graded.metadata) == metadata
    assert len(graded.rules) == len(codes)


def test_all_tests_are_run() -> None:
    """Each has its own process. Only a program that does not load is not run again."""
    assert all(GRADER.wants_another(TWO, [run]) for run in (printed("x"), RAISED, LATE, DEAD))
    assert not GRADER.wants_another(TWO, [TestRun(ending=Ending.LOAD_FAILED)])


def test_functions_are_called() -> None:
    """This goes beyond the page and uses our rules: a bare result is right if the expected one is in a list of one."""
    row = problem([[1], [2]], [[3], [4]], "f")
    assert encode_input(row.tests[0]) == encode((1,))
    three = TestRun(ending=Ending.FINISHED, output=encode(3))
    graded = GRADER.grade(row, [three, three])
    assert list(graded.codes) == [True, False]
    assert graded.metadata[0]["expected"] == "[4]"


def test_inputs_are_not_changed() -> None:
    """Nothing is appended to a text. Lists of lines are joined."""
    assert encode_input(StdinTest(number=0, given="1\r\n2", expected="")) == b"1\r\n2"
    assert encode_input(StdinTest(number=0, given=("1", "2"), expected="")) == b"1\n2"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (problem([], []), "Execution utility"),
        (problem(["1"], []), "Execution utility"),
        (problem([1], ["1"]), "input 0"),
    ],
)
def test_rows_that_cannot_be_judged(row: AppsProblem, words: str) -> None:
    """They have no result."""
    assert words in GRADER.grade(row, []).crash


def test_unequal_rows_are_judged_by_their_pairs() -> None:
    """Like the page's `zip`."""
    assert list(GRADER.grade(problem(["1", "2"], ["1"]), [printed("1")]).codes) == [True]
