"""The data for the charts of `report.html`: numbers about the submissions of each group and problem. Pure.

The browser draws charts and computes means; what needs single submissions is computed here. The mean of the best of k
submissions is exact, not sampled: each of n sorted values has a known probability of being the highest of k that are
drawn without replacement (arXiv 2107.03374 does the same for right and wrong). For a sum of subtasks it is the sum of
their means.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from ioi_eval.estimates import all_among
from ioi_eval.report.html_rows import PageProblem, PageRow
from ioi_eval.scores import total_points

CURVE_KS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
"""The values of k at which a curve has points."""

BINS = 12  # ten for tenths of the limit, one up to a tenth over it, one for more


@dataclass(slots=True)
class Cell:
    """The submissions of one group to one problem. `best` has the most points in each subtask, also of submissions
    that are JE because of another subtask."""

    problem: PageProblem
    verdicts: Counter[str] = field(default_factory=Counter)
    near: int = 0
    copies: int = 0
    targeted: int = 0
    scores: Counter[float] = field(default_factory=Counter)
    parts: list[Counter[float]] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    time: list[int] = field(default_factory=lambda: [0] * BINS)
    memory: list[int] = field(default_factory=lambda: [0] * BINS)

    def add(self, row: PageRow, problem: PageProblem) -> None:
        """Add a submission that was judged, or that we failed to judge. `problem` has the limits of its own run."""
        self.verdicts[row.verdict] += 1
        self.near += row.near_limit
        self.copies += row.original is not None
        self.targeted += row.targeted
        for used, limit, bins in (
            (row.time_s, problem.time_limit_s, self.time),
            (row.memory_bytes, problem.memory_limit_bytes, self.memory),
        ):
            if used is not None and limit:
                bins[min(int(10 * used / limit), BINS - 1)] += 1
        self.best = [max(pair) for pair in zip_longest(self.best, row.parts, fillvalue=0.0)]
        if row.score is None:
            return
        self.scores[row.score] += 1
        if len(self.parts) < len(row.parts):
            self.parts += [Counter() for _ in range(len(row.parts) - len(self.parts))]
        for counter, value in zip(self.parts, row.parts, strict=False):
            counter[value] += 1

    def as_dict(self) -> dict[str, Any]:
        """The numbers for JSON, as shares of full marks."""
        judged, full = self.scores.total(), self.problem.full_marks
        ks = [k for k in CURVE_KS if k <= judged]
        values: dict[str, Any] = {
            "n": judged,
            "je": self.verdicts["JE"],
            "near": self.near,
            "copies": self.copies,
            "targeted": self.targeted,
            "solved": self.verdicts["AC"],
            "verdicts": dict(self.verdicts),
        }
        if full:  # also without a score: a submission that is JE because of one subtask has points in the others
            best = total_points(((points, 1.0) for points in self.best), self.problem.precision)
            values["all"] = _share(best or 0.0, full)
        if judged and full:
            together = [best_of(part, ks) for part in self.parts]
            values |= {
                "mean": _share(_mean(self.scores), full),
                "best": _share(max(self.scores), full),
                "single": [_share(mean, full) for mean in best_of(self.scores, ks)],
                "union": [_share(math.fsum(means), full) for means in zip(*together, strict=True)],
            }
            if len(self.parts) > 1:
                values["parts"] = [
                    [round(_mean(part), 4), round(best, 4)] for part, best in zip(self.parts, self.best, strict=True)
                ]
        for name, bins in (("time", self.time), ("memory", self.memory)):
            if any(bins):
                values[name] = bins
        return values


def best_of(values: Mapping[float, int], ks: Sequence[int]) -> list[float]:
    """The mean of the highest of k values that are drawn without replacement, for each k; `values` has the number of
    occurrences of each value, together at least the highest k."""
    n = sum(values.values())
    ordered = sorted(values.items())
    means = []
    for k in ks:
        below, mean, reached = 0, [], 0.0
        for value, count in ordered:
            below += count
            until = all_among(n, below, k)
            mean.append(value * (until - reached))
            reached = until
        means.append(math.fsum(mean))
    return means


def cells_of(
    rows: Iterable[PageRow], groups: Mapping[tuple[int, str], int], problems: Sequence[Mapping[str, PageProblem]]
) -> dict[tuple[int, str], Cell]:
    """The numbers for each group and problem, without refused rows. `problems`: those of each directory."""
    cells: dict[tuple[int, str], Cell] = {}
    for row in rows:
        if row.verdict:
            key, problem = (groups[row.directory, row.model], row.problem), problems[row.directory][row.problem]
            if key not in cells:
                cells[key] = Cell(problem=problem)
            cells[key].add(row, problem)
    return cells


def _mean(values: Mapping[float, int]) -> float:
    return math.fsum(value * count for value, count in values.items()) / sum(values.values())


def _share(points: float, full: float) -> float:
    return round(points / full, 7)
