"""How sure a mean, a difference of means, or a count of changes is. Pure.

Problems are the sample: they were drawn from all that could have been asked, and submissions to one problem are alike.
So an interval comes from drawing problems again with replacement (a bootstrap over clusters), with the same draws for
all columns; two sets of results are compared problem by problem, as hard problems are hard for both.

The draws are bytes of Python's own Mersenne Twister, whose sequence is fixed for all versions; numpy's is not. The seed
is fixed too: the same results give the same intervals.

Source: Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13 (percentile interval); McNemar 1947, in the
exact form.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DRAWS = 1000
SEED = 20210520  # the day APPS was published
INTERVALS = f"95 % intervals, from drawing problems {DRAWS:,} times"
"""What reports say of their intervals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over problems, with its 95 % interval; `None` with fewer than two problems."""

    value: float
    low: float | None
    high: float | None

    def as_dict(self) -> dict[str, float | None]:
        """For JSON."""
        return {"value": self.value, "low": self.low, "high": self.high}


def mean_estimates(columns: Mapping[str, Sequence[float]]) -> dict[str, Estimate]:
    """Means over problems, with percentiles of the means over problems drawn again.

    Args:
        columns: by name, a number for each problem; all of the same problems in the same order, at least one.

    Raises:
        ValueError: the columns differ in length, or are empty, which is our bug.
    """
    import numpy as np

    problems = {len(column) for column in columns.values()}
    if not columns:
        return {}
    if len(problems) != 1 or 0 in problems:
        raise ValueError(f"columns of {sorted(problems)} problems have no common mean")
    count = problems.pop()
    table = np.array(list(columns.values()), dtype=np.float64)
    means = [math.fsum(column) / count for column in columns.values()]
    if count < 2:
        return {name: Estimate(value=mean, low=None, high=None) for name, mean in zip(columns, means, strict=True)}
    dice = random.Random(SEED)
    drawn = np.empty((DRAWS, len(means)))
    for draw in range(DRAWS):
        indices = np.frombuffer(dice.randbytes(8 * count), dtype=np.uint64) % count
        drawn[draw] = table @ np.bincount(indices.astype(np.int64), minlength=count) / count
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    return {
        name: Estimate(value=mean, low=float(low[place]), high=float(high[place]))
        for place, (name, mean) in enumerate(zip(columns, means, strict=True))
    }


def mcnemar(lost: int, won: int) -> float:
    """How likely so uneven a split of changes is, if losing and winning were equally likely: the exact two-sided p.

    Only pairs that differ say anything. Pairs of one problem are not independent, so this p is too small where a few
    problems hold many pairs; the interval of the paired difference is the one to rely on there.

    Args:
        lost: pairs that were solved before and are not now.
        won: pairs that are solved now and were not before.

    Raises:
        ValueError: a count is negative, which is our bug.
    """
    if lost < 0 or won < 0:
        raise ValueError(f"{lost} lost and {won} won are not counts")
    total, fewer = lost + won, min(lost, won)
    if 2 * fewer >= total:
        return 1.0
    logs = (
        math.lgamma(total + 1) - math.lgamma(n + 1) - math.lgamma(total - n + 1) - total * math.log(2)
        for n in range(fewer + 1)
    )
    return min(1.0, 2.0 * math.fsum(map(math.exp, logs)))
