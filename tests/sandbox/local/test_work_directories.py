"""Directories for one job are removed afterwards, even if their process was killed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ioi_eval.errors import TransientError
from ioi_eval.sandbox.local import work_directories
from ioi_eval.sandbox.local.work_directories import sweep, work_directory

HOLD = """
import os, sys
from ioi_eval.sandbox.local.work_directories import work_directory
with work_directory() as directory:
    (directory / "left").write_text("something")
    print(directory, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for temporary files of this test only, where nothing counts as new."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(work_directories, "_NEW_S", 0.0)
    return tmp_path


def test_nothing_is_left(elsewhere: Path) -> None:
    """Neither of a deep tree nor of a directory that nobody may read."""
    with work_directory() as directory:
        (directory / "secret").mkdir()
        (directory / "secret" / "file").write_text("x")
        (directory / "secret").chmod(0)
        here = os.open(directory, os.O_RDONLY)
        for _ in range(1500):
            os.mkdir("deep", dir_fd=here)
            below = os.open("deep", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)
    assert list(elsewhere.iterdir()) == []


def test_what_a_killed_process_left_is_swept(elsewhere: Path) -> None:
    """While it lives its directory is its own; after kill -9 the next one that starts removes it."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(elsewhere)},
    )
    assert holder.stdout is not None
    directory = Path(holder.stdout.readline().strip())
    assert sweep() == 0
    assert (directory / "left").exists()
    holder.kill()
    holder.communicate()
    assert sweep() == 1
    assert not directory.exists()


def test_a_new_directory_is_let_be(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between its making and its lock lies a moment."""
    monkeypatch.setattr(work_directories, "_NEW_S", 60.0)
    (elsewhere / "ioi-eval-job-new").mkdir()
    assert sweep() == 0
    assert (elsewhere / "ioi-eval-job-new").is_dir()


def test_no_room_is_no_bug(elsewhere: Path) -> None:
    """A full disk fails the job, which may be tried again, and not the run."""
    elsewhere.rmdir()
    with pytest.raises(TransientError, match=f"cannot be made in {elsewhere}: No such file"), work_directory():
        pass
