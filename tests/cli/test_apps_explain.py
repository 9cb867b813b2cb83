"""`ioi-eval apps explain`: which graders differ about a program, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apps_rows import DOUBLE, ZERO, doubling
from tests.cli.addition import Start, Write

SPACES = "print(2 * int(input()), '')\n"
EXITS = "import sys\nprint(2 * int(input()))\nsys.exit(3)\n"


def test_differences_are_told_by_test_with_reasons(start: Start, write: Write) -> None:
    """A right output with exit code 3 is wrong for mcpbr and for us; blanks at a line's end are right for all."""
    write("apps.jsonl", doubling(0, (1, 2)), doubling(1), {**doubling(2), "input_output": ""})
    dump = write(
        "dump.jsonl",
        {"problem_id": 0, "uuid": "same", "code": DOUBLE},
        {"problem_id": 0, "uuid": "exits", "code": EXITS},
        {"problem_id": 1, "uuid": "zero", "code": ZERO},
        {"problem_id": 1, "uuid": "spaces", "code": SPACES.replace("print(", "print('', ")},
    )
    ended = start("apps", "explain", dump, "--dataset", "apps.jsonl", "--compat", "mcpbr")
    assert ended.returncode == 0, ended.stderr
    assert "ours and mcpbr differ about 1 of 4 programs" in ended.stdout
    assert "apps_1, spaces (column:code)" in ended.stdout
    assert "mcpbr: equal text" in ended.stdout
    assert "mcpbr accepts 1 that we refuse" in ended.stdout
    assert "zero" not in ended.stdout
    every = start("apps", "explain", dump, "--dataset", "apps.jsonl", "--compat", "mcpbr", "--all", "-t", "0")
    assert "apps_0, same (column:code)" in every.stdout
    assert "ours and mcpbr differ about 0 of 2 programs" in every.stdout


def test_a_final_newline_makes_no_other_program(start: Start, write: Write) -> None:
    """Eval Protocol strips what it finds; that is told only where something else differs."""
    write("apps.jsonl", doubling(0))
    draft = "print(0)\n"
    dump = write(
        "dump.jsonl",
        {"problem_id": 0, "uuid": "same", "generation": f"```python\n{DOUBLE}\n\n```\n"},
        {"problem_id": 0, "uuid": "draft", "generation": f"```python\n{draft}```\n```python\n{DOUBLE}\n```\n"},
    )
    ended = start("apps", "explain", dump, "--dataset", "apps.jsonl", "--compat", "eval-protocol", "--all")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("found another program") == 1
    assert f"eval-protocol found another program, of {len(draft.strip())} characters" in ended.stdout


def test_what_cannot_be_explained_is_said(start: Start, write: Write) -> None:
    """Rows that cannot be judged, graders that do not exist, no program at all."""
    write("apps.jsonl", doubling(0), {**doubling(1), "input_output": ""})
    dump = write("dump.jsonl", {"problem_id": 0, "code": DOUBLE}, {"problem_id": 1, "code": DOUBLE})
    ended = start("apps", "explain", dump, "--dataset", "apps.jsonl", "--compat", "mcpbr")
    assert ended.returncode == 1
    assert "problem 1 cannot be judged: the row has no tests" in ended.stdout
    ended = start("apps", "explain", dump, "--dataset", "apps.jsonl", "--compat", "none")
    assert ended.returncode == 2
    assert "--compat none: must be one of hendrycks" in ended.stderr
    other = write("other.jsonl", {"problem_id": 1, "code": DOUBLE})
    ended = start("apps", "explain", other, "--dataset", "apps.jsonl", "-t", "0")
    assert ended.returncode == 2
    assert "has no program for any of the problems" in ended.stderr


def test_a_program_that_is_missing_is_wrong(start: Start, write: Write) -> None:
    """No code is judged (NC): it is no reason for exit code 1. A grader that finds a program there differs."""
    write("apps.jsonl", doubling(0))
    dump = write(
        "dump.jsonl",
        {"problem_id": 0, "uuid": "none", "generation": "I cannot."},
        {"problem_id": 0, "uuid": "cpp", "generation": f"```cpp\n{DOUBLE}```\n"},
    )
    ended = start("apps", "explain", dump, "--dataset", "apps.jsonl", "--compat", "livecodebench")
    assert ended.returncode == 0, ended.stderr
    assert "ours: no code found" in ended.stdout
    assert "ours and livecodebench differ about 1 of 2 programs\n" in ended.stdout
    assert "livecodebench accepts 1 that we refuse" in ended.stdout
    assert "our rules compare outputs by lines" in ended.stderr


def test_programs_that_we_fail_to_judge_are_counted(start: Start, write: Write, tmp_path: Path) -> None:
    """With the reason: it is why the exit code is 1."""
    write("apps.jsonl", doubling(0))
    (tmp_path / "checker.cpp").write_text("int main() { return 9; }\n")
    dump = write("dump.jsonl", {"problem_id": 0, "uuid": "a", "code": DOUBLE})
    rules = ("--comparator", "checker:checker.cpp", "--compat", "mcpbr")
    ended = start("apps", "explain", dump, "--dataset", "apps.jsonl", *rules)
    assert ended.returncode == 1
    assert "1 program not judged: JE: " in ended.stdout
    assert ", such as a (problem 0)\n" in ended.stdout


def test_a_grader_that_cannot_be_used_is_refused(start: Start, write: Write) -> None:
    """Before anything is judged, as `apps score` does; if all graders are compared, it is left out."""
    write("apps.jsonl", doubling(0))
    dump = write("dump.jsonl", {"problem_id": 0, "uuid": "a", "code": DOUBLE})
    ended = start("apps", "explain", dump, "--dataset", "apps.jsonl", "--compat", "hendrycks")
    if ", numpy " in ended.stderr:
        pytest.skip("the system's interpreter has numpy")
    assert ended.returncode == 2, ended.stdout
    assert "--compat hendrycks needs numpy" in ended.stderr
    assert ended.stdout == ""
    ended = start("apps", "explain", dump, "--dataset", "apps.jsonl")
    assert ended.returncode == 0, ended.stderr
    assert "hendrycks was not asked: --compat hendrycks needs numpy" in ended.stdout
