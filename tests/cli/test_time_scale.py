"""`--time-scale`, and `doctor --calibrate`, which measures the scale for `auto`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.calibration import NAME, Calibration, store
from ioi_eval.sandbox.local.compiler import detect
from tests.busy_processes import busy_processes
from tests.cli.addition import PROBLEMS, Start, Write, submission_row
from tests.shared_work import copy_cache

Results = Callable[[], list[dict[str, Any]]]

LATE = """#include <cstdio>
#include <ctime>
int main() {
    long long a, b;
    scanf("%lld %lld", &a, &b);
    while (clock() < 45 * CLOCKS_PER_SEC / 100) {}
    printf("%lld\\n", a + b);
}
"""


@pytest.fixture
def score(score: Start, write: Write) -> Start:
    """Run `score` with a time limit of 0.25 s."""
    write("problems.jsonl", *({**row, "time_limit": 0.25} for row in PROBLEMS))
    return score


def test_limits_are_multiplied_and_the_scale_is_recorded(score: Start, write: Write, results: Results) -> None:
    """A program that takes 0.45 s is TLE under 0.25 s and AC under 0.625 s. With another scale it is judged again."""
    dump = write("dump.jsonl", submission_row("a", LATE))
    assert score(dump).returncode == 0
    (row,) = results()
    assert (row["verdict"], row["time_scale"]) == ("TLE", 1.0)
    assert score(dump, "--time-scale", "2.5").returncode == 0
    (row,) = results()
    assert (row["verdict"], row["time_scale"]) == ("AC", 2.5)


def test_auto_uses_the_calibrated_scale(
    score: Start, write: Write, results: Results, cache_with_runner: Path, tmp_path: Path
) -> None:
    """It is the scale of this machine and compiler, and a message names it."""
    own = copy_cache(cache_with_runner, tmp_path / "cache")
    store(Calibration(time_scale=2.5, compiler=detect("g++").version, taken="2026-01-01"), own)
    dump = write("dump.jsonl", submission_row("a", LATE))
    ended = score(dump, "--time-scale", "auto", env={"IOI_EVAL_CACHE": str(own)})
    assert ended.returncode == 0
    assert "time limits are multiplied by 2.5 (calibrated 2026-01-01)" in ended.stderr
    assert [(row["verdict"], row["time_scale"]) for row in results()] == [("AC", 2.5)]


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ("auto", "this machine has not been calibrated"),
        ("fast", "--time-scale fast: must be auto, or a number"),
    ],
)
def test_an_unknown_scale(score: Start, write: Write, tmp_path: Path, scale: str, words: str) -> None:
    """The exit code is 2, and nothing is judged."""
    ended = score(write("dump.jsonl", submission_row("a")), "--time-scale", scale)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert not (tmp_path / "out").exists()


def test_validate_scales_limits_too(start: Start, write: Write, score: Start, tmp_path: Path) -> None:
    """Statements are compared under the scaled limit, and the evidence names it."""
    solutions = write("solutions.jsonl", submission_row("a", LATE, label="late.cpp", expected="correct"))
    sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl")
    ended = start("validate", solutions, *sources)
    assert (ended.returncode, "of 0.25 s" in ended.stdout) == (1, True)
    ended = start("validate", solutions, *sources, "--time-scale", "2.0", "--out", "found")
    assert ended.returncode == 0
    near = json.loads((tmp_path / "found" / "validation.json").read_text())["near_limit"]
    assert {one["limit_s"] for one in near} <= {0.5}
    row = json.loads((tmp_path / "found" / "results.jsonl").read_text().splitlines()[0])
    assert row["time_scale"] == 2.0


def test_a_busy_machine_is_not_calibrated(start: Start, tmp_path: Path) -> None:
    """The exit code is 2, with the reason. No scale is stored for `auto`."""
    with busy_processes(os.cpu_count() or 1):
        ended = start("doctor", "--calibrate", env={"IOI_EVAL_CACHE": str(tmp_path / "cache")})
    assert ended.returncode == 2
    assert "this machine is busy" in ended.stderr
    assert not (tmp_path / "cache" / NAME).exists()
