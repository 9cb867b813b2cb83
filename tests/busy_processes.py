"""Processes that keep processors busy, for tests and benchmarks that need a loaded machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

COMPUTES = "while True: pass"
WALKS = "block = bytearray(1 << 26)\nwhile True: block[:] = block[4096:] + block[:4096]"
"""Walks through memory, which slows others down even in CPU time."""

_END_WITH_THE_PARENT = "import ctypes\nctypes.CDLL(None).prctl(1, 9)\n"  # PR_SET_PDEATHSIG, SIGKILL


@contextmanager
def busy_processes(count: int, *works: str, sessions: bool = False) -> Iterator[None]:
    """Run this number of processes on the processors of the caller. They end with the caller, even if it is killed.

    Args:
        count: the number of processes.
        works: the programs that they run, in turn; by default all compute.
        sessions: whether each process has its own session, as a box has. The kernel may first divide the processors
            between sessions, and then between the processes of a session.
    """
    programs = works or (COMPUTES,)
    children: list[subprocess.Popen[bytes]] = []
    try:
        for number in range(count):
            program = _END_WITH_THE_PARENT + programs[number % len(programs)]
            command = [sys.executable, "-S", "-c", program]
            children.append(subprocess.Popen(command, env={}, start_new_session=sessions))
        yield
    finally:
        for child in children:
            child.kill()
            child.wait()
