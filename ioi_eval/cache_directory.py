"""The rule for directories of the cache: only the owner may write there, as others could replace a checker."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ioi_eval.errors import SetupError


def make_private_directory(directory: Path) -> None:
    """Create a directory of the cache to which only its owner may write, or check the existing one.

    A user who can write to the cache can replace an expected output.

    Raises:
        SetupError: it cannot be created, belongs to another user, or others may write to it.
    """
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        directory.mkdir(mode=0o755, exist_ok=True)
        status = directory.stat()
    except OSError as error:
        raise SetupError(
            f"the cache directory {directory} cannot be made: {error.strerror}; set IOI_EVAL_CACHE"
        ) from error
    if status.st_uid not in (os.geteuid(), 0):
        raise SetupError(f"the cache directory {directory} belongs to another user; set IOI_EVAL_CACHE to one of yours")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise SetupError(f"others may write to the cache directory {directory}; chmod go-w it, or set IOI_EVAL_CACHE")
