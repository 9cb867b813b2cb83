"""How other graders run a program: one file each. `other_graders.py` says what a file defines."""

from __future__ import annotations

import builtins
import os
import sys
from unittest.mock import mock_open

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TAKEN_FROM_OS = (
    *("kill", "system", "putenv", "remove", "removedirs", "rmdir", "fchdir", "setuid", "fork", "forkpty", "killpg"),
    *("rename", "renames", "truncate", "replace", "unlink", "fchmod", "fchown", "chmod", "chown", "chroot", "lchflags"),
    *("lchmod", "lchown", "getcwd", "chdir"),
)
"""Source: the `reliability_guard` of human-eval, which hendrycks/apps and LiveCodeBench have."""


def take_away(*more_builtins: str) -> None:
    """What that guard takes: functions of `os`, and builtins."""
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in TAKEN_FROM_OS:
        setattr(os, name, None)
    for name in more_builtins:
        setattr(builtins, name, None)
    for name in ("ipdb", "joblib", "resource", "psutil", "tkinter"):
        sys.modules[name] = None  # type: ignore[assignment]


def pretend_text(text: str, stand_in: object, line_end: str) -> None:
    """What they put in place of standard input, which is two things.

    A program that says `sys.stdin` gets the stand-in, and `open` gives it the input for any file. One that has said
    `from sys import stdin` before, or says `stdin`, has the real object, of which three methods were replaced, and the
    rest reads a real input that has ended.

    Args:
        text: the input.
        stand_in: what `sys.stdin` becomes.
        line_end: what the replaced `readline` and `readlines` put behind a line.

    Source: `unittest.mock.patch` as a decorator, stacked: the innermost is applied first, to the object that is
    `sys.stdin` then.
    """
    real: Any = sys.stdin  # its methods are replaced
    lines = iter(text.split("\n"))
    real.readline = lambda *_: next(lines) + line_end
    real.readlines = lambda *_: [line + line_end for line in text.split("\n")]
    real.read = lambda *_: text
    sys.stdin = stand_in
    builtins.open = mock_open(read_data=text)
