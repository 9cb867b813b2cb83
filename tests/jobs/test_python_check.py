"""Whether Python can parse a submission. Errors of the program are distinguished from failures of the interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ioi_eval.jobs.harness import Interpreter, submission_recipe
from ioi_eval.model import SourceFile

PYTHON = Interpreter(version="cpython", numpy=None, path=sys.executable, sees=(), harness=b"")


def checked(directory: Path, program: bytes) -> tuple[bool, str]:
    """Whether the step refused a program (and did not fail itself), and its stderr."""
    recipe = submission_recipe(PYTHON, [SourceFile(path="x.py", content=program)])
    (step,) = recipe.steps
    for name, content in step.files:
        assert isinstance(content, bytes)
        (directory / name).write_bytes(content)
    done = subprocess.run(step.argv, cwd=directory, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (directory / "checked").is_file()
    return done.returncode == recipe.error_code, done.stderr


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (b"print(", "SyntaxError"),
        (b"x = 1\n  y = 2\n", "IndentationError"),
        (b"\0", "null byte"),
        (b"# coding: klingon\n", "unknown encoding"),
        (b"'\xff'", "SyntaxError"),
        (b"-" * 50_000 + b"1", "Error"),
    ],
)
def test_a_program_that_python_cannot_parse_is_refused(tmp_path: Path, program: bytes, words: str) -> None:
    """With any exception of `compile`: it is about the program."""
    refused, stderr = checked(tmp_path, program)
    assert refused
    assert words in stderr


def test_a_program_that_crashes_the_interpreter_is_refused(tmp_path: Path) -> None:
    """It was JE, so a program could choose that its row has no score. (Not every Python crashes on this one.)"""
    refused, stderr = checked(tmp_path, b"[1" + b" for a in b" * 100_000 + b"]\n")
    assert refused
    assert "the interpreter crashed while it compiled the program: signal 11" in stderr or "Error" in stderr


def test_another_failure_is_not_a_syntax_error(tmp_path: Path) -> None:
    """Here the result cannot be written. The program is right."""
    (tmp_path / "checked").mkdir()
    assert checked(tmp_path, b"print(1)\n")[0] is False


def test_a_program_that_can_be_parsed(tmp_path: Path) -> None:
    """It is not executed."""
    assert checked(tmp_path, b"1 / 0\n") == (False, "")
    assert (tmp_path / "checked").is_file()
