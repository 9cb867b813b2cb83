"""A dump read otherwise than it stands: without its `code`, or with its `messages` made from `prompt`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ioi_eval.errors import ODD_DATA
from ioi_eval.problems.row import Row
from ioi_eval.problems.samples import as_lists
from ioi_eval.rows.source import Source

_CODE = ("code", "source_files")
_CONVERSATION = ("prompt", "generation")


class Altered(Source):
    """A source with other columns.

    Args:
        source: what is read.
        without_code: leave out the columns that hold a program, which may be stale: it is extracted again.
        with_messages: put the conversation of `prompt` and `generation` into `messages`, in whole rows. Rows that lack
            one of the two keep what they have.

    Source: `--always_extract_code` and `--add_messages_column` of huggingface/ioi.
    """

    def __init__(self, source: Source, *, without_code: bool = False, with_messages: bool = False) -> None:
        self._source = source
        self._without = frozenset(_CODE if without_code else ())
        self._with_messages = with_messages

    def describe(self) -> str:
        """The source's own words."""
        return self._source.describe()

    def digest(self) -> str | None:
        """The source's, with what is altered."""
        found = self._source.digest()
        return found and f"{found} without {sorted(self._without)}, messages {self._with_messages}"

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The rows, altered."""
        wanted = None if columns is None else [name for name in columns if name not in self._without]
        for row in self._source.rows(wanted):
            values = {name: value for name, value in row.values.items() if name not in self._without}
            if columns is None and self._with_messages:
                values |= _messages(row)
            there = None if row.there is None else tuple(name for name in row.there if name not in self._without)
            yield replace(row, values=values, there=there)


def _messages(row: Row) -> dict[str, Any]:
    """The column `messages`: a conversation, or one for each generation of a list."""
    if not all(row.has(column) for column in _CONVERSATION):
        return {}
    prompt = row.values["prompt"]
    try:
        generation = as_lists(row.values["generation"])
        if isinstance(generation, list):
            return {"messages": [_conversation(prompt, one) for one in generation]}
        return {"messages": _conversation(prompt, generation)}
    except ODD_DATA:
        return {}  # what is odd about the row is said where it is judged


def _conversation(prompt: Any, generation: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": prompt}, {"role": "assistant", "content": str(generation or "").strip()}]
