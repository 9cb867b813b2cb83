"""The rows of the sample contest: generating them again gives the same rows, and they satisfy their statements."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import sample
from tests.sample.generate import made_files
from tests.sample.made import IDS, tasks

ROOT = Path(__file__).resolve().parents[2]
Rows = Callable[[Path], list[dict[str, Any]]]

PROBLEM_COLUMNS = {
    "year": int,
    "name": str,
    "id": str,
    "day": str,
    "subtask": str,
    "statement": str,
    "score": int,
    "time_limit": float,
    "memory_limit": int,
    "score_precision": int,
    "task_type": str,
    "test_names": list,
    "starting_code": str,
    "grader_files": list,
    "problem": str,
}
TEST_COLUMNS = ["year", "day", "problem_name", "problem_id", "test_name", "test_input", "test_output"]


def test_generated_rows_equal_the_committed_ones() -> None:
    """The committed files are, byte for byte, those that the generator writes, and there are no others."""
    here = Path(sample.__file__).parent
    made = {name: text.encode() for name, text in made_files()}
    assert made.keys() == {path.name for path in here.glob("*.jsonl")}
    assert [name for name, content in made.items() if (here / name).read_bytes() != content] == []


def test_the_rows_do_not_depend_on_the_hash_seed() -> None:
    """A process with another hash seed writes the same bytes."""
    program = (
        "import hashlib; from tests.sample.generate import made_files;"
        "print(hashlib.sha256(repr(list(made_files())).encode()).hexdigest())"
    )
    seeds = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seeds) == 1


def test_problem_rows_have_the_columns_of_the_reference(rows: Rows) -> None:
    """Names, order and types equal those of `open-r1/ioi`."""
    for row in rows(sample.problems()):
        assert {name: type(value) for name, value in row.items()} == PROBLEM_COLUMNS
        assert list(row) == list(PROBLEM_COLUMNS)
        assert all(type(part) is str for pair in row["grader_files"] for part in pair)
        assert all(len(pair) == 2 for pair in row["grader_files"])


def test_test_rows_have_the_columns_of_the_reference(rows: Rows) -> None:
    """Names and order equal those of `open-r1/ioi-test-cases`. Texts end with a newline."""
    for row in rows(sample.tests()):
        assert list(row) == TEST_COLUMNS
        assert row["test_input"].endswith("\n")
        assert row["test_output"].endswith("\n")


def test_every_problem_is_worth_100_points(rows: Rows) -> None:
    """Samples have 0 points. Three or four other subtasks share 100 points."""
    for problem_id, problem in groupby(rows(sample.problems()), key=lambda row: row["id"]):
        subtasks = {row["subtask"]: row["score"] for row in problem}
        assert sum(subtasks.values()) == 100, problem_id
        assert next(iter(subtasks.items())) == ("00-samples", 0)
        assert 4 <= len(subtasks) <= 5
        assert list(subtasks) == sorted(subtasks)


def test_subtasks_and_tests_name_each_other(rows: Rows) -> None:
    """Every test that a subtask lists exists once, and every test is listed."""
    tests = [(row["problem_id"], row["test_name"]) for row in rows(sample.tests())]
    listed = [(row["id"], row["test_names"]) for row in rows(sample.problems())]
    assert len(set(tests)) == len(tests)
    assert {(problem, name) for problem, names in listed for name in names} == set(tests)
    assert all(names and len(set(names)) == len(names) for _, names in listed)
    for problem_id in IDS:
        assert 8 <= sum(problem == problem_id for problem, _ in tests) <= 20


def test_the_contest_is_small() -> None:
    """It is part of the wheel."""
    assert (
        sum(path().stat().st_size for path in (sample.problems, sample.tests, sample.solutions, sample.dump)) < 600_000
    )


def test_the_contest_has_four_kinds_of_tasks(rows: Rows) -> None:
    """Batch with grader and checker, Batch alone, Communication over standard streams, and Communication of two
    processes over FIFOs.
    """
    kinds = {}
    for row in rows(sample.problems()):
        files = dict(map(tuple, row["grader_files"]))
        config = json.loads(files.pop("graders/grader_config.json"))
        assert config["code"] == row["id"]
        for column in ("name", "task_type", "time_limit", "memory_limit", "score_precision"):
            assert config[column] == row[column]
        prefix = "task_type_parameters_"
        flat = {key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix)}
        kinds[row["id"]] = (set(files), flat)
    assert kinds == {
        "berths": (
            {"checker/checker.cpp", "graders/berths.h", "graders/grader.cpp"},
            {"Batch_compilation": "grader"},
        ),
        "buoys": (set(), {"Batch_compilation": "alone"}),
        "lamps": (
            {"graders/lamps.h", "graders/manager.cpp", "graders/stub.cpp"},
            {"Communication_num_processes": 1, "Communication_user_io": "std_io"},
        ),
        "keepers": (
            {"graders/keepers.h", "graders/manager.cpp", "graders/stub.cpp"},
            {"Communication_num_processes": 2, "Communication_user_io": "fifo_io"},
        ),
    }


@pytest.mark.parametrize("id", IDS)
def test_the_statement_has_the_subtasks(id: str) -> None:
    """The table in `statement.md` agrees with `problem.json`."""
    task = tasks()[id]
    table = re.findall(r"^\| (\d\d-\S+) \| (\d+) \| (.*) \|$", (task.folder / "statement.md").read_text(), re.MULTILINE)
    subtasks = task.settings["subtasks"]
    assert table == [(s["name"], str(s["score"]), s["constraint"]) for s in subtasks]
    for row, subtask in zip(task.problem_rows(), subtasks, strict=True):
        assert f"Further constraints: {subtask['constraint']}." in row["problem"]
        assert row["starting_code"] in row["problem"]
        assert "| subtask |" not in row["problem"]


def inputs_of(task: Any, number: str) -> list[list[list[int]]]:
    """The inputs made for a subtask, as lines of integers."""
    return [
        [[int(word) for word in line.split()] for line in case.input.splitlines()]
        for case in task.cases
        if case.name.startswith(number)
    ]


def berths_promise(number: str, test: list[list[int]]) -> bool:
    """The constraints in the statement of "Berths"."""
    [[n], *ships] = test
    times = [time for ship in ships for time in ship]
    return (
        1 <= n == len(ships) <= 1_000
        and all(0 <= arrive <= depart <= 50_000_000 for arrive, depart in ships)
        and (number != "1" or (n <= 6 and max(times) < 3_600))
        and (number != "2" or (n <= 200 and max(times) < 3_600))
        and (number != "3" or len(set(times)) == 2 * n)
    )


def buoys_promise(number: str, test: list[list[int]]) -> bool:
    """The constraints in the statement of "Buoys"."""
    [[n, q], *rest] = test
    buoys, asked = rest[:n], [k for [k] in rest[n:]]
    last = max(s + p * (c - 1) for s, p, c in buoys)
    return (
        1 <= n == len(buoys) <= 100
        and 2 <= q == len(asked) <= 40
        and all(0 <= s <= 10**9 and 1 <= p <= 10**9 and 1 <= c <= 10**9 for s, p, c in buoys)
        and all(1 <= k <= 10**12 for k in asked)
        and (number != "1" or (n <= 5 and max(asked) <= 1_000 and last <= 100_000))
        and (number != "2" or (max(asked) <= 100_000 <= min(c for _, _, c in buoys)))
        and (number != "2" or sum(max(0, 150_000_000 - s) // p for s, p, _ in buoys) >= max(asked))
    )


def lamps_promise(number: str, test: list[list[int]]) -> bool:
    """The constraints in the statement of "Lamps"."""
    [[n, k], dark] = test
    return (
        2 <= n <= 3_000
        and 1 <= k == len(dark) <= min(n, 50)
        and dark == sorted(set(dark))
        and 0 <= dark[0] <= dark[-1] < n
        and (number != "1" or (n <= 1_000 and k == 1))
        and (number != "2" or dark[-1] - dark[0] == k - 1)
    )


def keepers_promise(number: str, test: list[list[int]]) -> bool:
    """The constraints in the statement of "Keepers"."""
    [[n], first, second] = test
    return (
        1 <= n == len(first) == len(second) <= 1_000
        and len({*first, *second}) == 2 * n
        and first == sorted(first)
        and second == sorted(second)
        and 0 <= min(first[0], second[0]) <= max(first[-1], second[-1]) <= 10**9
        and (number != "1" or (n <= 8 and max(first[-1], second[-1]) < 1_000))
        and (number != "2" or first[-1] < second[0] or second[-1] < first[0])
    )


PROMISES = {"berths": berths_promise, "buoys": buoys_promise, "lamps": lamps_promise, "keepers": keepers_promise}


@pytest.mark.parametrize("id", IDS)
def test_the_tests_satisfy_the_constraints(id: str) -> None:
    """Every test satisfies the constraints of the task and of the subtasks that list it."""
    task = tasks()[id]
    for subtask in task.settings["subtasks"]:
        number = subtask["name"][1]
        for listed in subtask["tests"]:
            for test in inputs_of(task, listed):
                assert PROMISES[task.id](number, test), (subtask["name"], listed)
