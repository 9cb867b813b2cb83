"""The message that says which interpreter runs programs, and which interpreter of the PATH does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from ioi_eval.cli.apps_executor import interpreter_line
from ioi_eval.jobs.harness import Interpreter


def interpreter(path: str, numpy: str | None = None) -> Interpreter:
    """An interpreter at this path."""
    return Interpreter(version="cpython 3.11.2", numpy=numpy, path=path, sees=(), harness=b"")


def executable(path: Path) -> Path:
    """An executable file at this path."""
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_what_it_is_and_whether_it_has_numpy() -> None:
    """Its path comes first. For another machine there is no hint about the PATH."""
    words = "programs are run by /usr/bin/python3: cpython 3.11.2, "
    assert interpreter_line(interpreter("/usr/bin/python3"), "python3", is_here=False) == f"{words}without numpy"
    found = interpreter_line(interpreter("/usr/bin/python3", "1.24.2"), "/usr/bin/python3", is_here=True)
    assert found == f"{words}numpy 1.24.2"


def test_another_interpreter_on_the_path_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless it is a link to the same one, as in a virtual environment."""
    ours = executable(tmp_path / "system" / "python3")
    theirs = executable(tmp_path / "mine" / "python3")
    monkeypatch.setenv("PATH", str(theirs.parent))
    found = interpreter_line(interpreter(str(ours)), "python3", is_here=True)
    assert f"It is not {theirs}, which comes first on your PATH" in found
    assert "give its path with --python" in found
    theirs.unlink()
    theirs.symlink_to(ours)
    assert "It is not" not in interpreter_line(interpreter(str(ours)), "python3", is_here=True)
