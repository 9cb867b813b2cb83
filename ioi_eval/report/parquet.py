"""Writes rows as a Parquet file.

A column's type is determined from all rows first: otherwise a column with nulls in the first thousand rows and a text
later could not be written. If the rows of a column have no common type, it contains JSON texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

Rows = Callable[[], Iterable[Mapping[str, Any]]]

BATCH = 256
"""Rows that are inspected together."""


def write_parquet(file: Path | BinaryIO, rows: Rows, *, metadata: Mapping[str, str] | None = None) -> None:
    """Write all rows, for which `rows` is called more than once."""
    types = _column_types(rows)
    schema = pa.schema([(name, pa.string() if type_ is None else type_) for name, type_ in types.items()])
    schema = schema.with_metadata(metadata)
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in _batches(rows()):
            arrays = [_array([row.get(name) for row in batch], type_) for name, type_ in types.items()]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _column_types(rows: Rows) -> dict[str, pa.DataType | None]:
    """The type of each column; `None` if its values have none in common, or Parquet cannot store it."""
    types: dict[str, pa.DataType | None] = {}
    promoted: set[str] = set()
    for batch in _batches(rows()):
        for name in dict.fromkeys(name for row in batch for name in row):
            type_ = _type_of([row.get(name) for row in batch])
            known = types.setdefault(name, type_)
            if type_ != known:
                types[name] = _common(known, type_)
                if pa.null() not in (known, type_):
                    promoted.add(name)
    if promoted:  # to floats perhaps, which cannot represent all integers
        for batch in _batches(rows()):
            for name in promoted:
                try:
                    _array([row.get(name) for row in batch], types[name])
                except pa.ArrowException:
                    types[name] = None
    return types


def _batches(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], ...]]:
    left = iter(rows)
    while batch := tuple(islice(left, BATCH)):
        yield batch


def _type_of(values: list[Any]) -> pa.DataType | None:
    """The common type of the values; `None` if they have none, or Parquet cannot store it."""
    try:
        type_ = pa.array(values).type
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return type_ if _can_be_written(type_) else None


def _common(first: pa.DataType | None, other: pa.DataType | None) -> pa.DataType | None:
    if first is None or other is None:
        return None
    try:
        schemas = [pa.schema([("", first)]), pa.schema([("", other)])]
        unified: pa.DataType = pa.unify_schemas(schemas, promote_options="permissive").field("").type
    except (pa.ArrowException, TypeError):
        return None
    return unified


def _can_be_written(type_: pa.DataType) -> bool:
    """Whether Parquet can store the type: it has no objects without fields."""
    if pa.types.is_struct(type_):
        return type_.num_fields > 0 and all(_can_be_written(field.type) for field in type_)
    return not pa.types.is_list(type_) or _can_be_written(type_.value_type)


def _array(values: list[Any], type_: pa.DataType | None) -> pa.Array:
    if type_ is not None:
        return pa.array(values, type=type_)
    as_text = json.JSONEncoder(ensure_ascii=False, default=str).encode
    return pa.array([value if value is None or isinstance(value, str) else as_text(value) for value in values])
