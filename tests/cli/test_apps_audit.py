"""`ioi-eval apps audit`: reference solutions are judged, and broken problems are listed for `apps score --exclude`."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.apps_rows import DOUBLE, FAILS, ZERO, apps_row, doubling
from tests.cli.addition import COMMAND, Start, Write
from tests.cli.ended_early import ended_after_a_result

RETURNS = "print(2 * int(input()))\nreturn\n"
SPACED = "print('', 2 * int(input()))\n"


def found(path: Path) -> dict[str, dict[str, Any]]:
    """The list of broken problems, by problem."""
    return {row["problem_id"]: row for row in map(json.loads, path.open())}


def test_broken_rows_are_listed_and_can_be_excluded(start: Start, write: Write, tmp_path: Path) -> None:
    """Listed are rows that cannot be judged, whose tests no solution passes, or of which some tests fail. Rows without
    solutions are not listed.
    """
    write(
        "apps.jsonl",
        doubling(0, solutions=json.dumps([DOUBLE, RETURNS])),
        doubling(1),
        doubling(2, solutions=json.dumps([DOUBLE, FAILS])),
        doubling(3, solutions=json.dumps([SPACED, ZERO])),
        apps_row(4, ["1\n", "2\n"], ["1\n"], solutions=json.dumps([DOUBLE])),
        doubling(5, solutions="["),
    )
    ended = start("apps", "audit", "--dataset", "apps.jsonl", "--out", "list.jsonl")
    assert ended.returncode == 0, ended.stderr
    assert "--compat" not in ended.stderr, "this command does not have it"
    rows = found(tmp_path / "list.jsonl")
    columns = ("kind", "exclude", "passed", "solutions")
    assert {problem: tuple(row[name] for name in columns) for problem, row in rows.items()} == {
        "2": ("solutions", False, 1, 2), "3": ("tests", True, 0, 2), "4": ("row", True, 0, 0),
        "5": ("solutions", False, 0, 0),
    }  # fmt: skip
    assert rows["3"]["failures"][0]["verdict"] == "WA"
    assert "ValueError" in rows["2"]["failures"][0]["message"]
    assert "its solutions are not JSON" in rows["5"]["reason"]
    assert "6 problems, 4 listed (1 row, 1 tests, 2 solutions); 2 without a reference solution\n" in ended.stdout

    again = start("apps", "audit", "--dataset", "apps.jsonl", "--out", "list.jsonl")
    assert again.returncode == 0
    assert found(tmp_path / "list.jsonl") == rows
    summary = json.loads((tmp_path / "list.jsonl.run" / "summary.json").read_text())
    assert summary["this_run"]["judged"] == 0

    dump = write("dump.jsonl", *({"problem_id": n, "code": DOUBLE} for n in range(6)))
    arguments = ("--dataset", "apps.jsonl", "--out", "out", "--exclude", "list.jsonl")
    assert start("apps", "score", dump, *arguments).returncode == 0
    records = [json.loads(line) for line in (tmp_path / "out" / "mcpbr.jsonl").open()]
    assert [record["instance_id"] for record in records] == ["apps_0", "apps_1", "apps_2", "apps_5"]


def test_an_interrupted_audit_excludes_no_problem(
    start: Start, write: Write, tmp_path: Path, environment: Mapping[str, str]
) -> None:
    """A solution that is not judged yet may pass; the same command finds that it does."""
    slow = [f"while True: pass  # {number}\n" for number in range(40)]
    write("apps.jsonl", doubling(0, (1,), solutions=json.dumps([SPACED, DOUBLE, *slow])))
    arguments = ("apps", "audit", "--dataset", "apps.jsonl", "--out", "list.jsonl", "--workers", "1")
    journal = tmp_path / "list.jsonl.run" / "journal"
    ended = ended_after_a_result([*COMMAND, *arguments], journal, environment, tmp_path, signal.SIGINT)
    assert ended.returncode == 130, ended.stderr
    assert "Not all was judged: run the same command again.\n" in ended.stdout
    row = found(tmp_path / "list.jsonl")["0"]
    assert (row["kind"], row["exclude"]) == ("undecided", False)
    assert row["reason"] == "some of its reference solutions are not judged yet"

    again = start(*arguments, "--solutions", "2")
    assert again.returncode == 0, again.stderr
    assert "Not all was judged" not in again.stdout
    row = found(tmp_path / "list.jsonl")["0"]
    assert (row["kind"], row["passed"], row["solutions"]) == ("solutions", 1, 2)


def test_without_out_no_file_is_written(start: Start, write: Write, tmp_path: Path) -> None:
    """The result is only printed. `--solutions` limits how many solutions are judged."""
    write("apps.jsonl", doubling(0, solutions=json.dumps([DOUBLE, FAILS])))
    ended = start("apps", "audit", "--dataset", "apps.jsonl", "--solutions", "1")
    assert ended.returncode == 0
    assert ended.stdout == "1 problem, 0 listed\n"
    assert [path.name for path in tmp_path.iterdir()] == ["apps.jsonl"]


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({}, ": no row has any in its column `solutions`"),
        ({"solutions": "["}, " that can be read; problem 0: its solutions are not JSON"),
    ],
    ids=["no column", "unreadable"],
)
def test_a_data_set_without_solutions(start: Start, write: Write, columns: dict[str, Any], why: str) -> None:
    """The message names the column, or the first problem whose solutions cannot be read."""
    write("apps.jsonl", doubling(0, **columns))
    ended = start("apps", "audit", "--dataset", "apps.jsonl")
    assert ended.returncode == 2
    assert f"apps.jsonl has no reference solutions{why}" in ended.stderr


@pytest.mark.parametrize("out", ["list.jsonl", "file/list.jsonl"])
def test_a_working_directory_that_cannot_be_created(start: Start, write: Write, tmp_path: Path, out: str) -> None:
    """The message names the path, and nothing is judged."""
    write("apps.jsonl", doubling(0, solutions=json.dumps([DOUBLE])))
    for name in ("file", "list.jsonl.run"):
        (tmp_path / name).touch()
    ended = start("apps", "audit", "--dataset", "apps.jsonl", "--out", out)
    assert ended.returncode == 2
    assert f"{out}.run cannot be made" in ended.stderr
    assert "choose another --out" in ended.stderr


def test_the_list_cannot_be_inside_the_data_set(start: Start, write: Write, tmp_path: Path) -> None:
    """The next command would read the list and the results beside it as problems. Nothing is judged."""
    (tmp_path / "data").mkdir()
    write("data/apps.jsonl", doubling(0, solutions=json.dumps([DOUBLE])))
    ended = start("apps", "audit", "--dataset", "data", "--out", "data/list.jsonl")
    assert ended.returncode == 2
    assert "--out data/list.jsonl lies in data, all files of which are read" in ended.stderr
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["apps.jsonl"]


def test_only_a_list_is_replaced(start: Start, write: Write, tmp_path: Path) -> None:
    """Neither the data set, nor a list that a person wrote. The list of an audit without findings is empty."""
    data = write("apps.jsonl", doubling(0))
    kept = data.read_bytes()
    (tmp_path / "own.txt").write_text("42\n")
    for name in ("apps.jsonl", "own.txt"):
        ended = start("apps", "audit", "--dataset", "apps.jsonl", "--out", name)
        assert ended.returncode == 2
        assert f"--out {name} is there already and no audit has written it; name another file\n" in ended.stderr
    assert data.read_bytes() == kept
    assert {path.name for path in tmp_path.iterdir()} == {"apps.jsonl", "own.txt"}
    (tmp_path / "list.jsonl").touch()
    ended = start("apps", "audit", "--dataset", "apps.jsonl", "--out", "list.jsonl")
    assert "written it" not in ended.stderr


@pytest.mark.parametrize(("out", "file"), [("lists", "lists/list.jsonl"), (".", "list.jsonl")])
def test_a_directory_cannot_be_the_list(start: Start, write: Write, tmp_path: Path, out: str, file: str) -> None:
    """The error comes before judging: otherwise the list could not be written, and a repetition would fail again."""
    write("apps.jsonl", doubling(0, solutions=json.dumps([DOUBLE])))
    (tmp_path / "lists").mkdir()
    ended = start("apps", "audit", "--dataset", "apps.jsonl", "--out", out)
    assert ended.returncode == 2
    assert ended.stderr == (
        f"ioi-eval: --out {out} is a directory; name the file that the list is written to: {file}\n"
    )
    assert {path.name for path in tmp_path.iterdir()} == {"apps.jsonl", "lists"}
