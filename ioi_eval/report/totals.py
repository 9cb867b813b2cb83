"""What the tests of a result come to together: worked out once for all copies of a program."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from ioi_eval.model import SubmissionResult, Verdict
from ioi_eval.report.outcomes import distinct_outcomes, judge_error
from ioi_eval.report.suspicious import is_suspicious
from ioi_eval.report.tally import CpuSplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What the tests of a result come to.

    Args:
        compiles: whether the program does; `None` where we failed to find out.
        scores: score and points of each subtask as doubles, one after the other; NaN where they are not known.
        near_limit: a test's time was near its limit.
        suspicious: it belongs on the list of those that tried what no solution needs.
        attempted: refused calls, with their counts.
        tests_s: CPU time of all tests.
        cpu: CPU time of all that was done.
        error: why there is no score.
    """

    compiles: bool | None
    scores: bytes
    near_limit: bool
    suspicious: bool
    attempted: Mapping[str, int]
    tests_s: float
    cpu: CpuSplit
    error: str | None

    @classmethod
    def of(cls, result: SubmissionResult) -> Self:
        """Those of a result."""
        outcomes, compiled = distinct_outcomes(result), result.compile.verdict
        return cls(
            compiles=None if compiled is Verdict.JE else compiled is None,
            scores=scores_of(result),
            near_limit=any(outcome.near_limit for outcome in outcomes),
            suspicious=is_suspicious(outcomes),
            attempted=sum((Counter(outcome.attempted) for outcome in outcomes), Counter()),
            tests_s=math.fsum(outcome.cpu_ms or 0.0 for outcome in outcomes) / 1000,
            cpu=CpuSplit.of(result),
            error=judge_error(result),
        )


def scores_of(result: SubmissionResult) -> bytes:
    """Score and points of each subtask as doubles, one after the other; NaN where they are not known."""
    values = (math.nan if one is None else one for s in result.subtasks for one in (s.score, s.weighted_score))
    return array("d", values).tobytes()
