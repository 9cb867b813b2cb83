"""Reads rows in another thread, a few megabytes ahead of the caller.

Tests are megabytes each: reading one (the file, its JSON) takes about as long as hashing and storing it, and the latter
lets other threads run. So a year's tests are read and stored in about the time of the longer of the two.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from ioi_eval.problems.row import Row

_BATCH_BYTES = 1024 * 1024
_BATCH_ROWS = 256
_BATCHES = 2
"""How far ahead: by so many batches of so many rows or bytes. A large row is a batch by itself."""


def read_ahead(rows: Iterator[Row]) -> Iterator[Row]:
    """The same rows in the same order, read in a thread of their own.

    An error is raised after the rows before it. If the caller stops early, the thread ends after its current batch.
    """
    batches = _batches(rows)
    with ThreadPoolExecutor(1, thread_name_prefix="ioi-eval-rows") as thread:
        try:
            coming = deque(thread.submit(next, batches, ()) for _ in range(_BATCHES))
            while batch := coming.popleft().result():
                coming.append(thread.submit(next, batches, ()))
                yield from batch
        finally:
            thread.shutdown(cancel_futures=True)


def _batches(rows: Iterator[Row]) -> Iterator[Sequence[Row]]:
    """The rows in lists that are not empty."""
    batch: list[Row] = []
    taken = 0
    for row in rows:
        batch.append(row)
        taken += sum(len(value) for value in row.values.values() if isinstance(value, str | bytes))
        if taken >= _BATCH_BYTES or len(batch) >= _BATCH_ROWS:
            yield batch
            batch, taken = [], 0
    if batch:
        yield batch
