"""The metrics of a set of solutions, by difficulty: test case average, strict accuracy, pass@k. Pure.

Problems are the sample: a mean is over problems (first over a problem's own solutions), and a confidence interval
comes from resampling problems. Solutions and rows that could not be judged are counted separately: they are not wrong
answers.

Source: arXiv 2105.09938 for "test case average" and "strict accuracy", arXiv 2107.03374 for pass@k.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ioi_eval.errors import InputError
from ioi_eval.estimates import mean_estimates
from ioi_eval.scores import pass_at_each_k

DIFFICULTIES = ("introductory", "interview", "competition")
ALL = "all"
UNKNOWN = "unknown"


@dataclass(slots=True)
class _DifficultyTally:
    """The solutions of one difficulty: for each problem the shares of its solutions."""

    shares: dict[str, list[float]] = field(default_factory=dict)
    unjudged: int = 0


class DifficultyTable:
    """The table: a line for each difficulty that occurs, from easy to hard, and one for all."""

    def __init__(self) -> None:
        self._by_difficulty: dict[str, _DifficultyTally] = {}
        self._everything = _DifficultyTally()

    def add(self, problem: str, difficulty: str, *, passed: int | None, total: int) -> None:
        """Add a solution.

        Args:
            problem: the problem's id.
            difficulty: of the problem; empty if unknown.
            passed: how many tests it passed; `None` if it could not be judged.
            total: the number of tests.

        Raises:
            InputError: these numbers are impossible.
        """
        if passed is not None and (not 0 <= passed <= total or total == 0):
            raise InputError(
                f"a solution of problem {problem} passed {passed} of {total} tests: these numbers are not possible"
            )
        for tally in (self._by_difficulty.setdefault(difficulty or UNKNOWN, _DifficultyTally()), self._everything):
            if passed is None:
                tally.unjudged += 1
            else:
                tally.shares.setdefault(problem, []).append(passed / total)

    @property
    def judged(self) -> Mapping[str, int]:
        """How many solutions of each problem were judged."""
        return {problem: len(shares) for problem, shares in self._everything.shares.items()}

    def lines(
        self, ks: Sequence[int] = (1,), invalid: Mapping[str, int] | None = None, *, intervals: bool = True
    ) -> list[dict[str, Any]]:
        """The lines, for JSON. Means are `None` without a judged solution.

        Args:
            ks: of pass@k, which a line has only if each of its problems has k judged solutions.
            invalid: how many rows of each difficulty cannot be judged.
            intervals: whether means have intervals.

        Raises:
            InputError: a k is below 1.
        """
        for k in ks:
            if k < 1:
                raise InputError(f"pass@{k} does not exist: k must be at least 1")
        refused = Counter[str]()
        for difficulty, count in (invalid or {}).items():
            refused[difficulty or UNKNOWN] += count
        names = self._by_difficulty.keys() | refused.keys()
        order = [*(name for name in DIFFICULTIES if name in names), *sorted(names - {*DIFFICULTIES})]
        lines = [
            _line(name, self._by_difficulty.get(name, _DifficultyTally()), refused[name], ks, intervals=intervals)
            for name in order
        ]
        return [*lines, _line(ALL, self._everything, refused.total(), ks, intervals=intervals)]


def _line(name: str, tally: _DifficultyTally, invalid: int, ks: Sequence[int], *, intervals: bool) -> dict[str, Any]:
    shares = list(tally.shares.values())
    counts = [(len(problem), sum(share == 1.0 for share in problem)) for problem in shares]
    columns = {
        "average": [math.fsum(problem) / len(problem) for problem in shares],
        "strict": [right / n for n, right in counts],
    }
    columns |= {str(k): column for k, column in pass_at_each_k(counts, ks).items()}
    found = mean_estimates(columns, intervals=intervals) if shares else {}
    estimates = {name: estimate.as_dict() for name, estimate in found.items()}
    return {
        "difficulty": name,
        "problems": len(shares),
        "submissions": sum(map(len, shares)),
        "undecided": tally.unjudged,
        "invalid_problems": invalid,
        "test_case_average": estimates.get("average"),
        "strict_accuracy": estimates.get("strict"),
        "pass_at_k": {str(k): estimates[str(k)] for k in ks if str(k) in estimates},
    }
