"""Groups of submissions, for example by model, temperature or prompt, by columns of the dump.

A mean over several models describes none of them. So a summary also has every number for each group. A group is the
rows with the same values in the requested columns; by default in the column that names the model, if there is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Generic, TypeVar

import orjson

from ioi_eval.errors import InputError, similar
from ioi_eval.problems.first_rows import FIRST
from ioi_eval.report.rows import RECOGNIZED_BY, name_in, to_json
from ioi_eval.report.texts import counted, distinct_line, printable
from ioi_eval.rows import Source

S = TypeVar("S")

MAX_GROUPS = 200
"""More than anybody reads, but few enough to save memory if all values of a column differ."""

NONE, OTHERS, UNGROUPED = "(none)", "(other groups)", "none"
_LONGEST = 60  # the most characters of a value in a table
MODEL_COLUMNS = ("model", "model_name", "model_id")
"""The columns that most probably name the model, the most probable first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """The columns by which submissions are grouped.

    Args:
        columns: columns of the dump; `a.b` is that column, else the field `b` of the column `a`. Without any, all
            rows are one group. A column with the name of a result column is called `dump_<name>` in results.
    """

    columns: tuple[str, ...] = ()

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns of a row that `labels` reads."""
        names = [name for column in self.columns for name in (column, column.partition(".")[0])]
        return tuple(dict.fromkeys([*names, *(f"dump_{name}" for name in names), *(RECOGNIZED_BY if names else ())]))

    def labels(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        """The values of a row of a dump or of results in these columns, each as one line of text."""
        return tuple(label_of(_value(row, column)) for column in self.columns)


def grouping_of(sources: Sequence[Source], by: Sequence[str] | None) -> Grouping:
    """The columns to group by: those that the user named, else one that names the model.

    Args:
        sources: dumps or results; the first rows of each are read, and all rows if these lack a column that is named,
            in which some row must have a value.
        by: the values of `--by`, if given: each may have several names separated by commas; `none` for no groups.
    """
    asked = tuple(dict.fromkeys(name.strip() for text in by or () for name in text.split(",") if name.strip()))
    if asked == (UNGROUPED,):
        return Grouping()
    wanted = Grouping(columns=asked).needed if asked else None
    first = [row for source in sources for row in islice(source.rows(wanted), FIRST)]
    for column in asked:
        rows = chain(first, (row for source in sources for row in source.rows(wanted)))
        if all(label_of(_value(row.values, column)) == NONE for row in rows):
            columns = dict.fromkeys(name for row in first for name in row.names)
            near = similar(column, columns.keys() - {column})
            raise InputError(
                f"--by {column}: no row has anything in that column; the columns are: "
                f"{', '.join(map(printable, columns)) or 'none'}{f'. Did you mean {printable(near)}?' if near else ''}"
            )
    return Grouping(columns=asked) if asked else grouping_by_model(row.values for row in first)


def grouping_by_model(rows: Iterable[Mapping[str, Any]]) -> Grouping:
    """By the column of the first rows of each dump that names the model: `model`, or another column of texts whose name
    begins with `model`. Without such a column there are no groups; one without any text is not chosen."""
    first = list(rows)
    names = dict.fromkeys(name for row in first for name in row)
    likely = [*MODEL_COLUMNS, *sorted(name for name in names if name.lower().startswith("model"))]
    for name in likely:
        values = [value for row in first if (value := row.get(name))]
        if values and all(isinstance(value, str) for value in values):
            return Grouping(columns=(name,))
    return Grouping()


class Groups(Generic[S]):
    """A summary for each group, made by `make`."""

    def __init__(self, grouping: Grouping, make: Callable[[], S]) -> None:
        self.grouping = grouping
        self._make = make
        self._found: dict[tuple[str, ...], S] = {}

    def of(self, row: Mapping[str, Any]) -> S:
        """The summary of the group of a dump's row. Without columns, all rows are one group."""
        return self.labelled(self.grouping.labels(row))

    def labelled(self, labels: tuple[str, ...]) -> S:
        """The summary of the group with these labels."""
        if labels not in self._found:
            if len(self._found) >= MAX_GROUPS:
                labels = (OTHERS,) * len(labels)
            self._found.setdefault(labels, self._make())
        return self._found[labels]

    def __contains__(self, labels: tuple[str, ...]) -> bool:
        return labels in self._found

    def as_list(self, values: Callable[[S], Mapping[str, Any]]) -> list[dict[str, Any]]:
        """For JSON, with each group's `values`; sorted by name, or by value if the names are numbers."""
        columns = self.grouping.columns
        return [
            {"name": group_name(columns, labels), "group": dict(zip(columns, labels, strict=True)), **values(group)}
            for labels, group in sorted(self._found.items(), key=lambda item: list(map(_order, item[0])))
        ]


def group_notes(summary: Mapping[str, Any]) -> list[str]:
    """The notes of a summary on its groups: some were put together; rows still to be judged are in none of them."""
    groups, notes = summary.get("groups") or (), []
    if len(groups) >= MAX_GROUPS and any(set(group["group"].values()) == {OTHERS} for group in groups):
        notes.append(
            f"there are more than {MAX_GROUPS} groups by {', '.join(summary['by'])}: later ones are put together as "
            f"{OTHERS!r}; choose columns with fewer values"
        )
    pending = summary["submissions"]["pending"] - sum(group["submissions"]["pending"] for group in groups)
    if groups and pending:
        notes.append(f"{counted(pending, 'row')} still to be judged: in none of the groups")
    return notes


def group_name(columns: Sequence[str], labels: Sequence[str]) -> str:
    """The name of a group: the values of its rows in these columns; empty without columns. Different groups have
    different names: of several values, those that could be taken for two are quoted."""
    if len(columns) == 1:
        return labels[0]
    shown = (_json(label) if ", " in label or label.startswith('"') else label for label in labels)
    return ", ".join(f"{column} {label}" for column, label in zip(columns, shown, strict=True))


def _order(label: str) -> tuple[bool, float, str]:
    try:
        number = float(label)
    except ValueError:
        number = math.nan
    return not math.isfinite(number), number if math.isfinite(number) else 0.0, label


def _value(row: Mapping[str, Any], column: str) -> Any:
    name = name_in(row, column)
    if name in row:
        return row[name]
    first, *fields = column.split(".")
    value: Any = row.get(name_in(row, first))
    for name in fields:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def label_of(value: Any) -> str:
    """A value as one short line; different values have different lines. It is the same for a value of a dump and for
    that value in a row of results, as dates are written as texts there."""
    if not isinstance(value, str):
        value = orjson.loads(to_json([value]))[0]
    if value is None or value == "":
        return NONE
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:  # some tables have 1.0 for 1
        value = int(value)
    text = value if isinstance(value, str) else _json(value)
    return distinct_line(text, length=_LONGEST)


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
