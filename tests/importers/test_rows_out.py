"""Written rows: files are written completely or not at all, and a contest can be imported day by day."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import InputError, SetupError
from ioi_eval.importers.rows_out import write_rows
from ioi_eval.importers.task import ImportedTask
from ioi_eval.model import ProblemKey


def task(name: str, *, year: int = 2025, tests: int = 2, text: str = "1\n") -> ImportedTask:
    """A task with one row of each kind."""

    def read() -> Iterator[dict[str, Any]]:
        for number in range(tests):
            yield {"year": year, "problem_id": name, "test_name": f"{number}", "test_input": text}

    return ImportedTask(
        key=ProblemKey(year=year, id=name),
        problem_rows=({"year": year, "id": name, "subtask": "01", "text": text},),
        solution_rows=({"year": year, "problem_id": name, "label": "correct/a.cpp"},),
        notes=(),
        tests=read,
    )


def content(folder: Path) -> dict[str, list[tuple[int, str]]]:
    """The year and problem of each row, by file."""
    return {
        path.name: [
            (row["year"], row.get("problem_id") or row["id"]) for row in map(json.loads, path.read_text().splitlines())
        ]
        for path in sorted(folder.iterdir())
    }


def test_three_files_are_written(tmp_path: Path) -> None:
    """One row a line, in the order of the tasks."""
    written = write_rows([task("b"), task("a")], tmp_path / "new" / "rows")
    assert content(tmp_path / "new" / "rows") == {
        "problems.jsonl": [(2025, "b"), (2025, "a")],
        "solutions.jsonl": [(2025, "b"), (2025, "a")],
        "tests.jsonl": [(2025, "b")] * 2 + [(2025, "a")] * 2,
    }
    assert json.loads(written.tests.read_text().splitlines()[0])["test_input"] == "1\n"


def test_other_problems_stay(tmp_path: Path) -> None:
    """A second import adds its problems, and replaces equal ones of the same year only."""
    write_rows([task("a"), task("b"), task("a", year=2024)], tmp_path)
    write_rows([task("a", tests=1, text="new\n"), task("c")], tmp_path)
    found = content(tmp_path)
    assert found["problems.jsonl"] == [(2025, "b"), (2024, "a"), (2025, "a"), (2025, "c")]
    assert found["tests.jsonl"].count((2025, "a")) == 1
    assert "new" in (tmp_path / "problems.jsonl").read_text()


def test_a_problem_in_two_packages_is_an_error(tmp_path: Path) -> None:
    """It is not clear which package is meant."""
    with pytest.raises(InputError, match="the problem 2025/a is in several of the packages"):
        write_rows([task("a"), task("a")], tmp_path)
    assert not list(tmp_path.iterdir())


def test_imports_into_a_directory_wait_for_each_other(tmp_path: Path) -> None:
    """It is locked while rows are written. Else both would add to the same old rows, and the later one would win."""
    folder = os.open(tmp_path, os.O_RDONLY)

    def read() -> Iterator[dict[str, Any]]:
        with pytest.raises(BlockingIOError):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield {"year": 2025, "problem_id": "a", "test_name": "1", "test_input": "1\n"}

    write_rows([replace(task("a"), tests=read)], tmp_path)
    fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(folder)
    assert content(tmp_path)["tests.jsonl"] == [(2025, "a")]


def test_an_unreadable_test_keeps_the_old_files(tmp_path: Path) -> None:
    """A file is renamed to its final name when it is complete."""
    write_rows([task("a")], tmp_path)
    before = (tmp_path / "tests.jsonl").read_bytes()

    def fail() -> Iterator[dict[str, Any]]:
        yield {"year": 2025, "problem_id": "b"}
        raise InputError("the archive is damaged")

    broken = ImportedTask(key=ProblemKey(year=2025, id="b"), problem_rows=(), solution_rows=(), notes=(), tests=fail)
    with pytest.raises(InputError, match="the archive is damaged"):
        write_rows([broken], tmp_path)
    assert (tmp_path / "tests.jsonl").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"problems.jsonl", "tests.jsonl", "solutions.jsonl"}


@pytest.mark.parametrize("full", ["problems", "tests", "solutions"])
def test_a_full_disk_keeps_the_old_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: str) -> None:
    """No file is replaced if what was written to one of them cannot be stored."""
    write_rows([task("a", text="old")], tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fsync(descriptor: int) -> None:
        if full in Path(f"/proc/self/fd/{descriptor}").readlink().name:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    new = replace(task("a", text="new"), solution_rows=())
    with pytest.raises(SetupError, match=rf"{full}\.jsonl: No space left"):
        write_rows([new], tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("out", ["", "new/rows"])
def test_an_unreadable_test_leaves_no_new_files(tmp_path: Path, out: str) -> None:
    """Neither problems without tests nor the directories that were created for them stay."""

    def fail() -> Iterator[dict[str, Any]]:
        yield {"year": 2025, "problem_id": "b"}
        raise InputError("the archive is damaged")

    with pytest.raises(InputError, match="the archive is damaged"):
        write_rows([task("a"), replace(task("b"), tests=fail)], tmp_path / out)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("reason", [InputError("the archive is damaged"), SetupError("its tests cannot be made")])
def test_an_unreadable_test_does_not_stop_other_tasks(tmp_path: Path, reason: InputError | SetupError) -> None:
    """The rows of its own task are not written, and the older ones of that problem stay."""
    write_rows([task("b", text="old")], tmp_path)

    def fail() -> Iterator[dict[str, Any]]:
        yield {"year": 2025, "problem_id": "b", "test_name": "new", "test_input": "longer than all later rows" * 100}
        raise reason

    errors: list[InputError | SetupError] = []
    tasks = [task("a"), replace(task("b"), tests=fail), task("c")]
    written = write_rows(tasks, tmp_path, refused=errors.append)
    assert [found.key.id for found in written.tasks] == ["a", "c"]
    assert list(map(str, errors)) == [str(reason)]
    assert content(tmp_path) == {
        "problems.jsonl": [(2025, name) for name in "abc"],
        "solutions.jsonl": [(2025, name) for name in "abc"],
        "tests.jsonl": [(2025, name) for name in "aabbcc"],
    }
    assert "new" not in written.tests.read_text()
    assert "old" in written.problems.read_text()


def test_nothing_is_written_if_no_task_is_readable(tmp_path: Path) -> None:
    """Not even the directory."""
    broken = replace(task("a"), problem_rows=({"year": 2025, "id": "a", "name": "\ud800"},))
    with pytest.raises(InputError, match="no rows are written"):
        write_rows([broken], tmp_path / "rows", refused=lambda _error: None)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", ["\ud800", 1 << 64])
def test_values_that_json_cannot_contain(tmp_path: Path, value: object) -> None:
    """A surrogate that YAML accepts, or a number of any size. The message has its place."""
    broken = replace(task("a"), problem_rows=({"year": 2025, "id": "a", "name": value},))
    with pytest.raises(InputError, match=r"problems\.jsonl: a row of 'a' cannot be JSON: .*correct the package"):
        write_rows([broken], tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_directory_that_cannot_be_created(tmp_path: Path) -> None:
    """For example a file in its place. The message has the path."""
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match=r"cannot write .*problems\.jsonl.*choose another directory"):
        write_rows([task("a")], tmp_path / "file")


def test_a_full_disk_ends_the_import_of_all(tmp_path: Path) -> None:
    """It is not an error of the one package whose rows are written then."""

    def fail() -> Iterator[dict[str, Any]]:
        yield {"year": 2025, "problem_id": "b", "test_name": "new"}
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    refused: list[InputError | SetupError] = []
    with pytest.raises(SetupError, match=r"cannot write .*tests\.jsonl"):
        write_rows([task("a"), replace(task("b"), tests=fail)], tmp_path / "rows", refused=refused.append)
    assert not refused
    assert not list(tmp_path.iterdir())


def test_existing_damaged_rows_are_not_replaced(tmp_path: Path) -> None:
    """The import is refused, because the rows would be lost without the user's knowledge."""
    (tmp_path / "problems.jsonl").write_text("rubbish\n")
    with pytest.raises(InputError, match=r"problems\.jsonl, row 1: is not JSON"):
        write_rows([task("a")], tmp_path)
    assert (tmp_path / "problems.jsonl").read_text() == "rubbish\n"
