"""Wall clock of scoring a dump, divided by the CPU time that it needs at least.

The necessary work is: compile each distinct program once, and run and check the tests that can change the score, on all
cores. Everything above that is our overhead. Programs that sleep until the idle rule stops them use wall clock without
CPU time; that time is printed, and counted as necessary, because no judge can shorten it.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from figures import Figure, arguments, report

from ioi_eval import sample
from ioi_eval.report.frame import result_rows

COMMAND = str(Path(sys.executable).with_name("ioi-eval"))


def main() -> None:
    """Score twice, and print the second run, for which the problems' own programs are already compiled."""
    sources = arguments() or [str(sample.dump()), str(sample.problems()), str(sample.tests())]
    dump, problems, tests = sources[:3]
    options = sources[3:]
    with tempfile.TemporaryDirectory() as directory:
        for name in ("warm-up", "measured"):
            out = Path(directory) / name
            command = [COMMAND, "score", dump, "--problems", problems, "--tests", tests, "--out", str(out), *options]
            started = time.monotonic()
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wall_s = time.monotonic() - started
        summary = json.loads((out / "summary.json").read_text())
        idle_s = sum(map(_idle_s, result_rows(out)))
    cpu = summary["this_run"]["cpu_s"]
    cores = len(os.sched_getaffinity(0))
    needed_s = (sum(cpu.values()) + idle_s) / cores
    print(
        f"submissions    {summary['this_run']['judged']} judged, {summary['this_run']['copies']} copies, {cores} cores"
    )
    print("CPU            " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in cpu.items()))
    print(f"idle programs  {idle_s:.2f} s")
    print(f"wall clock     {wall_s:.2f} s, of which {wall_s - needed_s:.2f} s ours (start of Python included)")
    report(Figure(name="wall clock / least CPU time", value=wall_s / needed_s, unit="×", bound=1.25))


def _idle_s(row: dict[str, Any]) -> float:
    """The wall clock of a row's tests that the idle rule stopped."""
    if row.get("duplicate_of"):
        return 0.0
    tests = {test["test_name"]: test for subtask in row["all_subtasks_results"] for test in subtask["test_results"]}
    idle = (test for test in tests.values() if test["limit"] == "idle")
    return math.fsum(test["wall_time_s"] - (test["time_s"] or 0) for test in idle)


if __name__ == "__main__":
    main()
