"""The programs and texts of a model in a row of a dump.

A generator that asks a model n times may write one row with lists of n texts, or of n conversations. Such a row is
split into n rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ioi_eval.errors import InputError
from ioi_eval.extract.messages import last_answer
from ioi_eval.problems.row import Row

SAMPLE_COLUMNS = ("code", "generation", "messages")
"""The columns in which a list may contain several programs."""

_ONE = frozenset({str, type(None)})
"""Types of values that contain at most one program."""


def sample_rows(row: Row, id_column: str) -> tuple[Row, ...]:
    """One row for each program of a row; the row itself if it has only one.

    Lists in several columns belong together: their n-th elements are those of one program, whose id is
    `<id of the row>/<n>`, n from 0. A value that is not a list applies to every program.

    Args:
        row: of a dump.
        id_column: the column with the row's id. A row that lacks it is returned unchanged.

    Raises:
        RowError: a list is empty, or two lists differ in length.
    """
    if _ONE.issuperset(map(type, map(row.values.get, SAMPLE_COLUMNS))):
        return (row,)
    lists = {column: values for column in SAMPLE_COLUMNS if (values := _samples(row, column)) is not None}
    if not lists or not row.has(id_column):
        return (row,)
    lengths = {column: len(values) for column, values in lists.items()}
    count = max(lengths.values())
    if min(lengths.values()) != count:
        values = ", ".join(f"{column} {length}" for column, length in lengths.items())
        raise row.error(f"its lists of programs differ in length: {values}; the n-th elements belong together")
    if not count:
        raise row.error(f"{' and '.join(lists)}: the list is empty, and there is no program")
    name = row.identifier(id_column)
    return tuple(
        replace(
            row,
            values={
                **row.values,
                **{column: values[number] for column, values in lists.items()},
                id_column: f"{name}/{number}",
            },
        )
        for number in range(count)
    )


def as_lists(value: Any) -> Any:
    """The value with arrays and tuples in it as lists, at any depth."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [as_lists(item) for item in value] if isinstance(value, list | tuple) else value


def _samples(row: Row, column: str) -> Sequence[Any] | None:
    """The programs of a column; `None` if it has a single one, or something else.

    A list of pairs in `code` is one program of several files.
    """
    if not row.has(column) or isinstance(row.values[column], str | Mapping):
        return None
    value = as_lists(row.values[column])
    if not isinstance(value, list):
        return None
    if column == "messages":
        return value if value and all(isinstance(item, list) for item in value) else None
    kinds = (str, Mapping) if column == "code" else (str,)
    return value if all(item is None or isinstance(item, kinds) for item in value) else None


def generation_of(row: Row) -> str | None:
    """The model's text in a row: `generation` if it is not blank, else the last answer in `messages`, if there is one.

    Raises:
        RowError: a column has another type, or the messages are malformed.
    """
    generation = row.optional_text("generation")
    return generation if generation is not None and generation.strip() else _answer(row)


def _answer(row: Row) -> str | None:
    """The model's last message in the row's conversation, if there is one."""
    if not row.has("messages"):
        return None
    messages = as_lists(row.values["messages"])
    if not isinstance(messages, list):
        raise row.error("messages is not a list of messages")
    try:
        return last_answer(messages)
    except InputError as error:
        raise row.error(str(error)) from error
