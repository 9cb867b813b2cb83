"""Reads which files a tar holds that is not trusted, in limited memory.

`tarfile` reads a header into memory whatever its size, and keeps all parts of a sparse file. So each header is checked
when it reads it. (To go through the headers before would not do: there are several ways to state where the next one
begins, and we would have to understand each of them as `tarfile` does.)
"""

from __future__ import annotations

import contextlib
import re
import tarfile
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import IO

from ioi_eval.errors import InputError

_LARGEST_HEADER = 1 << 20
_ALL_HEADERS = 512 << 20
_BLOCK = 512
_RECORD = re.compile(rb"([0-9]+) [^=]+=")
_MANY_DIGITS = re.compile(rb"[0-9]{1000}")
"""Python before 3.12.6 looks for numbers in a header in quadratic time (CVE-2024-6232)."""
_PAX = frozenset({tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE})
_WITH_CONTENT = _PAX | {tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK}


def tar_members(file: IO[bytes] | BufferedIOBase, where: Path | str) -> Iterator[tarfile.TarInfo]:
    """The members of a tar that is not compressed. Their contents begin at `offset_data`; the file may be read there
    meanwhile.

    Raises:
        InputError: a header is too large, or a member is a sparse file.
        tarfile.TarError: it is damaged.
    """
    try:
        with tarfile.open(fileobj=_Headers(file, where), mode="r:") as archive:
            for member in archive:
                if member.size < 0 or member.issparse():
                    raise tarfile.ReadError(f"{member.name} has a size of {member.size:,} bytes, or is sparse")
                member.pax_headers = {}  # each has a copy of all headers that apply to the whole archive
                yield member
    except (ValueError, OverflowError, RecursionError) as error:
        raise tarfile.ReadError(f"it has a damaged header: {error}") from error


class _Headers:
    """A file of which `tarfile` reads only headers, and the contents of headers about the next one."""

    def __init__(self, file: IO[bytes] | BufferedIOBase, where: Path | str) -> None:
        self._file, self._where = file, where
        self._count = 0
        self._kind = b""  # of the header whose content is read next; empty if a header is
        self.seek, self.tell, self.close = file.seek, file.tell, file.close

    def read(self, size: int) -> bytes:
        """Part of the file. Raises InputError if no proper archive has it there."""
        if not 0 <= size <= _LARGEST_HEADER:
            raise self._refusal(f"a header of {size:,} bytes")
        self._count += size
        if self._count > _ALL_HEADERS:
            raise self._refusal(f"headers of more than {_ALL_HEADERS:,} bytes")
        content = self._file.read(size)
        if self._kind:
            if self._kind in _PAX:
                self._check_records(content)
            self._kind = b""
        elif len(content) == _BLOCK:
            self._check_header(content)
        return content

    def write(self, content: bytes) -> int:
        """Not used: a tar that is read is not written."""
        raise NotImplementedError

    def _check_header(self, block: bytes) -> None:
        with contextlib.suppress(tarfile.TarError):  # tarfile raises it again, or takes it for the end
            kind = tarfile.TarInfo.frombuf(block, "utf-8", "replace").type
            if kind == tarfile.GNUTYPE_SPARSE:
                raise self._sparse()
            self._kind = kind if kind in _WITH_CONTENT else b""

    def _check_records(self, content: bytes) -> None:
        """Refuse records that overlap: of `2 2 2 2 …=`, each `2 ` begins one, whose name is the rest."""
        if b"GNU.sparse." in content:
            raise self._sparse()
        if _MANY_DIGITS.search(content):
            raise self._refusal("a header with a number of 1,000 digits")
        at = 0
        while record := _RECORD.match(content, at):
            at += int(record[1])
            if at <= record.end() or content[at - 1 : at] != b"\n":
                raise self._refusal("a header with records of wrong lengths")

    def _refusal(self, what: str) -> InputError:
        return InputError(f"{self._where} has {what}, which no archive needs; it is not opened")

    def _sparse(self) -> InputError:
        return InputError(f"{self._where} holds a sparse file; unpack it, or make it without (GNU tar: no --sparse)")
