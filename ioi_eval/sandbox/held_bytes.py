"""What a server's requests hold in memory together, counted and bounded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ioi_eval.sandbox.request import Refusal


class HeldBytes:
    """All requests of a server.

    Args:
        most: how many bytes they may hold together.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._all = 0

    @contextlib.contextmanager
    def by_one(self) -> Iterator[Held]:
        """What one request holds, until it is answered."""
        held = Held(self)
        try:
            yield held
        finally:
            held.is_now(0)

    def add(self, size: int) -> None:
        """Count bytes more, or less where there are less than none.

        Raises:
            Refusal: 503, if they are more than may be; they are counted all the same.
        """
        self._all += size
        if size > 0 and self._all > self._most:
            raise Refusal(503, {"message": "the queue is full: too many bytes are waiting"})


class Held:
    """What one request holds."""

    def __init__(self, all_of_them: HeldBytes) -> None:
        self._all = all_of_them
        self._size = 0

    def grows(self, size: int) -> None:
        """It needs bytes more.

        Raises:
            Refusal: 503, if all together hold too many.
        """
        self._size += size
        self._all.add(size)

    def is_now(self, size: int) -> None:
        """It holds so much, which is there whether it may be or not."""
        with contextlib.suppress(Refusal):
            self._all.add(size - self._size)
        self._size = size
