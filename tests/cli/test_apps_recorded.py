"""Programs with recorded results of the benchmark's own grader. `--compat hendrycks` gives the same codes."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.sandbox.local.confinement import PATH
from tests.cli.addition import Start

SLOW = ("4184-12", "4184-15", "4184-19", "2287-0")
"""Out of time at several tests: a quarter of a minute each, under that grader's limit of 4 s."""


def _said(python: str, words: str) -> str:
    """The output of an interpreter that is started as in a box; empty if it fails."""
    done = subprocess.run([python, "-s", "-c", words], capture_output=True, text=True, check=False)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def with_numpy() -> Iterator[str]:
    """An interpreter with numpy that boxes can see: the system's, or the system's with a copy of the tests' numpy."""
    system = shutil.which("python3", path=PATH)
    if system is None:
        pytest.skip("there is no python3 on the system's path, which boxes see")
    if _said(system, "import numpy; print(numpy.__version__)"):
        yield system
        return
    found = importlib.util.find_spec("numpy")
    if found is None or found.origin is None:
        pytest.skip(f"neither {system} nor the interpreter of the tests has numpy")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:  # all users may read this directory
        folder = Path(name)
        folder.chmod(0o755)
        made = subprocess.run([system, "-m", "venv", "--without-pip", folder / "venv"], check=False)
        if made.returncode != 0:
            pytest.skip(f"{system} makes no virtual environments (Debian, Ubuntu: apt install python3-venv)")
        (site,) = (folder / "venv/lib").glob("python3*/site-packages")
        numpy = Path(found.origin).parent
        shutil.copytree(numpy, site / "numpy", ignore=shutil.ignore_patterns("tests", "*.pyi", "__pycache__"))
        if (libraries := numpy.with_name("numpy.libs")).is_dir():
            shutil.copytree(libraries, site / "numpy.libs")
        python = str(folder / "venv/bin/python")
        if not _said(python, "import numpy; print(numpy.__version__)"):
            pytest.skip(f"the numpy of the tests is not for {system}, and that has none")
        yield python


def _results(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").open()]


def test_all_are_resolved_that_the_benchmark_resolved(start: Start, shared: Path, tmp_path: Path) -> None:
    """By our own rules the same 35 of 83 programs pass. `docs/apps.md` explains the other differences."""
    given = shared / "tasks/apps"
    sources = (given / "generations.jsonl", "--dataset", given / "apps.jsonl", "--out", "out")
    # right programs take 0.02 s, others run without end
    ended = start("apps", "score", *sources, "--fail-fast", "--timeout", "0.5")
    assert ended.returncode == 0, ended.stderr
    rows = _results(tmp_path)
    assert [row["submission"] for row in rows if row["resolved"] is not (row["recorded_result"] is True)] == []
    assert (len(rows), sum(row["resolved"] for row in rows)) == (83, 35)


@pytest.mark.parametrize("slow", [pytest.param(True, marks=pytest.mark.full), False])
def test_recorded_results(slow: bool, with_numpy: str, start: Start, shared: Path, tmp_path: Path) -> None:
    """By that grader's rules all codes are equal to the recorded ones: true, false, -1 and -2."""
    given = shared / "tasks/apps"
    lines = (given / "generations.jsonl").read_text().splitlines(keepends=True)
    dump = tmp_path / "dump.jsonl"
    dump.write_text("".join(line for line in lines if slow or json.loads(line)["uuid"] not in SLOW))
    options = ("--dataset", given / "apps.jsonl", "--out", "out", "--compat", "hendrycks", "--python", with_numpy)
    ended = start("apps", "score", dump, *options)
    assert ended.returncode == 0, ended.stderr
    rows = _results(tmp_path)
    differences = {
        row["submission"]: (row["recorded_result"], min(row["codes"], default=True))
        for row in rows
        if str(row["recorded_result"]) != str(min(row["codes"], default=True))  # compared as text, because True == 1
    }
    assert differences == {}
    assert len(rows) == (83 if slow else 83 - len(SLOW))
