"""Reads rows in another thread, a few megabytes ahead of the caller.

Tests are megabytes each: reading one (the file, its JSON) takes about as long as hashing and storing it, and the latter
lets other threads run. So a year's tests are read and stored in about the time of the longer of the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from queue import SimpleQueue
from threading import Semaphore, Thread

from ioi_eval.problems.row import Row

_BATCH_BYTES = 1024 * 1024
_BATCH_ROWS = 256
_BATCHES = 2
"""How far ahead: by so many batches of so many rows or bytes. A large row is a batch by itself."""

_END_S = 1.0
"""How long a caller that stops early waits for the thread to end. The thread may be in a read that takes long, and
does not keep the process from ending."""


def read_ahead(rows: Iterator[Row]) -> Iterator[Row]:
    """The same rows in the same order, read in a thread of their own.

    An error is raised after the rows before it. If the caller stops early, the thread ends after its current batch.
    """
    reader = _RowBatches(rows)
    thread = Thread(target=reader.run, name="ioi-eval-rows", daemon=True)
    thread.start()
    try:
        while batch := reader.batches.get():
            yield from batch
            reader.may_read.release()
    finally:
        reader.is_stopped = True
        reader.may_read.release()
        thread.join(_END_S)
    if reader.error is not None:
        raise reader.error


class _RowBatches:
    """Reads rows in batches, of which the last is empty.

    Attributes:
        batches: those that were read.
        may_read: is released when a batch has been used.
        is_stopped: whether the caller wants no more.
        error: why there are no more rows, if they did not end.
    """

    def __init__(self, rows: Iterator[Row]) -> None:
        self.batches: SimpleQueue[Sequence[Row]] = SimpleQueue()
        self.may_read = Semaphore(_BATCHES)
        self.is_stopped = False
        self.error: BaseException | None = None
        self._rows = rows

    def run(self) -> None:
        batch: list[Row] = []
        taken = 0
        try:
            for row in self._rows:
                batch.append(row)
                taken += sum(len(value) for value in row.values.values() if isinstance(value, str | bytes))
                if taken >= _BATCH_BYTES or len(batch) >= _BATCH_ROWS:
                    self.batches.put(batch)
                    batch, taken = [], 0
                    self.may_read.acquire()
                    if self.is_stopped:
                        break
        except BaseException as error:  # noqa: BLE001 - it is raised in the caller's thread
            self.error = error
        if batch:
            self.batches.put(batch)
        self.batches.put(())
