"""Makes Python's garbage collector run less often while a cluster is entered."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

_THRESHOLDS = (20_000, 50, 100)
"""With 1,500 connections the garbage collector took a quarter of the client's CPU at Python's defaults (700, 10, 10),
and found almost nothing."""

_found: list[tuple[int, int, int]] = []
"""The thresholds that each entered cluster found; the first ones are the process's own."""


@contextlib.contextmanager
def rarer_garbage_collection() -> Iterator[None]:
    """Let the garbage collector run less often in this block, and while another such block is entered."""
    before = gc.get_threshold()
    _found.append(before)
    if before[0]:  # else the garbage collector is switched off
        gc.set_threshold(*map(max, _THRESHOLDS, before))
    try:
        yield
    finally:
        own = _found[0]
        _found.pop()
        if not _found:
            gc.set_threshold(*own)
