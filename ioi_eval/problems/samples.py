"""The programs and texts of a model in a row of a dump.

A generator that asks a model n times may write one row with lists of n texts, or of n conversations. Such a row is
split into n rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ioi_eval.errors import InputError
from ioi_eval.extract.fences import Extracted, encodable
from ioi_eval.extract.messages import last_answer
from ioi_eval.problems.row import Row

SAMPLE_COLUMNS = ("code", "generation", "messages")
"""The columns in which a list may contain several programs."""

_AT_MOST_ONE = frozenset({str, type(None)})
"""Types of values that contain at most one program."""


def sample_rows(row: Row, id_column: str) -> tuple[Row, ...]:
    """One row for each program of a row; the row itself if it has only one.

    Lists in several columns belong together: their n-th elements are those of one program, whose id is
    `<id of the row>/<n>`, n from 0; it has none if the row has none. Values that are not lists apply to every program.
    """
    if _AT_MOST_ONE.issuperset(map(type, map(row.values.get, SAMPLE_COLUMNS))):
        return (row,)
    lists = {column: values for column in SAMPLE_COLUMNS if (values := _samples(row, column)) is not None}
    if not lists:
        return (row,)
    lengths = {column: len(values) for column, values in lists.items()}
    count = max(lengths.values())
    if min(lengths.values()) != count:
        values = ", ".join(f"{column} {length}" for column, length in lengths.items())
        raise row.error(f"its lists of programs differ in length: {values}; the n-th elements belong together")
    if not count:
        raise row.error(f"{' and '.join(lists)}: the list is empty, and there is no program")
    name = row.identifier(id_column) if row.has(id_column) else None

    def values_of(number: int) -> dict[str, Any]:
        own_id = {} if name is None else {id_column: f"{name}/{number}"}
        return {**row.values, **{column: values[number] for column, values in lists.items()}, **own_id}

    return tuple(replace(row, values=values_of(number)) for number in range(count))


def _samples(row: Row, column: str) -> Sequence[Any] | None:
    """The programs of a column; `None` if it has a single one, or something else.

    A list of pairs in `code` is one program of several files.
    """
    if not row.has(column) or isinstance(row.values[column], str | Mapping):
        return None
    value = row.plain_value(column)
    if not isinstance(value, list):
        return None
    if column == "messages":
        return value if value and all(isinstance(item, list) for item in value) else None
    kinds = (str, Mapping) if column == "code" else (str,)
    others = [item for item in value if not (item is None or isinstance(item, kinds))]
    if 0 < len(others) < len(value):
        raise row.error(f"{column} is a list of programs, and contains {others[0]!r:.100}, which is not text")
    return None if others else value


def program_of(
    row: Row, extract: Callable[[str], Extracted], answer_of: Callable[[Sequence[Any]], str | None] = last_answer
) -> Extracted:
    """The program of a row: its `code` if that is not blank, else what is extracted from its text (`generation_of`)."""
    code = row.optional_text("code")
    if code is not None and code.strip():
        return Extracted(code=encodable(code), rule="column:code")
    text = generation_of(row, answer_of)
    return Extracted(code=None, rule="none") if text is None else extract(text)


def generation_of(row: Row, answer_of: Callable[[Sequence[Any]], str | None] = last_answer) -> str | None:
    """The model's text in a row: `generation` if it is not blank, else the answer in `messages`, if there is one."""
    items = row.plain_value("generation")
    if isinstance(items, list) and any(isinstance(item, Mapping | list) for item in items):
        raise row.error(
            "generation is a list, and not of texts; each item must be a text, and a conversation belongs in messages"
        )
    generation = row.optional_text("generation")
    if generation is not None and generation.strip():
        return generation
    if not row.states("messages"):
        return None
    messages = row.plain_value("messages")
    if not isinstance(messages, list):
        advice = (
            "; if the text is JSON, convert it (jq -c '.messages |= fromjson')" if isinstance(messages, str) else ""
        )
        raise row.error(f"messages is not a list of messages{advice}")
    try:
        return answer_of(messages)
    except InputError as error:
        raise row.error(str(error)) from error
