"""Checks the first rows of a dump: if they all lack a needed column, the command is wrong, not the rows.

A row that cannot be used is refused in the results, and the others are judged. If no row can be used, the command is
wrong (no `--id-column`, two files swapped), and without this check it would replace earlier results by empty ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import islice

from ioi_eval.errors import InputError
from ioi_eval.problems.row import Row, misspelling, warn_of_misspelled

FIRST = 100
"""How many rows are checked: no good dump begins with so many unusable rows by chance, and reading them takes no time.
"""

PROGRAMS_ADVICE = (
    "Call the column that holds the programs `generation` (a model's text), `messages` (a conversation) or `code` (the "
    "program itself)"
)
"""What to do if no row has a program, unless it is the wrong file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Columns of which a row needs one."""

    columns: tuple[str, ...]
    advice: str


def check_first_rows(
    rows: Iterable[Row], source: str, needs: Iterable[Need], *, optional: Iterable[str], read: Collection[str]
) -> tuple[str, ...]:
    """Refuse a dump if none of its first rows has what every row needs; warn of misspelled optional columns.

    The message names the missing columns, which of them are null, the existing columns, and what to do. `optional` and
    `read`, and what is returned, are those of `warn_of_misspelled`.
    """
    first = list(islice(rows, FIRST))
    names = dict.fromkeys(name for row in first for name in row.names)
    for need in needs:
        # a column that was read must have a value; of others, the name is enough
        has = (row.has(name) if name in row.values else name in row.names for row in first for name in need.columns)
        if first and not any(has):
            of = f"none of the first {len(first)} rows" if len(first) > 1 else "no row"
            null = [column for column in need.columns if column in names]
            why = f" ({' and '.join(null)} {'is' if len(null) == 1 else 'are'} null there)" if null else ""
            similar = "" if null else next(filter(None, (misspelling(column, names) for column in need.columns)), "")
            raise InputError(
                f"{source}: {of} has {' or '.join(need.columns)}{why}{similar}; "
                f"the columns are: {', '.join(names) or 'none'}. {need.advice}"
            )
    return warn_of_misspelled(source, names, optional, read)
