"""The tests of a problem as they are read, and where their bytes go."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from ioi_eval.errors import InputError
from ioi_eval.model import Blob, Content, TestCase

_INLINE_BYTES = 4096  # below this size, a file costs more than it saves
_INLINE_TOTAL = 16 * 1024 * 1024


class DataStore(Protocol):
    """Stores test data on disk: a `BlobStore`, which this layer does not import."""

    def put(self, content: bytes) -> Blob:
        """Store the bytes, and return the reference to them."""
        ...

    def find(self, sha256: str, size: int) -> Blob | None:
        """The reference to stored bytes, which are compared with their hash; `None` if they are not there."""
        ...

    def remember(self, key: str, value: bytes) -> None:
        """Store a small value under a key, if that is possible."""
        ...

    def recall(self, key: str) -> bytes | None:
        """The value of a key; `None` if there is none."""
        ...


@dataclass(slots=True)
class TestData:
    """The tests of one problem that were read so far.

    Args:
        cases: by name.
        mended: to how many inputs and outputs a final newline was added.
        error: the first error that makes the problem unusable.
    """

    __test__ = False

    cases: dict[str, TestCase] = field(default_factory=dict)
    mended: Counter[str] = field(default_factory=Counter)
    error: InputError | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was added, as a text."""
        if not self.mended:
            return ()
        counts = [f"{count} {what}{'s' if count > 1 else ''}" for what, count in sorted(self.mended.items())]
        return (f"final newline added to {' and '.join(counts)}",)


class Contents:
    """Keeps test data: small values in memory, up to a total size; the rest on disk.

    Args:
        store: for the rest.
    """

    def __init__(self, store: DataStore) -> None:
        self._store = store
        self._left = _INLINE_TOTAL

    def put(self, content: bytes) -> Content:
        """Keep the bytes."""
        if len(content) < _INLINE_BYTES and len(content) <= self._left:
            self._left -= len(content)
            return content
        return self._store.put(content)
