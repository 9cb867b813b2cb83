"""Malicious packages: each importer reports the fault within seconds and leaves no files.

Each test starts from a package that can be imported, and changes one thing in it.
"""

from __future__ import annotations

import gzip
import os
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ioi_eval.cli.main import root
from ioi_eval.importers import package_files
from tests.importers.packages import as_zip, put_socket, write_package

Refused = Callable[..., None]
ONE = {f"tests/1.{end}": "1\n" for end in ("in", "out")}
PACKAGES: dict[str, tuple[str, str, dict[str, str]]] = {
    "cms": (
        "problem.json",
        "tests/1.in",
        {
            "problem.json": '{"code": "sum", "task_type": "Batch", "time_limit": 1, "memory_limit": 268435456,'
            ' "task_type_params": {"task_type_parameters_Batch_compilation": "alone"}}',
            "subtasks/01-full.json": '{"score": 100, "testcases": ["1"]}',
            **ONE,
        },
    ),
    "tps": (
        "problem.json",
        "tests/1.in",
        {
            "problem.json": '{"name": "sum", "type": "Batch", "time_limit": 1, "memory_limit": 256,'
            ' "has_grader": false, "has_checker": false}',
            "subtasks.json": '{"subtasks": {"full": {"index": 1, "score": 100}}}',
            "tests/mapping": "full 1\n",
            **ONE,
        },
    ),
    "italian-yaml": (
        "task.yaml",
        "input/input0.txt",
        {
            "task.yaml": "name: sum\ntime_limit: 1\nmemory_limit: 256\nn_input: 1\n",
            "input/input0.txt": "1\n",
            "output/output0.txt": "1\n",
        },
    ),
    "kattis": (
        "problem.yaml",
        "data/secret/1.in",
        {
            "problem.yaml": "name: sum\n",
            ".timelimit": "1\n",
            "data/secret/1.in": "1\n",
            "data/secret/1.ans": "1\n",
        },
    ),
    "library-checker": (
        "info.toml",
        "in/one_00.in",
        {
            "info.toml": "title = 'sum'\ntimelimit = 1\n[[tests]]\nname = 'one.in'\nnumber = 1\n",
            "in/one_00.in": "1\n",
            "out/one_00.out": "1\n",
            "checker.cpp": "int main() {}\n",
            "sol/correct.cpp": "int main() {}\n",
        },
    ),
}


PLACED: dict[str, tuple[Callable[[Path], object], str]] = {
    "shadow": (lambda at: at.symlink_to("/etc/shadow"), "/etc/shadow"),
    "passwd-by-dots": (lambda at: at.symlink_to("../" * 40 + "etc/passwd"), "etc/passwd"),
    "fifo": (os.mkfifo, "a FIFO"),
    "zero": (lambda at: at.symlink_to("/dev/zero"), "/dev/zero"),
    "socket": (put_socket, "a socket"),
    "itself": (lambda at: at.symlink_to(at.name), "link"),
}


@pytest.mark.parametrize("kind", PACKAGES)
def test_unchanged_packages_can_be_imported(tmp_path: Path, kind: str) -> None:
    """Otherwise the tests below would show nothing."""
    where = write_package(tmp_path / "package", PACKAGES[kind][2])
    with pytest.raises(SystemExit) as ended:
        root()(["import", kind, str(where), "--year", "2024", "--out", str(tmp_path / "out")])
    assert ended.value.code == 0


@pytest.mark.parametrize("role", [0, 1], ids=["root", "test"])
@pytest.mark.parametrize("trap", PLACED)
@pytest.mark.parametrize("kind", PACKAGES)
def test_a_special_file_in_place_of_a_file(refused: Refused, tmp_path: Path, kind: str, trap: str, role: int) -> None:
    """In place of the package's settings, or of a test."""
    *places, files = PACKAGES[kind]
    place, words = places[role], PLACED[trap][1]
    where = write_package(tmp_path / "package", files)
    (where / place).unlink()
    PLACED[trap][0](where / place)
    refused(kind, where, place, words, "[read as a")


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refused:
    """The import ends with exit code 2 and one message with these words. It shows no content of secret files, and
    writes no file.
    """
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def refused(kind: str, package: Path, *words: str) -> None:
        before = sorted(path for path in tmp_path.rglob("*") if package not in path.parents)
        with pytest.raises(SystemExit) as ended:
            root()(["import", kind, str(package), "--year", "2024", "--out", str(tmp_path / "out" / "rows")])
        output = capsys.readouterr()
        assert (ended.value.code, output.out) == (2, "")
        assert output.err.startswith(f"ioi-eval: {package}")
        assert output.err.count("\n") == 1
        assert "root:" not in output.err
        assert not [word for word in words if word not in output.err], output.err
        assert sorted(path for path in tmp_path.rglob("*") if package not in path.parents) == before

    return refused


ALIASES = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))


@pytest.mark.parametrize("kind", ["italian-yaml", "kattis"])
def test_aliases_that_expand_to_a_huge_value(refused: Refused, tmp_path: Path, kind: str) -> None:
    """9^11 values in half a kilobyte of YAML."""
    root, _, files = PACKAGES[kind]
    where = write_package(tmp_path / "package", {**files, root: f"a0: &a0 lol\n{ALIASES}{files[root]}"})
    refused(kind, where, root, "by its aliases; write the values out")


@pytest.mark.parametrize("kind", PACKAGES)
@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "tests/../../evil"])
def test_an_archive_with_a_path_outside_of_the_package(refused: Refused, tmp_path: Path, kind: str, name: str) -> None:
    """The message shows the path. The entry is not opened."""
    where = as_zip(tmp_path / "package.zip", {**PACKAGES[kind][2], name: "x"})
    refused(kind, where, repr(name), "which leads out of the package; it is not opened")


@pytest.mark.parametrize("kind", PACKAGES)
@pytest.mark.parametrize("name", [b"data/1\n.in", b"data/\xff.in", b"data/\x1b[2J.in"])
def test_a_file_name_that_is_no_text(refused: Refused, tmp_path: Path, kind: str, name: bytes) -> None:
    """The message shows it with escapes."""
    where = write_package(tmp_path / "package", PACKAGES[kind][2])
    (where / "data").mkdir(exist_ok=True)
    Path(os.fsdecode(bytes(where) + b"/" + name)).write_text("x")
    refused(kind, where, "holds a file whose name is not plain text", ascii(os.fsdecode(name)))


@pytest.mark.parametrize("kind", PACKAGES)
def test_a_compressed_tar_that_expands_too_much(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """It expands to 1000 times its size or more, and is not written to disk."""
    monkeypatch.setattr(package_files, "_LEAST_EXPANDED", 1 << 20)
    info = tarfile.TarInfo("tests/1.in")
    info.size = 16 << 20
    with gzip.open(tmp_path / "package.tgz", "wb", compresslevel=1) as file:
        file.write(info.tobuf() + bytes(info.size))
    refused(kind, tmp_path / "package.tgz", "expands to more than", "unpack it and import the folder")


@pytest.mark.parametrize("kind", PACKAGES)
def test_a_zip_that_declares_a_huge_size(refused: Refused, tmp_path: Path, kind: str) -> None:
    """Ten entries with a declared size of 4 GB each."""
    where = as_zip(tmp_path / "package.zip", {**PACKAGES[kind][2], **{f"big/{n}": "x" for n in range(10)}})
    content = bytearray(where.read_bytes())
    for n in range(10):
        # the entry's header in the central directory at the end of the file
        at = content.rindex(f"big/{n}".encode()) - 46
        content[at + 24 : at + 28] = (0xFFFFFFF0).to_bytes(4, "little")
    where.write_bytes(content)
    refused(kind, where, "expands to more than")


@pytest.mark.parametrize("kind", PACKAGES)
def test_too_many_files(refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """In a folder, a zip and a tar."""
    monkeypatch.setattr(package_files, "_MAX_ENTRIES", 100)
    files = {**PACKAGES[kind][2], **{f"many/{n}": "x" for n in range(400)}}
    refused(kind, write_package(tmp_path / "folder", files), "holds over 100 files")
    refused(kind, as_zip(tmp_path / "package.zip", files), "files, more than a package may")
    with tarfile.open(tmp_path / "package.tar", "w") as archive:
        archive.add(tmp_path / "folder", "package")
    refused(kind, tmp_path / "package.tar", "holds more than 100 files")


def test_messages_contain_no_terminal_escapes(refused: Refused, tmp_path: Path) -> None:
    """Texts from a package are quoted with escapes."""
    refused(
        "kattis",
        write_package(tmp_path / "package", {"problem.yaml": 'type: "\\e]0;title\\a"\n'}),
        "\\x1b]0;title\\x07",
    )
