"""Graders of other projects, which run in separate processes, started by the programs in `drivers`."""

from __future__ import annotations

import json
import resource
import subprocess
from pathlib import Path
from typing import Any

DRIVERS = Path(__file__).resolve().parent / "drivers"


class Peer:
    """A grader of another project, in a process that has already imported it.

    Args:
        python: an interpreter with the grader's packages.
        driver: the program in `drivers`.
        words: its arguments.
    """

    def __init__(self, python: str, driver: str, *words: str) -> None:
        self._process = subprocess.Popen(
            [python, str(DRIVERS / driver), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.cpu_s = 0.0

    def __call__(self, task: object) -> Any:
        """Send a task. Returns its result; `cpu_s` is afterwards the CPU time of the process and its children until
        now.

        Raises:
            SystemExit: the process has ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(task) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise SystemExit("the other grader ended; what it said is above") from None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the other grader ended; what it said is above")
        answer = json.loads(line)
        self.cpu_s = answer["cpu_s"]
        return answer["result"]

    def end(self) -> None:
        """End the process."""
        self._process.communicate()


def own_cpu_s() -> float:
    """CPU seconds of this process and of its ended children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)
