"""The journal's bytes. Pure: no file is opened here.

The package's docstring defines the format and gives the reasons.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b

from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.model import ProblemKey

MAGIC = b"ioi-eval journal 1\n"
"""The first line of every journal; the number is the version of the format."""

_HEAD = re.compile(rb"([0-9a-f]{8}) ([0-9]{1,12}) ([0-9]{1,18}) ([hrfc]) ([0-9a-f]{32}) ([0-9a-f]{32}) ")
_NONE = bytes(16)


class RecordKind(StrEnum):
    """The kind of a record."""

    RUN = "h"  # a run began here, with these options
    RESULT = "r"  # the result of a submission
    FINAL_JE = "f"  # no score, and no retry unless the user asks for it
    COPY = "c"  # the same program as another submission's: the first result under its program key counts


_KINDS = {kind.value.encode(): kind for kind in RecordKind}


@fast_dataclass
class Keys:
    """The keys by which a record is found: of the submission, its problem, and how it is judged; and of the program and
    how it is judged, for all submissions with that program."""

    submission: bytes
    program: bytes


@fast_dataclass
class Frame:
    """The position of one complete record: of its first byte (`offset`), of its JSON (`body`), and one past its
    newline (`end`). `safe` bytes of the file were known to be on disk when it was written."""

    offset: int
    body: int
    end: int
    safe: int
    kind: RecordKind
    keys: Keys


NO_KEYS = Keys(submission=_NONE, program=_NONE)


def keys_of(problem: ProblemKey | str, submission: str, fingerprint: str, *, found_by: Sequence[str] = ()) -> Keys:
    """The keys of a submission's record; its id need be unique only within its problem. The fingerprint is a hash of
    everything that determines the outcome, including the program; `found_by` is how that was found and changed."""
    text = f"{_name_of(problem)}\0{fingerprint}"
    return Keys(submission=_digest("\0".join((text, submission, *found_by))), program=_digest_of_program(text))


def encode(kind: RecordKind, keys: Keys, body: bytes, *, safe: int) -> bytes:
    """The bytes of one record: `body` is JSON on one line; `safe` bytes of the file are known to be on disk."""
    head = f"{len(body)} {safe} {kind.value} {keys.submission.hex()} {keys.program.hex()} ".encode()
    return b"%08x %b%b\n" % (zlib.crc32(body, zlib.crc32(head)), head, body)


def frame_at(buffer: bytes | memoryview, at: int = 0, *, base: int = 0) -> Frame | None:
    """The record that begins at a position of the buffer, whose own offset in the file is `base`; `None` if there is
    no complete, undamaged one."""
    head = _HEAD.match(buffer, at)
    if head is None:
        return None
    body, end = head.end(), head.end() + int(head[2])
    if end >= len(buffer) or buffer[end : end + 1] != b"\n":
        return None
    if zlib.crc32(buffer[at + 9 : end]) != int(head[1], 16):
        return None
    return Frame(
        offset=base + at,
        body=base + body,
        end=base + end + 1,
        safe=int(head[3]),
        kind=_KINDS[head[4]],
        keys=Keys(submission=bytes.fromhex(head[5].decode()), program=bytes.fromhex(head[6].decode())),
    )


def record_length(buffer: bytes) -> int | None:
    """The length of the record that begins here, newline included; `None` if no record begins here."""
    match = _HEAD.match(buffer)
    return None if match is None else match.end() + int(match[2]) + 1


def after_magic(buffer: memoryview, at: int) -> int:
    """The position of the next record: after the first lines of other journals, if a user joined several."""
    while buffer[at : at + len(MAGIC)] == MAGIC:
        at += len(MAGIC)
    return at


def starts(buffer: memoryview) -> list[int]:
    """The offsets of first lines: one, unless a user joined several journals. A record's JSON has no raw newline."""
    return [line.start() for line in re.finditer(re.escape(MAGIC), buffer)]


def whole_frames(buffer: memoryview, at: int) -> Iterator[Frame]:
    """The records from a position on, up to the first bytes that are not a record."""
    at = after_magic(buffer, at)
    while (frame := frame_at(buffer, at)) is not None:
        yield frame
        at = after_magic(buffer, frame.end)


def frames_beyond(buffer: memoryview, at: int) -> Iterator[Frame]:
    """Complete records after damaged bytes: each begins after a newline."""
    for newline in re.finditer(rb"\n", buffer[at:]):
        frame = frame_at(buffer, at + newline.end())
        if frame is not None:
            yield frame


def name_key(problem: ProblemKey | str, submission: str) -> bytes:
    """A key of problem and submission id alone, whatever the program and however it is judged."""
    return _digest(f"{_name_of(problem)}\0{submission}")


def _name_of(problem: ProblemKey | str) -> str:
    return problem if isinstance(problem, str) else f"{problem.year}\0{problem.id}"


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


_digest_of_program = lru_cache(maxsize=4096)(_digest)
