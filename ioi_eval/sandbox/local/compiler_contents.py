"""The files of a compiler on this machine (itself, its tools, headers and libraries), and hashes of them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence

from ioi_eval.toolchain import Toolchain


def files_of_compiler(toolchain: Toolchain) -> Sequence[str]:
    """All files that a compiler and its linker can read, sorted by name."""
    return sorted({file for path in _paths(toolchain) for file in _files_below(path)})


def state_of(files: Iterable[str]) -> str:
    """A hash of the files' names and metadata, which changes when a file is written to or replaced.

    Raises:
        OSError: a file was deleted.
    """
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file}\0{_identity(file)}\0".encode(errors="surrogateescape"))
    return digest.hexdigest()


def contents_of(files: Iterable[str]) -> str:
    """A hash of the names and contents of files.

    Raises:
        OSError: one cannot be read.
    """
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.encode(errors="surrogateescape") + b"\0")
        with open(file, "rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()


def identity_of_compiler(toolchain: Toolchain) -> object:
    """A value that changes when a compiler is replaced. Quicker than `state_of` all files, as it does not look into
    directories.

    Raises:
        OSError: a file was deleted.
    """
    return [_identity(path) for path in _paths(toolchain)]


def _paths(toolchain: Toolchain) -> Sequence[str]:
    linked_by = () if toolchain.linker is None else _paths(toolchain.linker)
    return (toolchain.command, *toolchain.sees, *linked_by)


def _files_below(path: str) -> Iterator[str]:
    """The file, or all files in the directory, at a path; without dangling links."""
    if os.path.isfile(path):
        yield path
    for directory, _, names in os.walk(path):
        yield from filter(os.path.isfile, (os.path.join(directory, name) for name in names))


def _identity(path: str) -> tuple[int, ...]:
    status = os.stat(path)
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
