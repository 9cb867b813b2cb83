"""Which C++ compiler this machine has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ioi_eval.errors import SetupError
from ioi_eval.sandbox.local_compiler import detect
from ioi_eval.toolchain import outermost


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


def test_what_a_compiler_reads_is_listed() -> None:
    """Itself, its parts, headers, and libraries one by one: no directory in which other packages have files."""
    found = detect("g++")
    assert found.command in found.sees
    assert all(os.path.exists(path) and ".." not in path for path in (*found.sees, *found.libraries))
    assert "/usr/include" in found.sees
    wide = {"/", "/usr", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/local", "/usr/share"}
    assert not wide & {os.path.realpath(path) for path in (*found.sees, *found.libraries)}
    assert any(os.path.basename(path) == "libstdc++.so.6" for path in found.libraries)
    assert all(os.path.isfile(path) for path in found.libraries)


def test_paths_inside_others_are_left_out() -> None:
    """A directory is shown with all below it; a name that only begins alike is another one."""
    assert outermost(["/a/b", "/a", "/ab", "/c/d/e", "/c/d"]) == ("/a", "/ab", "/c/d")
