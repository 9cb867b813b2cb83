"""Tests of the sample of APPS: inputs, and outputs that are computed independently of the solutions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, TypeAlias

from tests.sample.inputs.dice import Dice

Pairs: TypeAlias = "Iterator[tuple[Any, Any]]"


def tides() -> Pairs:
    """Texts for standard input and output."""
    dice = Dice("apps tides")
    for levels in (
        [120, 150, 150, 140, 180],
        [300],
        [50, 40, 30, 30, 10],
        [0, 10_000],
        [dice.between(0, 10_000) for _ in range(200)],
        [10 * i for i in range(1000)],
    ):
        hours = most = 0
        for before, level in pairwise(levels):
            hours += level > before
            most = max(most, level - before)
        yield _lines([len(levels)], levels), _lines([hours, most])


def watch() -> Pairs:
    """Arguments and results. The results are found by trying all stretches, which is slow but certain."""
    dice = Dice("apps watch")
    for keepers, most in (
        ([1, 2, 1, 3, 3, 2], 2),
        ([7], 1),
        ([4, 4, 4, 4], 3),
        ([1, 2, 3, 4, 5], 1),
        ([dice.between(1, 6) for _ in range(300)], 3),
        ([dice.between(1, 40) for _ in range(1500)], 25),
    ):
        best = 0
        for first in range(len(keepers)):
            seen: set[int] = set()
            for last in range(first, len(keepers)):
                seen.add(keepers[last])
                if len(seen) > most:
                    break
                best = max(best, last - first + 1)
        yield [keepers, most], best


def flags() -> Pairs:
    """Arguments and results in lists of one element, as in rows from Codewars."""
    dice = Dice("apps flags")
    for message in ("aaab", "z", "", "abcabc", "".join("xyz"[dice.between(0, 2)] for _ in range(300))):
        hoisted = ""
        left = message
        while left:
            rest = left.lstrip(left[0])
            hoisted += f"{left[0]}{len(left) - len(rest)}"
            left = rest
        yield [message], [hoisted]


def crews() -> Pairs:
    """Texts. The answer is one of several right ones: the smallest crews, with everybody else in the last boat."""
    for boats, sailors in ((3, 10), (1, 1), (5, 14), (4, 20), (100, 1_000_000)):
        sizes = [*range(1, boats), sailors - boats * (boats - 1) // 2]
        yield _lines([boats, sailors]), _lines(sizes if sizes[-1] >= boats else [-1])


def moorings() -> Pairs:
    """Texts. The answer is computed hour by hour, with the best value until each hour."""
    dice = Dice("apps moorings")

    def some(count: int, last: int, longest: int, dearest: int) -> list[tuple[int, int, int]]:
        ships = []
        for _ in range(count):
            start = dice.between(0, last - longest)
            ships.append((start, start + dice.between(1, longest), dice.between(1, dearest)))
        return ships

    for ships in (
        [(0, 4, 5), (3, 6, 9), (4, 9, 6)],
        [(0, 1_000_000, 1)],
        some(6, 20, 5, 10),
        some(12, 40, 15, 100),
        some(15, 60, 20, 1000),
        some(3000, 1_000_000, 5_000, 1000),
    ):
        leaving: dict[int, list[tuple[int, int]]] = {}
        for start, end, fee in ships:
            leaving.setdefault(end, []).append((start, fee))
        hours = sorted({0, *leaving, *(start for start, _, _ in ships)})
        best = dict.fromkeys(hours, 0)
        for before, hour in pairwise(hours):
            best[hour] = max([best[before], *(best[start] + fee for start, fee in leaving.get(hour, ()))])
        yield _lines([len(ships)], *ships), _lines([best[hours[-1]]])


def _lines(*rows: Any) -> str:
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


TESTS: dict[str, Callable[[], Pairs]] = {
    "tides": tides, "watch": watch, "flags": flags, "crews": crews, "moorings": moorings,
}  # fmt: skip
"""For the folder of each problem its tests, in the order of the problems' ids."""
