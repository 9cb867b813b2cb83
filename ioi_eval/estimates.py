"""pass@k; confidence intervals of means and of differences of means; tests for differences and counts of changes. Pure.

Problems are the sample: they were drawn from all possible problems, and submissions to one problem are similar. So an
interval is computed by drawing problems again with replacement (a bootstrap over clusters). Two sets of results are
compared problem by problem, because hard problems are hard for both: the sample is the difference of each problem.
The intervals of few problems are too narrow, so a difference is more than chance only if a randomisation test agrees.

The script of `report.html` computes both for what is selected there (`report/page/data.js`), by the same rules:

- The values of the n problems are sorted, so that the order of the problems does not matter.
- A draw takes n of them. Each takes the next number r of mulberry32, and is the value at index floor(r · n / 2³²).
- Each draw is used twice, the second time with indices from the end: if all values change their signs, so do the ends.
- The interval is from the lowest to the highest mean without 2.5 % of the means on each side. An end within 10⁻⁶ of 0
  is 0, so that errors of floats do not make a difference significant. The page has shares with 7 decimals.

Source: Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13 (percentile interval); Ettinger 2017 for
mulberry32; Fisher 1935, The Design of Experiments, section 21 (randomisation test); McNemar 1947, in the exact form.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ioi_eval.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KS = (1, 2, 5, 10, 25, 50, 100, 250, 500, 1000)
"""The k of pass@k in reports."""
DRAWS = 1000
SEED = 20210520  # the day APPS was published
_CUT = DRAWS // 40  # 2.5 %
_AT_ONCE = 1 << 15  # random numbers, which then take about a megabyte
LEAST_PROBLEMS = 6
"""With fewer, means have no interval: no difference can be significant, as p of `sign_flip` is at least 1/16."""
SIGNIFICANT = 0.05
_MOST_EXACT = 20  # half a million sums, in 10 ms
INTERVALS = f"95 % bootstrap intervals from {DRAWS:,} draws of problems, rather too narrow with fewer than 20 problems"
"""The note in reports about their intervals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over problems, with its 95 % interval.

    Without an interval (`None`) with fewer than `LEAST_PROBLEMS`, or if some submissions are not judged yet.
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
    table = np.sort(np.array(list(columns.values()), dtype=np.float64))  # a ValueError if their lengths differ
    count = table.shape[1]
    means = [math.fsum(column) / count for column in columns.values()]
    if count < LEAST_PROBLEMS or not intervals:
        return {name: Estimate(value=mean, low=None, high=None) for name, mean in zip(columns, means, strict=True)}
    both = np.concatenate((table, table[:, ::-1]))
    sums = np.empty((DRAWS // 2, len(both)))
    step = max(1, _AT_ONCE // count)
    for start in range(0, len(sums), step):
        draws = min(step, len(sums) - start)
        indices = random_numbers(start * count, draws * count).astype(np.uint64) * count >> 32
        indices += np.repeat(np.arange(draws, dtype=np.uint64) * count, count)  # each draw has its own counters
        times = np.bincount(indices.astype(np.int64), minlength=draws * count).reshape(draws, count)
        sums[start : start + draws] = times @ both.T
    drawn = np.sort(sums.reshape(DRAWS, -1), axis=0) / count
    drawn[np.abs(drawn) < 1e-6] = 0.0
    return {
        name: Estimate(value=mean, low=float(drawn[_CUT, index]), high=float(drawn[-1 - _CUT, index]))
        for index, (name, mean) in enumerate(zip(columns, means, strict=True))
    }


def means_of_problems(
    problems: Sequence[tuple[float | None, int, int]], ks: Iterable[int] = KS, *, intervals: bool
) -> tuple[Estimate | None, dict[int, Estimate]]:
    """The mean share of the points, or tests, that a submission gets, and pass@k for each of these k. Solved means full
    marks in every subtask, or all tests passed; submissions that could not be judged are left out.

    Args:
        problems: of each the mean share (`None` if unknown), and how many submissions were judged and solved it.

    Returns:
        The mean share, if that of every problem is known; and pass@k if every problem has k judged submissions.
    """
    shares = [share for share, _, _ in problems if share is not None]
    columns = {"": shares} if shares and len(shares) == len(problems) else {}
    passing = pass_at_each_k([(judged, solved) for _, judged, solved in problems], ks)
    found = mean_estimates({**columns, **{str(k): column for k, column in passing.items()}}, intervals=intervals)
    return found.get(""), {k: found[str(k)] for k in passing}


def random_numbers(start: int, count: int) -> NDArray[np.uint32]:
    """The next `count` numbers of mulberry32 after the first `start` ones, in 32 bits."""
    import numpy as np

    state = np.arange(start + 1, start + 1 + count, dtype=np.uint32) * 0x6D2B79F5 + SEED
    mixed: NDArray[np.uint32] = (state ^ state >> 15) * (state | 1)
    mixed ^= mixed + (mixed ^ mixed >> 7) * (mixed | 61)
    mixed ^= mixed >> 14
    return mixed


def sign_flip(differences: Sequence[float]) -> float:
    """The two-sided p of a randomisation test of paired differences: how likely a sum at least as far from 0 is, if
    each difference is as likely to have the opposite sign.

    Differences within 10⁻⁹ of 0 have no effect. Of the others all assignments of signs are counted; the sum of more
    than 20 is taken as normally distributed.
    """
    import numpy as np

    sizes = sorted(abs(value) for value in differences if abs(value) > 1e-9)
    if not sizes:
        return 1.0
    found = abs(math.fsum(differences))
    if len(sizes) > _MOST_EXACT:
        return math.erfc(found / math.sqrt(2 * math.fsum(size * size for size in sizes)))
    sums = np.array(sizes[:1])  # with the opposite first sign, each sum has the opposite sign
    for size in sizes[1:]:
        sums = np.concatenate((sums + size, sums - size))
    return float(np.mean(np.abs(sums) >= found - 1e-9))


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


def pass_at_each_k(counts: Sequence[tuple[int, int]], ks: Iterable[int]) -> dict[int, list[float]]:
    """The probability that one of k samples drawn without replacement solves a problem, by k and for each problem.

    The estimator is unbiased: 1 − C(n − c, k) / C(n, k) for a problem with c of n samples right.

    Args:
        counts: (n, c) for each problem. Leave out samples that could not be judged: they do not count as wrong.
        ks: how many are drawn.

    Returns:
        Numbers in [0, 1], without any k for which a problem has fewer samples (a mean over the others would be of
        another set of problems). Empty if there is no problem.

    Source: arXiv 2107.03374, section 2.1, in its product form, which stays exact for large n.
    """
    ks = tuple(ks)
    if (least := min(ks, default=1)) < 1:
        raise InputError(f"pass@{least} does not exist: k must be at least 1")
    for n, c in counts:
        if not 0 <= c <= n:
            raise InputError(f"{c} right samples of {n} are not possible")
    fewest = min((n for n, _ in counts), default=0)
    return {k: [1.0 - all_among(n, n - c, k) for n, c in counts] for k in ks if k <= fewest}


def all_among(n: int, some: int, k: int) -> float:
    """How likely k of n samples, drawn without replacement, are all among `some` of them: C(some, k) / C(n, k)."""
    if some < k:
        return 0.0
    factors, drawn = sorted((k, n - some))  # the shorter of two equal products
    return math.prod(1.0 - drawn / (n - i) for i in range(factors))
