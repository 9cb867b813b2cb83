"""`ioi-eval compare`: exit codes, and what is printed; no program is judged for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.addition import Start, Write


def result(name: str, verdict: str, score: float) -> dict[str, Any]:
    """A contest result."""
    subtasks = [{"subtask": "a", "points": 100, "weighted_score": score, "status": verdict}]
    found = {"uuid": name, "year": 2024, "problem_id": "add", "verdict": verdict, "total_score": score}
    return {**found, "code": "x", "all_subtasks_results": subtasks}


def test_a_regression_is_told_by_the_exit_code(start: Start, write: Write, tmp_path: Path) -> None:
    """Only where it is asked for; bad input is 2."""
    for name in "ab":
        (tmp_path / name).mkdir()
    write("a/results.jsonl", result("one", "AC", 100), result("two", "WA", 0))
    write("b/results.jsonl", result("one", "WA", 0), result("two", "AC", 100))
    ended = start("compare", "a", "b")
    assert ended.returncode == 0, ended.stderr
    assert "1 lost, 1 won" in ended.stdout
    assert start("compare", "a", "b", "--fail-on-regression").returncode == 1
    assert start("compare", "a", "a", "--fail-on-regression").returncode == 0
    assert json.loads(start("compare", "a", "b", "--json").stdout)["lost"] == 1
    ended = start("compare", "a", "nowhere")
    assert (ended.returncode, "does not exist" in ended.stderr) == (2, True)
