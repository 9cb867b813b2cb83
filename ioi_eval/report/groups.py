"""Groups of submissions: those of one model, one temperature, one prompt, by columns of the dump.

A mean over several models describes none of them. So every number of a summary is given for each group too. A group is
the rows with the same values in the requested columns; by default, in a column that names the model, if there is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import Any, Generic, TypeVar

import orjson

from ioi_eval.errors import InputError
from ioi_eval.problems.first_rows import FIRST
from ioi_eval.report.terminal import printable
from ioi_eval.rows import Source

S = TypeVar("S")

MOST_GROUPS = 200
"""More than anybody reads, few enough that a column of texts that all differ costs no memory."""

NONE, OTHERS, UNGROUPED = "(none)", "(other groups)", "none"
_LONGEST = 60  # characters of a prompt that stand in a table
_MODEL_NAMES = ("model", "model_name", "model_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """By which columns submissions are grouped.

    Args:
        columns: of the dump; `a.b` is the field `b` of the column `a`. None: everything is one group.
    """

    columns: tuple[str, ...] = ()

    def labels(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        """What a row has in these columns, as one line of text each.

        Args:
            row: of a dump or of results.
        """
        return tuple(label_of(_value(row, column)) for column in self.columns)


def grouping_of(sources: Iterable[Source], by: Sequence[str] = ()) -> Grouping:
    """The columns to group by: those that are asked for, else one that names the model.

    Args:
        sources: the dumps, or results; the first rows of each are read.
        by: what the user asks for, names with commas between them too; `none` for no groups.

    Raises:
        InputError: none of these rows has anything in a column that was asked for.
    """
    asked = tuple(dict.fromkeys(name.strip() for words in by for name in words.split(",") if name.strip()))
    if asked == (UNGROUPED,):
        return Grouping()
    wanted = None if not asked else tuple(dict.fromkeys(name.split(".")[0] for name in asked))
    first = [row for source in sources for row in islice(source.rows(wanted), FIRST)]
    for column in asked:
        if not any(label_of(_value(row.values, column)) != NONE for row in first):
            there = dict.fromkeys(name for row in first for name in row.names)
            raise InputError(
                f"--by {column}: none of the first rows has anything in that column; the columns are: "
                f"{', '.join(map(printable, there)) or 'none'}"
            )
    return Grouping(columns=asked or _model_column([row.values for row in first]))


def _model_column(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The column that names the model, if any: `model`, or another one that begins so and holds texts."""
    names = dict.fromkeys(name for row in rows for name in row)
    likely = [*_MODEL_NAMES, *sorted(name for name in names if name.lower().startswith("model"))]
    for name in likely:
        if name in names and all(isinstance(row.get(name) or "", str) for row in rows):
            return (name,)
    return ()


class Groups(Generic[S]):
    """A summary for each group, as rows stream by.

    Args:
        grouping: by which columns.
        make: a new summary.
    """

    def __init__(self, grouping: Grouping, make: Callable[[], S]) -> None:
        self.grouping = grouping
        self._make = make
        self._found: dict[tuple[str, ...], S] = {}

    def of(self, row: Mapping[str, Any]) -> S | None:
        """The summary of a row's group; `None` where nothing is grouped.

        Args:
            row: the dump's.
        """
        if not self.grouping.columns:
            return None
        labels = self.grouping.labels(row)
        if labels not in self._found:
            if len(self._found) >= MOST_GROUPS:
                labels = (OTHERS,) * len(labels)
            self._found.setdefault(labels, self._make())
        return self._found[labels]

    def as_list(self, values: Callable[[S], Mapping[str, Any]]) -> list[dict[str, Any]]:
        """For JSON, in the order of their names, numbers by their value.

        Args:
            values: what a group's summary comes to.
        """
        columns = self.grouping.columns
        return [
            {"name": group_name(columns, labels), "group": dict(zip(columns, labels, strict=True)), **values(found)}
            for labels, found in sorted(self._found.items(), key=lambda item: list(map(_order, item[0])))
        ]

    @property
    def notes(self) -> list[str]:
        """What users should know of the groups."""
        if (OTHERS,) * len(self.grouping.columns) not in self._found or not self.grouping.columns:
            return []
        return [
            f"there are more than {MOST_GROUPS} groups by {', '.join(self.grouping.columns)}: those that came later "
            f"are together in {OTHERS!r}; choose columns with fewer values"
        ]


def group_name(columns: Sequence[str], labels: Sequence[str]) -> str:
    """What a group is called: what its rows have in these columns."""
    if len(columns) == 1:
        return labels[0]
    return ", ".join(f"{column} {label}" for column, label in zip(columns, labels, strict=True))


def _order(label: str) -> tuple[bool, float, str]:
    try:
        number = float(label)
    except ValueError:
        number = math.nan
    return not math.isfinite(number), number if math.isfinite(number) else 0.0, label


def _value(row: Mapping[str, Any], column: str) -> Any:
    if column in row:
        return row[column]
    value: Any = row
    for name in column.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def label_of(value: Any) -> str:
    """A value as one short line; different values have different lines."""
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return NONE
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:  # 1.0 of one table is 1 of another
        value = int(value)
    text = value if isinstance(value, str) else _json(value)
    return _short_line(text) if len(text) <= _LONGEST else _line(text)


def _line(text: str) -> str:
    line = printable(text, length=_LONGEST)
    if line == text:
        return line
    line = printable(text, length=_LONGEST - len("… #123456"))
    return f"{line} #{blake2b(text.encode('utf-8', 'replace'), digest_size=3).hexdigest()}"


_short_line = lru_cache(maxsize=1024)(_line)


def _json(value: Any) -> str:
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # an integer beyond 64 bits, a text that is no UTF-8, or nested too deep
        try:
            return repr(value)
        except (ValueError, RecursionError):  # what Python does not print either
            return "(a value that cannot be shown)"
