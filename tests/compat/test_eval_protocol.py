"""Eval Protocol's grader: it stops at the first failure, and reports with its own texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ioi_eval.compat.eval_protocol import GRADER, clean_traceback, match_output
from ioi_eval.compat.terms import Ending, Graded, TestRun
from ioi_eval.model.apps import AppsProblem
from ioi_eval.problems.apps import apps_problem
from ioi_eval.problems.row import Row
from tests.compat.compared_runs import printed, problem

KILLED = "Global timeout or process killed prematurely"


@pytest.mark.parametrize(
    ("expected", "text", "right"),
    [
        ("1\n2\n", "1\n2", True),
        ("1\n2\n", " 1 \r\n\t2 \n\n", True),
        ("1\n\n2\n", "1\n2\n", False),
        ("\n1\n", "1\n", False),
        ("1\n\n", "1\n", False),
        ("1\n2\n", "2\n1\n", False),
        ("998240000\n", "998244352\n", True),
        ("1" + "0" * 400 + "1\n", "1" + "0" * 400 + "7\n", True),
        ("1000\n", "1_000\n", True),
        ("1000 7\n", "1_000 7\n", False),
        ("1 2\n", "1  2\n", False),
        ("YES\n", "Yes\n", False),
        ("nan\n", "NaN\n", False),
        ("nan\n", "nan\n", True),
        ("", "", True),
        ("", "\n\n", True),
        ("\n", "", False),
        ("a\x0cb", "a\nb", True),
    ],
)
def test_outputs(expected: str, text: str, right: bool) -> None:
    """Lines are equal without blanks around them, or the numbers on each are close."""
    assert match_output(expected, text).right is right


TWO = problem(["a" * 400, "2"], ["b" * 300, "2"])


@pytest.mark.parametrize(
    ("row", "runs", "codes", "metadata"),
    [
        (problem(["1"], ["1"]), [printed("1")], [True], [{}]),
        (
            TWO,
            [printed("c" * 300 + " \n")],
            [False],
            [
                {
                    "output": "c" * 100 + "...(truncated) ..." + "c" * 100,
                    "expected": "b" * 100 + "...(truncated) ..." + "b" * 100,
                    "inputs": "a" * 150 + "...(truncated) ..." + "a" * 150,
                    "error_message": "Wrong Answer",
                }
            ],
        ),
        (
            problem(["1", "2"], ["1", "2"]),
            [
                printed("1"),
                TestRun(ending=Ending.RAISED, error="E('x')", traceback='  File "h", line 1\n  File "<string>", x'),
            ],
            [True, -1],
            [{"error": "E('x')", "traceback": 'Traceback (most recent call last):\n  File "<string>", x'}],
        ),
        (
            problem(["1", "2"], ["1", "2"]),
            [TestRun(ending=Ending.LOAD_FAILED, error="SyntaxError()", traceback="t")],
            [-2],
            [{"error": "SyntaxError()", "traceback": "t"}],
        ),
        (
            problem(["1", "2"], ["1", "2"]),
            [printed("1"), TestRun(ending=Ending.TIMED_OUT)],
            [-1, -1],
            [{"error": KILLED, "details": "No results returned from subprocess."}] * 2,
        ),
        (problem([], []), [], [], [{}]),
        (problem(["1"], ["1"]), [printed("1", exit_code=1)], [True], [{}]),
    ],
)
def test_codes(row: AppsProblem, runs: list[TestRun], codes: list[bool | int], metadata: list[dict[str, str]]) -> None:
    """Codes and metadata have the grader's form."""
    graded = GRADER.grade(row, runs)
    assert list(graded.codes) == codes
    assert list(graded.metadata) == metadata


@pytest.mark.parametrize("outputs", [[], ["1"]])
def test_a_row_without_inputs_is_not_passed(outputs: list[str]) -> None:
    """It gives no results, for which its function has the score 0. A program that does not load is shown as that."""
    row = problem([], outputs)
    graded = GRADER.grade(row, [printed("")])
    assert graded.crash == "Execution utility returned no results."
    assert not graded.all_passed
    assert list(GRADER.grade(row, [TestRun(ending=Ending.LOAD_FAILED, error="SyntaxError()")]).codes) == [-2]


@pytest.mark.parametrize(
    "row",
    [
        problem([[1], [2]], [1, 2], "f"),
        problem([["1", "2"], "x"], ["1", "2"]),
        problem(["1", "2"], [["1"], "2"]),
        apps_problem(Row(source="t", number=1, values={"input_output": {"inputs": [1, 2], "outputs": [3, 4]}}), 0),
    ],
)
def test_rows_on_which_its_code_fails(row: AppsProblem) -> None:
    """Functions, lists of lines and numbers: every test fails, whatever the program does."""
    graded = GRADER.grade(row, [printed("1")])
    assert list(graded.codes) == [-1, -1]
    assert graded.metadata[0]["error"] == "Exception in _temp_run/run_test"
    assert "needs a text for each input and output" in graded.rules[0]


def test_missing_outputs() -> None:
    """The grader continues until an output is missing, and then all tests fail. A failure before that is kept."""
    row = problem(["1", "2"], ["1"])
    assert list(GRADER.grade(row, [printed("1")]).codes) == [-1, -1]
    assert list(GRADER.grade(row, [printed("2")]).codes) == [False]


def test_it_stops_at_the_first_failure() -> None:
    """No run is requested after the first failure."""
    row = problem(["1", "2", "3"], ["1", "2", "3"])
    assert GRADER.wants_another(row, [])
    assert GRADER.wants_another(row, [printed("1")])
    assert not GRADER.wants_another(row, [printed("2")])
    assert not GRADER.wants_another(row, [printed("1"), TestRun(ending=Ending.RAISED)])


def test_whether_another_test_runs_depends_on_the_newest_output() -> None:
    """Outputs can be long: comparing all of them after each run took seconds for 80 tests of 200 kB."""
    count = 20
    row = problem([str(number) for number in range(count)], [str(number) for number in range(count)])
    compared: list[str] = []

    def grade_runs(row: AppsProblem, runs: Sequence[TestRun], all_tests_s: float) -> Graded:
        compared.extend(run.text for run in runs)
        return GRADER.grade_runs(row, runs, all_tests_s)

    grader = replace(GRADER, grade_runs=grade_runs)
    runs: list[TestRun] = []
    while grader.wants_another(row, runs):
        runs.append(printed(str(len(runs))))
    assert len(runs) == count
    assert compared == [str(number) for number in range(count - 1)]


def test_a_program_with_a_function_is_only_loaded() -> None:
    """One run tests whether the program loads. Nothing else is tested."""
    row = problem([[1], [2]], [1, 2], "f")
    assert GRADER.wants_another(row, [])
    assert not GRADER.wants_another(row, [printed("")])


def test_time_limit_of_all_tests() -> None:
    """All tests together have the limit of one test and a second. The option changes both limits."""
    row = problem(["1", "2"], ["1", "2"])
    runs = [printed("1", wall_s=6), printed("2", wall_s=6)]
    graded = GRADER.grade(row, runs)
    assert list(graded.codes) == [-1, -1]
    assert graded.rules == ("all tests together took more than 11 s",) * 2
    assert list(GRADER.grade(row, runs, test_s=20).codes) == [True, True]


def test_traceback_outside_of_the_program() -> None:
    """It is not changed."""
    assert clean_traceback("nothing") == "nothing"
