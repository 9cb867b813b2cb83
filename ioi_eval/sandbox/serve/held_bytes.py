"""Counts and limits the memory that all requests of a server use together."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ioi_eval.sandbox.serve.request import Refusal


class HeldBytes:
    """The bytes that all requests of a server hold.

    Args:
        most: how many bytes they may hold together.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._all = 0

    @contextlib.contextmanager
    def by_one(self) -> Iterator[Held]:
        """The bytes that one request holds; released at the end."""
        held = Held(self)
        try:
            yield held
        finally:
            held.is_now(0)

    def add(self, size: int) -> None:
        """Count more bytes, or fewer if `size` is negative.

        Raises:
            Refusal: 503, if these are too many now; they are counted all the same.
        """
        self._all += size
        if size > 0 and self._all > self._most:
            raise Refusal(503, {"message": "the queue is full: too many bytes are waiting"})


class Held:
    """The bytes that one request holds."""

    def __init__(self, all_of_them: HeldBytes) -> None:
        self._all = all_of_them
        self._size = 0

    def grows(self, size: int) -> None:
        """The request needs more bytes.

        Raises:
            Refusal: 503, if all requests together hold too many.
        """
        self._size += size
        self._all.add(size)

    def is_now(self, size: int) -> None:
        """The request holds this many bytes now. They are in memory already, so nothing is refused."""
        with contextlib.suppress(Refusal):
            self._all.add(size - self._size)
        self._size = size
