"""The scheduler's trace is read as a tree of processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "benchmarks"

TRACE = """# tracer: nop
 bash-5 [000] d..1. 1.0: sched_stat_runtime: comm=bash pid=5 runtime=400 [ns]
 bash-5 [000] ..... 1.1: sched_process_fork: comm=bash pid=5 child_comm=bash child_pid=10
 bash-10 [001] ..... 1.2: sched_process_exec: filename=/bin/ours pid=10 old_pid=10
 ours-10 [001] d..1. 1.3: sched_stat_runtime: comm=ours pid=10 runtime=1 [ns]
 ours-10 [001] ..... 1.4: sched_process_fork: comm=ours pid=10 child_comm=ours child_pid=11
 ours-10 [001] ..... 1.5: sched_process_fork: comm=ours pid=10 child_comm=ours child_pid=12
 thread-11 [000] d..1. 1.6: sched_stat_runtime: comm=a thread pid=11 runtime=20 [ns] vruntime=7 [ns]
 ours-12 [000] d..1. 1.7: sched_stat_runtime: comm=ours pid=12 runtime=3 [ns]
 ours-12 [000] ..... 1.8: sched_process_exec: filename=/bin/g++ pid=12 old_pid=12
 g++-12 [000] ..... 1.9: sched_process_fork: comm=g++ pid=12 child_comm=g++ child_pid=13
 cc1-13 [000] d..1. 2.0: sched_stat_runtime: comm=cc1 pid=13 runtime=5000 [ns]
 g++-12 [000] d..1. 2.1: sched_stat_runtime: comm=g++ pid=12 runtime=600 [ns]
 bash-5 [000] ..... 2.2: sched_process_fork: comm=bash pid=5 child_comm=bash child_pid=13
 bash-13 [000] d..1. 2.3: sched_stat_runtime: comm=bash pid=13 runtime=80000 [ns]
"""


def test_a_trace_is_summed_by_name() -> None:
    """Descendants count, under the name that each process has meanwhile. Others with the same id do not."""
    program = "import json, sys, scheduler\n"
    program += "print(json.dumps(scheduler.cpu_s_by_name(sys.stdin.read().splitlines(), 10)))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, input=TRACE, capture_output=True, text=True, check=True, cwd=BENCHMARKS)
    assert json.loads(done.stdout) == {"(own)": 24e-9, "cc1": 5e-6, "g++": 6e-7}
