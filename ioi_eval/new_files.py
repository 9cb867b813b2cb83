"""Files that get their names when they are complete, so that no reader ever sees a part of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def new_file(path: Path, mode: int = 0o644, *, durable: bool = True, one_writer: bool = False) -> Iterator[BinaryIO]:
    """A file that gets its name when the block succeeds, replacing an earlier one. After an error nothing of it
    remains.

    Args:
        mode: its permissions, unless there is only `one_writer`.
        durable: whether it is complete after a power failure too.
        one_writer: whether no other process writes it. Then its temporary name is fixed, and what a killed process left
            is overwritten by the next.
    """
    own = _temporary(path.with_name(f".{path.name}.new"), buffering=1 << 20)
    with own if one_writer else temporary_file(path.parent, mode) as file:
        yield file
        file.flush()
        if durable:
            os.fsync(file.fileno())  # or the name may reach the disk before the content
        file.close()  # a file that is open for writing cannot be executed
        os.replace(file.name, path)


@contextmanager
def temporary_file(directory: Path, mode: int = 0o644) -> Iterator[BinaryIO]:
    """A file that is deleted at the end, unless the block renames it. No other process has a file of its name."""
    descriptor, name = tempfile.mkstemp(dir=directory, prefix=".new-")
    os.fchmod(descriptor, mode)
    os.close(descriptor)
    with _temporary(Path(name)) as file:
        yield file


@contextmanager
def _temporary(path: Path, *, buffering: int = -1) -> Iterator[BinaryIO]:
    try:
        with path.open("wb", buffering=buffering) as file:
            yield file
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)
