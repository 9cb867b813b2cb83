"""A limit on the CPU time of a part of a test."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooLongError(Exception):
    """The CPU time limit was exceeded."""


@contextmanager
def limit_cpu_time(cpu_s: float) -> Iterator[None]:
    """Raise TooLongError in a block that uses more CPU time. The machine's load has no effect; `re` handles signals."""

    def give_up(_signal: int, _frame: FrameType | None) -> None:
        raise TooLongError(f"more than {cpu_s:g} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
