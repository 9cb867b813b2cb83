"""What the first rows of a dump show of the call: a column that one row lacks is that row's fault, but not if all do.

A row that cannot be used is refused in the results, and the others are judged. Where no row can be used, the call is
wrong (no `--id-column`, two files swapped), and results that stand in the directory would be replaced by nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from ioi_eval.errors import InputError
from ioi_eval.problems.row import Row

FIRST = 100
"""How many rows are looked at: more than a dump begins with by chance, few enough to cost nothing."""

PROGRAMS_ADVICE = (
    "Call the column that holds the programs `generation` (a model's text), `messages` (a conversation) or `code` (the "
    "program itself)"
)
"""What to do where no row has a program, unless the file is another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a row cannot do without.

    Args:
        columns: one of these.
        advice: what to do where none of them is there.
    """

    columns: tuple[str, ...]
    advice: str


def check_first_rows(rows: Iterable[Row], source: str, needs: Iterable[Need]) -> None:
    """Refuse a dump none of whose first rows has what every row needs.

    Args:
        rows: of the dump. Of a column that was read, a value must be there; of another, its name is enough.
        source: what the dump is, for the message.
        needs: looked for in this order.

    Raises:
        InputError: naming what is missing, the columns that there are, and what to do.
    """
    first = list(islice(rows, FIRST))
    for need in needs:
        if first and not any(_has(row, column) for row in first for column in need.columns):
            of = f"none of the first {len(first)} rows" if len(first) > 1 else "no row"
            there = dict.fromkeys(name for row in first for name in row.names)
            raise InputError(
                f"{source}: {of} has {' or '.join(need.columns)}; the columns are: {', '.join(there) or 'none'}. "
                f"{need.advice}"
            )


def _has(row: Row, column: str) -> bool:
    return row.has(column) if column in row.values else column in row.names
