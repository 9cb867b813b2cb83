"""Malicious packages: each importer reports the fault and leaves no files.

Each test starts from a package that can be imported, and changes one thing in it. All importers read packages through
one module, so archives and settings that are too large are tested there (`tests/importers/test_package_files.py`).
"""

from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ioi_eval.cli.file_options import commands_of
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
    "polygon": (
        "problem.xml",
        "tests/01",
        {
            "problem.xml": "<problem short-name='sum'><judging><testset name='tests'><time-limit>1000</time-limit>"
            "<memory-limit>268435456</memory-limit><test-count>1</test-count>"
            "<input-path-pattern>tests/%02d</input-path-pattern>"
            "<answer-path-pattern>tests/%02d.a</answer-path-pattern></testset></judging>"
            "<assets><checker><source path='files/check.cpp'/></checker></assets></problem>",
            "tests/01": "1\n",
            "tests/01.a": "1\n",
            "files/check.cpp": "int main() {}\n",
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


def test_every_importer_has_a_package() -> None:
    """None is left out of the tests below."""
    commands = [words for words, _ in commands_of(root())]
    assert set(PACKAGES) == {words[1] for words in commands if words[0] == "import"}


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


@pytest.mark.parametrize("kind", PACKAGES)
def test_a_package_without_its_root_file(refused: Refused, tmp_path: Path, kind: str) -> None:
    """The message names the file and the format, which are in `FORMATS` of `ioi_eval/rows/packages.py`."""
    where, (root_file, *_) = write_package(tmp_path / "package", {"a.txt": "1\n"}), PACKAGES[kind]
    refused(kind, where, f"holds no {root_file}: it is not a")


def test_too_many_files(refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a directory, a zip and a tar."""
    monkeypatch.setattr(package_files, "_MAX_ENTRIES", 100)
    files = {**PACKAGES["cms"][2], **{f"many/{n}": "x" for n in range(400)}}
    refused("cms", write_package(tmp_path / "folder", files), "holds over 100 files")
    refused("cms", as_zip(tmp_path / "package.zip", files), "files, more than a package may")
    with tarfile.open(tmp_path / "package.tar", "w") as archive:
        archive.add(tmp_path / "folder", "package")
    refused("cms", tmp_path / "package.tar", "holds more than 100 files")


def test_messages_contain_no_terminal_escapes(refused: Refused, tmp_path: Path) -> None:
    """Texts from a package are quoted with escapes."""
    refused(
        "kattis",
        write_package(tmp_path / "package", {"problem.yaml": 'type: "\\e]0;title\\a"\n'}),
        "\\x1b]0;title\\x07",
    )


def test_the_printed_id_contains_no_terminal_escapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The id is the package's."""
    files = PACKAGES["cms"][2]
    named = files["problem.json"].replace('"sum"', '"a\\u001b[31m\\u009b\\u202e"')
    where = write_package(tmp_path / "package", {**files, "problem.json": named})
    with pytest.raises(SystemExit) as ended:
        root()(["import", "cms", str(where), "--year", "2024", "--out", str(tmp_path / "out")])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("2024/a\ufffd[31m\ufffd\ufffd: 1 subtask")
