"""Time limits for another machine: all of them multiplied with one number.

The scaled limit is a problem's limit from then on, for every rule that speaks of the limit and for the fingerprint;
what it was scaled with stays with the problem, and goes into every result.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ioi_eval.errors import InputError
from ioi_eval.model import Problem
from ioi_eval.problems.ioi import ProblemSet

LEAST, MOST = 0.1, 100.0


def check_time_scale(text: str) -> float:
    """A time scale that a user gave.

    Raises:
        InputError: it is no number between 0.1 and 100.
    """
    try:
        scale = float(text)
    except ValueError:
        scale = math.nan
    if not LEAST <= scale <= MOST:
        raise InputError(f"--time-scale {text}: must be auto, or a number from {LEAST:g} to {MOST:g}")
    return scale


def scaled(problem: Problem, scale: float) -> Problem:
    """The problem with its time limit multiplied; scales multiply as well."""
    if scale == 1.0:
        return problem
    return replace(problem, time_limit_s=problem.time_limit_s * scale, time_scale=problem.time_scale * scale)


def scaled_set(problems: ProblemSet, scale: float) -> ProblemSet:
    """All problems of a set, scaled."""
    by_key = {key: scaled(problem, scale) for key, problem in problems.problems.items()}
    return replace(problems, problems=by_key)
