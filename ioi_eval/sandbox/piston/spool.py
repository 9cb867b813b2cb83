"""Makes requests of serialised contents: each is encoded once per run, even if many requests contain it.

Test data is on disk as blobs and is sent many times. On first use it is encoded, in a thread, and appended to one
file, which has no name, so that nothing is left behind even after kill −9. Requests are sent from this file in pieces;
so test data is in memory only while it is encoded. Of contents that are in memory anyway (programs, plans) the literals
that were used last stay in memory.

When the file would exceed its limit, a new one is started: requests under way keep the old one open.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import FileIO
from typing import TypeAlias

from ioi_eval.errors import SetupError
from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.model import Blob, Content, Job, JobKind
from ioi_eval.recent_values import RecentValues
from ioi_eval.sandbox import read_content
from ioi_eval.sandbox.piston import literals, wire
from ioi_eval.sandbox.piston.literals import Literal
from ioi_eval.sandbox.piston.wire import Body, InstalledStarter

_SMALL = 64 * 1024  # below this, encoding costs less than looking it up (60 µs)
_MEMORY_BYTES = 64 << 20
_PIECE = 256 * 1024

_Encode: TypeAlias = Callable[[bytes], Literal]


@fast_dataclass
class _SpooledBytes:
    """Bytes in the spool file, which stays open as long as this refers to it; iterating gives them piece by piece, and
    raises SetupError if they cannot be read."""

    file: FileIO
    offset: int
    size: int

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[bytes]:
        for start in range(0, self.size, _PIECE):
            want = min(_PIECE, self.size - start)
            try:
                piece = os.pread(self.file.fileno(), want, self.offset + start)
            except OSError as error:
                raise SetupError(f"a temporary file of test data cannot be read: {error.strerror}") from error
            if len(piece) != want:
                raise SetupError("a temporary file of test data was truncated: is its disk full?")
            yield piece


class RequestSpool:
    """Makes requests, and stores their serialised contents in a temporary file of at most `max_bytes`: a year of IOI
    tests is up to 1.8 GB."""

    def __init__(self, *, max_bytes: int = 8 << 30) -> None:
        self._max_bytes = max_bytes
        self._file: FileIO | None = None
        self._end = 0
        self._literals: dict[tuple[str, _Encode], Literal] = {}
        self._locks: dict[tuple[str, _Encode], asyncio.Lock] = {}
        self._memory: RecentValues[bytes, Literal] = RecentValues(_MEMORY_BYTES)
        self._encoders = asyncio.Semaphore(2)

    async def literal(self, content: Content, *, may_deflate: bool = False) -> Literal:
        """The JSON literal of a content. Only blobs may be deflated, as they are sent many times."""
        if isinstance(content, Blob):
            encode = literals.deflated if may_deflate else literals.literal
            return self._literals.get((content.sha256, encode)) or await self._literal_of_blob(content, encode)
        if len(content) < _SMALL:
            return literals.literal(content)
        if (known := self._memory.get(content)) is not None:
            return known
        literal = await asyncio.to_thread(literals.literal, content)
        return self._memory.put(content, literal, len(content) + literal.size)

    async def body(self, job: Job, installed: InstalledStarter, *, package: str = "") -> Body:
        """The request's body for a job; the arguments are those of `wire.body`."""
        files = wire.sent_files(job, installed.starter, package=package)
        is_runner = job.kind is JobKind.RUNNER  # which unpacks and inflates its files
        sent = [await self.literal(file.content, may_deflate=is_runner and file.name != "runner") for file in files]
        if is_runner:
            files = (*files, wire.sums_file(files, sent))
            sent.append(await self.literal(files[-1].content))
        return wire.body(job, installed, files, sent, package=package)

    def close(self) -> None:
        """Release the file. Requests under way keep it open."""
        self._literals.clear()
        self._memory = RecentValues(_MEMORY_BYTES)
        self._file = None

    async def _literal_of_blob(self, blob: Blob, encode: _Encode) -> Literal:
        """Encode a blob once, also if several tasks need it at the same time."""
        key = blob.sha256, encode
        async with self._locks.setdefault(key, asyncio.Lock()):
            literal = self._literals.get(key)
            if literal is None:
                async with self._encoders:
                    encoded = await asyncio.to_thread(lambda: encode(read_content(blob)))
                    room = self._reserve(encoded.size)
                    await asyncio.to_thread(_write, encoded.whole(), room)
                    literal = self._literals[key] = replace(encoded, data=room)
        self._locks.pop(key, None)
        return literal

    def _reserve(self, size: int) -> _SpooledBytes:
        """Room in the file for a literal. A new file is started if this one would be too long."""
        if self._file is None or self._end + size > self._max_bytes:
            self._literals.clear()
            self._file, self._end = _new_file(), 0
        offset, self._end = self._end, self._end + size
        return _SpooledBytes(file=self._file, offset=offset, size=size)


def _write(data: bytes, room: _SpooledBytes) -> None:
    rest, at = memoryview(data), room.offset
    try:
        while rest:
            written = os.pwrite(room.file.fileno(), rest, at)
            rest, at = rest[written:], at + written
    except OSError as error:
        raise _no_room(error) from error


def _new_file() -> FileIO:
    try:
        return tempfile.TemporaryFile(buffering=0, prefix="ioi-eval-spool-")
    except OSError as error:
        raise _no_room(error) from error


def _no_room(error: OSError) -> SetupError:
    where = tempfile.gettempdir()
    return SetupError(
        f"serialised test data cannot be kept in {where}: {error.strerror}; free space there or set TMPDIR"
    )
