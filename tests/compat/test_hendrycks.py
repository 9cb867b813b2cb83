"""hendrycks/apps: which outputs it accepts, rule by rule, including its errors."""

from __future__ import annotations

import itertools
import tracemalloc
from fractions import Fraction
from typing import Any

import pytest

from ioi_eval.compat.hendrycks import GRADER, _rounded, encode_input, match_output, match_result
from ioi_eval.compat.terms import Ending, TestRun
from ioi_eval.model.apps import AppsProblem, CallTest, StdinTest
from ioi_eval.problems.apps import apps_problem
from ioi_eval.problems.apps_values import Foreign, decode, encode
from ioi_eval.problems.row import Row
from tests.compat.compared_runs import printed, problem


@pytest.mark.parametrize(
    ("expected", "text", "rule"),
    [
        ("1\n2\n", "1\n2", "equal text"),
        ("1\n2\n", " 1 \n\t2 \n\n", "equal text"),
        ("1 \n2\n", "1 \n2\n", "equal text"),
        ("1\n2", "1\r\n2\r\n", "equal text"),
        ("1\n\n2\n", "1\n2\n", "equal lines"),
        ("1\n2\n", "1\n\n2\n", "equal lines without empty ones"),
        ("1.0\n2\n", "1\n2.00001\n", "a close number on each line"),
        ("998240000\n", "998244352\n", "a close number on each line"),
        ("1" + "0" * 400 + "1\n", "1" + "0" * 400 + "7\n", "a close number on each line"),
        ("1000\n", "1_000\n", "a close number on each line"),
        ("7\n", "007\n", "a close number on each line"),
        ("1000\n", "1e3\n", "a close number on each line"),
        ("a b\nc\n", "c\nb a\n", "the same words in any order, and however often"),
        ("a b\nc\n", "c\nc\nb a a\n", "the same words in any order, and however often"),
        ("a b\n", "b a\n \nb a\n", "the same words in any order, and however often"),
        ("a  b\n", "a b\n", "the same words in any order, and however often"),
        ("1 2\n3 4\n", "4 3.0001\n2 1\n", "the same numbers to 3 places, in any order, and however often"),
        ("YES\n", "Yes\n", None),
        ("nan\n1\n", "nan\n1.0\n", None),
        ("inf\n1\n", "Infinity\n1.0\n", "a close number on each line"),
        ("inf\n1\n", "5\n1.0\n", None),
        ("1\n2\n", "1 2\n", None),
        ("1\n", "", None),
        ("", "", "equal text"),
        (" \n", "x", None),
        ("", "\n \n", "equal text"),
        ("0.5\n", "0.501\n", None),
        ("0.5\n", "0.500001\n", "a close number on each line"),
        ("1 0.5\n", "1 0.5004\n", "the same numbers to 3 places, in any order, and however often"),
        ("a\u00a0b\n", "b a\n", "the same words in any order, and however often"),
        ("a\x0cb\n", "a\nb\n", None),
        ("1 0\n", "-0.0001 1\n", "the same numbers to 3 places, in any order, and however often"),
        ("1 nan\n", "1.0 nan\n", None),
    ],
)
def test_outputs(expected: str, text: str, rule: str | None) -> None:
    """Each output is accepted by the same rule as in the grader's own code."""
    match = match_output(expected, text)
    assert match.right is (rule is not None)
    assert match.rule == rule if rule else match.rule.startswith("different: line ")


@pytest.mark.parametrize("line", ["nan", "1 1", "x"])
def test_millions_of_wrong_lines_take_limited_memory(line: str) -> None:
    """A program may print 16 MiB for each test. Sets of all its lines would take 120 times as much."""
    text = f"{line}\n" * (1 << 18)
    tracemalloc.start()
    try:
        assert not match_output("1\n2\n3\n", text).right
        assert tracemalloc.get_traced_memory()[1] < 40 * len(text)
    finally:
        tracemalloc.stop()


def test_lines_of_numbers_that_share_a_hash() -> None:
    """x and x * 2^61 have the same hash, and so have lines of them. A set of such lines would take quadratic time."""
    pairs = [(str(number), str(number << 61)) for number in range(1, 11)]
    lines = [frozenset(map(_rounded, words)) for words in itertools.product(*pairs)]
    assert len(set(map(hash, lines))) == len(lines)


@pytest.mark.parametrize(
    ("expected", "got", "right"),
    [
        (9, 9, True),
        ([9], 9, True),
        ([9, 10], 9, True),
        ([9, 10], 10, False),
        ([9, 10], [], False),
        ([[["a", "b"]]], ["ab"], False),
        ([[["a", "b"]]], [("a", "b")], True),
        ([1, 2], (1, 2), True),
        ([[1, 2]], (1, 2), True),
        ([[1, 2]], [(1, 2)], False),
        ([[[1, 2]]], [(1, 2)], True),
        ([[1, [2]]], [(1, 2)], False),
        ([[["a", "b"], ["c", "d"]]], [("a", "b"), "cd"], True),
        ([[["a", "b"]]], [("a", "b"), 5], False),
        ({"1": 2}, {1: 2}, True),
        ({"1": 2}, {"1": 2}, False),
        ({"a": 2}, {"a": 2}, True),
        ([{"1": 2}], {1: 2}, True),
        ([{"1": 2}, 3], {1: 2}, True),
        ([{"a": 2}], {"a": 2}, True),
        ({}, {}, True),
        (1, True, True),
        (1, 1.0, True),
        (0.5, Fraction(1, 2), True),
        ("1", 1, False),
        (None, None, True),
        ([], [], True),
        ([], None, False),
        ([1], Foreign(type_name="set"), False),
    ],
)
def test_results(expected: Any, got: Any, right: bool) -> None:
    """A result is right if it equals the expected value or its first element."""
    match = match_result(expected, got)
    assert match is not None
    assert match.right is right


def test_arrays_make_its_comparison_fail() -> None:
    """The truth value of a numpy array is an error."""
    assert match_result([1], Foreign(type_name="numpy.ndarray")) is None


def test_a_large_dictionary_with_integer_keys_is_equal() -> None:
    """The keys of a large dictionary are compared as text."""
    numbers = {number: number for number in range(1000)}
    expected = {str(number): number for number in numbers}
    for result in ([numbers], [numbers | {7: 8}]):
        match = match_result(expected, decode(encode(result)))
        assert match is not None
        assert match.right is (result == [numbers])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (([1, 2], 3), ([1, 2], 3)),
        (({"1": 2}, 3), ({1: 2},)),
        (({"1": 2, "01": 4}, 3), ({1: 4},)),
        (({"a": 2}, 3), ({"a": 2}, 3)),
        (({},), ({},)),
        ((), ()),
    ],
)
def test_arguments_with_integer_keys(arguments: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    """If an argument is a dictionary whose keys become integers, the other arguments are lost."""
    test = CallTest(number=0, given=arguments, expected=None, accepts=(None,))
    assert decode(encode_input(test)) == expected


def test_input_has_no_final_line_feed() -> None:
    """The input is the lines joined, or the unchanged text."""
    assert encode_input(StdinTest(number=0, given=("1", "2"), expected="")) == b"1\n2"
    assert encode_input(StdinTest(number=0, given="1\n2\n", expected="")) == b"1\n2\n"


def returned(value: Any) -> TestRun:
    """A run in which the function returned this."""
    return TestRun(ending=Ending.FINISHED, output=encode(value))


@pytest.mark.parametrize(
    ("row", "runs", "codes"),
    [
        (problem(["1", "2"], ["1", "2"]), [printed("1"), printed("1")], [True, False]),
        (problem(["1", "2"], ["1", "2"]), [TestRun(ending=Ending.RAISED), printed("2")], [-1, True]),
        (problem(["1", "2"], ["1", "2"]), [TestRun(ending=Ending.TIMED_OUT, wall_s=4), printed("2")], [-1, True]),
        (problem(["1", "2"], ["1", "2"]), [TestRun(ending=Ending.LOAD_FAILED)], [-2]),
        (problem(["1", "2"], ["1", "2"]), [printed("1"), TestRun(ending=Ending.DIED)], [-1] * 21),
        (problem(["1", "2"], ["1", "2"]), [printed("1", wall_s=5), printed("2", wall_s=6.5)], [-1] * 21),
        (problem(["1", "2"], ["1", "2"]), [printed("1", wall_s=5), printed("2", wall_s=5.5)], [True, True]),
        (problem(["1"], ["1"]), [printed("1", exit_code=1)], [True]),
        (problem(["1", "2"], ["1"]), [printed("1"), printed("1")], [-1] * 21),
        (problem([[1], [2], [3]], [2, 4], "f"), [returned(2), returned(5)], [True, False, -1]),
        (problem(["1"], ["1", "2"]), [printed("1")], [True]),
        (problem([], []), [], []),
        (problem([[1]], [[2]], "f"), [returned(2)], [True]),
        (problem([[1]], [[2]], "f"), [TestRun(ending=Ending.FINISHED, output=b"garbage")], [False]),
    ],
)
def test_codes(row: AppsProblem, runs: list[TestRun], codes: list[bool | int]) -> None:
    """All tests are judged. If the process dies or is killed, all results are lost, and 21 tests have failed."""
    graded = GRADER.grade(row, runs)
    assert list(graded.codes) == codes
    assert len(graded.rules) == len(codes)


def test_time_limit_of_all_tests() -> None:
    """20 tests of 0.7 s are within each limit except that of all tests."""
    row = problem(["1"] * 20, ["1"] * 20)
    runs: list[TestRun] = []
    while GRADER.wants_another(row, runs):
        runs.append(printed("1", wall_s=0.7))
    assert len(runs) == 16
    assert set(GRADER.grade(row, runs).codes) == {-1}


@pytest.mark.parametrize("column", ["", "{", "[1]", '{"inputs": [1], "outputs": ["1"]}'])
def test_rows_that_it_cannot_read(column: str) -> None:
    """Where the grader's own code fails, there is no result, and no run is requested."""
    row = apps_problem(Row(source="test", number=1, values={"input_output": column}), 0)
    assert GRADER.grade(row, []).crash == row.reason
    assert not GRADER.grade(row, []).all_passed
    assert not GRADER.wants_another(row, [])


def test_summary_of_codes() -> None:
    """Published results use the worst code. A row without a test counts as passed."""
    row = problem(["1", "2"], ["1", "2"])
    assert GRADER.grade(row, [TestRun(ending=Ending.RAISED), printed("1")]).worst == -1
    assert GRADER.grade(row, [printed("1"), printed("2")]).worst is True
    assert GRADER.grade(problem([], []), []).all_passed
