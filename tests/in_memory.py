"""Directories in memory: a journal waits for the disk several times, and a property test opens thousands of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MEMORY = Path("/dev/shm")


@contextmanager
def directory_in_memory() -> Iterator[Path]:
    """A small new directory, in memory if the machine has a directory in memory for all users. It is deleted at the
    end.
    """
    place = _MEMORY if os.access(_MEMORY, os.W_OK | os.X_OK) else None
    with tempfile.TemporaryDirectory(prefix="ioi-eval-", dir=place) as name:
        yield Path(name)
