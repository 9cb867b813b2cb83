"""Computes a subtask's score and verdict from its tests: one function for each score type. Pure.

Each gets the outcomes that count, in listed order: if a zero decides under this score type, those up to the first zero,
else all (`scores.py` says why). If the known scores do not decide, the score is `None` and the verdict JE.

Source: CMS, `cms/grading/scoretypes/`; verdicts are the reference's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from ioi_eval.model import ScoreType, Subtask, TestOutcome, Verdict

Reduced = tuple[float | None, Verdict]


def reduced(score_type: ScoreType, subtask: Subtask, counted: Sequence[TestOutcome]) -> Reduced:
    """A subtask's score, in [0, 1] and unrounded, and its verdict.

    Args:
        score_type: the problem's.
        subtask: gives the threshold.
        counted: the outcomes that count, at least one.
    """
    return _REDUCTIONS[score_type](subtask, counted)


def _minimum(_: Subtask, counted: Sequence[TestOutcome]) -> Reduced:
    """The verdict is that of the first test with the lowest score."""
    if counted[-1].score == 0.0:
        return 0.0, counted[-1].verdict
    scores = _known_scores(counted)
    if len(scores) < len(counted):
        return None, Verdict.JE
    return min(scores), counted[scores.index(min(scores))].verdict


def _product(subtask: Subtask, counted: Sequence[TestOutcome]) -> Reduced:
    """The product of the scores; the verdict is that of the minimum."""
    lowest, verdict = _minimum(subtask, counted)
    return (math.prod(_known_scores(counted)) if lowest else lowest), verdict


def _within_threshold(subtask: Subtask, counted: Sequence[TestOutcome]) -> Reduced:
    """All or nothing: every score must be above 0 and at most the threshold. A score over the threshold is WA."""
    threshold = 1.0 if subtask.threshold is None else subtask.threshold
    for outcome in counted:
        if outcome.score is not None and not 0.0 < outcome.score <= threshold:
            return 0.0, outcome.verdict if outcome.score == 0.0 else Verdict.WA
    return (None, Verdict.JE) if len(_known_scores(counted)) < len(counted) else (1.0, Verdict.AC)


def _mean(_: Subtask, counted: Sequence[TestOutcome]) -> Reduced:
    """The mean of the scores; the verdict is that of the minimum, so that a label such as `time_limit` can match it."""
    scores = _known_scores(counted)
    if len(scores) < len(counted):
        return None, Verdict.JE
    return math.fsum(scores) / len(scores), counted[scores.index(min(scores))].verdict


_REDUCTIONS: Mapping[ScoreType, Callable[[Subtask, Sequence[TestOutcome]], Reduced]] = {
    ScoreType.GROUP_MIN: _minimum,
    ScoreType.GROUP_MUL: _product,
    ScoreType.GROUP_THRESHOLD: _within_threshold,
    ScoreType.SUM: _mean,
}


def _known_scores(outcomes: Iterable[TestOutcome]) -> list[float]:
    return [outcome.score for outcome in outcomes if outcome.score is not None]
