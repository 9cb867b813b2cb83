"""Records in an open file: appended completely or not at all, and read back by offset."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ioi_eval.errors import NO_SPACE, InputError, SetupError
from ioi_eval.journal import frames
from ioi_eval.journal.frames import Keys, RecordKind

ADVICE = (
    "something other than ioi-eval changed the file (a bad disk, an editor, a second writer). Start over with "
    "--no-resume (the old journal is kept beside the new one)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record, read back."""

    kind: RecordKind
    keys: Keys
    body: dict[str, Any]


class RecordFile:
    """Framed records in an open file (`fd`), which has one writer; `end` is the length of its valid part."""

    def __init__(self, fd: int, end: int, name: str) -> None:
        self.fd = fd
        self.end = end
        self.safe = 0  # it is unknown which writes of an earlier process are on disk
        self.name = name
        self._refused = ""

    def append(self, kind: RecordKind, keys: Keys, body: bytes) -> int:
        """Write a record at the end: completely, or, if the disk is full, not at all. Returns its offset."""
        offset = self.end
        left = memoryview(frames.encode(kind, keys, body, safe=self.safe))
        self.end += len(left)
        try:
            while left:
                left = left[os.write(self.fd, left) :]
        except OSError as error:
            self.end = offset
            with contextlib.suppress(OSError):  # otherwise the next start cuts off the torn record
                os.ftruncate(self.fd, offset)
            raise self._failed("write", error, "The records before this one are kept") from error
        return offset

    def sync(self) -> None:
        """Write everything that was appended to the disk (fsync).

        Once it has failed, it always fails: it stays unknown what was written, because the kernel reports a failure
        only once (source: fsync(2)).
        """
        end = self.end
        if self._refused:
            raise SetupError(self._refused)
        try:
            os.fsync(self.fd)
        except OSError as error:
            unknown = f"Only the first {self.safe} bytes are known to be on the disk; the next start checks the others"
            failure = self._failed("fsync", error, unknown)
            self._refused = str(failure)
            raise failure from error
        self.safe = end

    def read(self, offset: int) -> Record:
        """The record at an offset."""
        buffer = os.pread(self.fd, 65536, offset)
        length = frames.record_length(buffer)
        while length is not None and len(buffer) < length:
            more = os.pread(self.fd, length - len(buffer), offset + len(buffer))
            if not more:
                break
            buffer += more
        frame = frames.frame_at(buffer, base=offset)
        if frame is None:
            raise InputError(f"{self.name}: the record at offset {offset} is damaged; {ADVICE}")
        body = orjson.loads(buffer[frame.body - offset : frame.end - 1 - offset])
        return Record(kind=frame.kind, keys=frame.keys, body=body)

    def _failed(self, what: str, error: OSError, what_is_kept: str) -> SetupError:
        advice = "free some space" if error.errno in NO_SPACE else "fix the cause"
        return SetupError(
            f"{self.name}: {what} failed: {error.strerror}. {what_is_kept}; {advice}, then run the same "
            "command again to go on"
        )


class TemporaryRecords:
    """Records that are needed until the end of this run only, in a file without a name.

    A record is found by the names of problem and submission (`name_key`), not by its keys: keys contain the fingerprint
    of a target, and which targets may judge a submission can change during the run.
    """

    def __init__(self, directory: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 - closed by close()
        self._records = RecordFile(self._file.fileno(), 0, f"{directory}: temporary file")
        self._index: dict[bytes, int] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._index)

    def append(self, name: bytes, body: bytes) -> None:
        """Store the record of the submission with this name."""
        keys = Keys(submission=name, program=frames.NO_KEYS.program)
        with self._lock:
            self._index[name] = self._records.append(RecordKind.RESULT, keys, body)

    def find(self, name: bytes) -> dict[str, Any] | None:
        """The record of the submission with this name, if there is one."""
        offset = self._index.get(name)
        return None if offset is None else self._records.read(offset).body

    def close(self) -> None:
        """Delete all records."""
        self._file.close()
