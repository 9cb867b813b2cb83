"""Rows: values in the forms of tables and JSON writers are accepted, other values are refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ioi_eval.errors import RowError
from ioi_eval.problems.row import Row


def row(**values: Any) -> Row:
    """Row 7 of `d.jsonl`."""
    return Row(source="d.jsonl", number=7, values=values)


@pytest.mark.parametrize("value", [2024, 2024.0, "2024", " 2024 ", np.int64(2024)])
def test_integers_are_accepted_in_many_forms(value: object) -> None:
    """A column with a null has floats in a table, and text in a spreadsheet."""
    assert row(year=value).integer("year") == 2024


@pytest.mark.parametrize("value", [True, 2024.5, "soon", "", [2024], float("inf")])
def test_invalid_integers_are_refused(value: object) -> None:
    """The message has the row, the column and the value."""
    with pytest.raises(RowError, match=r"d\.jsonl, row 7: year is .*; it must be a whole number"):
        row(year=value).integer("year")


@pytest.mark.parametrize("value", [1 << 63, -(1 << 63) - 1, 1e300, "9" * 30])
def test_integers_beyond_64_bits_are_refused(value: object) -> None:
    """They have no place in a fingerprint, whose JSON has 64 bits: one such row ended the run with a traceback."""
    with pytest.raises(RowError, match=r"year is .*; it must be a whole number of less than 64 bits"):
        row(year=value).integer("year")


@pytest.mark.parametrize("values", [{}, {"year": None}, {"year": float("nan")}, {"year": ""}])
def test_default_stands_for_absent_null_and_nan(values: dict[str, Any]) -> None:
    """pandas writes a missing value as NaN. Of a CSV file, it reads one as an empty text."""
    assert row(**values).integer("year", 2024) == 2024


def test_missing_column_lists_the_existing_ones() -> None:
    """So a misspelt column can be found."""
    with pytest.raises(RowError, match=r"problem_id is missing \(a text is needed\); the row has: id, code"):
        row(id="x", code="y").identifier("problem_id")
    with pytest.raises(RowError, match="the row has: none"):
        row().integer("year")


def test_a_column_with_a_similar_name_may_be_the_missing_one() -> None:
    """`timelimit` and `UUID` are similar; the two columns of a test are not."""
    with pytest.raises(RowError, match=r"needed\), or time_limit is misspelled as TimeLimit; the row has: TimeLimit$"):
        row(TimeLimit=1).number_of("time_limit")
    with pytest.raises(RowError, match=r"test_input is missing \(a text is needed\); the row has: test_output$"):
        row(test_output="").text("test_input")


@pytest.mark.parametrize(
    ("value", "name"), [("a b", "a b"), (7, "7"), (7.0, "7"), (np.int64(7), "7"), ("07", "07"), (-1, "-1")]
)
def test_ids_become_text(value: object, name: str) -> None:
    """Numbers are ids too. 7.0 is a 7 from a table."""
    assert row(id=value).identifier("id") == name


@pytest.mark.parametrize("value", ["", True, 7.5, ["a"], {"a": 1}])
def test_invalid_ids_are_refused(value: object) -> None:
    """Neither an empty text nor a boolean is an id. Of a number the message has the text that is one."""
    kinds = {"": "a text that is not empty", "True": r'a text \("True"\) or a whole number'}
    kinds["7.5"] = r'a text \("7.5"\) or a whole number'
    words = f".*; it must be {kinds.get(str(value), 'a text')}"
    with pytest.raises(RowError, match=f"id is {words}$"):
        row(id=value).identifier("id")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "1.0", True, None])
def test_numbers_are_finite(value: object) -> None:
    """NaN is refused, for example as a time limit."""
    with pytest.raises(RowError, match="a finite number"):
        row(time_limit=value).number_of("time_limit")


@pytest.mark.parametrize("value", [["a", "b"], ("a", "b"), np.array(["a", "b"], dtype=object)])
def test_lists_may_be_tuples_or_arrays(value: object) -> None:
    """pandas gives arrays for lists."""
    assert row(names=value).texts("names") == ("a", "b")


NESTED = json.loads("[" * 900 + "]" * 900)


@pytest.mark.parametrize("value", ["ab", [1], [None], {"a": 1}, None, NESTED])
def test_invalid_lists_of_texts_are_refused(value: object) -> None:
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
def test_pairs_are_accepted_in_many_forms(value: object) -> None:
    """A content may be null, a path may not."""
    assert row(files=value).pairs("files") == (("p", "x"), ("q", None))


@pytest.mark.parametrize("value", [[["p"]], ["pq"], [[None, "x"]], [["p", 1]], [["p", "x", "y"]], {"p": "x"}])
def test_invalid_pairs_are_refused(value: object) -> None:
    """A text of two letters is not a pair, and a content must be text."""
    with pytest.raises(RowError, match="files"):
        row(files=value).pairs("files")


def test_messages_stay_short() -> None:
    """A program of 50 MB in the wrong column is not printed completely."""
    with pytest.raises(RowError) as caught:
        row(year="x" * 50_000_000).integer("year")
    assert len(str(caught.value)) < 200


def test_booleans() -> None:
    """Only true and false are accepted."""
    assert row(flag=True).boolean("flag") is True
    assert row(flag=False).boolean("flag") is False
    assert row(flag=None).boolean("flag") is None
    assert row().boolean("flag") is None
    with pytest.raises(RowError, match="flag is 1; it must be true or false"):
        row(flag=1).boolean("flag")


def test_a_column_without_a_value_is_null_or_missing() -> None:
    """If a column exists with null, the message does not call it missing."""
    for value in (None, float("nan")):
        with pytest.raises(RowError, match=r"uuid is (?:null|nan)"):
            row(uuid=value).text("uuid")
    with pytest.raises(RowError, match=r"uuid is null \(a text is needed\)$"):
        row(uuid=None, code="x").identifier("uuid")
    with pytest.raises(RowError, match=r"uuid is missing \(a text is needed\); the row has: code$"):
        row(code="x").identifier("uuid")
