"""Rows of which some columns are read from their source once."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from ioi_eval.errors import ODD_DATA
from ioi_eval.problems.row import Row
from ioi_eval.rows.source import Source

_IN_MEMORY_BYTES = 8 * 1024 * 1024


class KeptColumns(Source):
    """Another source, of which the columns that judging looks at are kept when they were read to the end once.

    A dump is read before anything is judged, to learn what it needs; then it is judged, from what was kept; and it is
    read a second time to put results beside its rows. There is one reader at a time.

    Args:
        source: what is read.
        columns: which are kept; `None` for all.
        directory: where the file without a name is made, once they are too large for memory.
    """

    def __init__(self, source: Source, columns: Sequence[str] | None, directory: Path | None = None) -> None:
        self._source, self._columns = source, columns
        place = None if directory is None else str(directory)
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES, dir=place)  # noqa: SIM115
        self._rows = 0
        self._is_whole = False

    def describe(self) -> str:
        """The source itself."""
        return self._source.describe()

    def digest(self) -> str | None:
        """That of the source."""
        return self._source.digest()

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The source's rows; those with kept columns only, from what was kept."""
        if self._columns is not None and (columns is None or not set(columns) <= set(self._columns)):
            yield from self._source.rows(columns)
        elif self._is_whole:
            self._file.seek(0)
            for _ in range(self._rows):
                yield pickle.load(self._file)  # our own file, which has no name
        else:
            yield from self._keeping()

    def _keeping(self) -> Iterator[Row]:
        """Read the source, and keep what is read; where that cannot be written, it is read the next time too."""
        self._file.seek(0)
        self._file.truncate()
        self._rows, read = 0, 0
        for row in self._source.rows(self._columns):
            if self._rows == read:
                with suppress(OSError, *ODD_DATA):
                    pickle.dump(row, self._file, protocol=pickle.HIGHEST_PROTOCOL)
                    self._rows += 1
            read += 1
            yield row
        self._is_whole = self._rows == read
