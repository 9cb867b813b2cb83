"""Time limits for a machine that is slower or faster than that of the contest: `--time-scale`."""

from __future__ import annotations

import math
from dataclasses import replace

from ioi_eval.errors import InputError
from ioi_eval.model import Problem
from ioi_eval.problems.ioi import ProblemSet
from ioi_eval.problems.limits import check_time_limit

LEAST_SCALE, MAX_SCALE = 0.1, 100.0


def read_time_scale(text: str) -> float:
    """Read a time scale that a user gave."""
    try:
        scale = float(text)
    except ValueError:
        scale = math.nan
    if not LEAST_SCALE <= scale <= MAX_SCALE:
        raise InputError(f"--time-scale {text}: must be auto, or a number from {LEAST_SCALE:g} to {MAX_SCALE:g}")
    return scale


def scaled(problem: Problem, scale: float) -> Problem:
    """The problem with its time limit and its `time_scale` multiplied by `scale`.

    The scaled limit replaces the problem's limit, in every rule about the limit and in the fingerprint. The factor is
    kept in the problem, and is part of every result.
    """
    if scale == 1.0:
        return problem
    return replace(problem, time_limit_s=problem.time_limit_s * scale, time_scale=problem.time_scale * scale)


def scaled_set(problems: ProblemSet, scale: float) -> ProblemSet:
    """All problems of a set, scaled. Those whose scaled limit the runner does not accept become unusable."""
    by_key = {key: scaled(problem, scale) for key, problem in problems.problems.items()}
    unusable = dict(problems.unusable)
    for key, problem in problems.problems.items():
        try:
            check_time_limit(by_key[key].time_limit_s)
        except InputError as error:
            unusable[key] = InputError(f"problem {key}: {error} ({problem.time_limit_s:g} s, scaled by {scale:g})")
            del by_key[key]
    return replace(problems, problems=by_key, unusable=unusable)
