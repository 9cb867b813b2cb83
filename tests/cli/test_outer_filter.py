"""Inside another filter of system calls, as in a container: verdicts are the same, and unknown calls are reported."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.sandbox.local.why_no_box import is_filtered
from tests.cli.addition import COMMAND, ENDS, Start, submission_row

PTRACE = "101"


@pytest.fixture
def behind(tmp_path: Path) -> list[str]:
    """The words before a command that start it behind a filter which answers ptrace with an error."""
    source = Path(__file__).parents[1] / "graders" / "programs" / "filtered.cpp"
    subprocess.run(["g++", "-O1", str(source), "-o", str(tmp_path / "filtered")], check=True)
    return [str(tmp_path / "filtered"), PTRACE, "--"]


def test_verdicts_are_the_same_and_fingerprints_are_not(
    score: Start, write: Any, behind: list[str], environment: Mapping[str, str], tmp_path: Path
) -> None:
    """A program that is right but for a forbidden call is SV with and without the filter. Results of one case are
    judged again in the other.
    """
    if is_filtered():
        pytest.skip("these tests are inside such a filter themselves: there is no without")
    write("dump.jsonl", submission_row("a", ENDS))
    outside = score("dump.jsonl")
    assert "another filter" not in outside.stderr
    first = only_result(tmp_path)
    sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl", "--out", "out")
    words = [*behind, *COMMAND, "score", "dump.jsonl", *sources]
    inside = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert "inside another filter of system calls" in inside.stderr
    second = only_result(tmp_path)
    assert (first["verdict"], second["verdict"]) == ("SV", "SV")
    assert [call["call"] for call in first["attempted"]] == ["ptrace"]
    assert [call["call"] for call in second["attempted"]] == ["hidden_call"]
    (note,) = json.loads((tmp_path / "out" / "summary.json").read_text())["notes"]
    assert "whose name is not known" in note


def test_the_doctor_says_so(behind: list[str], environment: Mapping[str, str]) -> None:
    """It is a warning: programs can be judged there."""
    words = [*behind, *COMMAND, "doctor"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout
    assert "names of refused calls" in done.stdout


def only_result(directory: Path) -> dict[str, Any]:
    """The only row that `score` has written."""
    (line,) = (directory / "out" / "results.jsonl").read_text().splitlines()
    row: dict[str, Any] = json.loads(line)
    return row
