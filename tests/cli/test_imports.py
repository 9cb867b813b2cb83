"""`ioi-eval import`: what is said of packages, whole and broken."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.addition import Start


def test_a_package_that_is_not_there_is_named(start: Start, tmp_path: Path) -> None:
    """For both kinds; nothing is written."""
    for kind in ("cms", "tps"):
        ended = start("import", kind, "none.zip", "--year", "2024", "--out", "out")
        assert ended.returncode == 2
        assert "none.zip" in ended.stderr
        assert "Traceback" not in ended.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_no_package_says_what_is_missing(start: Start, tmp_path: Path) -> None:
    """By the file's name."""
    (tmp_path / "task").mkdir()
    ended = start("import", "cms", "task", "--year", "2024", "--out", "out")
    assert ended.returncode == 2
    assert "problem.json" in ended.stderr


def test_the_year_must_be_given(start: Start) -> None:
    """Packages do not say it."""
    ended = start("import", "cms", "task", "--out", "out")
    assert ended.returncode == 2
    assert "--year" in ended.stderr


def test_what_was_read_is_counted(start: Start, tmp_path: Path) -> None:
    """With one of a kind in the singular; what is missing beside it is noted."""
    limits = {"time_limit": 1.0, "memory_limit": 256, "has_grader": False, "has_checker": False}
    files = {
        "problem.json": json.dumps({"name": "tt", "title": "Twice", "type": "Batch", **limits}),
        "subtasks.json": json.dumps({"subtasks": {"full": {"index": 1, "score": 100}}}),
        "solutions.json": json.dumps({"a.cpp": {"verdict": "correct"}}),
        "solution/a.cpp": "int main() {}",
        "tests/mapping": "full 1\nfull 2\n",
        **{f"tests/{test}.{ending}": "1\n" for test in (1, 2) for ending in ("in", "out")},
    }
    for name, text in files.items():
        path = tmp_path / "task" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    ended = start("import", "tps", "task", "--year", "2022", "--out", "out")
    assert ended.returncode == 0, ended.stderr
    assert "2022/tt: 1 subtask, 2 tests, 1 solution\n" in ended.stdout
    assert "no solution is labelled model_solution" in ended.stdout


def test_rows_do_not_go_where_a_file_is(start: Start, tmp_path: Path) -> None:
    """It is said before hours of reading packages, and so that one can mend it."""
    (tmp_path / "rows").write_text("mine")
    ended = start("import", "kattis", "package", "--year", "2024", "--out", "rows")
    assert ended.returncode == 2
    assert ended.stderr.endswith("rows is not a directory; choose another --out\n")


def test_a_year_has_four_digits(start: Start) -> None:
    """Its rows would be for a problem 26/…, compiled by an older contest's rules."""
    ended = start("import", "cms", "package", "--year", "26", "--out", "out")
    assert ended.returncode == 2
    assert "'--year'" in ended.stderr
