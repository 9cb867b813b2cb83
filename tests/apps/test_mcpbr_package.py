"""mcpbr's own evaluation from its package, compared with our records of the same programs."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.apps.configuration import VALUES, read_configuration
from tests.apps_rows import DOUBLE, ZERO, apps_row, doubling, write_rows
from tests.forked_commands import COMMAND

ABSENT = importlib.util.find_spec("mcpbr") is None
pytestmark = pytest.mark.skipif(ABSENT, reason="mcpbr is not installed: pip install mcpbr")

PROBLEMS = [
    doubling(0),
    apps_row(1, ["1\n", "2\n"], ["1 \n2\n", "2"]),
    apps_row(2, [["1", "2"]], [["1", "2"]]),
    {**doubling(3), "input_output": ""},
    {**doubling(4), "input_output": "{"},
    apps_row(5, [], []),
    apps_row(6, ["1\n", "2\n"], ["2\n"]),
    apps_row(7, ["1\n"], ["1\n"]),
]
PROGRAMS = [
    (0, DOUBLE),
    (0, ZERO),
    (0, "print('\\n ', 2 * int(input()), '\\n')\n"),
    (0, "import sys\nprint(2 * int(input()))\nsys.exit(1)\n"),
    (0, "print(2 * int(input())\n"),
    (0, "n = int(input())\nprint(2 * n // (n - 2) * (n - 2))\n"),
    (1, "print('1\\n2')\n"),
    (1, "n = input()\nprint('1 \\n2' if n == '1' else 2)\n"),
    (2, "print(input())\n"),
    (3, DOUBLE),
    (4, DOUBLE),
    (5, DOUBLE),
    (6, DOUBLE),
    (7, "while True:\n    pass\n"),
    (7, "import sys\nsys.stdout.buffer.write(b'1\\xff')\n"),
]


class Folder:
    """The part of a task's environment in mcpbr that is used: commands in a directory, with a time limit."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def exec_command(self, command: str, timeout: int) -> tuple[int, str, str]:  # noqa: ASYNC109 - their name
        """Like `docker exec`: exit code and both outputs as text. A timeout raises an error."""
        process = await asyncio.create_subprocess_exec(
            *("bash", "-c", command), cwd=self._path, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
        try:
            out, err = await asyncio.wait_for(process.communicate(), timeout)
        except TimeoutError:
            os.killpg(process.pid, 9)
            await process.wait()
            raise
        return process.returncode or 0, out.decode("utf-8"), err.decode("utf-8")


def theirs(problem: dict[str, Any], program: str, folder: Path) -> dict[str, Any]:
    """The result of mcpbr's code. If it fails, the task is not resolved, as in its harness."""
    from mcpbr.benchmarks.apps import APPSBenchmark

    try:
        found: dict[str, Any] = asyncio.run(APPSBenchmark().evaluate(Folder(folder), problem, program))
    except (TimeoutError, UnicodeDecodeError):
        return {"resolved": False}
    return found


def test_records_equal_those_of_mcpbr(tmp_path: Path, cache: Path) -> None:
    """Under its rules, each of our records equals the result of its code, plus the task's id. If a program makes its
    code fail, the task is not resolved.
    """
    write_rows(tmp_path / "apps.jsonl", PROBLEMS)
    write_rows(tmp_path / "dump.jsonl", [{"problem_id": number, "code": code} for number, code in PROGRAMS])
    ended = subprocess.run(
        [*COMMAND, "apps", "score", "dump.jsonl", "--dataset", "apps.jsonl", "--out", "out", "--compat", "mcpbr"],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "IOI_EVAL_CACHE": str(cache)}, check=False,
    )  # fmt: skip
    assert ended.returncode in (0, 1), ended.stderr
    records = [json.loads(line) for line in (tmp_path / "out" / "mcpbr.jsonl").open()]
    (tmp_path / "work").mkdir()
    for (number, code), record in zip(PROGRAMS, records, strict=True):
        expected = {"instance_id": f"apps_{number}", **theirs(PROBLEMS[number], code, tmp_path / "work")}
        assert {name: record[name] for name in expected} == expected, code
        assert set(record) == set(expected) or number == 7, code


def test_its_configuration_has_the_known_keys(tmp_path: Path) -> None:
    """The keys that are read exist, and no other key is mistaken for one of them."""
    from mcpbr.config import HarnessConfig

    assert set(HarnessConfig.model_fields) >= set(VALUES)
    others = tuple(name for name in HarnessConfig.model_fields if name not in VALUES)
    path = tmp_path / "c.yaml"
    path.write_text("".join(f"{name}: 1\n" for name in others))
    assert read_configuration(path).unused == others
