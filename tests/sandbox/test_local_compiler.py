"""Which C++ compiler this machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

from ioi_eval.errors import SetupError
from ioi_eval.sandbox.local_compiler import detect


@pytest.mark.parametrize(
    ("script", "words"),
    [("exit 0", "says nothing to --version"), ("echo >&2; exit 1", "does not answer --version")],
)
def test_a_command_that_is_no_compiler(tmp_path: Path, script: str, words: str) -> None:
    """It is named, with what to set."""
    command = tmp_path / "mute"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    with pytest.raises(SetupError, match=f"the compiler {command} {words}"):
        detect(str(command))


def test_the_system_s_compiler() -> None:
    """It says its version and its target."""
    found = detect("g++")
    assert "g++" in found.version
    assert "-linux-" in found.machine
