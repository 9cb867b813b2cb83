"""Other graders limit wall clock: a program that waits is late by their rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from ioi_eval.apps.execution import AppsSettings
from ioi_eval.compat import grader_named
from ioi_eval.model import Isolation, Verdict
from tests.python_box import row, score_all

WAITS = "import time\nn = int(input())\nif n == 1: time.sleep(1.5)\nprint(n)"


PROBLEM = row(["0\n", "1\n"], ["0\n", "1\n"])


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        *((name, Verdict.TLE) for name in ("eval-protocol", "eval-protocol-page", "livecodebench", "mcpbr")),
        ("ours", Verdict.AC),
    ],
)
def test_waiting_counts_for_graders_that_limit_wall_clock(cache: Path, name: str, verdict: Verdict) -> None:
    """With a limit of 1 s, a program that sleeps for 1.5 s is late there. Our own limit is one of CPU time."""
    compat = None if name == "ours" else grader_named(name)
    settings = AppsSettings(least_isolation=Isolation.REDUCED, time_limit_s=1.0, compat=compat)
    (result,) = score_all(cache, [(PROBLEM, WAITS)], settings, Isolation.REDUCED)
    assert result.tests[1].verdict is verdict
