"""The journal of a run: opened by one process, appended to, read back."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

from ioi_eval.errors import SetupError
from ioi_eval.journal import frames, opening
from ioi_eval.journal.frames import Keys, RecordKind
from ioi_eval.journal.opening import Index, StoredResult
from ioi_eval.journal.records import Record, RecordFile

SYNC_RECORDS, SYNC_S = 64, 2.0
"""An fsync follows after so many records, or when the oldest record since the last one is so many seconds old; the
writer of a run checks this each second. So a power failure costs the results of about 3 s, and at most 64. An fsync
takes 1 to 30 ms."""


class Journal:
    """An open journal, in the file `journal` of a directory. Safe to use from several threads; one process only.

    `options` are those of this run, for people who read the journal. `resume` continues an existing journal; otherwise
    that is renamed. `state_at_opening` is the `state` before the first record of this run; `notes` are for users.
    """

    def __init__(
        self,
        directory: Path,
        *,
        options: Mapping[str, object],
        resume: bool = True,
        sync_records: int = SYNC_RECORDS,
        sync_s: float = SYNC_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = directory / "journal"
        self.notes: list[str] = []
        self.index = Index()
        self._mutex = threading.Lock()
        self._sync_records, self._sync_s, self._clock = sync_records, sync_s, clock
        self._unsynced, self._oldest = 0, 0.0
        with contextlib.ExitStack() as stack:
            try:
                directory.mkdir(parents=True, exist_ok=True)
                stack.enter_context(opening.locked(directory, self.notes))
                if not resume:
                    opening.set_aside(self.path, self.notes)
                fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
                stack.callback(os.close, fd)
                self.state_at_opening = _state(fd)
                end = opening.load(self.path, fd, self.index, self.notes)
                os.ftruncate(fd, end)
                if end == 0:
                    end = os.write(fd, frames.MAGIC)
                    _sync_name(directory)
            except OSError as error:
                raise SetupError(f"{self.path}: cannot be written: {error.strerror}; choose another --out") from error
            self._records = RecordFile(fd, end, str(self.path))
            # for people only, so bytes of paths that are not UTF-8 become question marks
            body = json.dumps(dict(options), default=str, ensure_ascii=False).encode("utf-8", "replace")
            self._records.append(RecordKind.RUN, frames.NO_KEYS, body)
            self._records.sync()
            self._closed = False
            self._closing = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def state(self) -> tuple[int, int]:
        """Size in bytes and time of the last change, in nanoseconds."""
        return _state(self._records.fd)

    def append(self, kind: RecordKind, keys: Keys, body: bytes) -> int:
        """Write a record, whose `body` is JSON on one line; once this returns its offset, a killed process does not
        lose it."""
        with self._mutex:
            if self._closed:
                raise ValueError(f"{self.path} is closed")
            offset = self._records.append(kind, keys, body)
            self.index.add(kind, keys, offset)
            self._unsynced += 1
            if self._unsynced == 1:
                self._oldest = self._clock()
        self.sync_if_due()
        return offset

    def read(self, offset: int) -> Record:
        """The record at an offset. The caller compares its keys with those that it wants."""
        return self._records.read(offset)

    def read_stored(self, stored: StoredResult, keys: Keys) -> Record | None:
        """A submission's own record, which `index.find` found by these keys; `None` if another record is there now."""
        record = self._records.read(stored.offset)
        kind = RecordKind.FINAL_JE if stored.is_final_je else RecordKind.RESULT
        return record if record.kind is kind and record.keys == keys else None

    def sync(self) -> None:
        """Write everything that was appended to the disk (fsync)."""
        with self._mutex:
            if self._unsynced:
                self._records.sync()
                self._unsynced = 0

    def require_in_place(self) -> None:
        """Check that the file is still where the next run will look for it: it may have been deleted or replaced."""
        try:
            is_same = os.path.samestat(os.stat(self.path), os.fstat(self._records.fd))
        except FileNotFoundError:
            is_same = False
        except OSError:
            return  # the disk may be gone for a moment: writing will report it
        if not is_same:
            raise SetupError(
                f"{self.path} was deleted or replaced while this run was writing to it, and what was judged is lost "
                "with it; start the same command again to judge everything again"
            )

    def sync_if_due(self) -> None:
        """`sync`, if there are enough unsynced records, or the oldest is old enough."""
        if self._unsynced >= self._sync_records or (self._unsynced and self._clock() - self._oldest >= self._sync_s):
            self.sync()

    def close(self) -> None:
        """Sync, and release the lock."""
        with self._closing:
            try:
                self.sync()
            finally:  # the descriptor is closed in any case
                self._closed = True


def _state(fd: int) -> tuple[int, int]:
    status = os.fstat(fd)
    return status.st_size, status.st_mtime_ns


def _sync_name(directory: Path) -> None:
    """Write the file's name to the disk too (fsync of the directory)."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems, of shared folders for example, cannot do this (fsync(2))
            raise
    finally:
        os.close(fd)
