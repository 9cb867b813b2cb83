"""Tests of the task "Buoys"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.sample.inputs.case import Case, lines
from tests.sample.inputs.dice import Dice

LARGEST = 1_000_000_000
FRESH = 100_000  # the largest number of a flash in questions, while batteries are fresh


class Buoy(NamedTuple):
    """First flash, seconds between flashes, number of flashes."""

    start: int
    period: int
    flashes: int

    def until(self, second: int) -> int:
        """The number of its flashes up to and including this second."""
        return 0 if second < self.start else min(self.flashes, (second - self.start) // self.period + 1)


def cases() -> Iterator[Case]:
    """All tests, in order of their names."""
    for name, buoys, asked in _inputs():
        yield Case(
            name=name,
            input=lines([[len(buoys), len(asked)], *buoys, *([k] for k in asked)]),
            answer=lines(flash(buoys, k) for k in asked),
        )


def flash(buoys: list[Buoy], k: int) -> tuple[object, ...]:
    """The second of the k-th flash and the number of the buoy, or `never`."""

    def until(second: int) -> int:
        return sum(buoy.until(second) for buoy in buoys)

    high = max(buoy.start + buoy.period * (buoy.flashes - 1) for buoy in buoys)
    if until(high) < k:
        return ("never",)
    low = 0
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if until(middle) >= k else (middle + 1, high)
    place = k - until(low - 1)
    flashing = [i for i, buoy in enumerate(buoys, 1) if buoy.until(low) > buoy.until(low - 1)]
    return low, flashing[place - 1]


def _inputs() -> Iterator[tuple[str, list[Buoy], list[int]]]:
    yield "0-01", [Buoy(2, 5, 3), Buoy(7, 1, 2), Buoy(0, 10, 2)], [1, 3, 4, 8]

    yield "1-01", [Buoy(5, 3, 4)], [1, 2, 4, 5]
    yield "1-02", [Buoy(0, 6, 9), Buoy(0, 4, 2), Buoy(0, 3, 8), Buoy(12, 12, 3), Buoy(0, 1, 30)], [*range(1, 41)]
    yield "1-03", *_one_night(Dice("buoys 1-03"), 5)
    yield "1-04", *_one_night(Dice("buoys 1-04"), 4)
    yield "1-05", [Buoy(i, 1, 190) for i in range(5)], [950, 951, 949, 1, 2, 1_000]

    yield "2-01", *_fresh(Dice("buoys 2-01"), 6, periods=(1_200, 1_400))
    yield "2-02", *_fresh(Dice("buoys 2-02"), 100, periods=(1, 1_000))
    yield "2-03", *_fresh(Dice("buoys 2-03"), 8, periods=(1, 1))
    yield "2-04", *_fresh(Dice("buoys 2-04"), 100, periods=(100_000, 140_000))

    yield "3-01", *_long(Dice("buoys 3-01"), 100)
    yield "3-02", [Buoy(LARGEST, LARGEST, LARGEST)] * 100, [10**11, 10**11 + 1, 10**12, 1, 100, 101, 10**11 - 1]
    yield "3-03", *_long(Dice("buoys 3-03"), 50)
    yield "3-04", [Buoy(LARGEST - i, 1, LARGEST) for i in range(100)], [10**k for k in range(13)]
    yield "3-05", [Buoy(0, LARGEST, LARGEST), Buoy(1, 1, LARGEST)], [10**9, 10**9 + 1, 10**9 + 2, 2 * 10**9]


def _one_night(dice: Dice, count: int) -> tuple[list[Buoy], list[int]]:
    """No flash after second 100,000; the last questions are about flashes that do not happen."""
    buoys = []
    for _ in range(count):
        start, flashes = dice.between(0, 20_000), dice.between(1, 150)
        buoys.append(Buoy(start, dice.between(1, 80_000 // flashes), flashes))
    there_are = sum(buoy.flashes for buoy in buoys)
    return buoys, [dice.between(1, there_are) for _ in range(20)] + [there_are, there_are + 1, 1_000]


def _fresh(dice: Dice, count: int, *, periods: tuple[int, int]) -> tuple[list[Buoy], list[int]]:
    """Batteries that last for more flashes than the questions need."""
    buoys = [Buoy(dice.between(0, 10_000), dice.between(*periods), dice.between(FRESH, LARGEST)) for _ in range(count)]
    return buoys, [dice.between(1, FRESH) for _ in range(20)] + [FRESH]


def _long(dice: Dice, count: int) -> tuple[list[Buoy], list[int]]:
    """Anything that the constraints allow."""
    buoys = [Buoy(dice.between(0, LARGEST), dice.between(1, LARGEST), dice.between(1, LARGEST)) for _ in range(count)]
    there_are = sum(buoy.flashes for buoy in buoys)
    return buoys, [dice.between(1, there_are) for _ in range(30)] + [there_are, there_are + 1]
