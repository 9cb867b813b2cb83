"""A run of `ioi-eval` whose memory is watched from outside. The benchmarks of large dumps use it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

COMMAND = str(Path(sys.executable).with_name("ioi-eval"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """The figures of a run.

    Args:
        written: the number of results.
        seconds: the wall clock.
        peak_mb: the peak anonymous memory.
        exit_code: the exit code of the command.
    """

    written: int
    seconds: float
    peak_mb: float
    exit_code: int


def run_watched(directory: Path, *args: str, every_s: float) -> Watched:
    """Run a command that writes results, with a separate cache.

    Args:
        directory: the directory for the cache and the results.
        args: the command and its arguments, without `--out`.
        every_s: the time between two readings of its memory.
    """
    environment = {**os.environ, "IOI_EVAL_CACHE": str(directory / "cache")}
    command = [COMMAND, *args, "--out", str(directory / "out")]
    started, peak = time.monotonic(), 0.0
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    while (exit_code := process.poll()) is None:
        peak = max(peak, anonymous_mb(process.pid))
        time.sleep(every_s)
    seconds = time.monotonic() - started
    written = sum(1 for _ in (directory / "out" / "results.jsonl").open())
    return Watched(written=written, seconds=seconds, peak_mb=peak, exit_code=exit_code)


def anonymous_mb(pid: int) -> float:
    """`RssAnon` of a process in MB; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    line = next((line for line in status.splitlines() if line.startswith("RssAnon")), "RssAnon: 0 kB")
    return int(line.split()[1]) / 1000
