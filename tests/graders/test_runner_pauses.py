"""Time in which the runner itself was stopped is no program's time."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.graders.runner_box import Box, batch_plan, command_of, family, job_directory

PAUSE_S = 4
"""Longer than a program with a limit of 1 s of CPU time may be idle."""


@pytest.mark.parametrize("name", ["dir-full", "dir-reduced"])
def test_a_pause_is_not_idle_time(boxes: Callable[[str], Box], program: Callable[..., Path], name: str) -> None:
    """All processes of a job are stopped for 4 s, as by `docker pause`: a program that sleeps for 1 s is AC."""
    box = boxes(name)
    plan = batch_plan(["test id=0 input=in answer=answer"], cpu_ms=1000)
    files = {"program": program("contestant").read_bytes(), "in": b"naps 40", "answer": b"41\n"}
    work = job_directory(box, {"plan": plan, **files})
    runner = subprocess.Popen(box.command(str(box.runner), "--dir", "."), cwd=work, stdout=subprocess.PIPE)
    processes: list[int] = []
    while runner.poll() is None and not any(command_of(pid) == b"./program\0" for pid in processes):
        time.sleep(0.01)
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
