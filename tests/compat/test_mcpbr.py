"""mcpbr: equal text and exit code 0, and its own texts for rows that it cannot judge."""

from __future__ import annotations

import pytest

from ioi_eval.compat.mcpbr import GRADER, encode_input
from ioi_eval.compat.terms import Ending, TestRun
from ioi_eval.model.apps import AppsProblem, CallTest, StdinTest
from ioi_eval.problems.apps import apps_problem
from ioi_eval.problems.row import Row


def row_of(column: object) -> AppsProblem:
    """A row with this `input_output`."""
    return apps_problem(Row(source="test", number=1, values={"input_output": column}), 0)


def printed(output: bytes, exit_code: int | None = 0) -> TestRun:
    """A run that printed this."""
    return TestRun(ending=Ending.FINISHED, output=output, exit_code=exit_code)


@pytest.mark.parametrize(
    ("expected", "output", "right"),
    [
        ("1\n2\n", b"1\n2", True),
        ("1\n2\n", b"\n 1\n2 \n\n", True),
        ("1 \n2\n", b"1\n2\n", False),
        ("1\n2\n", b"1\r\n2\r\n", False),
        ("1\n2\n", b"1\n\n2\n", False),
        ("1.0\n", b"1\n", False),
        ("YES\n", b"Yes\n", False),
        ("", b" \n", True),
        ("1", "1\u00a0\n".encode(), True),
    ],
)
def test_outputs(expected: str, output: bytes, right: bool) -> None:
    """Only blanks at both ends of the whole output are ignored."""
    graded = GRADER.grade(row_of({"inputs": ["x"], "outputs": [expected]}), [printed(output)])
    assert graded.codes == (right,)


@pytest.mark.parametrize("exit_code", [1, 3, None])
def test_exit_codes(exit_code: int | None) -> None:
    """A right output counts only with exit code 0."""
    row = row_of({"inputs": ["x"], "outputs": ["1"]})
    assert GRADER.grade(row, [printed(b"1", exit_code)]).codes == (False,)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("", "No test cases provided"),
        (None, "No test cases provided"),
        ("{", "Could not parse test cases"),
        ({"inputs": [], "outputs": []}, "Empty test cases"),
        ({"inputs": ["1"], "outputs": []}, "Empty test cases"),
        ({"inputs": ["1"]}, "Empty test cases"),
    ],
)
def test_rows_that_it_cannot_judge(column: object, words: str) -> None:
    """The error texts are mcpbr's."""
    graded = GRADER.grade(row_of(column), [])
    assert graded.crash == words
    assert not graded.all_passed


def test_unequal_rows_are_judged_by_their_pairs() -> None:
    """A row with fewer outputs than inputs can pass."""
    graded = GRADER.grade(row_of({"inputs": ["1", "2"], "outputs": ["1"]}), [printed(b"1")])
    assert graded.all_passed
    assert graded.passed == 1


def test_all_tests_are_run() -> None:
    """A test over the time limit has failed, and output that is not text is wrong. The other tests are still run."""
    row = row_of({"inputs": ["1", "2"], "outputs": ["1", "2"]})
    assert GRADER.wants_another(row, [printed(b"x")])
    assert GRADER.grade(row, [printed(b"x"), printed(b"2")]).codes == (False, True)
    late = TestRun(ending=Ending.TIMED_OUT, output=b"1")
    assert GRADER.wants_another(row, [late])
    assert GRADER.grade(row, [late, printed(b"2")]).codes == (False, True)
    assert GRADER.grade(row, [late, printed(b"2")]).rules == ("out of time", "equal text")
    assert GRADER.grade(row, [printed(b"\xff"), printed(b"2")]).codes == (False, True)
    assert not GRADER.grade(row, [late, late]).crash


def test_lists_and_arguments_are_python_text() -> None:
    """Lists and arguments are given in Python's notation, and outputs are compared in it."""
    assert encode_input(StdinTest(number=0, given="1\n", expected="")) == b"1\n"
    assert encode_input(StdinTest(number=0, given=("1", "2"), expected="")) == b"['1', '2']"
    assert encode_input(CallTest(number=0, given=([1], True, None), expected=0, accepts=(0,))) == b"[[1], True, None]"
    row = row_of({"inputs": [[1]], "outputs": [[True]], "fn_name": "f"})
    assert GRADER.grade(row, [printed(b"[True]\n")]).codes == (True,)
