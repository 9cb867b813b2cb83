"""`ioi-eval compare`: exit codes and output. No program is judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.addition import Start, Write


def result(name: str, verdict: str, score: float) -> dict[str, Any]:
    """A result row of a contest."""
    subtasks = [{"subtask": "a", "points": 100, "weighted_score": score, "status": verdict}]
    found = {"uuid": name, "year": 2024, "problem_id": "add", "verdict": verdict, "total_score": score}
    return {**found, "code": "x", "all_subtasks_results": subtasks}


def test_exit_code_for_a_regression(start: Start, write: Write, tmp_path: Path) -> None:
    """It is 1 only with `--fail-on-regression`. For wrong input it is 2."""
    for name in "ab":
        (tmp_path / name).mkdir()
    write("a/results.jsonl", result("one", "AC", 100), result("two", "WA", 0))
    write("b/results.jsonl", result("one", "WA", 0), result("two", "AC", 100))
    ended = start("compare", "a", "b")
    assert ended.returncode == 0, ended.stderr
    assert "solved only in before: 1; only in after: 1; p =" in ended.stdout
    assert start("compare", "a", "b", "--fail-on-regression").returncode == 1
    assert start("compare", "a", "a", "--fail-on-regression").returncode == 0
    assert json.loads(start("compare", "a", "b", "--json").stdout)["lost"] == 1
    ended = start("compare", "a", "b", "--fail-on-regression", "--by-problem")
    assert (ended.returncode, "needs at least 6 problems" in ended.stderr) == (2, True)
    ended = start("compare", "a", "nowhere")
    assert (ended.returncode, "does not exist" in ended.stderr) == (2, True)


def test_json_contains_no_terminal_escapes(start: Start, write: Write, tmp_path: Path) -> None:
    """A terminal may obey U+009B, which JSON does not need to escape."""
    name = "a\x1b[31m\x9b\u202e"
    for directory, verdict in (("a", "AC"), ("b", "WA")):
        (tmp_path / directory).mkdir()
        write(f"{directory}/results.jsonl", result(name, verdict, 100 if verdict == "AC" else 0))
    found = start("compare", "a", "b", "--json").stdout
    assert found.isascii()
    assert json.loads(found)["changes"][0]["submission"] == name


PART = {"options": {}, "complete": False, "submissions": {"rows": 5, "pending": 2}}
WARNING = "ioi-eval: a is not complete: 2 of 5 submissions are still to be judged; submissions without code"


def test_an_incomplete_run_has_no_intervals(start: Start, write: Write, tmp_path: Path) -> None:
    """It is named once on stderr, and `--fail-on-regression` is refused. A run with JE or refused rows only is
    complete.
    """
    for name in "ab":
        (tmp_path / name).mkdir()
        rows = [
            {**result(f"{problem}{number}", verdict, score), "problem_id": problem}
            for problem, verdict, score in (("add", "AC", 100), *((f"mul{n}", "WA", 0) for n in range(5)))
            for number in range(2)
        ]
        write(f"{name}/results.jsonl", *rows)
    for counts, partial in (({"rows": 5, "pending": 0, "refused": 1}, False), (PART["submissions"], True)):
        write("a/summary.json", {**PART, "submissions": counts})
        for how in ([], ["--by-problem"]):
            ended = start("compare", "a", "b", *how)
            assert ended.returncode == 0, ended.stderr
            assert (ended.stderr.count(WARNING), "[" in ended.stdout) == (partial, not partial)
            assert ("p = 1" in ended.stdout) == (not partial and not how)
            ended = start("compare", "a", "b", "--fail-on-regression", *how)
            why = "needs complete runs" if partial else ""
            assert (ended.returncode, why in ended.stderr) == (2 * bool(why), True)
    found = start("compare", "a", "a", "--json")
    values = json.loads(found.stdout)
    assert (values["pending_before"], values["pending_after"], values["mcnemar_p"]) == (2, 2, None)
    assert values["sign_flip_p"] == {}
    assert found.stderr.count(WARNING) == 1


def test_every_command_warns_of_an_incomplete_run(start: Start, write: Write, tmp_path: Path) -> None:
    """`select`, `show` and `export` warn on stderr and still do their work."""
    (tmp_path / "a").mkdir()
    row = {**result("one", "AC", 100), "code_compiles": True, "error": None, "duplicate_of": None, "near_limit": False}
    row["all_subtasks_results"][0] |= {"score": 1.0, "test_results": []}
    write("a/results.jsonl", row)
    write("a/summary.json", PART)
    for call in (("select", "a"), ("show", "a"), ("show", "a", "one"), ("export", "a", "--to", "junit")):
        ended = start(*call)
        assert (ended.returncode, WARNING in ended.stderr) == (0, True), ended.stderr
        assert "not complete" not in ended.stdout
