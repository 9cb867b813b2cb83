"""The command as users start it, and a task that is judged in a moment."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.report.frame import result_rows
from tests.cli.addition import PROBLEMS, TESTS, Start, Write
from tests.forked_commands import Ended, ForkedCommands


@pytest.fixture(scope="session")
def environment(cache: Path) -> dict[str, str]:
    """With the tests' own cache."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("IOI_EVAL", "PISTON"))}
    return {**kept, "IOI_EVAL_CACHE": str(cache)}


@pytest.fixture
def start(environment: Mapping[str, str], tmp_path: Path, commands: ForkedCommands) -> Start:
    """Run `ioi-eval` with these arguments, in a directory of the test's own."""

    def run(*arguments: str | Path, env: Mapping[str, str] | None = None) -> Ended:
        return commands.run(*arguments, cwd=tmp_path, env={**environment, **(env or {})})

    return run


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write rows to a file of that name."""

    def written(name: str, *rows: Mapping[str, Any]) -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return written


@pytest.fixture
def score(start: Start, write: Write) -> Start:
    """Run `ioi-eval score` on a dump of the task, with what it needs, into `out`."""
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *TESTS)

    def run(dump: str | Path, *arguments: str | Path, **other: Any) -> Ended:
        sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl", "--out", "out")
        return start("score", dump, *sources, *arguments, **other)

    return run


@pytest.fixture
def results(tmp_path: Path) -> Callable[[], list[dict[str, Any]]]:
    """What `score` wrote."""
    return lambda: list(result_rows(tmp_path / "out"))
