"""Tables on disk: Parquet, decoded by small batches, and data sets saved by `datasets`, memory-mapped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq

from ioi_eval.errors import InputError
from ioi_eval.problems.row import Row
from ioi_eval.rows.source import PathSource, read_state

if TYPE_CHECKING:
    import datasets

_BATCH_BYTES = 4 * 1024 * 1024  # about as much of a table is decoded at once

_OWN_TYPES = ("uuid", "decimal")  # in the names of Arrow's types whose values JSON Lines cannot have


class Parquet(PathSource):
    """A `.parquet` file. Only the wanted columns are read.

    A page, and especially a dictionary, must be decoded as a whole. pandas and the Hub write one row group for hundreds
    of megabytes of tests, so decoding may take more than a gigabyte, which the allocator would keep.
    """

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The rows; one small batch is decoded at a time. Afterwards Arrow's allocator has no memory left of it."""
        try:
            with pq.ParquetFile(self._path, pre_buffer=False) as file:
                names = [name for name in file.schema_arrow.names if columns is None or name in columns]
                if twice := [name for name, count in Counter(names).items() if count > 1]:
                    raise InputError(f"{self._path} has two columns named {twice[0]!r}; rename one")
                yield from _rows_of_tables(
                    str(self._path),
                    file.iter_batches(_batch_rows(file.metadata, names), columns=names, use_threads=False),
                    tuple(file.schema_arrow.names),
                )
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self._path} cannot be read as Parquet: {error}; get it again") from error
        finally:
            pa.default_memory_pool().release_unused()


class SavedDataset(PathSource):
    """A directory made by `Dataset.save_to_disk`."""

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The rows, from memory-mapped files."""
        if not read_state(self._path / "state.json").get("_data_files"):
            return  # `datasets` cannot load a data set that it saved without rows
        import datasets

        try:
            dataset = datasets.load_from_disk(str(self._path), keep_in_memory=False)
        except (OSError, ValueError, KeyError, pa.ArrowException) as error:
            raise InputError(f"the saved data set {self._path} cannot be read: {error}; save it again") from error
        yield from rows_of_dataset(str(self._path), dataset, columns)


def rows_of_dataset(source: str, dataset: datasets.Dataset, columns: Sequence[str] | None) -> Iterator[Row]:
    """The rows of a memory-mapped data set; only a few decoded rows are in memory."""
    names = [name for name in dataset.column_names if columns is None or name in columns]
    all_names = tuple(dataset.column_names)
    if not names:  # without columns, a data set of `datasets` has no rows
        for number in range(1, dataset.num_rows + 1):
            yield Row(source=source, number=number, values={}, all_names=all_names)
        return
    tables = dataset.select_columns(names).with_format("arrow").iter(batch_size=64)
    yield from _rows_of_tables(source, tables, all_names)


def _rows_of_tables(
    source: str, tables: Iterator[pa.RecordBatch | pa.Table], all_names: tuple[str, ...]
) -> Iterator[Row]:
    """The rows of batches with the wanted columns; a batch that is too large is decoded row by row."""
    done = 0
    for table in tables:
        typed = [field.name for field in table.schema if any(name in str(field.type) for name in _OWN_TYPES)]
        step = table.num_rows if table.nbytes <= 2 * _BATCH_BYTES else 1
        for start in range(0, table.num_rows, step or 1):
            first = done + start + 1
            part = table.slice(start, step)
            try:
                decoded = part.to_pylist()
            except (ValueError, OverflowError) as error:
                raise _unreadable(source, part, first) from error
            for number, values in enumerate(decoded, first):
                values |= {name: _without_own_types(values[name]) for name in typed}
                yield Row(source=source, number=number, values=values, all_names=all_names)
        done += table.num_rows


def _without_own_types(value: Any) -> Any:
    """A value with UUIDs in it as text and decimals as numbers, as they are in JSON Lines, at any depth."""
    match value:
        case UUID():
            return str(value)
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case list() | tuple():  # a map is a list of pairs
            return [_without_own_types(item) for item in value]
        case dict():
            return {key: _without_own_types(item) for key, item in value.items()}
    return value


def _unreadable(source: str, table: pa.RecordBatch | pa.Table, first: int) -> InputError:
    """The error for the first value that Python cannot have; the table's first row has the number `first`."""
    for index in range(table.num_rows):
        for name in table.schema.names:
            try:
                table.slice(index, 1).select([name]).to_pylist()
            except UnicodeDecodeError:
                why = "has a text that is not valid UTF-8; write it again in UTF-8"
            except OverflowError as error:
                why = f"has a date or time that Python does not have ({error}); write the column again as text"
            except ValueError as error:
                why = f"has a value that cannot be read ({error})"
            else:
                continue
            return InputError(f"{source}, row {first + index}: column {name!r} {why}")
    return InputError(f"{source}, rows {first} to {first + table.num_rows - 1} cannot be read")


def _batch_rows(metadata: Any, columns: Sequence[str]) -> int:
    """How many rows make about `_BATCH_BYTES`, at least one."""
    mean = 1.0
    for index in range(metadata.num_row_groups):
        group = metadata.row_group(index)
        chunks = [group.column(number) for number in range(group.num_columns)]
        size = sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema.split(".")[0] in columns)
        mean = max(mean, size / max(group.num_rows, 1))
    return max(1, min(1024, int(_BATCH_BYTES / mean)))
