"""Time in which the runner itself was stopped is no program's time."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.graders.runner_box import RUNNER_UID, Box, batch_plan

PAUSE_S = 4
"""Longer than a program with a limit of 1 s of CPU time may be idle."""


@pytest.mark.parametrize("name", ["dir-full", "dir-reduced"])
def test_a_pause_is_not_idle_time(boxes: Callable[[str], Box], program: Callable[..., Path], name: str) -> None:
    """All processes of a job are stopped for 4 s, as by `docker pause`: a program that sleeps for 1 s is AC."""
    box = boxes(name)
    work = Path(tempfile.mkdtemp(dir=box.scratch))
    (work / "plan").write_bytes(batch_plan(["test id=0 input=in answer=answer"], cpu_ms=1000))
    (work / "program").write_bytes(program("contestant").read_bytes())
    (work / "in").write_bytes(b"naps 40")
    (work / "answer").write_bytes(b"41\n")
    if os.geteuid() == 0:
        for path in (work, *work.iterdir()):
            os.chown(path, RUNNER_UID, RUNNER_UID)
    runner = subprocess.Popen(box.command(str(box.runner), "--dir", "."), cwd=work, stdout=subprocess.PIPE)
    while runner.poll() is None and len(family(runner.pid)) < 2:
        time.sleep(0.01)
    time.sleep(0.3)  # the first children may be those that prepare the box
    processes = family(runner.pid)
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for pid in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        if number == signal.SIGSTOP:
            time.sleep(PAUSE_S)
    stdout, _ = runner.communicate(timeout=60)
    test, *_ = (json.loads(line) for line in stdout.splitlines())
    assert (test["verdict"], test["limit"]) == ("AC", None), test


def family(pid: int) -> list[int]:
    """A process and its descendants, parents first."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has ended
        return []
    return [pid, *(each for child in children for each in family(int(child)))]
