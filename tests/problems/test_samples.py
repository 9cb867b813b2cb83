"""Rows with several programs: each program becomes a row."""

from __future__ import annotations

from typing import Any

import pytest

from ioi_eval.errors import RowError
from ioi_eval.problems.row import Row
from ioi_eval.problems.samples import sample_rows

ASK = {"role": "user", "content": "Solve it."}


def samples(**values: Any) -> list[dict[str, Any]]:
    """The rows for the programs of a row, without its problem."""
    row = Row(source="dump.jsonl", number=3, values={"uuid": "u", **values})
    return [dict(sample.values) for sample in sample_rows(row, "uuid")]


@pytest.mark.parametrize(
    "values",
    [
        {"code": "int f();"},
        {"code": None, "generation": "text"},
        {"code": {"a.cpp": "", "b.cpp": ""}},
        {"code": [["a.cpp", ""], ["b.cpp", ""]]},
        {"messages": [ASK]},
        {"messages": []},
        {"generation": [1, 2]},
        {"generation": 7.0},
        {"outputs": {"output_01.txt": "1"}},
    ],
)
def test_a_row_with_one_program_is_unchanged(values: dict[str, Any]) -> None:
    """Also a row without a program: it is refused later, where programs are read."""
    assert samples(**values) == [{"uuid": "u", **values}]


def test_each_program_of_a_list_is_a_row() -> None:
    """Each row has its own id, and the columns that are no lists."""
    assert samples(generation=["a", None, "c"], model="m") == [
        {"uuid": "u/0", "generation": "a", "model": "m"},
        {"uuid": "u/1", "generation": None, "model": "m"},
        {"uuid": "u/2", "generation": "c", "model": "m"},
    ]
    assert [row["messages"] for row in samples(messages=[[ASK], [ASK, ASK]])] == [[ASK], [ASK, ASK]]
    assert [row["code"] for row in samples(code=[{"a.cpp": ""}, "int f();"])] == [{"a.cpp": ""}, "int f();"]


def test_lists_in_several_columns_belong_together() -> None:
    """A generator that extracts the code also keeps the texts."""
    found = samples(code=["x", None], generation=["says x", "says nothing"])
    assert [(row["code"], row["generation"]) for row in found] == [("x", "says x"), (None, "says nothing")]


def test_lists_of_tables() -> None:
    """Arrays and tuples, also nested."""
    numpy = pytest.importorskip("numpy")
    assert [row["code"] for row in samples(code=numpy.array(["x", "y"], dtype=object))] == ["x", "y"]
    assert [row["messages"] for row in samples(messages=((ASK,), (ASK, ASK)))] == [[ASK], [ASK, ASK]]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"code": ["x"], "generation": ["x", "y"]}, "differ in length: code 1, generation 2"),
        ({"code": ["x", 5]}, "code is a list of programs, and contains 5, which is not text"),
        ({"generation": []}, "generation: the list is empty"),
    ],
)
def test_invalid_lists_are_refused(values: dict[str, Any], words: str) -> None:
    """The message has the row."""
    with pytest.raises(RowError, match=f"dump.jsonl, row 3: .*{words}"):
        samples(**values)


def test_a_row_without_an_id() -> None:
    """Its programs have no ids either: APPS numbers them, and other rows are refused later."""
    row = Row(source="dump.jsonl", number=3, values={"generation": ["a", "b"]})
    assert [dict(sample.values) for sample in sample_rows(row, "uuid")] == [{"generation": "a"}, {"generation": "b"}]


@pytest.mark.parametrize("column", ["code", "generation", "messages"])
def test_a_program_that_is_nested_too_deeply(column: str) -> None:
    """The row is refused because of its value; it is no fault of ours that users should report."""
    nested: list[Any] = []
    for _ in range(5000):
        nested = [nested]
    with pytest.raises(RowError, match=f"dump.jsonl, row 3: {column} is nested too deeply"):
        samples(**{column: nested})
