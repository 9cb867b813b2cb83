"""A large content is encoded once, stored in a file without a name, and reused."""

from __future__ import annotations

import asyncio
import base64
import errno
import hashlib
import json
import os
import random
import re
import tempfile
import zlib
from pathlib import Path

import pytest
from yarl import URL

from ioi_eval.errors import LostDataError, SetupError
from ioi_eval.model import Blob
from ioi_eval.sandbox.piston.http_client import HttpClient, Sending
from ioi_eval.sandbox.piston.literals import Literal
from ioi_eval.sandbox.piston.spool import RequestSpool
from ioi_eval.sandbox.piston.wire import Body


def blob(path: Path, content: bytes) -> Blob:
    """Write a content to a file. Returns its blob."""
    path.write_bytes(content)
    return Blob(path=path, size=len(content), sha256=hashlib.sha256(content).hexdigest())


def text_of(literal: Literal) -> str:
    """The text that a server reads from a literal."""
    assert len(literal.whole()) == literal.size
    text: str = json.loads(literal.whole())
    return text


def test_a_blob_is_encoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many callers at the same time get the same literal, and the blob is not read again."""
    content = b"1 2 3\n" * 200_000
    kept = blob(tmp_path / "input", content)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    async def ask() -> None:
        spool = RequestSpool()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(spool.literal(kept)) for _ in range(20)]
        kept.path.unlink()
        literals = {id(task.result()) for task in tasks} | {id(await spool.literal(kept))}
        assert len(literals) == 1
        assert text_of(tasks[0].result()) == content.decode()
        assert os.listdir(tmp_path) == [], "the directory is empty"

    asyncio.run(ask())


def test_a_blob_has_a_deflated_form_beside_its_own(tmp_path: Path) -> None:
    """A checker is deflated once for jobs of the runner; other jobs get it as it is. Text is never deflated."""
    chance = random.Random(1)
    content = b"\xff" + b"".join(chance.choices([b"\x00code", chance.randbytes(8)], k=40_000))
    checker, numbers = blob(tmp_path / "checker", content), blob(tmp_path / "input", b"1 2 3\n" * 50_000)

    async def ask() -> None:
        spool = RequestSpool()
        plain, small = await spool.literal(checker), await spool.literal(checker, may_deflate=True)
        assert small is await spool.literal(checker, may_deflate=True)
        assert (plain.deflated, plain.encoding, base64.b64decode(text_of(plain))) == (False, "base64", content)
        size, _, packed = base64.b64decode(text_of(small)).partition(b"\n")
        assert (small.deflated, int(size), small.crc) == (True, len(content), plain.crc)
        assert zlib.decompress(packed, -zlib.MAX_WBITS) == content
        text = await spool.literal(numbers, may_deflate=True)
        assert (text.deflated, text.encoding) == (False, "utf8")

    asyncio.run(ask())


def test_a_large_content_in_memory_is_encoded_once() -> None:
    """A program that is sent with many jobs is encoded once, in a thread. Small contents are encoded each time."""
    content, small = bytes(range(256)) * 1000, b"#!/bin/bash\n"

    async def ask() -> None:
        spool = RequestSpool()
        first, second = await spool.literal(content), await spool.literal(bytes(content))
        assert first is second
        assert first.encoding == "base64"
        assert text_of(await spool.literal(small)) == small.decode()
        for number in range(400):
            await spool.literal(content + number.to_bytes(2, "big"))
        assert spool._memory.size < 128 << 20, "only the latest are kept"

    asyncio.run(ask())


def test_a_full_file_is_replaced(tmp_path: Path) -> None:
    """A file over its maximum size is replaced by a new one. Literals in the old file stay readable."""
    blobs = [blob(tmp_path / str(number), str(number).encode() * 50_000) for number in range(6)]

    async def ask() -> None:
        spool = RequestSpool(max_bytes=120_000)
        literals = [await spool.literal(each) for each in blobs]
        spool.close()
        for number, literal in enumerate(literals):
            assert text_of(literal) == str(number) * 50_000

    asyncio.run(ask())


def test_a_changed_blob_is_an_error(tmp_path: Path) -> None:
    """A blob that was changed raises SetupError, and one that is missing LostDataError."""
    kept = blob(tmp_path / "input", b"1" * 10_000)
    kept.path.write_bytes(b"2")

    async def ask(blob_to_send: Blob) -> None:
        await RequestSpool().literal(blob_to_send)

    with pytest.raises(SetupError, match="was changed during the run"):
        asyncio.run(ask(kept))
    kept.path.unlink()
    with pytest.raises(LostDataError, match="is gone"):
        asyncio.run(ask(kept))


def test_no_directory_for_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the file cannot be made in the directory for temporary files, the error names it and says what to set."""
    absent = str(tmp_path / "absent")
    monkeypatch.setattr(tempfile, "tempdir", absent)

    async def ask() -> None:
        await RequestSpool().literal(blob(tmp_path / "input", b"1" * 10_000))

    with pytest.raises(SetupError, match=rf"cannot be kept in {re.escape(absent)}: .*set TMPDIR"):
        asyncio.run(ask())


@pytest.mark.parametrize(
    ("number", "message"), [(None, "truncated: is its disk full?"), (errno.EIO, "cannot be read: Input/output error")]
)
def test_a_file_that_cannot_be_read_while_a_job_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int | None, message: str
) -> None:
    """It is an error of this machine with its reason, not a failure of the worker's connection."""

    def pread(*_: int) -> bytes:
        if number is not None:
            raise OSError(number, os.strerror(number))
        return b""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def send() -> None:
        literal = await RequestSpool().literal(blob(tmp_path / "input", b"1 2 3\n"))
        monkeypatch.setattr("ioi_eval.sandbox.piston.spool.os.pread", pread)
        body = Body(segments=(b"{", literal.data), size=1 + literal.size, max_run_s=1.0)
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        url = URL.build(scheme="http", host="127.0.0.1", port=server.sockets[0].getsockname()[1], path="/execute")
        async with server, HttpClient() as client:
            with pytest.raises(SetupError, match=re.escape(message)):
                await client.post(url, Sending(body, 10.0, client), max_bytes=1_000)

    asyncio.run(send())
