"""Processes that keep processors busy, for tests and benchmarks that want a loaded machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

COMPUTES = "while True: pass"
WALKS = "block = bytearray(1 << 26)\nwhile True: block[:] = block[4096:] + block[:4096]"
"""Walks through memory, which slows others down even in CPU time."""


@contextmanager
def busy_processes(count: int, *works: str) -> Iterator[None]:
    """Run this number of processes; they stay on the processors of whoever starts them.

    Args:
        count: how many.
        works: what they do, in turn; they compute if nothing is said.
    """
    programs = works or (COMPUTES,)
    children: list[subprocess.Popen[bytes]] = []
    try:
        for number in range(count):
            program = programs[number % len(programs)]
            children.append(subprocess.Popen([sys.executable, "-S", "-c", program], env={}))
        yield
    finally:
        for child in children:
            child.kill()
            child.wait()
