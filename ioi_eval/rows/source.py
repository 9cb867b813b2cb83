"""Sources with a path, several sources as one, and the choice of splits."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ioi_eval.errors import InputError, NotReadWarning, unknown
from ioi_eval.problems.row import Row, Source


class PathSource(Source):
    """Rows at one path: a file, or a directory, which has no hash."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def describe(self) -> str:
        """The path."""
        return str(self._path)

    def digest(self) -> str | None:
        """A hash of the file's name, which messages contain, and of its bytes.

        `None` if it cannot be read: reading its rows will raise the error.
        """
        try:
            with self._path.open("rb") as file:
                return f"{self._path}:{hashlib.file_digest(file, 'sha256').hexdigest()}"
        except OSError:
            return None


class Chain(Source):
    """Several sources, one after the other, with a description of all together (`name`)."""

    def __init__(self, parts: Sequence[Source], name: str) -> None:
        self._parts = tuple(parts)
        self._name = name

    def describe(self) -> str:
        """The name that was given."""
        return self._name

    def digest(self) -> str | None:
        """A hash of the parts' hashes."""
        parts = [part.digest() for part in self._parts]
        if None in parts:
            return None
        names = "".join(filter(None, parts)).encode("utf-8", "surrogateescape")  # of files, which may be no UTF-8
        return hashlib.sha256(names).hexdigest()

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The rows of the first part, then those of the second, …"""
        for part in self._parts:
            yield from part.rows(columns)


OBVIOUS = ("train", "test")
ENDINGS = (".jsonl", ".jsonl.gz", ".parquet")  # of files with rows

_SPLIT_NAME = re.compile(r"(train|test|validation|valid|dev)(?=[-_.]|$)")
"""How the Hub recognises a file's split by its name."""


def split_in(path: str) -> str:
    """The split after which a file, or a directory on its path, is named; empty if there is none."""
    return next((match[1] for part in path.split("/") if (match := _SPLIT_NAME.match(part))), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitChoice:
    """Which splits of a data set are read: `split`, if the user named one; else all of them, or the first of `obvious`
    that exists."""

    split: str | None = None
    all_splits: bool = False
    obvious: tuple[str, ...] = OBVIOUS

    def among(self, existing: Sequence[str], what: str, instead: str) -> tuple[str, ...]:
        """The splits that are read. If only one exists, it is read whatever its name.

        With the default of `obvious`, the user has not asked for one split, so a warning names those that are not read.

        Args:
            existing: the splits of the data set.
            what: the data set, for messages.
            instead: what the user can name instead of it, for messages.
        """
        if self.split is not None:
            if self.split in existing:
                return (self.split,)
            raise InputError(f"{what}: {unknown('split', self.split, existing)}")
        if self.all_splits and existing:
            return tuple(existing)
        for name in self.obvious:
            if name in existing:
                others = [other for other in existing if other != name]
                if others and self.obvious == OBVIOUS:
                    message = f"{what}: only the split {name} is read, not {', '.join(others)}; to read another, give"
                    warnings.warn(f"{message} {instead}", NotReadWarning, stacklevel=1)
                return (name,)
        if len(existing) == 1:
            return (existing[0],)
        neither = " nor ".join(self.obvious)
        offered = f"the splits {', '.join(existing)}, neither {neither} among them" if existing else "no splits"
        raise InputError(f"{what} has {offered}; give {instead}")


def read_state(path: Path) -> dict[str, Any]:
    """A small JSON file that says how a data set was saved."""
    try:
        value = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}; save the data set again") from error
    if not isinstance(value, dict):
        raise InputError(f"{path} is not an object; save the data set again")
    return value


_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""How the file begins that Git leaves in the place of a large one if Git LFS did not run."""


def refuse_pointer(content: bytes, name: object) -> None:
    """Refuse a pointer, which would be read as rows or test data; `content` may be only the file's first bytes."""
    if content.startswith(_LFS_POINTER):
        raise InputError(f"{name} is a pointer of Git LFS, not the file itself; run `git lfs pull` where it was cloned")
