"""Wall clock of scoring a dump, divided by the minimum CPU time that it needs.

The necessary work is: compile each distinct program once, and run and check the tests that can change the score, on all
cores. All time above that is our overhead. Programs that sleep until the idle rule stops them use wall clock without
CPU time. That time is printed, and counted as necessary, because no judge can shorten it.

With root of the machine, the CPU time is also split by the names of the processes (`scheduler.py`), and the sum of
these parts is compared with what the kernel says of all together.
"""

from __future__ import annotations

import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from figures import Figure, arguments, report
from scheduler import OWN, SchedulerTrace, cpu_s_by_name

from ioi_eval import sample
from ioi_eval.report.result_files import result_rows

COMMAND = str(Path(sys.executable).with_name("ioi-eval"))
PARTS = {
    "Python": (OWN,),
    "compile": ("cc1plus", "cc1", "as", "g++", "c++", "gcc", "cc"),
    "link": ("ld", "ld.bfd", "ld.gold", "ld.lld", "collect2"),
    "check": ("checker", "manager"),
    "box": ("bwrap", "setpriv"),
    "scripts": (
        *("bash", "cat", "chmod", "cp", "find", "grep", "ln", "mkdir", "mv", "readlink", "rm", "sed", "sort", "stat"),
        *("tr", "true", "uname", "xargs"),
    ),
}
"""Names of processes. A number is the runner, which is started by a descriptor; the rest are judged programs."""


def main() -> None:
    """Score twice, and print the second run, for which the problems' own programs are already compiled."""
    sources = arguments() or [str(sample.dump()), str(sample.problems()), str(sample.tests())]
    dump, problems, tests = sources[:3]
    options = sources[3:]
    with tempfile.TemporaryDirectory() as directory:
        for name in ("warm-up", "measured"):
            out = Path(directory) / name
            command = [COMMAND, "score", dump, "--problems", problems, "--tests", tests, "--out", str(out), *options]
            wall_s, cpu_s, by_name = _run(command)
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
    report(Figure(name="wall clock / least CPU time", value=wall_s / needed_s, unit="×", bound=1.10))
    if by_name is not None:
        split = _split(by_name)
        print("each CPU-second " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in split.items()))
        rest = 100 * abs(cpu_s - sum(split.values())) / cpu_s
        report(Figure(name="CPU time that is not in the split", value=rest, unit="%", bound=3))


def _run(command: list[str]) -> tuple[float, float, Mapping[str, float] | None]:
    """Run a command.

    Returns:
        Its wall clock, the CPU time of it and its descendants, and this CPU time by the names of processes; `None`
        without the right to trace them.
    """
    with ExitStack() as stack:
        try:
            trace = stack.enter_context(SchedulerTrace())
        except OSError as error:
            print(f"no split of CPU time: {error}")
            trace = None
        started = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # 1: rows that cannot be judged, which the sample has
        sys.exit(f"no figure is recorded, because the command has failed: {shlex.join(command)}")
    by_name = None
    if trace is not None and trace.is_complete:
        by_name = cpu_s_by_name(trace.lines, process.pid)
    elif trace is not None:
        print("no split of CPU time: too many processes ran, so the trace is incomplete")
    return wall_s, used.ru_utime + used.ru_stime, by_name


def _split(by_name: Mapping[str, float]) -> dict[str, float]:
    """CPU time by part, in seconds."""
    split: dict[str, float] = defaultdict(float)
    for name, seconds in by_name.items():
        part = next((part for part, names in PARTS.items() if name in names), None)
        part = part or ("Python" if name.startswith(("Python", "python")) else None)
        split[part or ("runner" if name.isdecimal() or name == "runner" else "run")] += seconds
    return split


def _idle_s(row: dict[str, Any]) -> float:
    """The wall clock of a row's tests that were stopped by the idle rule."""
    if row.get("duplicate_of"):
        return 0.0
    tests = {test["test_name"]: test for subtask in row["all_subtasks_results"] for test in subtask["test_results"]}
    idle = (test for test in tests.values() if test["limit"] == "idle")
    return math.fsum(test["wall_time_s"] - (test["time_s"] or 0) for test in idle)


if __name__ == "__main__":
    main()
