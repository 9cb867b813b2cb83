"""A downloaded package: it cannot read files of this machine, and needs limited time, memory and disk space."""

from __future__ import annotations

import ast
import bz2
import gzip
import io
import lzma
import os
import shutil
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

import ioi_eval.importers
from ioi_eval.errors import InputError, SetupError
from ioi_eval.importers import italian_yaml, kattis, library_checker, package_files
from ioi_eval.importers.package import Package, open_package
from ioi_eval.importers.package_files import open_files
from tests.importers.packages import put_socket, write_package
from tests.row_files import LFS_POINTER
from tests.selecting import where_digits_are_limited

IMPORTERS = Path(ioi_eval.importers.__file__).parent
OPENS = frozenset(
    {"open", "fdopen", "read_bytes", "read_text", "ZipFile", "is_zipfile", "TarFile", "safe_load", "load"}
)
PLACES = frozenset({"zipfile", "tarfile", "gzip", "bz2", "lzma", "os", "shutil", "subprocess", "fcntl", "tempfile"})


@pytest.mark.parametrize("path", sorted(IMPORTERS.glob("*.py")), ids=lambda path: path.name)
def test_one_module_opens_files(path: Path) -> None:
    """`package_files.py` reads packages, `rows_out.py` opens what it writes. All other modules use `Package`.

    (`name_patterns.py` starts an interpreter, which reads no file of the package. `polygon_tests.py` keeps the tests
    that it makes in a temporary directory, and reads these again.)
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = {func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "") for func in calls}
    imported = {alias.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names}
    imported |= {str(node.module).split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    if path.name == "package_files.py":
        assert named & OPENS
    elif path.name == "rows_out.py":
        assert named & OPENS == {"open"}
        assert imported & PLACES == {"fcntl", "os"}
    elif path.name == "polygon_tests.py":
        assert named & OPENS == {"read_bytes"}
        assert imported & PLACES == {"tempfile"}
    else:
        assert not named & OPENS
        assert imported & PLACES <= ({"subprocess"} if path.name == "name_patterns.py" else set())


def secret(tmp_path: Path) -> Path:
    """A file outside of the package."""
    path = tmp_path / "secret"
    path.write_text("root:secret:1:")
    return path


def fifo(tmp_path: Path, at: Path) -> None:
    """Create a FIFO, on which a reader would wait forever."""
    os.mkfifo(at)


def device(tmp_path: Path, at: Path) -> None:
    """Create a link to a file without an end."""
    at.symlink_to("/dev/zero")


def to_a_secret(tmp_path: Path, at: Path) -> None:
    """Create a link to another file of this machine."""
    at.symlink_to(secret(tmp_path))


def to_a_secret_by_dots(tmp_path: Path, at: Path) -> None:
    """Create the same link with a relative path."""
    secret(tmp_path)
    at.symlink_to("../" * (len(at.relative_to(tmp_path).parts) - 1) + "secret")


def to_a_fifo_inside(tmp_path: Path, at: Path) -> None:
    """Create a link to a FIFO inside the package."""
    os.mkfifo(at.with_name("the-fifo"))
    at.symlink_to("the-fifo")


def a_socket(tmp_path: Path, at: Path) -> None:
    """Create a socket."""
    put_socket(at)


def to_itself(tmp_path: Path, at: Path) -> None:
    """Create a link to itself."""
    at.symlink_to(at.name)


TRAPS = [fifo, device, to_a_secret, to_a_secret_by_dots, to_a_fifo_inside, a_socket, to_itself]


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.__name__)
def test_other_files_must_be_regular_files(tmp_path: Path, trap: Callable[[Path, Path], None]) -> None:
    """Tests and sources."""
    where = tmp_path / "package"
    (where / "tests").mkdir(parents=True)
    (where / "problem.json").write_text("{}")
    trap(tmp_path, where / "tests" / "1.in")
    with open_package(where) as package:
        for ask in (package.read, package.text):
            with pytest.raises(InputError, match=r"tests/1\.in cannot be read: "):
                ask("tests/1.in")


@pytest.mark.parametrize("kind", ["folder", "zip", "tar"])
def test_a_git_lfs_pointer_is_no_test_data(tmp_path: Path, kind: str) -> None:
    """A package that was cloned without Git LFS has pointers as inputs and answers."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "1.in").write_bytes(LFS_POINTER)
    where = package if kind == "folder" else Path(shutil.make_archive(str(package), kind, package))
    with (
        open_files(where) as files,
        pytest.raises(InputError, match=r"1\.in is a pointer of Git LFS, .*; run `git lfs pull`"),
    ):
        files.read(next(member for name, member in files.members.items() if name.endswith("1.in")), "1.in")


def test_a_package_that_is_a_git_lfs_pointer(tmp_path: Path) -> None:
    """The archive itself is a pointer."""
    path = tmp_path / "package.zip"
    path.write_bytes(LFS_POINTER)
    with pytest.raises(InputError, match=r"package\.zip is a pointer of Git LFS"), open_files(path):
        raise AssertionError("opened")


def test_links_inside_a_package_are_followed(tmp_path: Path) -> None:
    """Links to its files and directories, as authors make them. The package itself may be a link."""
    where = tmp_path / "package"
    (where / "tests").mkdir(parents=True)
    (where / "problem.json").write_text("{}")
    (where / "tests" / "1.in").write_text("1")
    (where / "tests" / "2.in").symlink_to("1.in")
    (where / "more").symlink_to("tests")
    (tmp_path / "link").symlink_to("package")
    with open_package(tmp_path / "link") as package:
        assert package.read("tests/2.in") == package.read("more/2.in") == b"1"


def test_a_directory_outside_is_not_read(tmp_path: Path) -> None:
    """Neither `/` nor the parent directory. The message has the link, because its files would be missing."""
    where = tmp_path / "package"
    where.mkdir()
    (where / "problem.json").write_text("{}")
    (where / "all").symlink_to("/")
    (where / "tests").symlink_to(tmp_path)
    secret(tmp_path)
    with open_package(where) as package:
        assert package.names() == ("problem.json",)
        with pytest.raises(InputError, match=r"tests is a link that leads out of the package; .*cp -rL"):
            package.refuse_links("tests")


def test_files_of_git_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package may be a clone, with more files in `.git` than a package may have."""
    where = write_package(tmp_path / "p", {"problem.json": "{}", **{f".git/objects/{n}": "" for n in range(9)}})
    monkeypatch.setattr(package_files, "_MAX_ENTRIES", 5)
    with open_package(where) as package:
        assert package.names() == ("problem.json",)


def test_the_number_of_linked_paths_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 20 directories has two links to the next: 2^20 paths."""
    for level in range(20):
        folder = tmp_path / f"p/{level:02}"
        folder.mkdir(parents=True)
        for name in "ab":
            (folder / name).symlink_to(f"../{level + 1:02}")
    (tmp_path / "p/20").mkdir()
    (tmp_path / "p/problem.json").write_text("{}")
    monkeypatch.setattr(package_files, "_MAX_ENTRIES", 400)
    with pytest.raises(InputError, match="holds over 400 files"), open_package(tmp_path / "p"):
        raise AssertionError("opened")


def test_the_depth_of_directories_is_limited(tmp_path: Path) -> None:
    """The recursion ends with an error."""
    deep = tmp_path / "p" / "/".join("d" * 200)
    deep.mkdir(parents=True)
    with pytest.raises(InputError, match="deeper than 64"), open_package(tmp_path / "p"):
        raise AssertionError("opened")


BOMB = (
    "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"{now}: &{now} [{', '.join([f'*{before}'] * 10)}]\n" for before, now in pairwise("abcdefghi"))
    + "name: *i\n"
)
MERGED = "a: &a {x: 1}\n" + "".join(
    f"{now}: &{now} {{<<: [{', '.join([f'*{before}'] * 10)}]}}\n" for before, now in pairwise("abcdefghi")
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, r"stands for [\d,]{13} values by its aliases; write the values"),
        (MERGED, r"stands for [\d,]+ values by its aliases"),
        ("a: &a [*a]\n", "stands for infinitely many values"),
        ("a: &a {b: *a}\n", "stands for infinitely many values"),
        ("[" * 50_000, "is not YAML"),
        ("a: " + "9" * 500_000, "has a number of over 1,000 digits"),
        ("a: 1" + ":59" * 300_000, "has a number of over 1,000 digits"),
        ("a: [1, {b: 0x" + "f" * 2_000 + "}]", "has a number of over 1,000 digits"),
        ("a: 2001-99-99\n", "is not YAML"),
        ("x: " + "y" * (1 << 20), r"more than such a file may be"),
        ("a: !!python/object/apply:os.system [id]\n", "is not YAML"),
        ('a: !!int ""\n', "is not YAML"),
        ('a: !!bool "x"\n', "is not YAML"),
        ('a: !!timestamp "x"\n', "is not YAML"),
    ],
    ids=[
        *("aliases", "merges", "itself", "itself-named", "deep", "number", "base-60", "hexadecimal"),
        *("date", "large", "python", "no-int", "no-bool", "no-time"),
    ],
)
def test_yaml_that_expands_too_much(tmp_path: Path, text: str, words: str) -> None:
    """It is refused before its values are created."""
    (tmp_path / "task.yaml").write_text(text)
    with open_package(tmp_path, "task.yaml") as package, pytest.raises(InputError, match=words):
        package.yaml("task.yaml")


def test_yaml_with_a_few_aliases(tmp_path: Path) -> None:
    """Authors use a few, and they are accepted."""
    (tmp_path / "task.yaml").write_text("base: &base {memory: 1, time: 2}\nlimits: {<<: *base, time: 3}\n")
    with open_package(tmp_path, "task.yaml") as package:
        assert package.yaml("task.yaml")["limits"] == {"memory": 1, "time": 3}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = " + "[" * 50_000, "is not TOML"),
        ("a = 2001-99-99", "is not TOML"),
        pytest.param("a = " + "9" * 5_000, "is not TOML", marks=where_digits_are_limited),
        ("a = [{b = 0x" + "f" * 2_000 + "}]", "has a number of over 1,000 digits"),
        ("a" + ".a" * 300_000 + " = 1", "has a line with over 200 dots"),
        ("a" + ".a" * 150 + " = 1", "nested more than 100 deep"),
        ("x = '" + "y" * (1 << 20), "more than such a file may be"),
    ],
    ids=["deep", "date", "number", "hexadecimal", "dots", "tables", "large"],
)
def test_invalid_toml(tmp_path: Path, text: str, words: str) -> None:
    """Too deep, too long, or too large. (Without the limit on dots, a key of 300,000 parts takes hours.)"""
    (tmp_path / "info.toml").write_text(text)
    with open_package(tmp_path, "info.toml") as package, pytest.raises(InputError, match=words):
        package.toml("info.toml")


def tar_of(path: Path, size: int, pack: Callable[[Path], object] | None = None) -> Path:
    """Write a tar with a problem.json and a file of blanks."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for name, content in (("problem.json", b"{}"), ("tests/1.in", b" " * size)):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    with path.open("wb") if pack is None else pack(path) as file:  # type: ignore[attr-defined]
        file.write(plain.getvalue())
    return path


@pytest.mark.parametrize("pack", [gzip.open, bz2.open, lzma.open], ids=lambda pack: pack.__module__)
def test_a_compressed_tar_may_expand_by_a_limited_factor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[..., object]
) -> None:
    """No more than that is written to disk."""
    monkeypatch.setattr(package_files, "_LEAST_EXPANDED", 1 << 20)
    bomb = tar_of(tmp_path / "p.tar.x", 64 << 20, lambda path: pack(path, "wb"))
    with pytest.raises(InputError, match=r"expands to more than [\d,]+; .*unpack it and import"), open_package(bomb):
        raise AssertionError("opened")
    fine = tar_of(tmp_path / "f.tar.x", 1 << 18, lambda path: pack(path, "wb"))
    with open_package(fine) as package:
        assert len(package.read("tests/1.in")) == 1 << 18


def test_a_gigabyte_of_disk_space_stays_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive that needs more is refused."""
    monkeypatch.setattr(package_files, "_KEPT_FREE", 1 << 60)
    packed = tar_of(tmp_path / "p.tgz", 1000, partial(gzip.open, mode="wb"))
    with pytest.raises(SetupError, match="set TMPDIR"), open_package(packed):
        raise AssertionError("opened")


def test_a_zip_may_expand_by_a_limited_factor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stated sizes of its entries are added up, and no entry gives more than its stated size."""
    monkeypatch.setattr(package_files, "_LEAST_EXPANDED", 1 << 20)
    with zipfile.ZipFile(tmp_path / "p.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("problem.json", "{}")
        for number in range(64):
            archive.writestr(f"tests/{number}.in", b" " * (1 << 20))
    with pytest.raises(InputError, match="expands to more than"), open_package(tmp_path / "p.zip"):
        raise AssertionError("opened")


def zip_with_false_size(method: int) -> bytes:
    """A zip with a `problem.json` and a `1.in` of 16 MiB, of which it states that it has three bytes."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", method) as archive:
        archive.writestr("problem.json", "{}", zipfile.ZIP_STORED)
        archive.writestr("1.in", b" " * (16 << 20))
    content = whole.getvalue()
    true, false = (struct.pack("<I", zlib.crc32(b" " * size)) for size in (16 << 20, 3))
    content = content.replace(true, false).replace(struct.pack("<I", 16 << 20), struct.pack("<I", 3))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.getinfo("1.in").file_size == 3
    return content


METHODS = [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


@pytest.mark.parametrize("inside", [False, True], ids=["package", "zip in a package"])
@pytest.mark.parametrize("method", METHODS)
def test_a_file_in_a_zip_takes_no_more_memory_than_it_states(tmp_path: Path, method: int, inside: bool) -> None:
    """Only `deflate` can be expanded in part. Files that are compressed by another method are not read."""
    content = zip_with_false_size(method)
    (tmp_path / "p.zip").write_bytes(content)

    def read() -> bytes:
        if inside:
            ((_, inner),) = package_files.files_of_zip(content, lambda name: name == "1.in", 1 << 20)
            return inner
        with open_package(tmp_path / "p.zip") as package:
            return package.read("1.in")

    tracemalloc.start()
    try:
        if method == zipfile.ZIP_DEFLATED:
            assert read() == b"   "
        else:
            with pytest.raises((InputError, zipfile.BadZipFile), match="not compressed by deflate"):
                read()
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK])
def test_large_tar_headers_are_refused(tmp_path: Path, kind: bytes) -> None:
    """`tarfile` would read them into memory completely."""
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, 1 << 21
    with gzip.open(tmp_path / "p.tgz", "wb") as file:
        file.write(info.tobuf(tarfile.GNU_FORMAT) + b"\0" * (1 << 21) + b"\0" * 1024)
    with pytest.raises(InputError, match="header of 2,097,152 bytes"), open_package(tmp_path / "p.tgz"):
        raise AssertionError("opened")


def test_a_zip_inside_a_package_is_limited(tmp_path: Path) -> None:
    """For example a zip with submitted outputs."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("output_01.txt", b" " * (1 << 21))
    with pytest.raises(OSError, match="more than such a file may be"):
        list(package_files.files_of_zip(inner.getvalue(), lambda _: True, 1 << 20))


def test_headers_of_a_collection_are_read_only_from_its_directory(tmp_path: Path) -> None:
    """Files outside of this directory are not read."""
    common = tmp_path / "common"
    common.mkdir()
    (common / "a.h").write_text("// a")
    (common / "b.h").symlink_to("a.h")
    (common / "c.h").symlink_to(secret(tmp_path))
    (common / "d.h").symlink_to("/dev/zero")
    assert package_files.read_beside(common, "a.h") == package_files.read_beside(common, "b.h") == b"// a"
    for outside in ("../secret", str(tmp_path / "secret"), "d.h", "none.h"):
        assert package_files.read_beside(common, outside) is None
    with pytest.raises(InputError, match="outside of the package"):
        package_files.read_beside(common, "c.h")


@pytest.mark.parametrize(
    ("read", "root_file", "text"),
    [
        (italian_yaml.import_package, "task.yaml", "name: x\nn_input: 1000000000\ntime_limit: 1\nmemory_limit: 1\n"),
        (italian_yaml.import_package, "task.yaml", "name: x\nn_input: 1\ntime_limit: .inf\nmemory_limit: 1\n"),
        (kattis.import_package, "problem.yaml", "name: x\nlimits: {memory: .inf, time_limit: 1}\n"),
        (kattis.import_package, "problem.yaml", "name: x\nlimits: {memory: .nan, time_limit: 1}\n"),
        (kattis.import_package, "problem.yaml", "name: x\nlimits: {memory: 1.0e+308, time_limit: 1}\n"),
        (kattis.import_package, "problem.yaml", "name: x\nlimits: {time_limit: .inf}\n"),
        (library_checker.import_package, "info.toml", "timelimit = 1\n[[tests]]\nname = 'x'\nnumber = 1000000000\n"),
    ],
)
def test_absurd_numbers_are_refused(tmp_path: Path, read: Callable[..., object], root_file: str, text: str) -> None:
    """They cause no loop over a billion values and no infinite limit, but an error with a message."""
    (tmp_path / root_file).write_text(text)
    with pytest.raises(InputError):
        read(tmp_path, year=2024)


def test_importers_get_a_package() -> None:
    """They cannot create one except through `PackageFiles`, which opens its files."""
    assert Package.__init__.__annotations__["files"] == "PackageFiles"
