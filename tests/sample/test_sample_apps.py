"""The sample of APPS: its rows are as documented, and each program has its stated results, with plain Python."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import sample
from tests.sample.apps_rows import program_of

Rows = Callable[[Path], list[dict[str, Any]]]

CALL = """
import json, sys
from collections import Counter
from typing import List
exec(compile(open("solution.py").read(), "solution.py", "exec"))
name, arguments = json.load(sys.stdin)
found = getattr(Solution(), name) if "Solution" in globals() else globals()[name]
json.dump(found(*arguments), open("result", "w"))
"""
CPU_S = 2  # the slow solutions need hours, the others less than a tenth of it


def does(folder: Path, tests: dict[str, Any], place: int) -> Any:
    """The result of the program in `directory` for a test: its output or its return value; `None` if it fails."""
    name = tests.get("fn_name")
    words = ["solution.py"] if name is None else ["-c", CALL]
    command = ["sh", "-c", f'ulimit -t {CPU_S} && exec "$@"', "sh", sys.executable, *words]
    given = tests["inputs"][place] if name is None else json.dumps([name, tests["inputs"][place]])
    ended = subprocess.run(command, input=given, capture_output=True, text=True, cwd=folder, check=False)
    if ended.returncode != 0:
        return None
    return ended.stdout.strip() if name is None else json.loads((folder / "result").read_text())


def test_rows(rows: Rows) -> None:
    """The problems are introductory to competition, with standard input, with both kinds of functions, and one with
    several right answers.
    """
    problems = rows(sample.apps_problems())
    assert [row["problem_id"] for row in problems] == [0, 1, 2, 3, 4]
    assert {row["difficulty"] for row in problems} == {"introductory", "interview", "competition"}
    tests = [json.loads(row["input_output"]) for row in problems]
    assert [one.get("fn_name") for one in tests] == [None, "longestWatch", "flags", None, None]
    assert all(len(one["inputs"]) == len(one["outputs"]) >= 5 for one in tests)
    assert all(isinstance(output, list) and len(output) == 1 for output in tests[2]["outputs"]), (
        "as Codewars wraps them"
    )
    assert not any(isinstance(output, list) for output in tests[1]["outputs"])
    assert all(json.loads(row["solutions"]) for row in problems)


def test_expected_results_of_the_dump(rows: Rows) -> None:
    """They have all verdicts that a first look should show, and each answer names its program."""
    dump, stated = rows(sample.apps_dump()), rows(sample.apps_expected())
    assert [row["uuid"] for row in dump] == [row["uuid"] for row in stated]
    assert {row["expected_verdict"] for row in stated} == {"AC", "WA", "TLE", "RE", "CE", "NC"}
    for row, expected in zip(dump, stated, strict=True):
        assert ("```" in row["generation"]) == (expected["solution"] is not None)
        assert (expected["expected_passed"] == expected["expected_total"]) == (expected["expected_verdict"] == "AC")


@pytest.mark.parametrize("problem", range(5))
def test_programs_have_their_expected_results(rows: Rows, tmp_path: Path, problem: int) -> None:
    """Each program passes the number of tests that the dump states for it."""
    tests = json.loads(rows(sample.apps_problems())[problem]["input_output"])
    for row, stated in zip(rows(sample.apps_dump()), rows(sample.apps_expected()), strict=True):
        program = program_of(row["generation"])
        assert (program is None) == (stated["solution"] is None)
        if row["problem_id"] != problem or program is None:
            continue
        (tmp_path / "solution.py").write_text(program)
        right = 0
        for place, expected in enumerate(tests["outputs"]):
            bare = expected[0] if isinstance(expected, list) else expected
            right += does(tmp_path, tests, place) == (bare.strip() if isinstance(bare, str) else bare)
        assert right == stated["expected_passed"], stated["solution"]
