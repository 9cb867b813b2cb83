"""Files that test processes share are valid if one of the processes is killed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.shared_work import copy_cache, shared_open_directory


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


def test_an_empty_cache_is_copied(tmp_path: Path) -> None:
    """Also with an owner. A cache is empty on a machine without a compiler."""
    cache = tmp_path / "cache"
    cache.mkdir()
    assert copy_cache(cache, tmp_path / "copy", owner=os.getuid()).is_dir()
