"""Opens a journal: locks it against other runs, indexes its records, and cuts off a torn tail."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import mmap
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import orjson

from ioi_eval.errors import InputError, SetupError
from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.journal import frames
from ioi_eval.journal.frames import Keys, RecordKind
from ioi_eval.journal.records import ADVICE

LOCK = ".lock"
"""The file of a result directory that is locked while results are written there."""

_MOVE = "move it away, or choose another --out"


@fast_dataclass
class StoredResult:
    """The position of a submission's result: of its own record or, if it is `copied`, of the first one with the same
    program. `is_final_je`: the record says that a judge program failed for good."""

    offset: int
    is_final_je: bool = False
    copied: bool = False


class StoredLevel(IntEnum):
    """How much is stored for a submission."""

    NOTHING = 0
    SAME_PROGRAM = 1  # the result of another submission with the same program
    FINAL_JE = 2  # a judge program failed, or does not compile
    RESULT = 3  # its result, or a copy


@dataclass(slots=True, kw_only=True)
class Index:
    """The positions of the records.

    If a submission has several records, a result counts before a copy, and a copy before a failure; of equal kinds the
    last counts. In a file that only we have written, this is always the last record. If a program has several results,
    of different submissions, copies get that of the first submission.
    """

    submissions: dict[bytes, int] = field(default_factory=dict)
    programs: dict[bytes, int] = field(default_factory=dict)
    copies: set[bytes] = field(default_factory=set)
    final_je: dict[bytes, int] = field(default_factory=dict)

    @property
    def stored(self) -> int:
        """How many results, copies and final failures there are, each submission and way of judging once."""
        return len(self.submissions.keys() | self.copies | self.final_je.keys())

    def add(self, kind: RecordKind, keys: Keys, offset: int) -> None:
        """Add a record."""
        if kind is RecordKind.RESULT:
            replaced = self.submissions.get(keys.submission)
            self.submissions[keys.submission] = offset
            if self.programs.get(keys.program) in (None, replaced):
                self.programs[keys.program] = offset
        elif kind is RecordKind.COPY:
            self.copies.add(keys.submission)
        elif kind is RecordKind.FINAL_JE:
            self.final_je[keys.submission] = offset

    def find(self, keys: Keys) -> StoredResult | None:
        """The position of the result of this submission, judged in this way.

        If a copy's program has no record, there is none, and the copy is judged.
        """
        if (offset := self.submissions.get(keys.submission)) is not None:
            return StoredResult(offset=offset)
        if keys.submission in self.copies and (leader_offset := self.programs.get(keys.program)) is not None:
            return StoredResult(offset=leader_offset, copied=True)
        if (offset := self.final_je.get(keys.submission)) is not None:
            return StoredResult(offset=offset, is_final_je=True)
        return None

    def is_judged(self, keys: Keys, *, retry_failed: bool) -> bool:
        """Whether a submission need not be judged again. `retry_failed`: a final JE is judged again."""
        stored = self.find(keys)
        return stored is not None and not (stored.is_final_je and retry_failed)

    def leader_offset(self, keys: Keys) -> int | None:
        """The offset of this program's result, from any submission.

        Never a JE, except that of another grader that itself fails on the row: that is a result.
        """
        return self.programs.get(keys.program)

    def stored_level(self, keys: Keys) -> StoredLevel:
        """How much the journal has for these keys."""
        stored = self.find(keys)
        if stored is not None:
            return StoredLevel.FINAL_JE if stored.is_final_je else StoredLevel.RESULT
        return StoredLevel.SAME_PROGRAM if keys.program in self.programs else StoredLevel.NOTHING


def read_index(directory: Path) -> tuple[Index, tuple[str, ...]]:
    """The index and the notes that a run in this directory would get; changes nothing."""
    index, notes = Index(), list[str]()
    path = directory / "journal"
    if os.path.isfile(path):
        fd = open_to_read(path)
        try:
            load(path, fd, index, notes)
        finally:
            os.close(fd)
    return index, tuple(notes)


def options_of_first_run(directory: Path) -> dict[str, Any]:
    """The options of the first run that wrote to the journal of a directory; empty if there is none that can be read.
    (A merge is not a run.)"""
    start = len(frames.MAGIC)
    with (
        contextlib.suppress(OSError, ValueError),  # there is none, or it is empty
        open(directory / "journal", "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
        memoryview(mapped) as buffer,
    ):
        for record in frames.whole_frames(buffer, start) if buffer[:start] == frames.MAGIC else ():
            if record.kind is RecordKind.RUN:
                options = orjson.loads(bytes(buffer[record.body : record.end - 1]))
                if "merged" not in options:
                    return dict(options)
    return {}


def open_to_read(path: Path, advice: str = "") -> int:
    """The descriptor of an existing journal; `advice` ends the message if it cannot be read."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a directory{advice}")
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}{advice}") from error


def check_writable(directory: Path) -> Path:
    """Check whether a journal can be written in this directory, which need not exist; changes nothing.

    A full disk cannot be found this way; writing will report it. Returns the directory itself, or its nearest existing
    parent: on the same disk, unless something is mounted.
    """
    existing = directory.absolute()
    while not os.path.lexists(existing):
        existing = existing.parent
    if not os.path.isdir(existing):
        raise SetupError(f"{directory}: {existing} is not a directory; choose another --out")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise SetupError(f"{directory}: {existing} may not be written to; choose another --out")
    return existing


@contextmanager
def locked(directory: Path, notes: list[str]) -> Iterator[None]:
    """Keep other runs, merges and reports out of the directory."""
    path = directory / LOCK
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise SetupError(f"{path}: cannot be written: {error.strerror}; choose another --out") from error
    try:
        _lock(fd, directory, notes)
        yield
    finally:
        os.close(fd)


def _lock(fd: int, directory: Path, notes: list[str]) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            holder = os.pread(fd, 200, 0).decode(errors="replace").strip() or "another process"
            raise InputError(
                f"{directory}: {holder} is writing results here; wait for it to end, or choose another --out"
            ) from None
        notes.append(f"{directory}: this file system has no locks ({error.strerror}): do not start a second run here")
    with contextlib.suppress(OSError):  # only for the message above; a full disk is reported later
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)


@contextmanager
def locked_for_reading(directory: Path) -> Iterator[None]:
    """Keep runs out of a directory that is only read. On file systems without locks this is not possible."""
    with ExitStack() as stack:
        with contextlib.suppress(OSError):  # without the file, no run has been there
            fd = os.open(directory / LOCK, os.O_RDONLY | os.O_CLOEXEC)
            stack.callback(os.close, fd)
            try:
                fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(f"a run is writing to {directory}; wait for it to end") from None
        yield


def set_aside(path: Path, notes: list[str]) -> None:
    """Rename an older journal, with the first free number."""
    if path.exists():
        number = 1
        while (aside := path.with_name(f"{path.name}.{number}")).exists():
            number += 1
        path.rename(aside)
        notes.append(f"{path}: started over; the earlier journal is kept as {aside.name}")


def load(path: Path, fd: int, index: Index, notes: list[str], *, advice: str = _MOVE) -> int:
    """Index an existing journal; returns how long its valid part is, in bytes. `advice`: if it is no journal."""
    size = os.fstat(fd).st_size
    if size == 0:
        return 0
    with mmap.mmap(fd, size, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as buffer:
        start = len(frames.MAGIC)
        if buffer[:start] != frames.MAGIC:
            if frames.MAGIC.startswith(bytes(buffer[:start])):
                return 0  # killed while the first line was written
            raise InputError(f"{path}: not a journal of this version of ioi-eval; {advice}")
        end = start
        for frame in frames.whole_frames(buffer, start):
            index.add(frame.kind, frame.keys, frame.offset)
            end = frame.end
        end = frames.after_magic(buffer, end)
        if end < size:
            _check_tail(path, buffer, end, notes)
    return end


def _check_tail(path: Path, buffer: memoryview, end: int, notes: list[str]) -> None:
    """Distinguish a torn tail, which may be cut off, from damage in the middle, which is an error."""
    starts, beyond = frames.starts(buffer), list(frames.frames_beyond(buffer, end))
    next_start = next((start for start in starts if start > end), len(buffer))
    if any(frame.offset > next_start for frame in beyond):
        raise InputError(
            f"{path}: several journals were joined here, and one of them has an unfinished or damaged record at offset "
            f"{end}, before the next one begins at {next_start}; join them with `ioi-eval merge` instead, or remove "
            "the bytes between these offsets: what they contained is judged again"
        )
    own_start = max(start for start in starts if start < end)  # `safe` is counted from there
    if any(frame.safe > end - own_start for frame in beyond):
        raise InputError(
            f"{path}: damaged at offset {end}, with {len(beyond)} whole records after it: {ADVICE}, or keep what "
            f"comes before the damage with `truncate -s {end} {path}`: what came after is judged again"
        )
    lost = f" and {len(beyond)} records after it" if beyond else ""
    notes.append(
        f"{path}: an unfinished record{lost} at offset {end} ({len(buffer) - end} bytes) dropped: the last run was "
        "stopped while writing; those submissions are judged again"
    )
