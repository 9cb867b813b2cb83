"""Directories whose files no disk has to take: a journal waits for it several times, and a property opens thousands."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MEMORY = Path("/dev/shm")


@contextmanager
def directory_in_memory() -> Iterator[Path]:
    """A small new directory, in memory where the machine has such a place for everybody; it is deleted at the end."""
    place = _MEMORY if os.access(_MEMORY, os.W_OK | os.X_OK) else None
    with tempfile.TemporaryDirectory(prefix="ioi-eval-", dir=place) as name:
        yield Path(name)
