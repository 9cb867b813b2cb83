"""Tests on one processor: for a loaded machine, and for numbers that the kernel counts for each processor."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator

_BATCH = 32
_COUNTERS = 2
_READ_AROUND = 16

PEAK_ERROR_BYTES = (2 * _COUNTERS * (_BATCH - 1) + _READ_AROUND) * resource.getpagesize()
"""How far the difference of two peaks may be off, in bytes, for programs that ran on one processor.

From Linux 6.2 on each processor counts up to 31 pages (`percpu_counter_batch` - 1) by itself before it adds them to the
process's counter, and `ru_maxrss` reads the process's counter only. There is one for anonymous pages and one for pages
of files. In addition, the kernel maps up to 16 pages of a file at a time.
"""


def use_processors(processors: set[int]) -> None:
    """Restrict this process, and all processes that it starts later, to these processors."""
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread), processors)


@contextlib.contextmanager
def one_processor() -> Iterator[None]:
    """Use one processor only, the last that this process may use, until the end."""
    before = os.sched_getaffinity(0)
    try:
        use_processors({max(before)})
        yield
    finally:
        use_processors(before)
