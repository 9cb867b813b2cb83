"""Opening a journal: keeping other runs out, indexing what is there, mending a torn tail."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import mmap
import os
import socket
from dataclasses import dataclass, field
from pathlib import Path

from ioi_eval.errors import InputError, SetupError
from ioi_eval.journal import frames
from ioi_eval.journal.frames import Keys, RecordKind
from ioi_eval.journal.records import ADVICE


@dataclass(frozen=True, slots=True)
class StoredResult:
    """Where a submission's result is.

    Args:
        offset: of its own record, or of that of the same program.
        failed: it tells of a judge program's failure.
        copied: it is the record of the same program, which another submission may have sent in.
    """

    offset: int
    failed: bool = False
    copied: bool = False


@dataclass(slots=True, kw_only=True)
class Index:
    """Where the records are.

    Of several records of a submission its own result counts first, then that it has a known program, then a failure; of
    equals the last. In a file that we alone have written that is the last of all.
    """

    submissions: dict[bytes, int] = field(default_factory=dict)
    programs: dict[bytes, int] = field(default_factory=dict)
    copies: set[bytes] = field(default_factory=set)
    failed: dict[bytes, int] = field(default_factory=dict)

    def add(self, kind: RecordKind, keys: Keys, offset: int) -> None:
        """Take in a record."""
        if kind is RecordKind.RESULT:
            self.submissions[keys.submission] = offset
            self.programs.setdefault(keys.program, offset)
        elif kind is RecordKind.COPY:
            self.copies.add(keys.submission)
        elif kind is RecordKind.FAILED:
            self.failed[keys.submission] = offset

    def find(self, keys: Keys) -> StoredResult | None:
        """Where the result of that submission is, judged in just that way.

        A copy has none where no record of its program is there: then it is judged itself.
        """
        if (offset := self.submissions.get(keys.submission)) is not None:
            return StoredResult(offset)
        if keys.submission in self.copies and (leader := self.programs.get(keys.program)) is not None:
            return StoredResult(leader, copied=True)
        if (offset := self.failed.get(keys.submission)) is not None:
            return StoredResult(offset, failed=True)
        return None

    def leader(self, keys: Keys) -> int | None:
        """Where the result of that program is, whoever sent it in. Never a JE."""
        return self.programs.get(keys.program)

    def standing(self, keys: Keys) -> int:
        """How much is known under these keys.

        Returns:
            3 a result, or whose it is; 2 that a judge program fails; 1 the result of the same program; 0 nothing.
        """
        stored = self.find(keys)
        if stored is not None:
            return 2 if stored.failed else 3
        return int(keys.program in self.programs)


def peek(directory: Path) -> tuple[Index, tuple[str, ...]]:
    """What a run in this directory would find, without touching anything, and what it would say.

    Raises:
        InputError: the file is no journal, or damaged in the middle.
    """
    index, notes = Index(), list[str]()
    path = directory / "journal"
    if path.is_file():
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            load(path, fd, index, notes)
        finally:
            os.close(fd)
    return index, tuple(notes)


def check_writable(directory: Path) -> Path:
    """See whether a journal can be written in this directory, which need not be there yet, without touching anything.

    Only what can be told so: a disk that is full is told of by whoever writes.

    Returns:
        The directory itself, or the one nearest above it that is there: on the same disk, unless something is mounted.

    Raises:
        SetupError: it cannot.
    """
    there = directory.absolute()
    while not there.exists() and not there.is_symlink():
        there = there.parent
    if not there.is_dir():
        raise SetupError(f"{directory}: {there} is not a directory; choose another --out")
    if not os.access(there, os.W_OK | os.X_OK):
        raise SetupError(f"{directory}: {there} may not be written to; choose another --out")
    return there


def lock(directory: Path, notes: list[str]) -> int:
    """Keep other runs out of the directory until the returned descriptor is closed.

    Raises:
        InputError: another run is in there.
    """
    fd = os.open(directory / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            holder = os.pread(fd, 200, 0).decode(errors="replace").strip() or "another process"
            os.close(fd)
            raise InputError(
                f"{directory}: {holder} is writing results here; wait for it to end, or choose another --out"
            ) from None
        notes.append(f"{directory}: this file system has no locks ({error.strerror}): start no second run here")
    with contextlib.suppress(OSError):  # only for the message above; a full disk is told of later
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
    return fd


def set_aside(path: Path, notes: list[str]) -> None:
    """Keep an older journal under the first free number."""
    if path.exists():
        number = 1
        while (kept := path.with_name(f"{path.name}.{number}")).exists():
            number += 1
        path.rename(kept)
        notes.append(f"{path}: started over; the earlier journal is kept as {kept.name}")


def load(path: Path, fd: int, index: Index, notes: list[str]) -> int:
    """Index an existing journal.

    Returns:
        How long its valid part is, in bytes.

    Raises:
        InputError: it is no journal, or damaged in the middle.
    """
    size = os.fstat(fd).st_size
    if size == 0:
        return 0
    with mmap.mmap(fd, size, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as buffer:
        start = len(frames.MAGIC)
        if buffer[:start] != frames.MAGIC:
            if frames.MAGIC.startswith(bytes(buffer[:start])):
                return 0  # killed while the first line was written
            raise InputError(
                f"{path}: not a journal of this version of ioi-eval; move it away, or choose another --out"
            )
        end = frames.after_magic(buffer, start)
        for frame in frames.whole_frames(buffer, end):
            index.add(frame.kind, frame.keys, frame.offset)
            end = frame.end
        end = frames.after_magic(buffer, end)
        if end < size:
            _judge_tail(path, buffer, end, notes)
    return end


def _judge_tail(path: Path, buffer: memoryview, end: int, notes: list[str]) -> None:
    """Tell a torn tail, which may be cut off, from damage in the middle, which may not."""
    beyond = list(frames.frames_beyond(buffer, end))
    if any(frame.safe > end for frame in beyond):
        raise InputError(
            f"{path}: damaged at offset {end}, with {len(beyond)} whole records after it: {ADVICE}, or keep what "
            f"comes before the damage with `truncate -s {end} {path}`: what came after is judged again"
        )
    lost = f" and {len(beyond)} records after it" if beyond else ""
    notes.append(
        f"{path}: an unfinished record{lost} at offset {end} ({len(buffer) - end} bytes) dropped: the last run was "
        "stopped while writing; those submissions are judged again"
    )
