"""Rows that are kept on disk, so that their source is read once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import DoubtfulDataWarning, InputError
from ioi_eval.problems.row import Row, Source
from ioi_eval.rows import KeptColumns, joined_dumps, open_source
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
        """That of the file."""
        return self.source.describe()

    def digest(self) -> str | None:
        """That of the file."""
        return self.source.digest()

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The rows of the file."""
        self.reads.append(0)
        for row in self.source.rows(columns):
            self.reads[-1] += 1
            yield row


@pytest.fixture
def counted(tmp_path: Path) -> Counted:
    """The rows of a file, with counts."""
    return Counted(open_source(write_rows(tmp_path / "dump.jsonl", ROWS)))


def test_kept_columns_are_not_read_again(counted: Counted) -> None:
    """Whole rows are read again, because they have columns that were not kept. Rows and their places are the same both
    ways.
    """
    kept = KeptColumns(counted, COLUMNS)
    first = list(kept.iterate(COLUMNS))
    assert [row.number for row in kept.iterate(("uuid", "code"))] == [1, 2, 3]
    assert list(kept.iterate(COLUMNS)) == first == list(counted.source.iterate(COLUMNS))
    assert counted.reads == [3]
    assert list(kept.iterate()) == list(counted.source.iterate())
    assert counted.reads == [3, 3]
    assert (kept.describe(), kept.digest()) == (counted.describe(), f"{counted.digest()} 3 rows")


def test_reading_a_part_keeps_nothing(counted: Counted) -> None:
    """The next reader gets all rows."""
    kept = KeptColumns(counted, COLUMNS)
    assert len(list(islice(kept.iterate(COLUMNS), 2))) == 2
    assert [row.number for row in kept.iterate(COLUMNS)] == [1, 2, 3]
    assert [row.number for row in kept.iterate(COLUMNS)] == [1, 2, 3]
    assert counted.reads == [2, 3]


def test_all_columns_can_be_kept(counted: Counted) -> None:
    """The source is then read once, whatever is read from it."""
    kept = KeptColumns(counted, None)
    first = list(kept.iterate())
    assert list(kept.iterate(COLUMNS)) == list(kept.iterate()) == first
    assert counted.reads == [3]


@pytest.mark.parametrize("added", ['{"uuid": "new", "code": "1"}\n', '{"uuid": "ne', '{"uuid": "new"}\n\n{"uu'])
def test_rows_that_are_added_meanwhile_are_left_out(tmp_path: Path, added: str) -> None:
    """Also one that is not whole yet. A warning says that there are new rows. Another file is not affected."""
    paths = [write_rows(tmp_path / name, ROWS) for name in ("a.jsonl", "b.jsonl")]
    kept = KeptColumns(joined_dumps([(str(path), open_source(path)) for path in paths]), COLUMNS)
    first = list(kept.iterate(COLUMNS))
    with paths[-1].open("a") as file:
        file.write(added)
    with pytest.warns(DoubtfulDataWarning, match="b.jsonl has got new rows while it was judged"):
        assert [(row.source, row.number) for row in kept.iterate()] == [(row.source, row.number) for row in first]


def test_a_source_that_was_damaged_meanwhile_is_an_error(tmp_path: Path) -> None:
    """Its rows are missing."""
    path = write_rows(tmp_path / "dump.jsonl", ROWS)
    kept = KeptColumns(open_source(path), COLUMNS)
    assert len(list(kept.iterate(COLUMNS))) == 3
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(InputError, match="row 3: is not JSON"):
        list(kept.iterate())


def test_if_nothing_can_be_kept_the_source_is_read(counted: Counted, tmp_path: Path) -> None:
    """If the disk is full or the directory is deleted, reading takes longer, and no rows are lost."""
    kept = KeptColumns(counted, COLUMNS, tmp_path / "gone")
    kept._file._max_size = 1  # type: ignore[union-attr]
    for _ in range(2):
        assert [row.number for row in kept.iterate(COLUMNS)] == [1, 2, 3]
    assert counted.reads == [3, 3]


def descriptors_below(directory: Path) -> list[str]:
    """The open files of this process in a directory, also those without a name."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            found.append(os.readlink(f"/proc/self/fd/{number}"))
    return [name for name in found if name.startswith(f"{directory}/")]


FULL = """
import resource, sys
from pathlib import Path
from ioi_eval.rows import KeptColumns, open_source
from tests.rows.test_kept import COLUMNS, descriptors_below

directory, limit = Path(sys.argv[1]), int(sys.argv[2])
kept = KeptColumns(open_source(directory / "dump.jsonl"), COLUMNS, directory / "kept")
kept._file._max_size = 1
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
for _ in range(3):
    assert len(list(kept.iterate(COLUMNS))) == 3000
    assert not descriptors_below(directory / "kept"), "the file is still there"
"""


@pytest.mark.parametrize("limit", [0, 1, 5_000, 250_000])
def test_a_disk_that_gets_full_gives_every_reader_all_rows(limit: int, tmp_path: Path) -> None:
    """A limit on file sizes, in bytes, simulates a full disk. The kept rows are deleted, because others
    need the space.
    """
    write_rows(tmp_path / "dump.jsonl", [{"uuid": str(number), "code": "x" * 40} for number in range(3000)])
    (tmp_path / "kept").mkdir()
    words = [sys.executable, "-c", FULL, str(tmp_path), str(limit)]
    ended = subprocess.run(words, env={"PYTHONPATH": os.pathsep.join(sys.path)}, stderr=subprocess.PIPE, check=False)
    assert ended.returncode == 0, ended.stderr.decode()


def test_the_buffer_may_not_fit_at_the_end(tmp_path: Path) -> None:
    """Its last bytes are written after the last row was read. An error is handled there too."""
    write_rows(tmp_path / "dump.jsonl", ROWS)
    (tmp_path / "kept").mkdir()
    program = FULL.replace("3000", str(len(ROWS)))
    words = [sys.executable, "-c", program, str(tmp_path), "1"]
    ended = subprocess.run(words, env={"PYTHONPATH": os.pathsep.join(sys.path)}, stderr=subprocess.PIPE, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
