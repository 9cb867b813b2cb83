"""Tests of the task "Berths"."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from tests.sample.inputs.case import Case, lines
from tests.sample.inputs.dice import Dice

HOUR = 3_599
REGATTA = 50_000_000

Ship = tuple[int, int]


def cases() -> Iterator[Case]:
    """All tests, in order of their names."""
    for name, ships in _inputs():
        plan = fewest_berths(ships)
        yield Case(name=name, input=lines([[len(ships)], *ships]), answer=lines([[len(ships)], plan]))


def fewest_berths(ships: list[Ship]) -> list[int]:
    """A plan with as few berths as possible: ships in order of arrival; each gets a free berth if there is one."""
    plan = [0] * len(ships)
    busy: list[tuple[int, int]] = []  # (end of the stay, berth)
    for i in sorted(range(len(ships)), key=lambda i: ships[i]):
        arrive, depart = ships[i]
        berth = heapq.heappop(busy)[1] if busy and busy[0][0] < arrive else len(busy)
        heapq.heappush(busy, (depart, berth))
        plan[i] = berth
    return plan


def _inputs() -> Iterator[tuple[str, list[Ship]]]:
    yield "0-01", [(0, 5), (4, 7), (5, 9), (8, 9)]
    yield "0-02", [(3, 3), (3, 4), (4, 4)]

    yield "1-01", [(17, 17)]
    yield "1-02", [(0, 5), (5, 5), (6, 9), (9, 12), (13, 13), (12, 20)]
    yield "1-03", [(0, 1), (10, 11), (1, 6), (6, 11), (7, 8), (2, 3)]
    yield "1-04", _stays(Dice("berths 1-04"), 6, until=20, longest=12)
    yield "1-05", _stays(Dice("berths 1-05"), 6, until=HOUR, longest=2_000)

    yield "2-01", _stays(Dice("berths 2-01"), 200, until=HOUR, longest=900)
    yield "2-02", _stays(Dice("berths 2-02"), 200, until=60, longest=10)
    yield "2-03", _relay(Dice("berths 2-03"), 180, until=HOUR, step=60)
    yield "2-04", _stays(Dice("berths 2-04"), 199, until=HOUR, longest=60)

    yield "3-01", _all_different(Dice("berths 3-01"), 400)
    yield "3-02", _all_different(Dice("berths 3-02"), 1_000)
    yield "3-03", _nested(Dice("berths 3-03"), 300)
    yield "3-04", _all_different_short(Dice("berths 3-04"), 1_000)

    yield "4-01", _stays(Dice("berths 4-01"), 1_000, until=REGATTA, longest=2_000_000)
    yield "4-02", [(0, REGATTA)] * 300
    yield "4-03", _relay(Dice("berths 4-03"), 1_000, until=REGATTA, step=100_000)
    yield "4-04", _stays(Dice("berths 4-04"), 1_000, until=100, longest=3)


def _stays(dice: Dice, count: int, *, until: int, longest: int) -> list[Ship]:
    """Ships with random arrivals, and random stays of at most `longest`."""
    ships = []
    for _ in range(count):
        arrive = dice.between(0, until)
        ships.append((arrive, min(until, arrive + dice.between(0, longest))))
    return ships


def _relay(dice: Dice, count: int, *, until: int, step: int) -> list[Ship]:
    """Stays that begin and end only at multiples of `step`, so that many ships meet in one second."""
    ships = []
    for _ in range(count):
        begin = dice.between(0, until // step - 1)
        length = min(dice.between(1, 5), until // step - begin)
        ships.append((begin * step, (begin + length) * step))
    return ships


def _all_different(dice: Dice, count: int) -> list[Ship]:
    """2 * count different times, paired at random."""
    times = [*dice.distinct(2 * count - 1, 0, REGATTA - 1), REGATTA]
    return [(min(pair), max(pair)) for pair in zip(times[::2], times[1::2], strict=True)]


def _all_different_short(dice: Dice, count: int) -> list[Ship]:
    """2 * count different times, each ship leaving within the next few events."""
    times = sorted(dice.distinct(2 * count, 0, REGATTA))
    ships = []
    for begin in range(0, 2 * count, 20):
        block = times[begin : begin + 20]
        dice.shuffle(block)
        ships += [(min(pair), max(pair)) for pair in zip(block[::2], block[1::2], strict=True)]
    dice.shuffle(ships)
    return ships


def _nested(dice: Dice, count: int) -> list[Ship]:
    """Each stay is contained in the next longer one."""
    times = sorted(dice.distinct(2 * count, 0, REGATTA))
    ships = list(zip(times[:count], reversed(times[count:]), strict=True))
    dice.shuffle(ships)
    return ships
