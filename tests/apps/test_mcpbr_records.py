"""mcpbr's records, to the letter."""

from __future__ import annotations

import json

import pytest

from ioi_eval.apps.mcpbr import record, unwritten_record
from ioi_eval.compat.terms import Code
from ioi_eval.model.apps import AppsProblem
from ioi_eval.problems.apps import apps_problem
from ioi_eval.problems.row import Row


def problem(column: object, name: int = 157) -> AppsProblem:
    """A row."""
    return apps_problem(Row(source="test", number=1, values={"problem_id": name, "input_output": column}), 0)


SOUND = problem({"inputs": ["1"] * 5, "outputs": ["1"] * 5})


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        (
            [True, True, False, True, -1],
            '{"instance_id": "apps_157", "resolved": false, "passed": 3, "total": 5, "pass_rate": 0.6}',
        ),
        ([True] * 5, '{"instance_id": "apps_157", "resolved": true, "passed": 5, "total": 5, "pass_rate": 1.0}'),
        ([-2] * 5, '{"instance_id": "apps_157", "resolved": false, "passed": 0, "total": 5, "pass_rate": 0.0}'),
    ],
)
def test_judged(codes: list[Code], text: str) -> None:
    """Resolved is where all tests pass; keys stand in mcpbr's order."""
    assert json.dumps(record(SOUND, codes)) == text


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (None, "No test cases provided"),
        ("", "No test cases provided"),
        ("{", "Could not parse test cases"),
        ({"inputs": [], "outputs": []}, "Empty test cases"),
        ({"inputs": ["1", "2"], "outputs": ["1"]}, "its input_output has 2 inputs and 1 output"),
    ],
)
def test_rows_that_cannot_be_judged(column: object, words: str) -> None:
    """Its error strings; and where it would judge what is broken, ours."""
    assert record(problem(column, 999), []) == {"instance_id": "apps_999", "resolved": False, "error": words}


def test_solution_that_could_not_be_written() -> None:
    """The words are cut as it cuts them."""
    found = unwritten_record(SOUND, "x" * 1000)
    assert found["error"] == "Failed to write solution: " + "x" * 500
