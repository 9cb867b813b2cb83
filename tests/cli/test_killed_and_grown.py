"""A run is killed, resumed and continued with a larger dump. Its results are equal to those of one run over the whole
dump.

Both families are tested with their commands and real programs.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from ioi_eval import load_results
from ioi_eval.report.result_files import result_rows
from tests.apps_rows import DOUBLE, FAILS, ROWS, ZERO
from tests.cli.addition import COMMAND, NARROW, PROBLEMS, RIGHT, TESTS, Start, Write, submission_row
from tests.cli.ended_early import ended_after_a_result

FIRST, MORE = 40, 1000
OF_TIME = frozenset({"cpu_s", "time_s", "wall_time_s", "wall_s", "memory_bytes", "tests_id"})
"""What two runs of one program do not have in common; `tests_id` is a hash of such."""

WAIT = "import time\ntime.sleep(0.1)\n"


def contest_rows(count: int) -> Iterator[dict[str, Any]]:
    """A few programs, each in many rows, some of them inside texts; some rows are for an unknown problem, some have no
    program.
    """
    for n in range(count):
        code = [RIGHT, NARROW, "no program", RIGHT + "// 2\n", None, f"{RIGHT}// {min(n, FIRST) // 8}\n"][n % 6]
        row = submission_row(f"r{n}", code, target_subtask="01-full", note={"row": n})
        if n % 7 == 0 and code is not None:
            row = {**row, "code": None, "generation": f"So:\n```cpp\n{code}```\n"}
        yield row if n % 50 != 9 else {**row, "problem_id": "absent"}


def apps_rows(count: int) -> Iterator[dict[str, Any]]:
    """The same kinds of rows for APPS."""
    for n in range(count):
        code = [DOUBLE, ZERO, FAILS, f"# 2\n{DOUBLE}", None, f"# {min(n, FIRST) // 8}\n{WAIT}{DOUBLE}"][n % 6]
        row = {"uuid": f"r{n}", "problem_id": n % 2, "code": code, "note": {"row": n}}
        if n % 7 == 0 and code is not None:
            row = {**row, "code": None, "generation": f"So:\n```python\n{code}```\n"}
        yield row if n % 50 != 9 else {**row, "problem_id": 3}


def timeless(value: Any) -> Any:
    """The value without fields that depend on time."""
    if isinstance(value, dict):
        return {name: timeless(one) for name, one in value.items() if name not in OF_TIME}
    return [timeless(one) for one in value] if isinstance(value, list) else value


def lines(directory: Path) -> list[bytes]:
    """The result rows as JSON, without fields that depend on time."""
    return [orjson.dumps(timeless(row)) for row in result_rows(directory)]


@pytest.mark.parametrize("family", ["contest", "apps"])
def test_the_results_are_those_of_one_run(
    family: str, write: Write, start: Start, environment: Mapping[str, str], tmp_path: Path
) -> None:
    """The results are equal except for times. The run is killed by SIGKILL, resumed, and continued with 1,000 more
    rows. No program is judged twice.
    """
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *TESTS)
    write("apps.jsonl", *ROWS)
    rows = contest_rows if family == "contest" else apps_rows
    write("dump.jsonl", *rows(FIRST))
    sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl")
    how = ("score", "dump.jsonl", *sources) if family == "contest" else ("apps", "score", "dump.jsonl", "--dataset")
    words = [*how, *(["apps.jsonl"] * (family == "apps")), "--workers", "1", "--out"]

    def run(out: str) -> dict[str, Any]:
        ended = start(*words, out)
        assert ended.returncode == 1, ended.stderr  # some rows are for an unknown problem
        found: dict[str, Any] = json.loads((tmp_path / out / "summary.json").read_text())["this_run"]
        return found

    journal = tmp_path / "killed" / "journal"
    ended_after_a_result([*COMMAND, *words, "killed"], journal, environment, tmp_path, signal.SIGKILL)
    known = journal.read_bytes().count(b" r ")
    resumed = run("killed")
    judged = journal.read_bytes().count(b" r ")
    assert resumed["resumed"] >= known
    write("dump.jsonl", *rows(FIRST + MORE))
    run("killed")
    run("whole")
    assert lines(tmp_path / "killed") == lines(tmp_path / "whole")
    assert len(lines(tmp_path / "whole")) == FIRST + MORE
    results = [(tmp_path / out / "journal").read_bytes().count(b" r ") for out in ("killed", "whole")]
    assert judged <= results[0] <= results[1] + 2  # each run judges rows without a program again, once a problem
    killed, whole = (load_results(tmp_path / out, tests=False) for out in ("killed", "whole"))
    columns = [name for name in whole.columns if name not in OF_TIME]
    assert len(killed) == FIRST + MORE
    assert killed[columns].equals(whole[columns])
