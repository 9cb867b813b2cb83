"""Stores compiled programs by the hash of their inputs: runners, graders' objects, checkers, managers.

A key is a hash of all inputs (sources, commands, toolchain), so an entry is never out of date and never changes. Each
entry is a file below the cache directory, `artifacts/<its first two characters>/<key>.<sha256 of the content>`. So a
damaged entry is noticed before it is used, and two processes that build the same entry at once do not affect each
other. They rarely do: the one that builds it has locked a file beside it, and the others wait. The content is on the
disk before its name, so a power failure damages no entry; a damaged entry is an error, because it may have been
replaced. Programs of submissions are not stored here, because those of a dump would take terabytes (`kept_programs.py`
stores some, on request).
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from ioi_eval.cache_directory import delete_unused, make_store
from ioi_eval.errors import SetupError
from ioi_eval.model import Blob
from ioi_eval.new_files import new_file
from ioi_eval.slots import TaskLock

_NAME = "artifacts"
_MODE = 0o755  # the user of a box starts the runner
_ASK_EVERY_S = 0.05  # whether another process still builds an entry
_LONGEST_WAIT_S = 120.0  # then we build the entry too: the other process may be stopped


class ArtifactStore:
    """Compiled programs on disk. Each is built once, also if many tasks, in any event loop, ask for it at once.

    Args:
        root: the cache directory, by default the user's; created if absent.

    Raises:
        SetupError: the directory cannot be used, or others may write to it.
    """

    def __init__(self, root: str | Path | None = None) -> None:
        self._root = make_store(root, _NAME)
        self._checked: dict[str, Blob] = {}
        self._building: dict[str, TaskLock] = {}

    def holds(self, key: str) -> bool:
        """Whether there is an entry `key`, good or damaged."""
        return key in self._checked or any((self._root / key[:2]).glob(f"{key}.*"))

    def holds_any(self, beginning: str) -> bool:
        """Whether there is an entry whose key begins with this text."""
        return any((self._root / beginning[:2]).glob(f"{beginning}*"))

    def free_bytes(self) -> int:
        """The free space on the cache's disk; raises OSError if the cache was deleted."""
        return shutil.disk_usage(self._root).free

    async def ensure(self, key: str, build: Callable[[], Awaitable[bytes]], *, instead_of: str = "") -> Blob:
        """The entry `key`, built by `build` if it is not there yet. A failing build leaves nothing behind.

        Args:
            instead_of: after a build, entries whose keys begin with this text are deleted if they have not been used
                for a while; none if empty.

        Raises:
            SetupError: the entry does not match its hash, or the cache cannot be read or written.
        """
        known = self._checked_entry(key)
        if known is not None:
            return known
        async with self._building.setdefault(key, TaskLock()).take():
            blob = self._checked_entry(key) or self._open(key) or await self._built(key, build, instead_of)
            self._checked[key] = blob
        self._building.pop(key, None)
        return blob

    async def _built(self, key: str, build: Callable[[], Awaitable[bytes]], instead_of: str) -> Blob:
        """The entry, built by us, or by another process for which we waited."""
        async with _only_process(self._root / key[:2] / f".{key}.lock"):
            blob = self._open(key)
            if blob is None:
                blob = self._write(key, await build())
                if instead_of:
                    delete_unused((self._root / instead_of[:2]).glob(f"{instead_of}*"))
            return blob

    def put(self, key: str, content: bytes) -> None:
        """Store an entry, if there is none, and this user may write to the cache."""
        if not self.holds(key):
            with contextlib.suppress(SetupError):
                self._write(key, content)

    def _checked_entry(self, key: str) -> Blob | None:
        """The entry, if it was checked before and still exists."""
        blob = self._checked.get(key)
        return blob if blob is not None and blob.path.exists() else None

    def _open(self, key: str) -> Blob | None:
        """The entry, after its content has been compared with its hash."""
        for path in sorted((self._root / key[:2]).glob(f"{key}.*")):
            expected = path.name.rpartition(".")[2]
            with contextlib.suppress(OSError):  # it may be another user's
                path.chmod(_MODE)  # it may have been copied without its mode
            try:
                with path.open("rb") as file:
                    actual, size = hashlib.file_digest(file, "sha256").hexdigest(), os.fstat(file.fileno()).st_size
            except OSError as error:
                raise SetupError(
                    f"the cache entry {path} cannot be read: {error.strerror}; delete {self._root}"
                ) from error
            if actual != expected:
                raise SetupError(
                    f"the cache entry {path} does not match its hash: it was damaged or replaced; delete {self._root}"
                )
            with contextlib.suppress(OSError):  # the cache may be read-only for this user
                os.utime(path)
            return Blob(path=path, size=size, sha256=expected)
        return None

    def _write(self, key: str, content: bytes) -> Blob:
        digest = hashlib.sha256(content).hexdigest()
        path = self._root / key[:2] / f"{key}.{digest}"
        make_store(self._root.parent, _NAME)  # it may have been deleted since this store was created
        try:
            path.parent.mkdir(mode=0o755, exist_ok=True)
            with new_file(path, _MODE) as file:
                file.write(content)
        except OSError as error:
            raise SetupError(
                f"cannot write to the cache {path.parent}: {error.strerror}; free space, or set IOI_EVAL_CACHE"
            ) from error
        return Blob(path=path, size=len(content), sha256=digest)


@contextlib.asynccontextmanager
async def _only_process(path: Path) -> AsyncIterator[None]:
    """Hold the lock of a file, unless that is not possible: then a few processes may do the same work.

    The kernel releases the lock of a killed process. Another process may have opened the file before it is deleted, and
    then holds a lock that later ones do not see; but it finds the entry that was built.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # the cache may be read-only for this user, or have no locks
            path.parent.mkdir(mode=0o755, exist_ok=True)
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            stack.callback(os.close, lock)
            if await _is_locked(lock):
                stack.callback(_release, lock, path)
        yield


def _release(lock: int, path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
    fcntl.flock(lock, fcntl.LOCK_UN)  # a forked process may have the descriptor too


async def _is_locked(lock: int) -> bool:
    """Lock a file as soon as no other process has locked it; false if that takes too long."""
    until = time.monotonic() + _LONGEST_WAIT_S
    while time.monotonic() < until:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            await asyncio.sleep(_ASK_EVERY_S)
        else:
            return True
    return False
