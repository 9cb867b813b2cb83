"""A cache that keeps the values used last, up to a total size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
ValueT = TypeVar("ValueT")


class RecentValues(Generic[KeyT, ValueT]):
    """The values used last, of `most` size together, in any unit. At least one is kept, whatever its size."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[KeyT, tuple[ValueT, int]] = OrderedDict()
        self.size = 0

    def get(self, key: KeyT) -> ValueT | None:
        """A value; `None` if it is not kept."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key][0]

    def put(self, key: KeyT, value: ValueT, size: int = 1) -> ValueT:
        """Keep a value, unless the key has one already. Returns the value."""
        if key not in self._values:
            self._values[key] = value, size
            self.size += size
        while self.size > self._most and len(self._values) > 1:
            self.size -= self._values.popitem(last=False)[1][1]
        return value
