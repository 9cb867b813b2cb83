"""Reads a source with changes: with plain values, without its `code`, with `messages` made from `prompt`, or from kept
columns.
"""

from __future__ import annotations

import pickle
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from ioi_eval.errors import ODD_DATA, DoubtfulDataWarning, InputError
from ioi_eval.problems.row import Row, Source, plain
from ioi_eval.problems.samples import generation_of, sample_rows

_CODE = ("code", "source_files")
_CONVERSATION = ("prompt", "generation")
_IN_MEMORY_BYTES = 8 * 1024 * 1024


class _Changed(Source):
    """Another source, with changes."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def describe(self) -> str:
        return self._source.describe()

    def digest(self) -> str | None:
        return self._source.digest()


class PlainValues(_Changed):
    """A source of another package, whose rows may have numbers and arrays of numpy: here they are numbers and lists."""

    def with_configs(self, names: Sequence[str]) -> Source:
        """Only these configurations of the source."""
        return PlainValues(self._source.with_configs(names))

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The rows, with plain values."""
        for row in self._source.rows(columns):
            try:
                made = replace(row, values={name: plain(value) for name, value in row.values.items()})
            except RecursionError:
                made = replace(row, values={}, broken="cannot be read: it is nested too deeply")
            yield made


class Altered(_Changed):
    """A source without the columns of programs, which may be outdated (they are extracted again), or with `messages`.

    If all columns are read, the column `messages` gets the conversation of `prompt` and `generation`. A row is changed
    only if it has both, and if its program is still sought in the same text. Otherwise judging, which reads some
    columns, and writing, which reads all, would find different programs.

    Source: `--always_extract_code` and `--add_messages_column` of huggingface/ioi.
    """

    def __init__(self, source: Source, *, without_code: bool, with_messages: bool) -> None:
        super().__init__(source)
        self._without = frozenset(_CODE if without_code else ())
        self._with_messages = with_messages

    def digest(self) -> str | None:
        """The source's hash, combined with the changes."""
        of_source = super().digest()
        return of_source and f"{of_source} without {sorted(self._without)}, messages {self._with_messages}"

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The rows, altered."""
        wanted = None if columns is None else [name for name in columns if name not in self._without]
        for row in self._source.rows(wanted):
            values = {name: value for name, value in row.values.items() if name not in self._without}
            if columns is None and self._with_messages:
                values |= _messages(row)
            all_names = (
                None if row.all_names is None else tuple(name for name in row.all_names if name not in self._without)
            )
            yield replace(row, values=values, all_names=all_names)


def _messages(row: Row) -> dict[str, Any]:
    """The column `messages`: a conversation, or one for each generation of a list."""
    if not all(row.has(column) for column in _CONVERSATION):
        return {}
    prompt = row.values["prompt"]
    try:
        generation = plain(row.values["generation"])
        made: list[Any]
        if isinstance(generation, list):
            made = [_conversation(prompt, answer) for answer in generation]
        else:
            made = _conversation(prompt, generation)
        with_these = replace(row, values={**row.values, "messages": made})
        return {"messages": made} if _texts(with_these) == _texts(row) else {}
    except (InputError, *ODD_DATA):
        return {}  # errors in the row are reported when it is judged


def _texts(row: Row) -> list[str]:
    """The texts of the row in which programs are sought."""
    return [(generation_of(each) or "").strip() for each in sample_rows(row, "")]


def _conversation(prompt: Any, generation: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": prompt}, {"role": "assistant", "content": str(generation or "").strip()}]


class KeptColumns(_Changed):
    """A source whose columns for judging are kept in a temporary file, once they have been read to the end.

    A dump is read before judging, to find out which problems and languages it needs; judging reads the kept columns;
    and whole rows are read a second time, to put results beside them. There is one reader at a time.

    These `columns` are kept (`None`: all), in memory, or if they are too large in a file without a name in `directory`.
    """

    def __init__(self, source: Source, columns: Sequence[str] | None, directory: Path | None = None) -> None:
        super().__init__(source)
        self._columns = columns
        folder = None if directory is None else str(directory)
        self._file: IO[bytes] | None = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES, dir=folder)  # noqa: SIM115
        self._rows = 0  # how many are kept
        self._last: dict[str, int] = {}  # by file or data set, the highest number of a row that is kept
        self._is_whole = False

    def digest(self) -> str | None:
        """The source's hash, with the number of rows, because it may have got more since they were kept."""
        of_source = super().digest()
        return of_source and f"{of_source} {self._rows} rows"

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The source's rows; if only kept columns are wanted, from the temporary file, with all kept columns."""
        if self._columns is not None and (columns is None or not set(columns) <= set(self._columns)):
            rows = self._source.rows(columns)
            yield from self._without_new(rows) if self._is_whole else rows
        elif self._file is None:
            yield from self._source.rows(self._columns)
        elif self._is_whole:
            self._file.seek(0)
            for _ in range(self._rows):
                source, number, values, all_names, broken = pickle.load(self._file)  # our own file, which has no name
                yield Row(source=source, number=number, values=values, all_names=all_names, broken=broken)
        else:
            yield from self._store_and_yield(self._file)

    def _store_and_yield(self, file: IO[bytes]) -> Iterator[Row]:
        """Read the source and keep its rows; if they cannot be written, nothing is kept from then on."""
        self._rows, self._last = 0, {}
        file.seek(0)
        file.truncate()
        for row in self._source.rows(self._columns):
            if self._file is not None:
                try:
                    # pickling the fields takes half the time of pickling the row
                    fields = row.source, row.number, row.values, row.all_names, row.broken
                    pickle.dump(fields, file, protocol=pickle.HIGHEST_PROTOCOL)
                    self._rows += 1
                    self._last[row.source] = max(row.number, self._last.get(row.source, 0))
                except (OSError, pickle.PicklingError, *ODD_DATA):
                    self._drop()
            yield row
        if self._file is not None:
            try:
                file.flush()  # so that a full disk is noticed here, not when the rows are read
                self._is_whole = True
            except OSError:
                self._drop()

    def _without_new(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows that the source had when its columns were kept. Rows that were added since are left out: their
        problems may not have been read, and the last of them may be incomplete."""
        left, has_grown = self._rows, False
        try:
            for row in rows:
                if row.number <= self._last.get(row.source, 0):
                    left -= 1
                    yield row
                else:
                    has_grown = True
        except InputError:
            if left > 0:
                raise
            has_grown = True
        if has_grown:
            new = "has got new rows while it was judged; they are not in the results, and the same command judges them"
            warnings.warn(f"{self.describe()} {new}", DoubtfulDataWarning, stacklevel=1)

    def _drop(self) -> None:
        """Delete the temporary file: others may need its space on a full disk."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # closing writes again what could not be written before
                file.close()
