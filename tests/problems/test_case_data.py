"""Tests that an earlier run has read from unchanged files: the stored tests are equal, and used in no other case."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from ioi_eval.blobs import BlobStore
from ioi_eval.errors import SetupError
from ioi_eval.model import Blob, ProblemKey, Subtask
from ioi_eval.problems import case_data
from ioi_eval.problems.case_data import TestData
from ioi_eval.problems.row import Row
from ioi_eval.problems.testcases import collect_tests
from ioi_eval.rows import open_source
from ioi_eval.rows.jsonl import JsonLines

NILE, ROAD = ProblemKey(year=2024, id="nile"), ProblemKey(year=2024, id="road")
LARGE = "7 " * 5000
ROWS: list[dict[str, Any]] = [
    {"test_name": "small", "test_input": "1", "test_output": "2\n", "checker_args": "-x 3", "full_score": 5},
    {"test_name": "large", "test_input": LARGE + "\n", "test_output": LARGE},
    {"test_name": "no-answer", "test_input": LARGE + "é\n", "test_output": None, "score_steps": 10},
]


def wanted(*names: str) -> tuple[Subtask, ...]:
    """A subtask with these tests."""
    return (Subtask(name="all", points=100, tests=names),)


ALL = {NILE: wanted("small", "large", "no-answer"), ROAD: wanted("large")}


@pytest.fixture(autouse=True)
def _small_and_new_files_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_data, "_LEAST_BYTES", 0)
    monkeypatch.setattr(case_data, "_LEAST_AGE_NS", -1)
    monkeypatch.setattr(case_data, "_LEAST_COARSE_AGE_NS", -1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with the tests of two problems."""
    file = tmp_path / "tests.jsonl"
    write(file, ROWS)
    return file


def write(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write the same rows for two problems."""
    both = ({"year": 2024, "problem_id": key.id, **row} for key in ALL for row in rows)
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in both))


class Counted(JsonLines):
    """A file that counts how often it is read."""

    reads = 0

    def files(self) -> Sequence[Path]:
        """Only this file."""
        return (self._path,)

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The rows."""
        self.reads += 1
        yield from super().rows(columns)


def read(path: Path, cache: Path, problems: Any = None) -> tuple[dict[ProblemKey, TestData], bool]:
    """The tests, and whether the file was read. A new store is used, as in a new process."""
    source = Counted(path)
    data = collect_tests(source, problems or ALL, BlobStore(cache))
    return data, source.reads > 0


def test_the_same_tests_are_not_read_again(path: Path, tmp_path: Path) -> None:
    """Contents, names, order, notes and score columns are equal. Stored contents are compared with their hashes."""
    first, was_read = read(path, tmp_path / "cache")
    assert was_read
    assert [case.name for case in first[NILE].cases.values()] == ["small", "large", "no-answer"]
    assert first[NILE].notes == ("final newline added to 1 input and 1 output",)
    assert isinstance(first[NILE].cases["large"].input, Blob)
    assert read(path, tmp_path / "cache") == (first, False)
    assert read(path, tmp_path / "other cache") != (first, False)


def test_a_repeated_test_is_the_same_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row may be there twice, also if the second comes when no more small contents are kept in memory."""
    monkeypatch.setattr(case_data, "_INLINE_TOTAL", 1)
    rows = [{"year": 2024, "problem_id": "road", "test_name": "large", "test_input": "7", "test_output": "7"}] * 2
    file = tmp_path / "tests.jsonl"
    file.write_bytes(b"".join(orjson.dumps({**row, "as_is": True}) + b"\n" for row in rows))
    data, _ = read(file, tmp_path / "cache", {ROAD: wanted("large")})
    assert data[ROAD].error is None
    assert data[ROAD].cases["large"].answer == b"7"


def test_only_unknown_problems_are_read(path: Path, tmp_path: Path) -> None:
    """Also problems of which other tests are needed now."""
    first, _ = read(path, tmp_path, {ROAD: ALL[ROAD]})
    both, was_read = read(path, tmp_path)
    assert was_read
    assert both[ROAD] == first[ROAD]
    assert len(both[NILE].cases) == 3
    more, was_read = read(path, tmp_path, {ROAD: wanted("large", "small")})
    assert was_read
    assert set(more[ROAD].cases) == {"large", "small"}


@pytest.mark.parametrize("how", ["rewritten", "replaced", "touched", "same size and time"])
def test_a_file_that_changed_is_read_again(path: Path, tmp_path: Path, how: str) -> None:
    """Also if its size and modification time were restored."""
    read(path, tmp_path / "cache")
    times = path.stat()
    time.sleep(0.02)  # longer than a tick of the kernel's clock for files
    if how == "touched":
        path.touch()
    else:
        changed = tmp_path / "new.jsonl" if how == "replaced" else path
        write(changed, [{**row, "test_input": str(row["test_input"]).replace("7", "8")} for row in ROWS])
        os.utime(changed, ns=(times.st_atime_ns, times.st_mtime_ns))
        changed.replace(path)
    data, was_read = read(path, tmp_path / "cache")
    assert was_read
    given = data[NILE].cases["large"].input
    assert isinstance(given, Blob)
    assert given.path.read_text().startswith("7" if how == "touched" else "8")


def test_a_file_that_changes_while_it_is_read_is_not_stored(path: Path, tmp_path: Path) -> None:
    """Some rows may be from before the change."""

    class Changing(Counted):
        def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
            yield from super().rows(columns)
            time.sleep(0.02)
            os.utime(path)

    collect_tests(Changing(path), ALL, BlobStore(tmp_path / "cache"))
    assert read(path, tmp_path / "cache")[1]


def test_new_and_small_files_are_read_each_time(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change in the same tick of the clock would not be noticed. Small files are quick to read."""
    monkeypatch.setattr(case_data, "_LEAST_AGE_NS", 10**15)
    monkeypatch.setattr(case_data, "_LEAST_COARSE_AGE_NS", 10**15)
    read(path, tmp_path / "cache")
    monkeypatch.setattr(case_data, "_LEAST_AGE_NS", -1)
    monkeypatch.setattr(case_data, "_LEAST_COARSE_AGE_NS", -1)
    monkeypatch.setattr(case_data, "_LEAST_BYTES", 10**9)
    read(path, tmp_path / "cache")
    monkeypatch.setattr(case_data, "_LEAST_BYTES", 0)
    assert read(path, tmp_path / "cache")[1]


@pytest.mark.parametrize(("nanoseconds", "is_known"), [(0, False), (1, True)])
def test_file_systems_with_times_in_seconds(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nanoseconds: int, is_known: bool
) -> None:
    """A file that was written a second ago can change without another time. With finer times it cannot."""
    second = time.time_ns() // 10**9 * 10**9 - 10**9
    stat = os.stat(path)
    fields = {name: getattr(stat, name) for name in dir(stat) if name.startswith("st_")}
    changed = SimpleNamespace(**{**fields, "st_mtime_ns": second + nanoseconds, "st_ctime_ns": second})
    monkeypatch.setattr(case_data, "_LEAST_AGE_NS", -1)
    monkeypatch.setattr(case_data, "_LEAST_COARSE_AGE_NS", 10**15)
    monkeypatch.setattr(Path, "stat", lambda _: changed)
    assert (case_data._state_of([path]) is not None) is is_known


def test_problems_with_errors_are_read_each_time(path: Path, tmp_path: Path) -> None:
    """The error is the same each time. Other problems are stored."""
    problems = {NILE: wanted("small", "lost"), ROAD: ALL[ROAD]}
    errors = [str(read(path, tmp_path / "cache", problems)[0][NILE].error) for _ in range(2)]
    assert "names the test lost" in errors[0]
    assert errors[0] == errors[1]
    assert not read(path, tmp_path / "cache", {ROAD: ALL[ROAD]})[1]


def stored(cache: Path) -> Path:
    """The stored file of a large input."""
    return next(file for file in cache.rglob("*") if file.is_file() and file.stat().st_size > 9000)


def test_a_missing_stored_test_is_read_again(path: Path, tmp_path: Path) -> None:
    """Also one that was truncated by a crash."""
    first, _ = read(path, tmp_path / "cache")
    stored(tmp_path / "cache").unlink()
    assert read(path, tmp_path / "cache") == (first, True)
    os.truncate(stored(tmp_path / "cache"), 100)
    assert read(path, tmp_path / "cache") == (first, True)
    assert read(path, tmp_path / "cache") == (first, False)


def test_a_changed_stored_test_is_an_error(path: Path, tmp_path: Path) -> None:
    """Its content is never used."""
    read(path, tmp_path / "cache")
    entry = stored(tmp_path / "cache")
    entry.write_bytes(entry.read_bytes().replace(b"7", b"8"))
    with pytest.raises(SetupError, match="does not match its hash"):
        read(path, tmp_path / "cache")


def test_a_damaged_note_is_not_used(path: Path, tmp_path: Path) -> None:
    """It was truncated, or has a changed byte."""
    first, _ = read(path, tmp_path / "cache")
    notes = list((tmp_path / "cache" / "blobs" / "known").iterdir())
    assert len(notes) == 2
    for number, note in enumerate(notes):
        content = note.read_bytes()
        note.write_bytes(content[:-1] if number else content.replace(b"small", b"large").replace(b"road", b"nile")[:-1])
    assert read(path, tmp_path / "cache") == (first, True)
    assert read(path, tmp_path / "cache") == (first, False)


def test_notes_of_another_version_are_not_used(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version may read rows differently."""
    read(path, tmp_path / "cache")
    monkeypatch.setattr(case_data, "_code", lambda: "another version")
    assert read(path, tmp_path / "cache")[1]


def test_unused_notes_are_deleted(path: Path, tmp_path: Path) -> None:
    """After two weeks, when another note is stored."""
    store = BlobStore(tmp_path / "cache")
    for key in ("used", "unused"):
        store.remember(key, b"value")
    (unused,) = (
        file for file in (tmp_path / "cache" / "blobs" / "known").iterdir() if file == store._known_path("unused")
    )
    os.utime(unused, (time.time() - 15 * 24 * 3600,) * 2)
    store.remember("new", b"value")
    assert [store.recall(key) for key in ("used", "unused", "new", "never")] == [b"value", None, b"value", None]


class Variant(JsonLines):
    """A reader of another package, which changes the rows."""

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The rows with another answer."""
        for row in super().rows(columns):
            yield Row(source=row.source, number=row.number, values={**row.values, "test_output": "another"})


def test_readers_of_other_packages_are_always_read(path: Path, tmp_path: Path) -> None:
    """What they read may depend on more than the file, and differs from what our reader reads."""
    read(path, tmp_path / "cache")
    store = BlobStore(tmp_path / "cache")
    for _ in range(2):
        found = collect_tests(Variant(path), ALL, store)
        assert found[NILE].cases["small"].answer == b"another\n"
    assert collect_tests(JsonLines(path), ALL, store)[NILE].cases["small"].answer == b"2\n"


def test_the_files_of_a_source(tmp_path: Path) -> None:
    """The files of a directory in order. A directory with another file is another source."""
    for name in ("b.jsonl", "a.jsonl"):
        write(tmp_path / name, ROWS)
    assert open_source(tmp_path).files() == [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    assert open_source(tmp_path / "b.jsonl").files() == (tmp_path / "b.jsonl",)
