"""Packages: a directory, a zip and any tar give the same files. No path leaves the package, and nothing is unpacked."""

from __future__ import annotations

import errno
import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ioi_eval.errors import InputError
from ioi_eval.importers.package import Package, open_package
from tests.importers.packages import as_zip

FILES = {
    "problem.json": b'{"code": "sum"}',
    "tests/1.in": b"1 2\n",
    "tests/2.in": b"\xff\x00" * 100_000,
    "graders/grader.cpp": "// Jürgen\n".encode("latin-1"),
    "graders/sum.h": "// Jürgen\n".encode(),
}
JUNK = {
    "__MACOSX/._problem.json": b"",
    "sum/.DS_Store": b"",
    "sum/tests/._1.in": b"",
    "__MACOSX/sum/problem.json": b"{}",
}


def as_folder(path: Path, files: dict[str, bytes]) -> Path:
    """Write the files below a directory."""
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


def as_tar(mode: str) -> Callable[[Path, dict[str, bytes]], Path]:
    """A function that writes the files to a tar with this compression."""

    def make(path: Path, files: dict[str, bytes]) -> Path:
        with tarfile.open(path, f"w:{mode}") as archive:  # type: ignore[call-overload]
            for name, content in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        return path

    make.__name__ = f"tar_{mode or 'plain'}"
    return make


KINDS = [as_folder, as_zip, as_tar(""), as_tar("gz"), as_tar("xz"), as_tar("bz2")]


def look(package: Package) -> dict[str, bytes]:
    """The contents of all files, read in reverse order."""
    return {name: package.read(name) for name in reversed(package.names())}


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("top", ["", "sum/", "./", "a/b/"])
def test_every_kind_has_the_same_files(
    tmp_path: Path, make: Callable[[Path, dict[str, bytes]], Path], top: str
) -> None:
    """With or without a top directory, and with the files that desktops add."""
    files = {top + name: content for name, content in FILES.items()}
    where = make(tmp_path / "package", {**JUNK, **files})
    with open_package(where) as package:
        assert look(package) == FILES
        assert package.names("tests") == ("tests/1.in", "tests/2.in")
        with pytest.raises(InputError, match=r"1\.in cannot be read: it is 4 bytes, more than such a file"):
            package.read("tests/1.in", 3)
        assert package.json("problem.json") == {"code": "sum"}
        assert package.text("graders/grader.cpp") == package.text("graders/sum.h") == "// Jürgen\n"


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "sum/../../evil", "..\\evil", "sum/a/../../../x"])
@pytest.mark.parametrize("make", [as_zip, as_tar("")], ids=lambda make: make.__name__)
def test_paths_outside_of_the_package_end_the_import(
    tmp_path: Path, make: Callable[[Path, dict[str, bytes]], Path], name: str
) -> None:
    """The message has the path. The archive is not read any further."""
    where = make(tmp_path / "package", {"problem.json": b"{}", name: b"x"})
    with pytest.raises(InputError, match=r"which leads out of the package"), open_package(where):
        raise AssertionError("opened")


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_packages_of_every_kind_may_be_equally_deep(
    tmp_path: Path, make: Callable[[Path, dict[str, bytes]], Path]
) -> None:
    """Files may be below 64 directories, and not below more."""
    deepest = "d/" * 64 + "x"
    with open_package(make(tmp_path / "1", {"problem.json": b"{}", deepest: b""})) as package:
        assert package.has(deepest)
    where = make(tmp_path / "2", {"problem.json": b"{}", f"d/{deepest}": b""})
    with pytest.raises(InputError, match="is deeper than 64 directories"), open_package(where):
        raise AssertionError("opened")


@pytest.mark.parametrize("name", ["tests/1\n.in", "tests/\x1b[31m.in", "tests/\udcff.in", "a\x85b/1.in"])
@pytest.mark.parametrize("make", [as_folder, as_zip, as_tar("")], ids=lambda make: make.__name__)
def test_names_that_are_not_text_end_the_import(
    tmp_path: Path, make: Callable[[Path, dict[str, bytes]], Path], name: str
) -> None:
    """Neither a terminal nor a row can contain them. The message itself can be displayed."""
    if make is as_zip and "\udcff" in name:
        pytest.skip("zipfile writes names as UTF-8 only")
    where = make(tmp_path / "package", {"problem.json": b"{}", name: b"x"})
    with pytest.raises(InputError, match="whose name is not plain text") as caught, open_package(where):
        raise AssertionError("opened")
    assert str(caught.value).isprintable()


def test_names_in_any_script_are_accepted(tmp_path: Path) -> None:
    """Authors use names in their languages, and desktops put unusual blanks into names."""
    files = {
        "problem.json": b"{}",
        "solutions/correct/José Å.cpp": b"",
        "statement/at 3.04\u202fPM.png": b"",
        "Icon\r": b"",
    }
    with open_package(as_folder(tmp_path / "package", files)) as package:
        assert len(package.names()) == 3


def test_zips_with_unflagged_names_in_utf8(tmp_path: Path) -> None:
    """`zip` on Linux and the archiver of macOS write UTF-8 without the flag that says so. Names in cp437 stay."""
    inner = without_flags(as_zip(tmp_path / "inner.zip", {"wyjście.txt": b"5"}))
    files = {"problem.json": b"{}", "tests/Größe ż.in": b"1", "all.zip": inner}
    path = tmp_path / "package.zip"
    path.write_bytes(without_flags(as_zip(path, files)).replace("ß".encode(), b"\xe1s"))
    with open_package(path) as package:
        assert package.names("tests") == ("tests/Gr├╢ßse ┼╝.in",)
    path.write_bytes(without_flags(as_zip(path, files)))
    with open_package(path) as package:
        assert package.read("tests/Größe ż.in") == b"1"
        assert list(package.files_of_zip("all.zip", lambda name: name == "wyjście.txt")) == [("wyjście.txt", b"5")]


def without_flags(path: Path) -> bytes:
    """A zip whose entries do not say that their names are UTF-8."""
    content = bytearray(path.read_bytes())
    for header, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        start = content.find(header)
        while start >= 0:
            content[start + flags + 1] &= ~8
            start = content.find(header, start + 1)
    return bytes(content)


def test_links_in_archives_are_ignored(tmp_path: Path) -> None:
    """A link could make a file of this machine appear as one of the package."""
    with tarfile.open(tmp_path / "p.tar", "w") as archive:
        info = tarfile.TarInfo("problem.json")
        info.size = 2
        archive.addfile(info, io.BytesIO(b"{}"))
        link = tarfile.TarInfo("tests/1.in")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as zipped:
        zipped.writestr("problem.json", "{}")
        entry = zipfile.ZipInfo("tests/1.in")
        entry.external_attr = 0o120777 << 16
        zipped.writestr(entry, "/etc/passwd")
    for name in ("p.tar", "p.zip"):
        with open_package(tmp_path / name) as package:
            assert package.names() == ("problem.json",)
            with pytest.raises(InputError, match=r"tests/1\.in is a link; unpack"):
                package.read("tests/1.in")


def test_dangling_link_in_a_directory(tmp_path: Path) -> None:
    """The message has its target. TPS directories link `testlib.h` to a submodule that is easily forgotten."""
    as_folder(tmp_path, {"problem.json": b"{}"})
    os.symlink("../tps/testlib.h", tmp_path / "testlib.h")
    with open_package(tmp_path) as package, pytest.raises(InputError, match=r"a link to \.\./tps/testlib\.h, which is"):
        package.read("testlib.h")


@pytest.mark.parametrize("make", KINDS[1:], ids=lambda make: make.__name__)
def test_truncated_archive(tmp_path: Path, make: Callable[[Path, dict[str, bytes]], Path]) -> None:
    """A download that was cut at any byte gives an error of ours."""
    noise = {f"noise/{n}": os.urandom(20_000) for n in range(20)}
    whole = make(tmp_path / "whole", {**FILES, **noise}).read_bytes()
    for part in (0.02, 0.3, 0.6, 0.9):
        where = tmp_path / f"part{part}"
        where.write_bytes(whole[: int(len(whole) * part)])
        with pytest.raises(InputError, match=str(where)), open_package(where) as package:
            look(package)


def test_damaged_member(tmp_path: Path) -> None:
    """If a checksum differs, the message has the file inside."""
    where = as_zip(tmp_path / "p.zip", {"problem.json": b"{}", "tests/1.in": os.urandom(1000)})
    content = bytearray(where.read_bytes())
    content[content.index(b"tests/1.in") + 500] ^= 0xFF
    where.write_bytes(content)
    with open_package(where) as package, pytest.raises(InputError, match=r"tests/1\.in cannot be read"):
        package.read("tests/1.in")


@pytest.mark.parametrize(
    ("at", "value", "words"),
    [(6, 99, "zip file version 9.9"), (46, 0xFF, "can't decode byte")],
    ids=["version", "name"],
)
def test_a_zip_with_a_damaged_directory(tmp_path: Path, at: int, value: int, words: str) -> None:
    """A version of the future, and a name that is not UTF-8 although its flag says so; also in a zip inside."""
    content = bytearray(as_zip(tmp_path / "p.zip", {"é.json": b"{}"}).read_bytes())
    content[content.index(b"PK\x01\x02") + at] = value
    (tmp_path / "p.zip").write_bytes(content)
    with pytest.raises(InputError, match=words), open_package(tmp_path / "p.zip"):
        pass
    as_folder(tmp_path / "d", {"problem.json": b"{}", "inner.zip": bytes(content)})
    with open_package(tmp_path / "d") as package, pytest.raises(InputError, match=words):
        list(package.files_of_zip("inner.zip", lambda _: True))


def test_a_file_without_a_name_is_not_in_the_package(tmp_path: Path) -> None:
    """A name that begins with a zero byte is empty for Python."""
    content = bytearray(as_zip(tmp_path / "p.zip", {"problem.json": b"{}", "x": b""}).read_bytes())
    content[content.rindex(b"PK\x01\x02") + 46] = 0
    (tmp_path / "p.zip").write_bytes(content)
    with open_package(tmp_path / "p.zip") as package:
        assert package.names() == ("problem.json",)


def test_a_full_disk_is_not_the_package_s_error(tmp_path: Path) -> None:
    """An error of whoever reads the package is passed on."""
    as_folder(tmp_path, {"problem.json": b"{}"})
    with pytest.raises(OSError, match="No space left"), open_package(tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("start", ["<!--", "<![CDATA["])
def test_comments_without_an_end_take_linear_time(start: str, tmp_path: Path) -> None:
    """A megabyte of them kept an import busy for ten minutes."""
    as_folder(tmp_path, {"problem.json": b"{}", "problem.xml": (start * (1_000_000 // len(start))).encode()})
    with open_package(tmp_path) as package, pytest.raises(InputError, match=r"problem\.xml"):
        package.xml("problem.xml")


def test_encrypted_member(tmp_path: Path) -> None:
    """An archive with a password gives an error and no traceback."""
    where = as_zip(tmp_path / "p.zip", {"problem.json": b"{}"})
    content = bytearray(where.read_bytes())
    content[6] |= 1  # the flag in the local header
    content[content.index(b"PK\x01\x02") + 8] |= 1
    where.write_bytes(content)
    with open_package(where) as package, pytest.raises(InputError, match=r"problem\.json cannot be read.*password"):
        package.read("problem.json")


def test_too_large_member(tmp_path: Path) -> None:
    """A file that expands to gigabytes is refused by its stated size, before it is read."""
    with (tmp_path / "problem.json").open("wb") as file:
        file.truncate(1024 * 1024 * 1024 + 1)
    with open_package(tmp_path) as package, pytest.raises(InputError, match="more than such a file may be"):
        package.read("problem.json")


def test_other_files_are_no_packages(tmp_path: Path) -> None:
    """Another file, a directory without `problem.json`, and a directory with several packages."""
    (tmp_path / "x.pdf").write_bytes(b"%PDF")
    with pytest.raises(InputError, match="neither a directory nor a zip or tar"), open_package(tmp_path / "x.pdf"):
        pass
    with pytest.raises(InputError, match=r"holds no problem\.json"), open_package(tmp_path):
        pass
    as_folder(tmp_path, {"a/problem.json": b"{}", "b/problem.json": b"{}", "a/deeper/problem.json": b"{}"})
    with pytest.raises(InputError, match=r"holds several packages \(a, b\)"), open_package(tmp_path):
        pass


def test_deeper_packages_are_named(tmp_path: Path) -> None:
    """The outermost package is meant if others lie deeper. Those below its own directory belong to it."""
    as_folder(tmp_path, {"a/problem.json": b"{}", "a/samples/b/problem.json": b"{}", "day2/c/problem.json": b"{}"})
    with open_package(tmp_path) as package:
        assert package.notes == ["other packages, which are not imported: day2/c; give them one by one"]
    with open_package(tmp_path / "a") as package:
        assert package.notes == []


def test_a_directory_of_many_packages(tmp_path: Path) -> None:
    """A repository of hundreds of problems. The message names ten."""
    as_folder(tmp_path, {f"{number:02}/info.toml": b"" for number in range(20)})
    words = r"holds several packages \(00, 01.* 09 and 10 more\); give them one by one"
    with pytest.raises(InputError, match=words), open_package(tmp_path, "info.toml"):
        pass


def test_an_archive_of_archives(tmp_path: Path) -> None:
    """As contests publish them. The message names the packages."""
    as_folder(tmp_path, {"day1/fish.zip": b"PK", "day2/towns.tar.gz": b"", "notes.pdf": b""})
    words = r"holds no problem\.json.*; it holds archives \(day1/fish\.zip, day2/towns\.tar\.gz\): import these"
    with pytest.raises(InputError, match=words), open_package(tmp_path):
        pass


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "is not JSON"),
        (b"[]", "is not a JSON object"),
        (b'{"a": ' + b"[" * 100 + b"1" + b"]" * 100 + b"}", "is nested more than 100 deep"),
        (b'{"a": ' * 900 + b"1" + b"}" * 900, "is nested more than 100 deep"),
    ],
    ids=["syntax", "list", "deep", "deeper"],
)
def test_invalid_json(tmp_path: Path, content: bytes, words: str) -> None:
    """The message has the file and the package."""
    as_folder(tmp_path, {"problem.json": content})
    with open_package(tmp_path) as package, pytest.raises(InputError, match=rf"{tmp_path}: problem\.json {words}"):
        package.json("problem.json")
