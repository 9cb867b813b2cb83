"""Files that test processes share are valid if one of the processes is killed."""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests import keeping_compiler, shared_work
from tests.shared_work import compiled, copy_cache, first_alone, shared_open_directory


def test_a_killed_process_leaves_no_empty_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process is killed while it writes the path of the shared directory. The next process creates the directory, and
    does not take the empty path for its working directory.
    """

    def killed(path: Path, text: str) -> int:
        path.touch()
        os._exit(len(text))

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(Path, "write_text", killed)
        with shared_open_directory(tmp_path / "shared"):
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) > 0
    with shared_open_directory(tmp_path / "shared") as directory:
        assert directory.name.startswith("ioi-eval-shared-")
        assert directory.is_dir()
    assert not directory.exists()


def test_the_first_process_enters_alone(tmp_path: Path) -> None:
    """The others enter together: each while another one is there that is not the first."""
    lock = os.open(tmp_path, os.O_RDONLY)
    with first_alone(tmp_path), pytest.raises(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    with first_alone(tmp_path), first_alone(tmp_path):
        pass
    os.close(lock)


def test_an_empty_cache_is_copied(tmp_path: Path) -> None:
    """Also with an owner. A cache is empty on a machine without a compiler."""
    cache = tmp_path / "cache"
    cache.mkdir()
    assert copy_cache(cache, tmp_path / "copy", owner=os.getuid()).is_dir()


def test_a_program_is_compiled_again_after_a_change_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later test run copies it if sources, arguments and compiler are the same."""
    monkeypatch.setattr(shared_work, "KEPT", tmp_path / "kept")
    source, header = tmp_path / "in" / "a.cpp", tmp_path / "in" / "a.h"
    source.parent.mkdir()
    source.write_text('#include "a.h"\n')

    def exit_code(run: str, value: int, *arguments: str) -> int:
        header.write_text(f"int main() {{ return {value}; }}\n")
        made = compiled(tmp_path / run, [*arguments, str(source)], [source.parent])
        return subprocess.run([made], check=False).returncode

    assert (exit_code("1", 3), exit_code("2", 3), exit_code("3", 4), exit_code("4", 4, "-O1")) == (3, 3, 4, 4)
    assert len(list((tmp_path / "kept").iterdir())) == 3


def test_a_keeping_compiler_compiles_again_after_a_change_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a header. A program with a warning is refused. What is not the making of a program is left to g++."""
    monkeypatch.setattr(keeping_compiler, "KEPT", tmp_path / "kept")
    compiler = keeping_compiler.keeping_compiler(tmp_path)
    source, header = tmp_path / "a.cpp", tmp_path / "a.h"
    source.write_text('#include "a.h"\n')

    def exit_code(value: int, *arguments: str) -> int:
        header.write_text(f"int main() {{ return {value}; }}\n")
        subprocess.run([compiler, *arguments, source, "-o", tmp_path / "made"], check=True)
        return subprocess.run([tmp_path / "made"], check=False).returncode

    assert (exit_code(3), exit_code(3), exit_code(4), exit_code(4, "-O1")) == (3, 3, 4, 4)
    assert len(list((tmp_path / "kept").glob("program-*"))) == 3
    (tmp_path / "warned.cpp").write_text("int main() { int unused; }\n")
    for name in ("none.cpp", "warned.cpp"):
        done = subprocess.run([compiler, tmp_path / name, "-o", tmp_path / "made"], capture_output=True, check=False)
        assert done.returncode != 0
    assert b"g++" in subprocess.run([compiler, "--version"], capture_output=True, check=True).stdout
