"""Whether Python can read a submission: the program's errors are told from the interpreter's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ioi_eval.jobs.harness import Interpreter, submission_recipe
from ioi_eval.model import SourceFile

PYTHON = Interpreter(version="cpython", numpy=None, path=sys.executable, sees=(), harness=b"")


def checked(directory: Path, program: bytes) -> tuple[bool, str]:
    """Whether a step refused a program, rather than fail, and its words."""
    recipe = submission_recipe(PYTHON, [SourceFile(path="x.py", content=program)])
    (step,) = recipe.steps
    for name, content in step.files:
        assert isinstance(content, bytes)
        (directory / name).write_bytes(content)
    done = subprocess.run(step.argv, cwd=directory, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (directory / "checked").is_file()
    return done.returncode == recipe.refusal, done.stderr


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
def test_what_python_cannot_read_is_refused(tmp_path: Path, program: bytes, words: str) -> None:
    """Whichever exception `compile` raises: it speaks of the program."""
    refused, said = checked(tmp_path, program)
    assert refused
    assert words in said


def test_what_fails_around_a_program_is_not_its_refusal(tmp_path: Path) -> None:
    """Here its result cannot be written; the program is right."""
    (tmp_path / "checked").mkdir()
    assert checked(tmp_path, b"print(1)\n")[0] is False


def test_a_program_that_can_be_read(tmp_path: Path) -> None:
    """And is not executed."""
    assert checked(tmp_path, b"1 / 0\n") == (False, "")
    assert (tmp_path / "checked").is_file()
