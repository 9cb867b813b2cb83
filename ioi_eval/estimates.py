"""Confidence intervals of means and of differences of means, and a test for counts of changes. Pure.

Problems are the sample: they were drawn from all possible problems, and submissions to one problem are similar. So an
interval is computed by drawing problems again with replacement (a bootstrap over clusters), with the same draws for
all columns. Two sets of results are compared problem by problem, because hard problems are hard for both.

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
INTERVALS = f"95 % bootstrap intervals from {DRAWS:,} draws of problems"
"""The note in reports about their intervals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over problems, with its 95 % interval.

    Without an interval (`None`) with fewer than two problems, or if some submissions are not judged yet.
    """

    value: float
    low: float | None
    high: float | None

    def as_dict(self) -> dict[str, float | None]:
        """For JSON."""
        return {"value": self.value, "low": self.low, "high": self.high}


def mean_estimates(columns: Mapping[str, Sequence[float]], *, intervals: bool = True) -> dict[str, Estimate]:
    """Means over problems, with intervals from percentiles of the means over resampled problems.

    Args:
        columns: by name, a number for each problem; all columns have the same problems in the same order, at least one.
        intervals: whether to compute intervals. A sample of which a part is missing has none.
    """
    import numpy as np

    if not columns:
        return {}
    table = np.array(list(columns.values()), dtype=np.float64)  # a ValueError if their lengths differ
    count = table.shape[1]
    means = [math.fsum(column) / count for column in columns.values()]
    if count < 2 or not intervals:
        return {name: Estimate(value=mean, low=None, high=None) for name, mean in zip(columns, means, strict=True)}
    dice = random.Random(SEED)
    drawn = np.empty((DRAWS, len(means)))
    for draw in range(DRAWS):
        indices = np.frombuffer(dice.randbytes(8 * count), dtype=np.uint64) % count
        drawn[draw] = table @ np.bincount(indices.astype(np.int64), minlength=count) / count
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    return {
        name: Estimate(value=mean, low=float(low[index]), high=float(high[index]))
        for index, (name, mean) in enumerate(zip(columns, means, strict=True))
    }


def mcnemar(lost: int, won: int) -> float:
    """The exact two-sided p: how likely a split at least this uneven is, if losing and winning are equally likely.

    Only pairs that differ count. Pairs of one problem are not independent, so this p is too small if a few problems
    have many pairs; then rely on the interval of the paired difference.
    """
    total, fewer = lost + won, min(lost, won)
    if 2 * fewer >= total:
        return 1.0
    logs = (
        math.lgamma(total + 1) - math.lgamma(n + 1) - math.lgamma(total - n + 1) - total * math.log(2)
        for n in range(fewer + 1)
    )
    return min(1.0, 2.0 * math.fsum(map(math.exp, logs)))
