"""Directories of the cache, where only the owner may write, as others could replace a checker; and new files."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ioi_eval.config import MIB
from ioi_eval.errors import SetupError

LEAST_FREE_BYTES = 1024 * MIB
"""Free space on the disk, below which nothing more is kept there: the journal and results may be there too."""


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


@contextmanager
def new_file(path: Path, mode: int = 0o644, *, durable: bool = True) -> Iterator[IO[bytes]]:
    """A file that gets its name when the block ends well, in the place of an earlier one: it is whole or not there.

    Args:
        path: its name, in a directory that exists.
        mode: its permissions.
        durable: also after a power cut.

    Raises:
        OSError: it cannot be written; then nothing is left of it.
    """
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            os.fchmod(file.fileno(), mode)
            file.flush()
            if durable:
                os.fsync(file.fileno())  # or the name may reach the disk before the content
        os.replace(temporary, path)  # closed before: what is open for writing cannot be executed
    finally:
        Path(temporary).unlink(missing_ok=True)
