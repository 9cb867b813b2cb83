"""Written rows: whole or not at all, and a contest can be imported day by day."""

from __future__ import annotations

import json
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
    """Year and problem of each row, by file."""
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
    """A second import adds its problems and replaces those it brings again, in that year only."""
    write_rows([task("a"), task("b"), task("a", year=2024)], tmp_path)
    write_rows([task("a", tests=1, text="new\n"), task("c")], tmp_path)
    found = content(tmp_path)
    assert found["problems.jsonl"] == [(2025, "b"), (2024, "a"), (2025, "a"), (2025, "c")]
    assert found["tests.jsonl"].count((2025, "a")) == 1
    assert "new" in (tmp_path / "problems.jsonl").read_text()


def test_a_problem_is_given_once(tmp_path: Path) -> None:
    """Two packages of the same task cannot both be meant."""
    with pytest.raises(InputError, match="the problem 2025/a is in several of the packages"):
        write_rows([task("a"), task("a")], tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_test_that_cannot_be_read_leaves_the_old_files(tmp_path: Path) -> None:
    """A file takes its name when it is whole."""
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


@pytest.mark.parametrize("out", ["", "new/rows"])
def test_a_test_that_cannot_be_read_leaves_nothing(tmp_path: Path, out: str) -> None:
    """Neither problems without tests nor the folders that were made for them."""

    def fail() -> Iterator[dict[str, Any]]:
        yield {"year": 2025, "problem_id": "b"}
        raise InputError("the archive is damaged")

    with pytest.raises(InputError, match="the archive is damaged"):
        write_rows([task("a"), replace(task("b"), tests=fail)], tmp_path / out)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", ["\ud800", 1 << 64])
def test_what_json_cannot_hold_is_named(tmp_path: Path, value: object) -> None:
    """A surrogate that YAML lets through, or a number of any size."""
    broken = replace(task("a"), problem_rows=({"year": 2025, "id": "a", "name": value},))
    with pytest.raises(InputError, match=r"problems\.jsonl: a row of 'a' cannot be JSON: .*correct the package"):
        write_rows([broken], tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A file in its place, say."""
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match=r"cannot write .*problems\.jsonl.*choose another folder"):
        write_rows([task("a")], tmp_path / "file")


def test_rows_that_are_there_and_damaged_are_not_dropped(tmp_path: Path) -> None:
    """What cannot be read is not replaced behind the user's back."""
    (tmp_path / "problems.jsonl").write_text("rubbish\n")
    with pytest.raises(InputError, match=r"problems\.jsonl, row 1: is not JSON"):
        write_rows([task("a")], tmp_path)
    assert (tmp_path / "problems.jsonl").read_text() == "rubbish\n"
