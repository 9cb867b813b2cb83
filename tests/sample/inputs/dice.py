"""Random numbers that are the same on every machine and under every version of Python.

Python guarantees this only for `random.random()` itself; `sample` and `shuffle` have changed between versions.
"""

from __future__ import annotations

import hashlib
from collections.abc import MutableSequence
from typing import TypeVar

_T = TypeVar("_T")
_MASK = 2**64 - 1


class Dice:
    """A stream of random integers, named by a text.

    Source: the generator is SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).

    Args:
        name: the seed; streams with different names are independent.
    """

    def __init__(self, name: str) -> None:
        self._state = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")

    def _next(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def between(self, low: int, high: int) -> int:
        """An integer in [low, high]. The bias of the remainder is below 2**-20 for all uses here."""
        return low + self._next() % (high - low + 1)

    def distinct(self, count: int, low: int, high: int) -> list[int]:
        """`count` different integers in [low, high], in random order."""
        chosen: dict[int, None] = {}
        while len(chosen) < count:
            chosen[self.between(low, high)] = None
        return list(chosen)

    def shuffle(self, items: MutableSequence[_T]) -> None:
        """Put the items into random order (Fisher and Yates)."""
        for i in range(len(items) - 1, 0, -1):
            j = self.between(0, i)
            items[i], items[j] = items[j], items[i]
