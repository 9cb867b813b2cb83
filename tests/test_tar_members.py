"""A tar that is not trusted: listing its files takes limited memory and time, whatever its headers state."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from ioi_eval.errors import InputError
from ioi_eval.importers.package import open_package
from ioi_eval.tar_members import tar_members

END = bytes(1024)


def header(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0) -> bytes:
    """A header alone."""
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, size
    return info.tobuf(tarfile.GNU_FORMAT)


def padded(content: bytes) -> bytes:
    """The content with zeros up to whole blocks."""
    return content + bytes(-len(content) % 512)


def member(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE) -> bytes:
    """A header and its content."""
    return header(name, kind, len(content)) + padded(content)


def record(key: str, value: object) -> bytes:
    """A record of a pax header."""
    text = f" {key}={value}\n".encode()
    length = len(text)
    while length != len(text) + len(str(length)):
        length = len(text) + len(str(length))
    return b"%d%s" % (length, text)


def pax(records: Mapping[str, object], kind: bytes = tarfile.XHDTYPE) -> bytes:
    """A pax header."""
    return member("pax", b"".join(record(key, value) for key, value in records.items()), kind)


def names(content: bytes) -> list[str]:
    """The names of its members."""
    return [info.name for info in tar_members(io.BytesIO(content), "p.tar")]


LARGE = 512 + (64 << 20)
"""The size of what `large` makes."""


def large() -> bytes:
    """A large header. Each process that collects the tests would make a constant, and keep it."""
    return header("pax", tarfile.XHDTYPE, 64 << 20) + bytes(64 << 20)


@pytest.mark.parametrize(
    "before",
    [
        b"",
        header("directory", tarfile.DIRTYPE, LARGE),
        pax({"size": 512}) + header("file", size=512 + LARGE) + bytes(512),
        pax({"size": 0}, tarfile.XGLTYPE) + pax({"a": "b"}) + header("file", size=LARGE),
    ],
    ids=["plain", "behind-a-directory", "behind-a-pax-size", "behind-a-global-size"],
)
def test_a_large_header_is_not_read(before: bytes) -> None:
    """It may lie in what another header calls its content: `tarfile` does not skip the content of a directory, and a
    record of a pax header may replace a size.
    """
    with pytest.raises(InputError, match="has a header of 67,108,864 bytes"):
        names(before + large() + END)


def test_all_headers_together_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be many that are small enough."""
    monkeypatch.setattr("ioi_eval.tar_members._ALL_HEADERS", 4096)
    assert names(member("a") * 4 + END) == ["a"] * 4
    with pytest.raises(InputError, match="has headers of more than 4,096 bytes"):
        names(member("n" * 1000, b"n" * 1000, tarfile.GNUTYPE_LONGNAME) * 3 + member("a") + END)


@pytest.mark.parametrize(
    "content",
    [
        pax({"GNU.sparse.map": "0,0", "GNU.sparse.size": -(1 << 45)}) + member("a"),
        pax({"GNU.sparse.map": "a,b"}) + member("a"),
        pax({"GNU.sparse.size": "zz"}) + member("a"),
        pax({"GNU.sparse.major": 1, "GNU.sparse.minor": 0}) + member("a", b"1\n0\n0\n"),
        header("a", tarfile.GNUTYPE_SPARSE),
    ],
    ids=["negative", "map", "size", "major", "old"],
)
def test_sparse_files_are_refused(content: bytes) -> None:
    """Their sizes on disk and in memory have nothing to do with each other."""
    with pytest.raises(InputError, match=r"p\.tar holds a sparse file"):
        names(content + END)


@pytest.mark.parametrize(
    "content",
    [
        pax({"size": "9" * 26}) + member("a") + member("b"),
        pax({"size": -512}) + member("a") + member("b"),
        pax({"size": -1024}, tarfile.XGLTYPE) + member("a"),
        pax({"a": "b"}) * 2000 + member("a"),
        member("a", b"content")[:700],
    ],
    ids=["long-size", "negative-size", "global-size", "nested", "cut-off"],
)
def test_damage(content: bytes) -> None:
    """It is one kind of error."""
    with pytest.raises(tarfile.TarError):
        names(content)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"2 " * 1000 + b"=", "records of wrong lengths"), (b"9" * 2000, "a number of 1,000 digits")],
    ids=["overlapping", "digits"],
)
def test_pax_headers_whose_records_take_quadratic_time(content: bytes, words: str) -> None:
    """`tarfile` keeps each record, or looks for the end of the number from each digit."""
    with pytest.raises(InputError, match=words):
        names(member("pax", content, tarfile.XHDTYPE) + member("a") + END)


def test_long_names_and_proper_records() -> None:
    """What programs write. A size that a pax header repeats is one of them."""
    long = "d/" * 200 + "a"
    content = pax({"comment": "0" * 40}, tarfile.XGLTYPE) + pax({"size": 3, "path": "ü"}) + member("u", b"abc")
    content += member("././@LongLink", long.encode() + b"\0", tarfile.GNUTYPE_LONGNAME) + member(long[:99], b"x" * 512)
    content += member("last")
    members = list(tar_members(io.BytesIO(content + END), "p.tar"))
    assert [info.name for info in members] == ["ü", long, "last"]
    assert [content[info.offset_data :][: info.size] for info in members] == [b"abc", b"x" * 512, b""]
    assert not any(info.pax_headers for info in members)


def test_a_package_with_a_hidden_header(tmp_path: Path) -> None:
    """Importers read the members so."""
    with gzip.open(tmp_path / "p.tgz", "wb") as file:
        file.write(pax({"size": 0}) + header("problem.json", size=LARGE) + large() + END)
    with pytest.raises(InputError, match=r"p\.tgz has a header of 67,108,864 bytes"), open_package(tmp_path / "p.tgz"):
        raise AssertionError("opened")


def test_a_package_with_a_damaged_header(tmp_path: Path) -> None:
    """The message says that the archive is damaged."""
    (tmp_path / "p.tar").write_bytes(pax({"size": "9" * 26}) + member("problem.json") + END)
    with pytest.raises(InputError, match=r"p\.tar is damaged or cut off"), open_package(tmp_path / "p.tar"):
        raise AssertionError("opened")
