"""A job's files as descriptors: bytes in memory become sealed memory files, test data is opened where it is.

So none of a job's files has a path that a submission could open, and 25 MB of input are not copied.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial

from ioi_eval.errors import TransientError
from ioi_eval.model import Blob, JobFile
from ioi_eval.sandbox import lost, require_different_names, require_size

MFD_EXEC = 0x10  # Source: Linux 6.3, include/uapi/linux/memfd.h


def descriptors(files: Sequence[JobFile]) -> AbstractContextManager[dict[str, int]]:
    """The job's files as open, read-only descriptors, by name; closed at the end."""
    return _opened([(file.name, partial(_open, file)) for file in files], "a job's files")


def returned_files(names: Sequence[str]) -> AbstractContextManager[dict[str, int]]:
    """Empty memory files for a job's output, by name. A process without a descriptor of a file cannot reach it."""
    return _opened([(name, partial(_memory_file, executable=False)) for name in names], "the files for a job's output")


@contextlib.contextmanager
def _opened(openers: Sequence[tuple[str, Callable[[], int]]], what: str) -> Iterator[dict[str, int]]:
    """Descriptors by name; all are closed at the end, also if one of them cannot be opened."""
    require_different_names([name for name, _ in openers])
    opened: dict[str, int] = {}
    try:
        try:
            for name, opener in openers:
                opened[name] = opener()
        except OSError as error:
            raise TransientError(f"{what} cannot be opened: {error.strerror}") from error
        yield opened
    finally:
        for descriptor in opened.values():
            os.close(descriptor)


def content_of(descriptor: int) -> bytes:
    """The whole content of a file, wherever its offset is."""
    size = os.fstat(descriptor).st_size
    with open(descriptor, "rb", buffering=0, closefd=False) as file:
        file.seek(0)
        return file.read(size)


def sealed(content: bytes, *, executable: bool = False) -> int:
    """A read-only descriptor of a memory file that cannot be changed. The caller closes it."""
    writable = _memory_file(executable)
    try:
        with open(writable, "wb", closefd=False) as stream:
            stream.write(content)
        os.fchmod(writable, 0o555 if executable else 0o444)
        seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(writable, fcntl.F_ADD_SEALS, seals)
        # a program cannot be started while its file is open for writing
        return os.open(f"/proc/self/fd/{writable}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(writable)


def _memory_file(executable: bool) -> int:
    """An empty memory file. With `vm.memfd_noexec=1` it can only become executable if it is created with the flag."""
    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    if executable:
        with contextlib.suppress(OSError):  # a kernel that does not know the flag yet
            return os.memfd_create("ioi-eval", flags | MFD_EXEC)
    return os.memfd_create("ioi-eval", flags)


def _open(file: JobFile) -> int:
    if not isinstance(file.content, Blob):
        return sealed(file.content, executable=file.executable)
    try:
        descriptor = os.open(file.content.path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise lost(file.content) from error
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, descriptor)
        require_size(file.content, os.fstat(descriptor).st_size)
        if file.executable and os.fstatvfs(descriptor).f_flag & os.ST_NOEXEC:  # a copy in memory can be executed
            return sealed(content_of(descriptor), executable=True)
        stack.pop_all()
    return descriptor
