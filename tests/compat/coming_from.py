"""The tables of `docs/coming-from.md` about APPS, and the commands that try their rows."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.apps_rows import DOUBLE, ZERO, apps_row, doubling, write_rows
from tests.forked_commands import Ended, forked_commands

PAGE = Path(__file__).parents[2] / "docs" / "coming-from.md"
HEAD = ["theirs", "here", "same or different, and why"]
Cells = tuple[str, str, str]


def rows_of(section: str) -> list[Cells]:
    """The rows of the table below a heading."""
    text = PAGE.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    assert [cell.strip() for cell in lines[0].strip("|").split("|")] == HEAD
    assert all(len(row) == len(HEAD) for row in cells[2:])
    return [(theirs, here, why) for theirs, here, why in cells[2:]]


def cases(section: str, checks: dict[str, Callable[..., None]]) -> list[Any]:
    """Each row with its checks: those whose key is in the row's first cell."""
    found = []
    for row in rows_of(section):
        keys = [key for key in checks if key in row[0]]
        found.append(pytest.param(row, keys, id=row[0][:60]))
    return found


def without_row(section: str, checks: dict[str, Callable[..., None]]) -> list[str]:
    """The keys of checks that have no row."""
    rows = rows_of(section)
    return [key for key in checks if not any(key in row[0] for row in rows)]


PROBLEMS = [
    doubling(0, difficulty="introductory", solutions=json.dumps([DOUBLE])),
    doubling(42, difficulty="interview", solutions=json.dumps([DOUBLE])),
    doubling(7, difficulty="competition", solutions=json.dumps([ZERO])),
    {**doubling(8, difficulty="competition"), "input_output": ""},
    {**doubling(9, difficulty="competition"), "input_output": "{"},
    apps_row(10, [], [], difficulty="competition"),
]


def run(folder: Path, command: str) -> Ended:
    """The result of a command of the page, run in a directory."""
    words = shlex.split(command)
    assert words[:2] == ["ioi-eval", "apps"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PISTON")}
    return forked_commands().run(*words[1:], cwd=folder, env=environment)


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file."""
    return [json.loads(line) for line in path.open()]


def write(folder: Path, programs: dict[int, str]) -> None:
    """Write the problems, and a dump with a program for each of these problems."""
    write_rows(folder / "SRC", PROBLEMS).rename(folder / "SRC.jsonl")
    write_rows(folder / "DUMP.jsonl", [{"problem_id": number, "code": code} for number, code in programs.items()])


def apps(folder: Path, command: str, *, ids: tuple[int, ...] = (0, 42, 7)) -> list[dict[str, Any]]:
    """mcpbr's records for right programs to these problems, from a command of the page."""
    write(folder, dict.fromkeys(ids, DOUBLE))
    local = {"SRC": "SRC.jsonl", "metr-evals/apps": "SRC.jsonl", "DUMP": "DUMP.jsonl"}
    ended = run(folder, " ".join(local.get(word, word) for word in command.split()))
    assert ended.returncode in (0, 1), ended.stderr
    return read(folder / "DIR" / "mcpbr.jsonl")
