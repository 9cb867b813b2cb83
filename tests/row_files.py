"""Rows in memory, and the same rows in files of every kind, for tests of their readers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ioi_eval.problems.row import Row, Source

ROWS: list[dict[str, Any]] = [
    {"id": "a", "n": 1, "names": ["x", "y"], "files": [["p", "1"], ["q", None]]},
    {"id": "ü\n", "n": 2, "names": [], "files": []},
    {"id": "c", "n": 3, "names": ["z"], "files": [["r", ""]]},
]


class Rows(Source):
    """Rows in memory."""

    def __init__(self, *values: Mapping[str, Any]) -> None:
        self._values = values

    def describe(self) -> str:
        """A name for messages."""
        return "rows"

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The rows with only these columns."""
        for number, values in enumerate(self._values, 1):
            kept = {name: value for name, value in values.items() if columns is None or name in columns}
            yield Row(source="rows", number=number, values=kept)


def jsonl(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    """Rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def zipped(path: Path) -> Path:
    """Rows as gzipped JSON Lines."""
    path = path.with_suffix(".jsonl.gz")
    path.write_bytes(gzip.compress(jsonl(path.with_suffix(".plain")).read_bytes()))
    return path


def parquet(path: Path) -> Path:
    """Rows as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = path.with_suffix(".parquet")
    pq.write_table(pa.Table.from_pylist(ROWS), path, row_group_size=2)
    return path


def folder(path: Path) -> Path:
    """Rows in files of several kinds, to be read in the order of their names, and other files that contain no rows."""
    (path / "part").mkdir(parents=True)
    (path / ".hidden").mkdir()
    jsonl(path / "part" / "1.jsonl", ROWS[:1])
    (path / "part" / "2.jsonl").write_text("")
    (path / "part" / "3.jsonl.gz").write_bytes(gzip.compress(jsonl(path / "x", ROWS[1:]).read_bytes()))
    jsonl(path / ".hidden" / "4.jsonl")
    (path / "README.md").write_text("no rows")
    return path


def saved(path: Path) -> Path:
    """Rows saved by `datasets`."""
    import datasets

    datasets.Dataset.from_list(ROWS).save_to_disk(str(path))
    return path


def saved_splits(path: Path) -> Path:
    """Rows saved by `datasets`, with two splits."""
    import datasets

    splits = {"test": datasets.Dataset.from_list(ROWS[2:]), "train": datasets.Dataset.from_list(ROWS[:2])}
    datasets.DatasetDict(splits).save_to_disk(str(path))
    return path


KINDS: list[Callable[[Path], Path]] = [jsonl, zipped, parquet, folder, saved]


def rows_of(source: Source, columns: list[str] | None = None) -> list[dict[str, Any]]:
    """All rows, as plain values."""
    return [dict(row.values) for row in source.iterate(columns)]


LFS_POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 192832\n".encode()
"""What Git leaves in the place of a large file if Git LFS did not run."""
