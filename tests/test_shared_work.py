"""What processes share while they test holds where one of them is killed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.shared_work import copy_cache, shared_open_directory


def test_who_is_killed_leaves_no_empty_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others make the directory then, and do not take the name for that of their working directory."""

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


def test_the_copy_of_an_empty_cache_is_there(tmp_path: Path) -> None:
    """Also for an owner: where no compiler is, nothing is in it."""
    cache = tmp_path / "cache"
    cache.mkdir()
    assert copy_cache(cache, tmp_path / "copy", owner=os.getuid()).is_dir()
