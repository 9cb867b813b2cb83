"""Tests of the task "Keepers"."""

from __future__ import annotations

from collections.abc import Iterator

from tests.sample.inputs.case import Case, lines
from tests.sample.inputs.dice import Dice

HIGHEST = 1_000_000_000

Heights = tuple[list[int], list[int]]


def cases() -> Iterator[Case]:
    """All tests, in order of their names. The manager computes the median itself; the official output is for human
    readers.
    """
    for name, (first, second) in _inputs():
        median = sorted(first + second)[len(first) - 1]
        yield Case(
            name=name,
            input=lines([[len(first)], sorted(first), sorted(second)]),
            answer=lines([[median]]),
        )


def _inputs() -> Iterator[tuple[str, Heights]]:
    yield "0-01", ([2, 3, 11], [5, 7, 13])
    yield "0-02", ([40], [30])

    yield "1-01", ([0], [1])
    yield "1-02", ([1, 999], [0, 2])
    yield "1-03", _deal(Dice("keepers 1-03"), 8, highest=999)
    yield "1-04", _zip(Dice("keepers 1-04"), 8, highest=999)
    yield "1-05", _deal(Dice("keepers 1-05"), 7, highest=20)

    yield "2-01", _split(Dice("keepers 2-01"), 1_000)
    yield "2-02", _split(Dice("keepers 2-02"), 512)[::-1]
    yield "2-03", _split(Dice("keepers 2-03"), 300)

    yield "3-01", _deal(Dice("keepers 3-01"), 1_000, highest=HIGHEST)
    yield "3-02", _zip(Dice("keepers 3-02"), 1_000, highest=HIGHEST)
    yield "3-03", _between(Dice("keepers 3-03"), 1_000)
    yield "3-04", _between(Dice("keepers 3-04"), 513)[::-1]
    yield "3-05", _deal(Dice("keepers 3-05"), 999, highest=2_500)


def _deal(dice: Dice, n: int, *, highest: int) -> Heights:
    """Heights divided between the keepers at random."""
    heights = dice.distinct(2 * n, 0, highest)
    return heights[:n], heights[n:]


def _zip(dice: Dice, n: int, *, highest: int) -> Heights:
    """The keepers get heights in turn: the median is in the middle of both."""
    heights = sorted(dice.distinct(2 * n, 0, highest))
    return heights[::2], heights[1::2]


def _split(dice: Dice, n: int) -> Heights:
    """One keeper has the lower heights, the other the higher ones."""
    heights = sorted(dice.distinct(2 * n, 0, HIGHEST))
    return heights[:n], heights[n:]


def _between(dice: Dice, n: int) -> Heights:
    """All heights of one keeper lie between a tenth and nine tenths of the other's."""
    heights = sorted(dice.distinct(2 * n, 0, HIGHEST))
    tenth = n // 10
    return heights[tenth : tenth + n], heights[:tenth] + heights[tenth + n :]
