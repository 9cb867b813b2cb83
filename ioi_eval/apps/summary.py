"""The metrics of a set of solutions, by difficulty: test case average, strict accuracy, pass@k. Pure.

Problems are the sample: a mean is over problems (first over a problem's own solutions), and a confidence interval
comes from resampling problems. Solutions and rows that could not be judged are counted separately: they are not wrong
answers.

Source: arXiv 2105.09938 for "test case average" and "strict accuracy", arXiv 2107.03374 for pass@k.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from ioi_eval.errors import InputError
from ioi_eval.estimates import Estimate, mean_estimates
from ioi_eval.scores import pass_at_each_k

DIFFICULTIES = ("introductory", "interview", "competition")
ALL = "all"
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedProgram:
    """One judged solution.

    Args:
        problem: the problem's id.
        difficulty: of the problem; empty if unknown.
        passed: how many tests it passed; `None` if it could not be judged.
        total: the number of tests.
    """

    problem: str
    difficulty: str
    passed: int | None
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the table.

    Args:
        difficulty: `unknown` if rows do not say, `all` for the last line.
        problems: how many have a judged solution.
        solutions: how many were judged.
        unjudged: how many solutions could not be judged.
        invalid: how many rows cannot be judged.
        test_case_average: mean share of tests passed; `None` without a judged solution, as the others.
        strict_accuracy: mean share of solutions that pass all tests.
        pass_at: for each requested k; `None` if a problem has fewer than k judged solutions.
    """

    difficulty: str
    problems: int
    solutions: int
    unjudged: int
    invalid: int
    test_case_average: Estimate | None
    strict_accuracy: Estimate | None
    pass_at: Mapping[int, Estimate | None]


@dataclass(slots=True)
class _DifficultyGroup:
    """The solutions of one difficulty: for each problem the shares of its solutions."""

    shares: dict[str, list[float]] = field(default_factory=dict)
    unjudged: int = 0
    invalid: int = 0


def summarize(
    solutions: Iterable[JudgedProgram], *, ks: Sequence[int] = (1,), invalid: Mapping[str, int] | None = None
) -> tuple[Line, ...]:
    """The table: a line for each difficulty that occurs, from easy to hard, and one for all.

    Args:
        solutions: judged ones and unjudged ones, in any order.
        ks: of pass@k.
        invalid: how many rows of each difficulty cannot be judged.

    Raises:
        InputError: a k is below 1, or the numbers of a solution are impossible.
    """
    for k in ks:
        if k < 1:
            raise InputError(f"pass@{k} does not exist: k must be at least 1")
    groups: dict[str, _DifficultyGroup] = {}
    everything = _DifficultyGroup()
    for solution in solutions:
        share = _share(solution)
        for group in (groups.setdefault(solution.difficulty or UNKNOWN, _DifficultyGroup()), everything):
            if share is None:
                group.unjudged += 1
            else:
                group.shares.setdefault(solution.problem, []).append(share)
    for difficulty, count in (invalid or {}).items():
        for group in (groups.setdefault(difficulty or UNKNOWN, _DifficultyGroup()), everything):
            group.invalid += count
    order = [*(name for name in DIFFICULTIES if name in groups), *sorted(groups.keys() - {*DIFFICULTIES})]
    return tuple(_line(name, group, ks) for name, group in chain(((n, groups[n]) for n in order), [(ALL, everything)]))


def _share(solution: JudgedProgram) -> float | None:
    if solution.passed is None:
        return None
    if not 0 <= solution.passed <= solution.total or solution.total == 0:
        raise InputError(
            f"a solution of problem {solution.problem} passed {solution.passed} of {solution.total} tests:"
            " these numbers are not possible"
        )
    return solution.passed / solution.total


def _line(name: str, group: _DifficultyGroup, ks: Sequence[int]) -> Line:
    shares = list(group.shares.values())
    counts = [(len(problem), sum(share == 1.0 for share in problem)) for problem in shares]
    columns = {
        "average": [math.fsum(problem) / len(problem) for problem in shares],
        "strict": [right / n for n, right in counts],
    }
    columns |= {f"pass@{k}": column for k, column in pass_at_each_k(counts, ks).items()}
    estimates = mean_estimates(columns) if shares else {}
    return Line(
        difficulty=name,
        problems=len(shares),
        solutions=sum(map(len, shares)),
        unjudged=group.unjudged,
        invalid=group.invalid,
        test_case_average=estimates.get("average"),
        strict_accuracy=estimates.get("strict"),
        pass_at={k: estimates.get(f"pass@{k}") for k in ks},
    )
