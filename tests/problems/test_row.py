"""Rows: the forms in which tables and JSON writers store a value are accepted, other values are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ioi_eval.errors import RowError
from ioi_eval.problems.row import Row


def row(**values: Any) -> Row:
    """Row 7 of `d.jsonl`."""
    return Row(source="d.jsonl", number=7, values=values)


@pytest.mark.parametrize("value", [2024, 2024.0, "2024", " 2024 "])
def test_integers_arrive_in_many_forms(value: object) -> None:
    """A column with a null becomes floats in a table, and text in a spreadsheet."""
    assert row(year=value).integer("year") == 2024


@pytest.mark.parametrize("value", [True, 2024.5, "soon", "", [2024], float("inf")])
def test_what_is_no_integer_is_refused(value: object) -> None:
    """The message has place, column and value."""
    with pytest.raises(RowError, match=r"d\.jsonl, row 7: year is .*; it must be a whole number"):
        row(year=value).integer("year")


@pytest.mark.parametrize("values", [{}, {"year": None}, {"year": float("nan")}])
def test_default_stands_for_absent_null_and_nan(values: dict[str, Any]) -> None:
    """pandas writes a missing value as NaN."""
    assert row(**values).integer("year", 2024) == 2024


def test_missing_column_lists_those_that_there_are() -> None:
    """A misspelt column is found by looking at the list."""
    with pytest.raises(RowError, match=r"problem_id is missing \(a text is needed\); the row has: id, code"):
        row(id="x", code="y").identifier("problem_id")
    with pytest.raises(RowError, match="the row has: none"):
        row().integer("year")


@pytest.mark.parametrize(("value", "name"), [("a b", "a b"), (7, "7"), (7.0, "7"), ("07", "07"), (-1, "-1")])
def test_identifiers_become_text(value: object, name: str) -> None:
    """Numbers name things too, and 7.0 is a 7 that went through a table."""
    assert row(id=value).identifier("id") == name


@pytest.mark.parametrize("value", ["", True, 7.5, ["a"], {"a": 1}])
def test_what_names_nothing_is_refused(value: object) -> None:
    """An empty text is not a name; neither is a truth value."""
    with pytest.raises(RowError, match="id is"):
        row(id=value).identifier("id")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1.0", True, None])
def test_numbers_are_finite(value: object) -> None:
    """NaN is not a time limit."""
    with pytest.raises(RowError, match="a finite number"):
        row(time_limit=value).number_of("time_limit")


@pytest.mark.parametrize("value", [["a", "b"], ("a", "b"), np.array(["a", "b"], dtype=object)])
def test_lists_arrive_as_tuples_and_arrays(value: object) -> None:
    """pandas gives arrays for lists."""
    assert row(names=value).texts("names") == ("a", "b")


@pytest.mark.parametrize("value", ["ab", [1], [None], {"a": 1}, None])
def test_what_is_no_list_of_texts_is_refused(value: object) -> None:
    """A text is not taken for a list of letters."""
    with pytest.raises(RowError, match="names"):
        row(names=value).texts("names")


@pytest.mark.parametrize(
    "value",
    [
        [["p", "x"], ["q", None]],
        (("p", "x"), ("q", None)),
        np.array([np.array(["p", "x"], dtype=object), np.array(["q", None], dtype=object)], dtype=object),
    ],
)
def test_pairs_arrive_nested_in_many_ways(value: object) -> None:
    """A content may be null, a path may not."""
    assert row(files=value).pairs("files") == (("p", "x"), ("q", None))


@pytest.mark.parametrize("value", [[["p"]], ["pq"], [[None, "x"]], [["p", 1]], [["p", "x", "y"]], {"p": "x"}])
def test_what_is_no_pair_is_refused(value: object) -> None:
    """Two letters are not a pair, and a content is a text."""
    with pytest.raises(RowError, match="files"):
        row(files=value).pairs("files")


def test_messages_stay_short() -> None:
    """A program of 50 MB in the wrong column does not fill the screen."""
    with pytest.raises(RowError) as caught:
        row(year="x" * 50_000_000).integer("year")
    assert len(str(caught.value)) < 200


def test_truth_values() -> None:
    """Only true and false are; the default stands for nothing."""
    assert row(flag=True).boolean("flag", False) is True
    assert row().boolean("flag", True) is True
    with pytest.raises(RowError, match="flag is 1; it must be true or false"):
        row(flag=1).boolean("flag", False)


def test_a_column_without_a_value_is_null_or_missing() -> None:
    """A column that is there and null is not called missing."""
    for value in (None, float("nan")):
        with pytest.raises(RowError, match=r"uuid is (?:null|nan)"):
            row(uuid=value).text("uuid")
    with pytest.raises(RowError, match=r"uuid is null \(a text is needed\)$"):
        row(uuid=None, code="x").identifier("uuid")
    with pytest.raises(RowError, match=r"uuid is missing \(a text is needed\); the row has: code$"):
        row(code="x").identifier("uuid")
