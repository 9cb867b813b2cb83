"""Time limits for another machine: all are multiplied by one number.

The scaled limit replaces the problem's limit, in every rule about the limit and in the fingerprint. The factor is kept
in the problem, and is part of every result.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ioi_eval.errors import InputError
from ioi_eval.model import Problem
from ioi_eval.problems.ioi import ProblemSet

LEAST, MOST = 0.1, 100.0


def check_time_scale(text: str) -> float:
    """Read a time scale that a user gave.

    Raises:
        InputError: it is not a number between 0.1 and 100.
    """
    try:
        scale = float(text)
    except ValueError:
        scale = math.nan
    if not LEAST <= scale <= MOST:
        raise InputError(f"--time-scale {text}: must be auto, or a number from {LEAST:g} to {MOST:g}")
    return scale


def scaled(problem: Problem, scale: float) -> Problem:
    """The problem with its time limit multiplied by `scale`; so is its earlier scale."""
    if scale == 1.0:
        return problem
    return replace(problem, time_limit_s=problem.time_limit_s * scale, time_scale=problem.time_scale * scale)


def scaled_set(problems: ProblemSet, scale: float) -> ProblemSet:
    """All problems of a set, scaled."""
    by_key = {key: scaled(problem, scale) for key, problem in problems.problems.items()}
    return replace(problems, problems=by_key)
