"""Rows that are kept so that their source is read once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.problems.row import Row
from ioi_eval.rows import KeptColumns, open_source
from ioi_eval.rows.source import Source
from tests.apps_rows import write_rows

ROWS: list[dict[str, Any]] = [
    {"uuid": "a", "code": "print(1)", "model": "m"},
    {"uuid": 2, "code": ["x", "y"], "messages": [{"role": "user", "content": "\ud83d"}], "score": 0.1},
    {"uuid": None, "code": None},
]
COLUMNS = ("uuid", "code", "messages")


class Counted(Source):
    """A source that counts how often it is read, and of how many rows."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.reads: list[int] = []

    def describe(self) -> str:
        """Of the file."""
        return self.source.describe()

    def digest(self) -> str | None:
        """Of the file."""
        return self.source.digest()

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """Those of the file."""
        self.reads.append(0)
        for row in self.source.rows(columns):
            self.reads[-1] += 1
            yield row


@pytest.fixture
def counted(tmp_path: Path) -> Counted:
    """The rows in a file."""
    return Counted(open_source(write_rows(tmp_path / "dump.jsonl", ROWS)))


def test_what_was_read_once_is_not_read_again(counted: Counted) -> None:
    """Only whole rows are: they have columns that were not kept. Rows are the same either way, with their places."""
    kept = KeptColumns(counted, COLUMNS)
    first = list(kept.iterate(COLUMNS))
    assert [row.number for row in kept.iterate(("uuid", "code"))] == [1, 2, 3]
    assert list(kept.iterate(COLUMNS)) == first == list(counted.source.iterate(COLUMNS))
    assert counted.reads == [3]
    assert list(kept.iterate()) == list(counted.source.iterate())
    assert counted.reads == [3, 3]
    assert (kept.describe(), kept.digest()) == (counted.describe(), counted.digest())


def test_a_beginning_is_not_all(counted: Counted) -> None:
    """Who looks at the first rows only keeps nothing, and whoever comes next gets all."""
    kept = KeptColumns(counted, COLUMNS)
    assert len(list(islice(kept.iterate(COLUMNS), 2))) == 2
    assert [row.number for row in kept.iterate(COLUMNS)] == [1, 2, 3]
    assert [row.number for row in kept.iterate(COLUMNS)] == [1, 2, 3]
    assert counted.reads == [2, 3]


def test_all_columns_can_be_kept(counted: Counted) -> None:
    """Then a source is read once, whoever asks."""
    kept = KeptColumns(counted, None)
    first = list(kept.iterate())
    assert list(kept.iterate(COLUMNS)) == list(kept.iterate()) == first
    assert counted.reads == [3]


def test_where_nothing_can_be_kept_the_source_is_read(counted: Counted, tmp_path: Path) -> None:
    """A disk that is full, or a folder that is gone, costs time and no rows."""
    kept = KeptColumns(counted, COLUMNS, tmp_path / "gone")
    kept._file._max_size = 1  # type: ignore[attr-defined]
    for _ in range(2):
        assert [row.number for row in kept.iterate(COLUMNS)] == [1, 2, 3]
    assert counted.reads == [3, 3]
