"""Content-addressed files on disk. Test data is stored here, so that the tests of a whole year are never in memory.

Layout, below the cache directory: `blobs/<first two digits>/<name>`. The name is a hash of the content, keyed with a
secret of this store (`blobs/.secret`). With a plain hash, a program that is confined by Landlock alone could find out
the right answer: it can test whether a path exists, and so which of several possible answers is stored.

An entry is written to another file and then renamed, so a name always has its whole content, and any number of
processes may share a store. At most one value is in memory at a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from ioi_eval.cache_directory import make_store
from ioi_eval.errors import NO_SPACE, SetupError
from ioi_eval.model import Blob
from ioi_eval.new_files import new_file, temporary_file

_NAME = "blobs"
_PIECE = 1024 * 1024
_SECRET_BYTES = 32


class BlobStore:
    """Bytes on disk by their hash; equal contents are stored once.

    Args:
        cache: the cache directory, by default the user's; created if absent. Blobs are stored below `cache/blobs`.

    Raises:
        SetupError: the directory cannot be made, or others may write to it.
    """

    def __init__(self, cache: str | Path | None = None) -> None:
        self._root = make_store(cache, _NAME)
        self._checked: set[str] = set()

    def put(self, content: bytes) -> Blob:
        """Store `content` and return the reference to it. An existing entry is compared, not rewritten.

        Raises:
            SetupError: the disk is full or cannot be written, or the existing entry does not match its hash.
        """
        digest = hashlib.sha256(content).hexdigest()
        path = self._path(digest)
        if not self._holds(path, digest, content):
            with self._replacing(path) as file:
                file.write(content)
        return Blob(path=path, size=len(content), sha256=digest)

    def require_secret(self) -> None:
        """Check that entries can be found.

        Raises:
            SetupError: the secret key of their names cannot be read, or is damaged.
        """
        _ = self._secret

    def _path(self, sha256: str) -> Path:
        name = self._name(bytes.fromhex(sha256))
        return self._root / name[:2] / name

    def _name(self, digest: bytes) -> str:
        return hashlib.blake2b(digest, key=self._secret, digest_size=32).hexdigest()

    @cached_property
    def _secret(self) -> bytes:
        """The secret key of the names, which only readers of this directory know; created at the first use."""
        path = self._root / ".secret"
        if not path.exists():
            with self._replacing(None) as file:
                os.fchmod(file.fileno(), 0o600)
                file.write(secrets.token_bytes(_SECRET_BYTES))
                file.flush()
                os.fsync(file.fileno())  # if it were lost, it could not be restored
                with contextlib.suppress(FileExistsError):  # another process was first
                    os.link(file.name, path)
        try:
            secret = path.read_bytes()
        except OSError as error:
            raise SetupError(f"{path} cannot be read: {error.strerror}; set IOI_EVAL_CACHE to one of yours") from error
        if len(secret) != _SECRET_BYTES:
            raise SetupError(f"{path} is damaged; delete {self._root}")
        return secret

    def _holds(self, path: Path, digest: str, content: bytes) -> bool:
        """Whether the entry exists and is undamaged. One of another size was truncated by a crash: it is rewritten.

        The contents are compared, which takes half as long as hashing the entry.
        """
        try:
            if path.stat().st_size != len(content):
                return False
            if digest not in self._checked:
                with path.open("rb") as file:
                    if not _has(file, content):
                        raise SetupError(
                            f"the cache entry {path} does not match its hash: it was damaged or replaced;"
                            f" delete {self._root}"
                        )
        except FileNotFoundError:
            return False
        except OSError as error:
            raise SetupError(f"the cache entry {path} cannot be read: {error.strerror}") from error
        self._checked.add(digest)
        return True

    @contextmanager
    def _replacing(self, path: Path | None) -> Iterator[BinaryIO]:
        """A new file that replaces `path` when the block succeeds (`None`: the block links it itself)."""
        directory = self._root if path is None else path.parent
        if not self._root.exists():  # the cache was deleted meanwhile
            make_store(self._root.parent, _NAME)
        try:
            directory.mkdir(mode=0o755, exist_ok=True)
            with temporary_file(directory) if path is None else new_file(path, durable=False) as file:
                yield file
        except OSError as error:
            what, advice = "cannot write test data to", "set IOI_EVAL_CACHE to a place that can be"
            if error.errno in NO_SPACE:
                what, advice = "no room for test data in", "free space, or set IOI_EVAL_CACHE to another disk"
            raise SetupError(f"{what} {self._root}: {error.strerror}; {advice}") from error


def _has(file: BinaryIO, content: bytes) -> bool:
    """Whether a file has this content, and no more. The file is read in pieces."""
    start = 0
    while piece := file.read(_PIECE):
        if not content.startswith(piece, start):
            return False
        start += len(piece)
    return start == len(content)
