"""One row of a data set, read column by column, with errors that name the place; and what a source of rows is.

Rows come from JSONL, Parquet, Arrow and the Hub, so the same value may be `2024`, `2024.0` or `"2024"`, a list or an
array, `null` or NaN. The readers here accept all such forms, and refuse other values with an error that names source,
row and column. The package `rows` makes the rows.
"""

from __future__ import annotations

import math
import reprlib
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from numbers import Integral
from typing import Any, TypeGuard

from ioi_eval.errors import InputError, NotReadWarning, RowError, similar
from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.model import ProblemKey

_NAME_BITS = 2000  # below Python's limit of digits that it prints, which is 4,300 and can be set to 640
_NUMBER_LENGTH = 600  # the same for digits that it reads
_INTEGER_BITS = 63  # fingerprints have the numbers of a row in JSON, which orjson writes up to 64 bits

_SIMILAR = 0.8
"""How similar two names of columns are if one may be the other, misspelled. Chosen: `test_input` and `test_output` are
not (0.76), `uid` and `uuid` are (0.86)."""

_OTHER_NAMES = {"language": ("lang", "programming_language", "prog_lang")}
"""What dumps call a column. These names are not read, as the values may be anything; messages name them."""

_BRIEF = reprlib.Repr()
_BRIEF.maxstring = _BRIEF.maxother = 60


@fast_dataclass
class Row:
    """A row and its position."""

    source: str  # the file or data set, for messages
    number: int  # counted from 1, as an editor counts lines
    values: Mapping[str, Any]  # by column
    all_names: Sequence[str] | None = None  # all columns of the row, if `values` contains only the requested ones
    broken: str = ""  # why the row cannot be represented; then it has no columns

    @property
    def names(self) -> Sequence[str]:
        """All columns of the row, read or not."""
        return tuple(self.values) if self.all_names is None else self.all_names

    @property
    def columns(self) -> str:
        """The names, for messages."""
        return ", ".join(self.names) or "none"

    def error(self, problem: str) -> RowError:
        """The error to raise about this row."""
        return RowError(self.source, self.number, self.broken or problem)

    def absent(self, column: str, *, needed: str = "", advice: str = "") -> RowError:
        """The error to raise about a column without a value: it is null, or there is no such column."""
        what = f"null{needed}"
        if column not in self.names:
            what = f"missing{needed}{misspelling(column, self.names)}; the row has: {self.columns}"
        return self.error(f"{column} is {what}{'. ' if advice else ''}{advice}")

    def wrong_kind(self, kind: str, *, needed: str) -> RowError:
        """The error to raise about a row of another kind than is needed: `problems` or `tests`."""
        where = f"name the file with the {needed} (of an import, {needed}.jsonl)"
        return self.error(f"this looks like {kind}; {where}. The row has: {self.columns}")

    def has(self, column: str) -> bool:
        """Whether the column has a value: it is not absent, null or NaN (pandas' null)."""
        value = self.values.get(column)
        return value is not None and not (isinstance(value, float) and math.isnan(value))

    def states(self, column: str) -> bool:
        """Whether the column has a value, not counting an empty text: tables from CSV files have it for none."""
        value = self.values.get(column)
        return self.has(column) and not (isinstance(value, str) and not value)

    def text(self, column: str) -> str:
        """A text; it is required and must not be empty."""
        value = self.optional_text(column)
        if not value:
            raise self._missing(column, "a text" if value is None else "a text that is not empty")
        return value

    def optional_text(self, column: str) -> str | None:
        """A text, or `None` if there is none."""
        value = self.values.get(column)
        if isinstance(value, str):
            return value
        if self.has(column):
            raise self._wrong(column, "a text")
        return None

    def identifier(self, column: str) -> str:
        """A name, required; numbers become text (a table's 7.0 becomes `7`)."""
        value = self.values.get(column)
        if isinstance(value, str) and value:
            return value
        value = _number(value)
        if is_whole(value):
            if value.bit_length() > _NAME_BITS:
                raise self.error(f"{column} is an integer of {value.bit_length():,} bits; it must be a name")
            return str(value)
        if self.has(column) and isinstance(value, float | bool):
            raise self._wrong(column, f'a text ("{value}") or a whole number')
        return self.text(column)

    def integer(self, column: str, default: int | None = None) -> int:
        """A whole number of less than 64 bits, also in the forms `2024.0` and `"2024"` that tables produce."""
        value = self.values.get(column)
        if type(value) is int and value.bit_length() <= _INTEGER_BITS:  # the usual case
            return value
        if default is not None and not self.states(column):
            return default
        if isinstance(value, str) and len(value) < _NUMBER_LENGTH and value.strip().removeprefix("-").isdecimal():
            value = int(value)
        value = _number(value)
        if not is_whole(value):
            raise self._missing(column, "a whole number")
        if value.bit_length() > _INTEGER_BITS:
            raise self._missing(column, "a whole number of less than 64 bits")
        return value

    def number_of(self, column: str) -> float:
        """A finite number."""
        value = self.values.get(column)
        if not is_finite(value):
            raise self._missing(column, "a finite number")
        return float(value)

    def boolean(self, column: str) -> bool | None:
        """A truth value, or `None` if there is none."""
        if not self.has(column):
            return None
        value = self.values[column]
        if not isinstance(value, bool):
            raise self._wrong(column, "true or false")
        return value

    def items(self, column: str) -> Sequence[Any]:
        """A list, required; tuples and arrays are accepted."""
        value = _as_list(self.values.get(column))
        if not isinstance(value, list):
            raise self._missing(column, "a list")
        return value

    def texts(self, column: str) -> tuple[str, ...]:
        """A list of texts, required."""
        values = self.items(column)
        for value in values:
            if not isinstance(value, str):
                raise self.error(f"{column} holds {_short(value)}; it must hold texts only")
        return tuple(values)

    def arguments(self, column: str) -> tuple[str, ...] | None:
        """A list of texts, or the words of one text; `None` if there is no value."""
        if not self.has(column):
            return None
        value = self.values[column]
        return tuple(value.split()) if isinstance(value, str) else self.texts(column)

    def plain_value(self, column: str) -> Any:
        """The value as `plain` gives it; `None` if there is no such column."""
        try:
            return plain(self.values.get(column))
        except RecursionError as error:
            raise self.error(f"{column} is nested too deeply") from error

    def pairs(self, column: str) -> tuple[tuple[str, str | None], ...]:
        """A list of `[name, content]` pairs, required; a content may be null."""
        if isinstance(self.values.get(column), dict):
            raise self.error(f'{column} is an object; it must be a list of pairs: [["path", "content"], …]')
        result = []
        for item in self.items(column):
            pair = _as_list(item)
            if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
                raise self.error(f"{column} holds {_short(item)}; it must hold pairs of path and content")
            name, content = pair
            if content is not None and not isinstance(content, str):
                raise self.error(f"the content of {name} in {column} is {_short(content)}; it must be a text")
            result.append((name, content))
        return tuple(result)

    def files(self, column: str) -> Iterator[tuple[str, str | bytes]]:
        """The names and contents of files, from an object or a list of pairs, without those whose content is null: in
        tables every row has all names.
        """
        value = self.values[column]
        for name, content in value.items() if isinstance(value, Mapping) else self.pairs(column):
            if content is None:
                continue
            if not isinstance(name, str) or not isinstance(content, str | bytes):
                raise self.not_a_file(column, name)
            yield name, content

    def not_a_file(self, column: str, name: object) -> RowError:
        """The error to raise about a file whose name or content is not text."""
        return self.error(f"{column} has {name!r} with a value that is not text; names and texts of files are needed")

    def _missing(self, column: str, needed: str) -> RowError:
        if self.has(column) or (column in self.values and self.values[column] is not None):
            return self._wrong(column, needed)
        return self.absent(column, needed=f" ({needed} is needed)")

    def _wrong(self, column: str, needed: str) -> RowError:
        return self.error(f"{column} is {_short(self.values[column])}; it must be {needed}")


def _near(column: str, names: Iterable[str]) -> str | None:
    """The column that may be meant by a name; `None` if there is none."""
    names = list(names)
    other = next((name for name in _OTHER_NAMES.get(column, ()) if name in names), None)
    return similar(column, names, least=_SIMILAR) or other


def misspelling(column: str, names: Iterable[str]) -> str:
    """Text for messages that a column is missing: the column that may be meant; empty if none has a similar name."""
    near = _near(column, names)
    return f", or {column} is misspelled as {near}" if near else ""


def warn_of_misspelled(
    source: str, names: Collection[str], optional: Iterable[str], read: Collection[str]
) -> tuple[str, ...]:
    """Warn of columns that are not read, if optional columns that may be meant are missing; of each once.

    Returns:
        The same as notes for the results, where the source is known.
    """
    others, notes = [name for name in names if name not in read], []
    for column in optional:
        if column not in names and (near := _near(column, others)):
            notes.append(f"column {near} is not read. Did you mean {column}?")
            warnings.warn(f"{source}: {notes[-1]}", NotReadWarning, stacklevel=1)
    return tuple(notes)


@lru_cache(maxsize=4096, typed=True)
def problem_key(year: int, problem: str) -> ProblemKey:
    """The key of a problem: the same object for all of its rows, so that look-ups need not compare its fields."""
    return ProblemKey(year=year, id=problem)


class Source(ABC):
    """Rows that can be read any number of times, in the same order."""

    @abstractmethod
    def describe(self) -> str:
        """A description for messages: the file, or the data set with the splits that were chosen."""

    @abstractmethod
    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The rows, possibly none. Each kind of source implements this."""

    def iterate(self, columns: Sequence[str] | None = None) -> Iterator[Row]:
        """The rows, one at a time.

        Args:
            columns: only those of these that exist; `None` for all.

        Raises:
            InputError: the source cannot be read, or has no rows.
            RowError: a row cannot be read.
        """
        empty = True
        for row in self.rows(columns):
            empty = False
            yield row
        if empty:
            raise InputError(f"{self.describe()} is empty: it has no rows")

    def digest(self) -> str | None:
        """A hash of all that is read from it; `None` if that would require reading it row by row."""
        return None

    def with_configs(self, names: Sequence[str]) -> Source:  # noqa: ARG002 - for sources that have configurations
        """Only these configurations, if the source has configurations; else all of it."""
        return self


def row_of(given: Row | Mapping[str, Any], source: str, number: int = 1) -> Row:
    """The row that a caller gives, maybe as a plain mapping of column to value, or as a row of pandas.

    Raises:
        InputError: it is something else.
    """
    if isinstance(given, Row):
        return given
    if not hasattr(given, "keys"):
        raise InputError(f"{source} got a row of type {type(given).__name__}; give a dictionary")
    values: Any = given
    return Row(source=source, number=number, values=values if isinstance(values, Mapping) else dict(values))


def plain(value: Any) -> Any:
    """The value with tuples and arrays in it as lists, and numbers of arrays as numbers, at any depth.

    Raises:
        RecursionError: it is nested too deeply.
    """
    value = _as_list(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    return {key: plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def _as_list(value: Any) -> Any:
    """A tuple or an array as a list, a number of an array as a number; other values as they are."""
    for method in ("tolist", "to_list"):  # of numpy, pandas and torch; of polars
        if hasattr(value, method):
            value = getattr(value, method)()
    return list(value) if isinstance(value, tuple) else value


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number. For Python, true and false are numbers too; here they are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_finite(value: object) -> TypeGuard[float]:
    """Whether a value is a number that a float can have: integers may be larger."""
    return is_number(value) and abs(value) < sys.float_info.max


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> Any:
    """The whole numbers of tables (7.0, numpy's 7) as `int`; other values as they are."""
    whole = value.is_integer() if isinstance(value, float) else isinstance(value, Integral)
    return int(value) if whole and not isinstance(value, bool) else value


def _short(value: object) -> str:
    """A value as a short text: it may be a program of 50 MB."""
    try:
        return _BRIEF.repr(value)
    except (ValueError, RecursionError):  # an integer that Python refuses to print, perhaps in a list
        return (
            f"an integer of {value.bit_length():,} bits" if isinstance(value, int) else "a value that cannot be printed"
        )
