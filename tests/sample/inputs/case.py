"""One test of a sample task, before it becomes a row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A test and its official output.

    Args:
        name: `<number of the subtask that it was made for>-<two digits>`, as in official packages.
        input: the input of the grader, the program or the manager.
        answer: the official output.
    """

    name: str
    input: str
    answer: str


def lines(rows: Iterable[Iterable[object]]) -> str:
    """Rows of words as text, with blanks between the words and a newline after each row."""
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)
