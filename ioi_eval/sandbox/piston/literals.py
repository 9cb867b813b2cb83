"""The JSON literals of files' contents: each is a text in UTF-8, or base64 of any bytes. Pure."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from typing import Protocol

import orjson

from ioi_eval.fast_dataclass import fast_dataclass

_DEFLATE_LEVEL = 6  # level 1 takes a third of the time, and a program becomes 8 % longer
_MAX_RATIO = 32  # the runner may refuse what becomes longer (above 64 MiB). Source: graders/runner/numbers.h


class Pieces(Protocol):
    """Bytes on disk, which are read piece by piece."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[bytes]: ...


@fast_dataclass
class Literal:
    """The JSON string literal, with its quotes, of a file's content in `utf8` or `base64`; in memory or on disk. `crc`
    is the content's CRC-32. Only the runner reads the deflated form of a content."""

    encoding: str
    data: bytes | Pieces
    crc: int
    deflated: bool = False

    @property
    def size(self) -> int:
        """Its length in bytes."""
        return len(self.data)

    def whole(self) -> bytes:
        """All of it."""
        return self.data if isinstance(self.data, bytes) else b"".join(self.data)


def literal(content: bytes) -> Literal:
    """The shorter of the two exact encodings of a file's content.

    Text is sent as text (test data grows by a few percent; with base64, by a third); invalid UTF-8, and text that is
    mostly control characters, as base64.
    """
    crc = zlib.crc32(content)
    encoded = (len(content) + 2) // 3 * 4 + 2
    try:
        text = orjson.dumps(content.decode("utf-8"))
    except UnicodeDecodeError:
        text = b""
    if text and len(text) <= encoded:
        return Literal(encoding="utf8", data=text, crc=crc)
    return Literal(encoding="base64", data=b'"' + base64.b64encode(content) + b'"', crc=crc)


def deflated(content: bytes) -> Literal:
    """The literal of a file for the runner: of its deflated form, if it would be sent as base64 and that is shorter.

    A program is deflated to two fifths. That takes 50 ns per byte here, once per run, and 5 ns per byte in each job.
    """
    plain = literal(content)
    if plain.encoding == "utf8":
        return plain
    packer = zlib.compressobj(_DEFLATE_LEVEL, wbits=-zlib.MAX_WBITS)
    packed = b"%d\n%b%b" % (len(content), packer.compress(content), packer.flush())
    if not len(content) // _MAX_RATIO < len(packed) < len(content) * 3 // 4:
        return plain
    return Literal(encoding="base64", data=b'"%b"' % base64.b64encode(packed), crc=plain.crc, deflated=True)
