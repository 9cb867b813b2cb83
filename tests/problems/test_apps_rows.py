"""Rows of APPS: each becomes a right problem, or one with the reason why it cannot be judged."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ioi_eval.compat import mcpbr
from ioi_eval.errors import InputError, RowError
from ioi_eval.model.apps import AppsProblem, CallTest, RowFault, StdinTest
from ioi_eval.problems import big_json
from ioi_eval.problems.apps import apps_problem, read_rows, solutions_of
from ioi_eval.problems.row import Row
from ioi_eval.rows import open_source
from tests.row_files import Rows
from tests.selecting import where_digits_are_limited


def problem(input_output: object, **columns: Any) -> AppsProblem:
    """The problem of a row with this `input_output`."""
    values = {"problem_id": 7, "input_output": input_output, **columns}
    return apps_problem(Row(source="rows.jsonl", number=1, values=values), 3)


def stdin_row(inputs: Sequence[object], outputs: Sequence[object]) -> str:
    """The column `input_output` of a row for standard input."""
    return json.dumps({"inputs": inputs, "outputs": outputs})


def call_row(inputs: Sequence[object], outputs: Sequence[object], fn_name: str = "f") -> str:
    """The column `input_output` of a row for calls."""
    return json.dumps({"fn_name": fn_name, "inputs": inputs, "outputs": outputs})


# --------------------------------------------------------------------------- rows that can be judged


def test_text_and_object_are_the_same() -> None:
    """The column may be JSON text or the object itself."""
    column = {"inputs": ["1\n", "2\n"], "outputs": ["a\n", "b\n"]}
    assert problem(column).tests == problem(json.dumps(column)).tests
    assert [test.number for test in problem(column).tests] == [0, 1]
    assert problem({**column, "fn_name": None}).fn_name is None


def test_arrays_of_a_callers_row() -> None:
    """A row of pandas has arrays in the place of lists, at any depth; tuples stay."""
    arrays = {
        "inputs": np.array([np.array(["1", "2"], dtype=object), "3"], dtype=object),
        "outputs": np.array(["a", "b"]),
    }
    assert apps_problem({"input_output": arrays}) == apps_problem(
        {"input_output": {"inputs": [["1", "2"], "3"], "outputs": ["a", "b"]}}
    )
    calls = {"fn_name": "f", "inputs": np.array([[1, 2]]), "outputs": [np.int64(3)]}
    (test,) = apps_problem({"input_output": calls}).tests
    assert isinstance(test, CallTest)
    assert (test.given, test.expected) == ((1, 2), 3)
    (test,) = apps_problem({"input_output": {"fn_name": "f", "inputs": [[(1, 2)]], "outputs": [3]}}).tests
    given: Any = test.given
    assert given == ((1, 2),)
    deep: Any = []
    for _ in range(sys.getrecursionlimit()):
        deep = [deep]
    found = apps_problem({"input_output": {"fn_name": "f", "inputs": [deep], "outputs": [3]}})
    assert found.fault is RowFault.TOO_LARGE


def test_lines_of_input_are_joined() -> None:
    """Every input ends with a line feed, except an empty one. Outputs are not changed."""
    found = problem(stdin_row([["3", "1 2 3"], "4\n5", "", [], "6\r\n"], [["a", ""], "b", "", [], "c\n"]))
    assert found.fault is None
    tests = [test for test in found.tests if isinstance(test, StdinTest)]
    assert [test.stdin for test in tests] == [b"3\n1 2 3\n", b"4\n5\n", b"", b"", b"6\r\n"]
    assert [test.answer for test in tests] == [b"a\n", b"b", b"", b"", b"c\n"]
    assert tests[0].given == ("3", "1 2 3")


def test_lone_surrogates_do_not_stop_a_run() -> None:
    """UTF-8 cannot encode them."""
    test = problem('{"inputs": ["\\ud800"], "outputs": ["\\ud800"]}').tests[0]
    assert isinstance(test, StdinTest)
    assert (test.stdin, test.answer) == (b"?\n", b"?")


def test_megabytes_of_input() -> None:
    """A test of 20 MB is complete."""
    text = "123456789 " * 2_000_000
    test = problem(stdin_row([text], ["1"])).tests[0]
    assert isinstance(test, StdinTest)
    assert test.stdin == text.encode() + b"\n"


def accepted(inputs: Sequence[object], outputs: Sequence[object], starter_code: str = "") -> list[tuple[Any, ...]]:
    """The results that each test of a call-based row accepts."""
    found = problem(call_row(inputs, outputs), starter_code=starter_code)
    assert found.fault is None
    assert found.fn_name == "f"
    return [test.accepts for test in found.tests if isinstance(test, CallTest)]


@pytest.mark.parametrize(
    ("outputs", "starter_code", "expected"),
    [
        ([9, 8], "", [(9,), (8,)]),
        ([[False], [True]], "", [([False], False), ([True], True)]),
        ([[1], [1, 2]], "", [([1],), ([1, 2],)]),
        ([[1], []], "", [([1],), ([],)]),
        ([[1]], "def f(a):", [([1], 1)]),
        ([[1]], "class Solution:\n    def f(self, a: int) -> List[int]:\n", [([1],)]),
        ([[1]], "class Solution:\n    def f(self, a: int) -> int:\n", [([1], 1)]),
        ([[[1, 2]]], "class Solution:\n    def f(self, a: int) -> List[int]:\n", [([[1, 2]], [1, 2])]),
        ([[[1, 2]]], "class Solution:\n    def f(self, a: int) -> List[List[int]]:\n", [([[1, 2]],)]),
        ([[[]]], "def g(a) -> List[int]: pass\ndef f(a): pass", [([[]], [])]),
        ([{"1": 2}], "", [({"1": 2},)]),
    ],
)
def test_bare_and_wrapped_results(outputs: list[object], starter_code: str, expected: list[tuple[Any, ...]]) -> None:
    """A result in a list of one element also counts without the list, if all results of the row have this form and the
    annotation does not forbid it.
    """
    assert accepted([[0]] * len(outputs), outputs, starter_code) == expected


def test_arguments_are_kept() -> None:
    """Arguments of all kinds are the same as in the row."""
    given = [[[1, 2], {"1": 2}, 1.5, None, True, "a"], []]
    tests = problem(call_row(given, [1, 2])).tests
    assert [test.given for test in tests] == [tuple(arguments) for arguments in given]


@where_digits_are_limited
@pytest.mark.parametrize("digits", [4301, 10_000, 99_999])
def test_integers_of_any_size(digits: int) -> None:
    """Integers that Python refuses to parse are exact, and the limit of the process is not changed."""
    before = sys.get_int_max_str_digits()
    text = "12" + "3" * (digits - 3) + "7"
    test = problem(f'{{"fn_name": "f", "inputs": [[{text}], [-{text}]], "outputs": [{text}, 1e400]}}').tests[0]
    assert isinstance(test, CallTest)
    value = 12 * 10 ** (digits - 2) + (10 ** (digits - 3) - 1) // 3 * 10 + 7
    assert test.given == (value,)
    assert test.expected == value
    assert sys.get_int_max_str_digits() == before


def test_big_integers_of_both_signs() -> None:
    """The parts of a number are joined correctly."""
    for exponent in (599, 600, 601, 1200, 5000):
        assert big_json.integer("1" + "0" * exponent) == 10**exponent
        assert big_json.integer("-" + "9" * exponent) == 1 - 10**exponent


# --------------------------------------------------------------------------- rows that cannot be judged


@pytest.mark.parametrize(
    ("column", "fault", "words"),
    [
        (None, RowFault.NO_TESTS, "no tests: it has no input_output"),
        ("", RowFault.NO_TESTS, "no tests: its input_output is empty"),
        (" \n", RowFault.NO_TESTS, "no tests"),
        (float("nan"), RowFault.NO_TESTS, "no tests"),
        ({}, RowFault.NO_TESTS, "no tests"),
        ("{}", RowFault.NO_TESTS, "no tests"),
        ("null", RowFault.NO_TESTS, "no tests"),
        ("{", RowFault.BROKEN_JSON, "not JSON"),
        ('{"inputs": ["1"], "outputs": ["1"]', RowFault.BROKEN_JSON, "not JSON"),
        ("['1']", RowFault.BROKEN_JSON, "not JSON"),
        ("[1]", RowFault.WRONG_SHAPE, "a list, not an object"),
        ("17", RowFault.WRONG_SHAPE, "a number, not an object"),
        (False, RowFault.WRONG_SHAPE, "a truth value, not an object"),
        ('{"inputs": ["1"]}', RowFault.WRONG_SHAPE, "outputs in its input_output is missing"),
        ('{"inputs": "1", "outputs": ["1"]}', RowFault.WRONG_SHAPE, "inputs in its input_output is a text"),
        ('{"inputs": ["1"], "outputs": null}', RowFault.WRONG_SHAPE, "outputs in its input_output is null"),
        ('{"inputs": [[]], "outputs": [1], "fn_name": 5}', RowFault.WRONG_SHAPE, "fn_name"),
        ('{"inputs": [[]], "outputs": [1], "fn_name": "a b"}', RowFault.WRONG_SHAPE, "fn_name"),
        ('{"inputs": [], "outputs": []}', RowFault.EMPTY, "has no tests"),
        ('{"inputs": [], "outputs": [], "fn_name": "f"}', RowFault.EMPTY, "has no tests"),
        ('{"inputs": ["1", "2"], "outputs": ["1"]}', RowFault.UNEQUAL, "2 inputs and 1 output"),
        ('{"inputs": [], "outputs": ["1"]}', RowFault.UNEQUAL, "0 inputs and 1 output"),
        ('{"inputs": [1], "outputs": ["1"]}', RowFault.WRONG_TEST, "input 0 is a number"),
        ('{"inputs": ["1"], "outputs": [1]}', RowFault.WRONG_TEST, "output 0 is a number"),
        ('{"inputs": ["1", ["1", 2]], "outputs": ["1", "2"]}', RowFault.WRONG_TEST, "input 1 is a list"),
        ('{"inputs": ["1"], "outputs": [1], "fn_name": "f"}', RowFault.WRONG_TEST, "input 0 is a text"),
        ('{"inputs": [[1' + "0" * 1_000_001 + ']], "outputs": [1]}', RowFault.TOO_LARGE, "1,000,002 digits"),
        ("[" * 100_000 + "]" * 100_000, RowFault.TOO_LARGE, "nested"),
        ('{"fn_name": "f", "inputs": [' + "[" * 102 + "]" * 102 + '], "outputs": [1]}', RowFault.TOO_LARGE, "nested"),
    ],
)
def test_faults(column: object, fault: RowFault, words: str) -> None:
    """Each kind of broken row has its own fault and a message."""
    found = problem(column)
    assert found.fault is fault
    assert words in found.reason
    assert found.id == "7"


def test_our_own_failure_is_no_fault_of_the_row() -> None:
    """An error in our code has a fault of its own. The message says so, also by the rules of mcpbr."""

    class Odd(dict[str, object]):
        def get(self, *_: object) -> object:
            raise TypeError("odd")

    found = problem(Odd(inputs=[]))
    assert found.fault is RowFault.INTERNAL
    assert "failed in ioi-eval itself" in found.reason
    assert mcpbr.GRADER.grade(found, ()).crash == found.reason


def test_paired_tests_of_unequal_rows_are_kept() -> None:
    """Graders that judge such rows get the paired tests, and the numbers of inputs and outputs."""
    found = problem(stdin_row(["1", "2", "3"], ["a", "b"]))
    assert len(found.tests) == 2
    assert (found.inputs, found.outputs) == (3, 2)


def test_sound_rows_have_no_fault() -> None:
    """A right row has no fault."""
    found = problem(stdin_row(["1"], ["2"]), difficulty=" Interview ", url=5, starter_code=None)
    assert (found.fault, found.reason, found.difficulty) == (None, "", "interview")


# --------------------------------------------------------------------------- solutions


@pytest.mark.parametrize(
    ("solutions", "expected", "words"),
    [
        ('["a", "b"]', ("a", "b"), ""),
        (["a"], ("a",), ""),
        ("", (), ""),
        (None, (), ""),
        ("[", (), "not JSON"),
        ('{"a": 1}', (), "not a list of texts"),
        ("[1]", (), "not a list of texts"),
    ],
)
def test_solutions(solutions: object, expected: tuple[str, ...], words: str) -> None:
    """Reference solutions are JSON text or a list. Broken ones raise an error with the reason."""
    found, fault = solutions_of(Row(source="rows.jsonl", number=1, values={"solutions": solutions}))
    assert found == expected
    assert words in fault
    assert bool(words) is bool(fault)


# --------------------------------------------------------------------------- ids


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        ({"problem_id": 42}, "42"),
        ({"problem_id": 42.0}, "42"),
        ({"problem_id": "0042"}, "0042"),
        ({"problem_id": "apps_42"}, "42"),
        ({"id": 5}, "5"),
        ({"problem_id": None, "id": 5}, "5"),
        ({"problem_id": 0, "id": 5}, "0"),
        ({"problem_id": float("nan")}, "3"),
        ({}, "3"),
    ],
)
def test_ids(columns: dict[str, Any], name: str) -> None:
    """The id is `problem_id`, otherwise `id`, otherwise the position in the split."""
    found = apps_problem(Row(source="rows", number=1, values=columns), 3)
    assert (found.id, found.instance_id) == (name, f"apps_{name}")


@pytest.mark.parametrize("value", [True, ["a"], 1.5, ""])
def test_unreadable_ids(value: object) -> None:
    """A row without a usable id ends the run, because its results could not be told from others."""
    with pytest.raises(RowError, match="problem_id"):
        apps_problem(Row(source="rows", number=1, values={"problem_id": value}), 0)


def test_repeated_ids() -> None:
    """Two splits at once are refused, because both number their problems from 0."""
    rows = [{"problem_id": number % 2, "input_output": stdin_row(["1"], ["1"])} for number in range(4)]
    with pytest.raises(InputError, match=r"rows 0 and 2 .* id 0.*give one"):
        list(read_rows(Rows(*rows), range(4)))


# --------------------------------------------------------------------------- real rows


def test_real_rows(shared: Path) -> None:
    """Rows of the data set: ids, kinds of tests and solutions are right."""
    found = list(read_rows(open_source(shared / "tasks/apps/apps.jsonl"), range(5)))
    assert [problem.id for problem in found] == ["1", "111", "2287", "2404", "4184"]
    assert [problem.fault for problem in found] == [None] * 5
    assert [len(problem.tests) for problem in found] == [1, 1, 3, 1, 8]
    rows = islice(open_source(shared / "tasks/apps/apps.jsonl").iterate(("solutions",)), 5)
    assert [len(solutions_of(row)[0]) for row in rows] == [24, 1, 10, 58, 8]
    assert [problem.fn_name for problem in found] == [None, None, None, "findKthPositive", "is_prime"]
    bare, wrapped = found[3].tests[0], found[4].tests[0]
    assert isinstance(bare, CallTest)
    assert isinstance(wrapped, CallTest)
    assert bare.accepts == (9,)
    assert False in wrapped.accepts


def test_real_sample_of_eval_protocol(shared: Path) -> None:
    """Its rows have `id` instead of `problem_id`."""
    found = list(read_rows(open_source(shared / "tasks/apps/apps_sample_dataset.jsonl"), range(3)))
    assert [problem.instance_id for problem in found] == ["apps_0", "apps_1", "apps_2"]
    assert {problem.difficulty for problem in found} == {"interview"}
    assert not any(problem.fault for problem in found)
