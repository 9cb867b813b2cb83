"""Creates directories of the cache, to which only the owner may write; deletes unused files in them."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ioi_eval.config import MIB, Environment
from ioi_eval.errors import SetupError

LEAST_FREE_BYTES = 1024 * MIB
"""If less than this is free on the cache's disk, nothing more is stored there: the journal and the results may need the
space."""

_UNUSED_S = 14 * 24 * 3600.0
"""How long a file that may be made again is kept after its last use: hosts with other headers, for example, may share
the cache."""


def make_store(cache: str | Path | None, name: str) -> Path:
    """The directory `name` of a cache (by default the user's), in which one kind of things is stored. Both are created
    if absent; SetupError if one of them cannot be used, or others may write to it."""
    root = Environment.read().cache if cache is None else Path(cache)
    for directory in (root, root / name):
        make_private_directory(directory)
    return root / name


def delete_unused(files: Iterable[Path]) -> None:
    """Delete those files that no process has used for two weeks. A process that uses one sets its time."""
    for file in files:
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _UNUSED_S:
                file.unlink()


def make_private_directory(
    directory: Path, *, what: str = "the cache directory", advice: str = "set IOI_EVAL_CACHE to one of yours"
) -> None:
    """Create a directory of the cache to which only its owner may write, or check the existing one.

    Another user who can write to the cache could replace a checker or an expected output. `what` is its purpose, and
    `advice` how to name another one, for the message of the SetupError.
    """
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        directory.mkdir(mode=0o755, exist_ok=True)
        status = directory.stat()
    except OSError as error:
        raise SetupError(f"{what} {directory} cannot be made: {error.strerror}; {advice}") from error
    if status.st_uid not in (os.geteuid(), 0):
        raise SetupError(f"{what} {directory} belongs to another user; {advice}")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise SetupError(f"others may write to {what} {directory}; chmod go-w it, or {advice}")
