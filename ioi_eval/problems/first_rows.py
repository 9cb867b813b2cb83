"""Checks the first rows of a dump: if they all lack a needed column, the command is wrong, not the rows.

A row that cannot be used is refused in the results, and the others are judged. If no row can be used, the command is
wrong (no `--id-column`, two files swapped), and without this check it would replace earlier results by empty ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import islice

from ioi_eval.errors import InputError, RowError
from ioi_eval.extract.messages import is_prompt
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

    The message names the missing columns, which of them are null (or only a prompt), the existing columns, and what to
    do. `optional` and `read`, and what is returned, are those of `warn_of_misspelled`.
    """
    first = list(islice(rows, FIRST))
    names = dict.fromkeys(name for row in first for name in row.names)
    for need in needs:
        if first and not any(_has(row, name) for row in first for name in need.columns):
            of = f"none of the first {len(first)} rows" if len(first) > 1 else "no row"
            null = [column for column in need.columns if column in names]
            has_prompts = "messages" in need.columns and any(row.has("messages") for row in first)
            empty = "null, or only the prompt," if has_prompts else "null"
            why = f" ({' and '.join(null)} {'is' if len(null) == 1 else 'are'} {empty} there)" if null else ""
            similar = "" if null else next(filter(None, (misspelling(column, names) for column in need.columns)), "")
            raise InputError(
                f"{source}: {of} has {' or '.join(need.columns)}{why}{similar}; "
                f"the columns are: {', '.join(names) or 'none'}. {need.advice}"
            )
    return warn_of_misspelled(source, names, optional, read)


def _has(row: Row, column: str) -> bool:
    """Whether a row has a value in a column that was read, or a column that was not read.

    A prompt in `messages` is none: the answer may be in a column with another name, and all programs would be NC.
    """
    if column not in row.values:
        return column in row.names
    if column != "messages" or not row.has(column):
        return row.has(column)
    try:
        return not is_prompt(row.plain_value(column))
    except RowError:  # nested too deeply: this row is refused later
        return True
