"""Tests of the task "Lamps"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.sample.inputs.case import Case, lines
from tests.sample.inputs.dice import Dice

LONGEST = 3_000


def cases() -> Iterator[Case]:
    """All tests, in order of their names. The official output is the secret; the manager does not need it."""
    for name, n, lamps in _inputs():
        dark = sorted(lamps)
        yield Case(name=name, input=lines([[n, len(dark)], dark]), answer=lines([dark]))


def _inputs() -> Iterator[tuple[str, int, Iterable[int]]]:
    yield "0-01", 8, [2, 6]
    yield "0-02", 5, range(5)

    dice = Dice("lamps 1")
    yield "1-01", 3, [2]
    yield "1-02", 1_000, [0]
    yield "1-03", 1_000, [999]
    yield "1-04", 1_000, [dice.between(100, 900)]
    yield "1-05", 777, [dice.between(100, 700)]

    dice = Dice("lamps 2")
    yield "2-01", LONGEST, _row(dice.between(500, 2_500), 50)
    yield "2-02", LONGEST, _row(LONGEST // 2 - 3, 7)
    yield "2-03", 1_024, _row(512, 32)
    yield "2-04", 2_500, _row(1_000, 2)
    yield "2-05", 50, _row(0, 50)

    dice = Dice("lamps 3")
    yield "3-01", LONGEST, dice.distinct(50, 0, LONGEST - 1)
    yield "3-02", LONGEST, range(30, LONGEST, 60)
    yield "3-03", LONGEST, [lamp + side for lamp in range(100, 2_600, 100) for side in (0, 1)]
    yield "3-04", 2_049, [0, 2_048]
    yield "3-05", 2_999, dice.distinct(20, 0, 2_998)
    yield "3-06", 100, dice.distinct(50, 0, 99)


def _row(first: int, count: int) -> range:
    return range(first, first + count)
