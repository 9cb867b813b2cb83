"""The files of a request, as a server writes them, and as the runner finds them."""

from __future__ import annotations

import base64
import zlib
from typing import Any
from urllib.parse import unquote

from ioi_eval.sandbox.piston import wire


def content(file: dict[str, str]) -> bytes:
    """The bytes of a file, as a server writes it."""
    if file["encoding"] == "base64":
        return base64.b64decode(file["content"], validate=True)
    return file["content"].encode()


def arrived(request: dict[str, Any]) -> dict[str, bytes]:
    """The files of a job for the runner, as it finds them."""
    files = {file["name"]: content(file) for file in request["files"]}
    rest = files.pop(wire.PACKED, b"")
    while rest:
        header, _, rest = rest.partition(b"\n")
        size, _, name = header.partition(b" ")
        files[unquote(name.decode())], rest = rest[: int(size)], rest[int(size) :]
    for name in [name for name in files if name.endswith(wire.DEFLATED)]:
        size, _, packed = files.pop(name).partition(b"\n")
        files[name.removesuffix(wire.DEFLATED)] = unpacked = zlib.decompress(packed, -zlib.MAX_WBITS)
        assert len(unpacked) == int(size)
    return files
