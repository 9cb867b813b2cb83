"""Tables on disk: Parquet, decoded by small batches, and data sets saved by `datasets`, memory-mapped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ioi_eval.errors import InputError
from ioi_eval.problems.row import Row
from ioi_eval.rows.source import Source

if TYPE_CHECKING:
    import datasets
    import pyarrow as pa

_BATCH_BYTES = 4 * 1024 * 1024  # about how much of a table is decoded at once


class Parquet(Source):
    """A `.parquet` file. Only the wanted columns are read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def describe(self) -> str:
        """The file's path."""
        return str(self._path)

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The rows, a small batch decoded at a time."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(self._path, buffer_size=1 << 20, pre_buffer=False) as file:
                names = [name for name in file.schema_arrow.names if columns is None or name in columns]
                batches = file.iter_batches(_batch_rows(file.metadata), columns=names, use_threads=False)
                yield from rows_of_tables(str(self._path), batches)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self._path} cannot be read as Parquet: {error}; get it again") from error


class SavedDataset(Source):
    """A folder made by `Dataset.save_to_disk`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def describe(self) -> str:
        """The folder's path."""
        return str(self._path)

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The rows, from memory-mapped files."""
        import datasets
        import pyarrow as pa

        try:
            dataset = datasets.load_from_disk(str(self._path), keep_in_memory=False)
        except (OSError, ValueError, KeyError, pa.ArrowException) as error:
            raise InputError(f"the saved data set {self._path} cannot be read: {error}; save it again") from error
        yield from rows_of_dataset(str(self._path), dataset, columns)


def rows_of_dataset(source: str, dataset: datasets.Dataset, columns: Sequence[str] | None) -> Iterator[Row]:
    """The rows of a memory-mapped data set; in memory is what has been decoded of it, a few rows."""
    names = [name for name in dataset.column_names if columns is None or name in columns]
    yield from rows_of_tables(source, dataset.select_columns(names).with_format("arrow").iter(batch_size=64))


def rows_of_tables(source: str, tables: Iterator[pa.RecordBatch | pa.Table]) -> Iterator[Row]:
    """The rows of batches; a batch that is larger than it should be is decoded row by row."""
    done = 0
    for table in tables:
        step = table.num_rows if table.nbytes <= 2 * _BATCH_BYTES else 1
        for start in range(0, table.num_rows, step or 1):
            first = done + start + 1
            try:
                decoded = table.slice(start, step).to_pylist()
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{source}, rows {first} to {done + start + step}: a text is not valid UTF-8"
                ) from error
            for number, values in enumerate(decoded, first):
                yield Row(source=source, number=number, values=values)
        done += table.num_rows


def _batch_rows(metadata: Any) -> int:
    """How many rows make about `_BATCH_BYTES`, at least one."""
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    mean = max((group.total_byte_size / group.num_rows for group in groups if group.num_rows), default=1.0)
    return max(1, min(1024, int(_BATCH_BYTES / max(mean, 1.0))))
