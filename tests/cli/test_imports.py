"""`ioi-eval import`: its messages for right and broken packages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.addition import Start
from tests.importers.kattis_packages import PASS_FAIL, SCORING, package
from tests.importers.packages import write_package
from tests.importers.test_italian_yaml import TASK
from tests.importers.test_library_checker import PROBLEM


def test_a_missing_package_is_named(start: Start, tmp_path: Path) -> None:
    """For CMS and TPS. Nothing is written."""
    for kind in ("cms", "tps"):
        ended = start("import", kind, "none.zip", "--year", "2024", "--out", "out")
        assert ended.returncode == 2
        assert "none.zip" in ended.stderr
        assert "Traceback" not in ended.stderr
    assert not (tmp_path / "out").exists()


def test_a_directory_without_a_package_names_the_missing_file(start: Start, tmp_path: Path) -> None:
    """The message has the file's name."""
    (tmp_path / "task").mkdir()
    ended = start("import", "cms", "task", "--year", "2024", "--out", "out")
    assert ended.returncode == 2
    assert "problem.json" in ended.stderr


def test_the_year_must_be_given(start: Start) -> None:
    """Packages do not contain the year."""
    ended = start("import", "cms", "task", "--out", "out")
    assert ended.returncode == 2
    assert "--year" in ended.stderr


def write_task(directory: Path, name: str = "tt") -> None:
    """A TPS task with two tests and a solution."""
    limits = {"time_limit": 1.0, "memory_limit": 256, "has_grader": False, "has_checker": False}
    files = {
        "problem.json": json.dumps({"name": name, "title": "Twice", "type": "Batch", **limits}),
        "subtasks.json": json.dumps({"subtasks": {"full": {"index": 1, "score": 100}}}),
        "solutions.json": json.dumps({"a.cpp": {"verdict": "correct"}}),
        "solution/a.cpp": "int main() {}",
        "tests/mapping": "full 1\nfull 2\n",
        **{f"tests/{test}.{ending}": "1\n" for test in (1, 2) for ending in ("in", "out")},
    }
    for relative, text in files.items():
        path = directory / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_counts_of_the_imported_parts(start: Start, tmp_path: Path) -> None:
    """A count of one is in the singular. Missing parts are noted."""
    write_task(tmp_path / "task")
    ended = start("import", "tps", "task", "--year", "2022", "--out", "out")
    assert ended.returncode == 0, ended.stderr
    assert "2022/tt: 1 subtask, 2 tests, 1 solution\n" in ended.stdout
    missing = (
        "no solution is stated to get full marks (as one with the verdict model_solution in solutions.json would be)"
    )
    assert missing in ended.stdout


def test_packages_that_are_refused_do_not_stop_the_others(start: Start, tmp_path: Path) -> None:
    """All that are refused are named at once, and the rows of the others are written."""
    write_task(tmp_path / "task")
    write_task(tmp_path / "bad", name="bad")
    (tmp_path / "bad" / "tests" / "2.out").write_bytes(b"\xff")
    (tmp_path / "empty").mkdir()
    ended = start("import", "tps", "empty", "bad", "task", "none", "--year", "2022", "--out", "out")
    assert ended.returncode == 2
    first, second, third, last = ended.stderr.splitlines()
    assert first.startswith("ioi-eval: empty ")
    assert "none" in second
    assert third.startswith("ioi-eval: bad: tests/2.out is not text")
    assert last == "ioi-eval: 3 of 4 packages were not imported; the lines above say why"
    rows = [json.loads(line) for line in (tmp_path / "out" / "problems.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ["tt"]

    ended = start("import", "tps", "empty", "none", "--year", "2022", "--out", "nothing")
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[2:] == ["ioi-eval: no package was imported (of 2); the lines above say why"]
    assert not (tmp_path / "nothing").exists()


def test_a_package_that_this_machine_cannot_read_does_not_stop_the_others(start: Start, tmp_path: Path) -> None:
    """Its own grader is run by the sandbox, which needs a compiler."""
    package(tmp_path / "plain", PASS_FAIL)
    custom = {
        "problem.yaml": "type: scoring\nvalidation: custom score\n",
        "data/testdata.yaml": "on_reject: continue\ngrading: custom\n",
        "output_validators/check.py": "import sys\nsys.exit(42)\n",
        "graders/grader.py": "print('AC', 1)\n",
    }
    package(tmp_path / "custom", SCORING, **custom)
    names = [f"{name}/sums" for name in ("custom", "plain")]
    without_compiler = {"CXX": "/nonexistent/g++"}
    ended = start("import", "kattis", *names, "--year", "2022", "--out", "out", env=without_compiler)
    assert ended.returncode == 2
    first, last = ended.stderr.splitlines()
    assert "its grader cannot be tried" in first
    assert last == "ioi-eval: 1 of 2 packages was not imported; the lines above say why"
    assert (tmp_path / "out" / "problems.jsonl").read_text().count("\n") == 1

    ended = start("import", "kattis", names[0], "--year", "2022", "--out", "nothing", env=without_compiler)
    assert ended.returncode == 2
    assert "its grader cannot be tried" in ended.stderr


def test_out_must_not_be_a_file(start: Start, tmp_path: Path) -> None:
    """The error comes before hours of reading packages, and says what to do."""
    (tmp_path / "rows").write_text("mine")
    ended = start("import", "kattis", "package", "--year", "2024", "--out", "rows")
    assert ended.returncode == 2
    assert ended.stderr.endswith("rows is not a directory; choose another --out\n")


def test_a_year_has_four_digits(start: Start) -> None:
    """With the year 26, the problem would have the id 26/…, and would be compiled by the rules of an older contest."""
    ended = start("import", "cms", "package", "--year", "26", "--out", "out")
    assert ended.returncode == 2
    assert "'--year'" in ended.stderr


@pytest.mark.parametrize("kind", ["italian-yaml", "kattis", "library-checker"])
def test_a_time_limit_of_zero_is_refused_as_an_option(start: Start, tmp_path: Path, kind: str) -> None:
    """The message names the option, not a file of the package, and nothing is written."""
    answer = start("import", kind, "x", "--year", "2026", "--out", str(tmp_path / "out"), "--time-limit", "0")
    assert answer.returncode == 2
    assert "--time-limit" in answer.stderr, answer.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("kind", "files"),
    [("italian-yaml", TASK), ("kattis", PASS_FAIL), ("library-checker", PROBLEM)],
    ids=["italian-yaml", "kattis", "library-checker"],
)
def test_a_time_limit_replaces_that_of_the_package(
    start: Start, tmp_path: Path, kind: str, files: Mapping[str, object]
) -> None:
    """In all formats whose packages may lack one."""
    package = write_package(tmp_path / "repository" / "sample" / "sums", files)
    ended = start("import", kind, package, "--year", "2026", "--out", "out", "--time-limit", "3.5")
    assert ended.returncode == 0, ended.stderr
    rows = [json.loads(line) for line in (tmp_path / "out" / "problems.jsonl").open()]
    assert {row["time_limit"] for row in rows} == {3.5}


def test_time_limits_of_a_day(start: Start, tmp_path: Path) -> None:
    """The longest that can be judged, for a Kattis package by its own files or by the option, as for other formats."""
    package(tmp_path, {**PASS_FAIL, ".timelimit": None})
    ended = start("import", "kattis", "sums", "--year", "2026", "--out", "out", "--time-limit", "86400")
    assert ended.returncode == 0, ended.stderr
    (tmp_path / "sums" / ".timelimit").write_text("86400")
    ended = start("import", "kattis", "sums", "--year", "2026", "--out", "out")
    assert ended.returncode == 0, ended.stderr
    (tmp_path / "sums" / ".timelimit").write_text("86401")
    ended = start("import", "kattis", "sums", "--year", "2026", "--out", "out")
    assert "time_limit is 86401 s; it must be from 0.001 to 86400 s" in ended.stderr
    ended = start("import", "kattis", "sums", "--year", "2026", "--out", "out", "--time-limit", "86401")
    assert "--time-limit 86401: must be auto, or a number of seconds from 0.001 to 86400" in ended.stderr
