"""`ioi-eval apps explain`: which graders disagree about a program, and why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.apps_rows import DOUBLE, ZERO, apps_row, doubling
from tests.cli.addition import Start, Write

SPACES = "print(2 * int(input()), '')\n"
EXITS = "import sys\nprint(2 * int(input()))\nsys.exit(3)\n"


def test_differences_are_listed_by_test_with_reasons(start: Start, write: Write) -> None:
    """A right output with exit code 3 is wrong for mcpbr and for us. Blanks at the end of a line are right for all
    graders.
    """
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
    assert "ours and mcpbr differ on 1 of 4 programs" in ended.stdout
    assert "apps_1, spaces (column:code)" in ended.stdout
    assert "mcpbr: equal text" in ended.stdout
    assert "mcpbr accepts 1 that we reject" in ended.stdout
    assert "zero" not in ended.stdout
    every = start("apps", "explain", dump, "--dataset", "apps.jsonl", "--compat", "mcpbr", "--all", "-t", "0")
    assert "apps_0, same (column:code)" in every.stdout
    assert "ours and mcpbr differ on 0 of 2 programs" in every.stdout


def test_names_contain_no_terminal_escapes(start: Start, write: Write) -> None:
    """The ids of the dump are untrusted."""
    write("apps.jsonl", doubling(0))
    dump = write("dump.jsonl", {"problem_id": 0, "uuid": "a\x1b[31m\x9b\u202e", "code": DOUBLE})
    ended = start("apps", "explain", dump, "--dataset", "apps.jsonl", "--compat", "mcpbr", "--all")
    assert ended.returncode == 0, ended.stderr
    assert "apps_0, a\ufffd[31m\ufffd\ufffd (column:code)" in ended.stdout


def test_the_first_line_that_differs_is_shown(start: Start, write: Write) -> None:
    """With its blanks, as these may be the only difference."""
    write("apps.jsonl", apps_row(0, ["1\n"], ["2\n3\n"]))
    dump = write("dump.jsonl", {"problem_id": 0, "uuid": "blank", "code": "print('2 ')\nprint(3)\n"})
    graders = ("--compat", "mcpbr", "--compat", "eval-protocol-page")
    ended = start("apps", "explain", dump, "--dataset", "apps.jsonl", *graders)
    assert ended.returncode == 0, ended.stderr
    assert "  ours: right\n" in ended.stdout
    assert "  mcpbr, eval-protocol-page: different: line 1: expected '2', found '2 '\n" in ended.stdout


def test_the_first_tests_that_differ_are_shown(start: Start, write: Write) -> None:
    """The others are counted."""
    write("apps.jsonl", doubling(0, tuple(range(13))))
    dump = write("dump.jsonl", {"problem_id": 0, "uuid": "spaces", "code": SPACES.replace("print(", "print('', ")})
    ended = start("apps", "explain", dump, "--dataset", "apps.jsonl", "--compat", "mcpbr")
    assert ended.returncode == 0, ended.stderr
    assert "… and 3 more tests\n" in ended.stdout
    assert len(re.findall(r"^test \d+:$", ended.stdout, re.MULTILINE)) == 10


def test_programs_that_differ_only_in_a_final_newline_are_the_same(start: Start, write: Write) -> None:
    """Eval Protocol strips the program that it finds. Only another difference is reported as another program."""
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


def test_the_bar_is_drawn_while_a_program_runs(start: Start, write: Write) -> None:
    """Each program is judged by several graders, so one slow program may take minutes."""
    write("apps.jsonl", doubling(0))
    dump = write("dump.jsonl", {"problem_id": 0, "code": f"import time\ntime.sleep(2)\n{DOUBLE}"})
    ended = start("apps", "explain", dump, "--dataset", "apps.jsonl", "--compat", "mcpbr", "--progress")
    assert ended.returncode == 0, ended.stderr
    drawings = re.split(r"[\r\n]", ended.stderr)
    assert any(drawing.startswith("  0%|") and drawing.endswith("0/1, 0.00/s") for drawing in drawings), ended.stderr


def test_errors_name_what_cannot_be_explained(start: Start, write: Write) -> None:
    """Rows that cannot be judged, unknown graders, and a dump without programs."""
    write("apps.jsonl", doubling(0), {**doubling(1), "input_output": ""})
    dump = write("dump.jsonl", {"problem_id": 0, "code": DOUBLE}, {"problem_id": 1, "code": DOUBLE})
    ended = start("apps", "explain", dump, "--dataset", "apps.jsonl", "--compat", "mcpbr")
    assert ended.returncode == 1
    assert "problem 1 cannot be judged: the row has no tests" in ended.stdout
    ended = start("apps", "explain", dump, "--dataset", "apps.jsonl", "--compat", "none")
    assert ended.returncode == 2
    assert "no such grader 'none'; there are: hendrycks" in ended.stderr
    ended = start("apps", "explain", "none.jsonl", "--dataset", "apps.jsonl", "--compat", "hendryks")
    assert ended.stderr == "ioi-eval: no such grader 'hendryks'. Did you mean 'hendrycks'?\n"
    other = write("other.jsonl", {"problem_id": 1, "code": DOUBLE})
    ended = start("apps", "explain", other, "--dataset", "apps.jsonl", "-t", "0")
    assert ended.returncode == 2
    assert "has no program for any of the problems" in ended.stderr


def test_a_missing_program_is_nc_and_no_error(start: Start, write: Write) -> None:
    """Without code the verdict is NC, and the exit code is 0. A grader that finds a program there is listed as
    different.
    """
    write("apps.jsonl", doubling(0))
    dump = write(
        "dump.jsonl",
        {"problem_id": 0, "uuid": "none", "generation": "I cannot."},
        {"problem_id": 0, "uuid": "cpp", "generation": f"```cpp\n{DOUBLE}```\n"},
    )
    ended = start("apps", "explain", dump, "--dataset", "apps.jsonl", "--compat", "livecodebench")
    assert ended.returncode == 0, ended.stderr
    assert "ours: no code found" in ended.stdout
    assert "ours and livecodebench differ on 1 of 2 programs\n" in ended.stdout
    assert "livecodebench accepts 1 that we reject" in ended.stdout
    assert "our rules compare outputs by lines" in ended.stderr


def test_programs_that_we_fail_to_judge_are_counted(start: Start, write: Write, tmp_path: Path) -> None:
    """The reason is shown, and the exit code is 1."""
    write("apps.jsonl", doubling(0))
    (tmp_path / "checker.cpp").write_text("int main() { return 9; }\n")
    dump = write("dump.jsonl", {"problem_id": 0, "uuid": "a", "code": DOUBLE})
    rules = ("--comparator", "checker:checker.cpp", "--compat", "mcpbr")
    ended = start("apps", "explain", dump, "--dataset", "apps.jsonl", *rules)
    assert ended.returncode == 1
    assert "1 program not judged: JE: " in ended.stdout
    assert ", such as a (problem 0)\n" in ended.stdout
    assert "ours and mcpbr differ on 0 of 1 program\n" in ended.stdout


def test_a_grader_that_cannot_be_used_is_refused(start: Start, write: Write) -> None:
    """The command is refused before judging, like `apps score`. If all graders are compared, this one is left out."""
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
