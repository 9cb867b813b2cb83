"""Pointers of Git LFS: what Git leaves in the place of a large file if Git LFS did not run."""

from __future__ import annotations

from ioi_eval.errors import InputError

_FIRST_LINE = b"version https://git-lfs.github.com/spec/"


def refuse_pointer(content: bytes, name: object) -> None:
    """Refuse a pointer, which would be read as rows or test data.

    Args:
        content: the file's, or its first bytes.
        name: the file, for the message.

    Raises:
        InputError: it is a pointer.
    """
    if content.startswith(_FIRST_LINE):
        raise InputError(f"{name} is a pointer of Git LFS, not the file itself; run `git lfs pull` where it was cloned")
