"""Adds up a stream of results, problem by problem, in memory that does not grow with the tests."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ioi_eval.estimates import Estimate, mean_estimates
from ioi_eval.model import Problem, SubmissionResult, Verdict
from ioi_eval.report.limited import LightRow, limited_score
from ioi_eval.scores import Together, pass_at_k

KS = (1, 2, 5, 10, 25, 50, 100, 250, 500, 1000)
AVERAGE = "average"


@dataclass(slots=True, kw_only=True)
class ProblemTally:
    """All submissions of one problem."""

    problem: Problem
    submissions: int = 0
    solved: int = 0
    undecided: int = 0
    total_score: float = 0.0
    best: float | None = None
    best_submission: str | None = None
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    together: Together = field(init=False)
    subtasks: Mapping[str | None, str] = field(init=False)
    rows: list[LightRow] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.together = Together(self.problem)
        self.subtasks = {subtask.name: subtask.name for subtask in self.problem.subtasks}

    def add(self, submission: str, result: SubmissionResult, row: LightRow) -> None:
        """Take in one submission; the result may be that of the same program from another one."""
        self.rows.append(row)
        self.submissions += 1
        self.verdicts[result.verdict] += 1
        self.solved += result.verdict is Verdict.AC
        if result.score is None:
            self.undecided += 1
        else:
            self.total_score += result.score
            if self.best is None or result.score > self.best:
                self.best, self.best_submission = result.score, submission
        self.together.add(result, submission=submission)

    @property
    def points(self) -> float:
        """Full marks."""
        return math.fsum(subtask.points for subtask in self.problem.subtasks)

    @property
    def best_of_50(self) -> float:
        """The points if only 50 submissions, chosen without knowing their scores, count."""
        return limited_score(self.rows, self.problem)


def problem_estimates(tallies: Sequence[ProblemTally]) -> dict[str, Estimate]:
    """Means over problems: the average share of the points that a submission gets, and pass@k by k, as text.

    Solved means full marks in every subtask; submissions that could not be judged are left out. pass@k is given only if
    every problem has k judged submissions; the average only if every problem has one, and is worth points.

    Args:
        tallies: of each problem.
    """
    judged = [tally.submissions - tally.undecided for tally in tallies]
    columns: dict[str, list[float]] = {}
    if tallies and all(judged) and all(tally.points for tally in tallies):
        pairs = zip(tallies, judged, strict=True)
        columns[AVERAGE] = [tally.total_score / count / tally.points for tally, count in pairs]
    for k in KS:
        each = [pass_at_k([(count, tally.solved)], k) for tally, count in zip(tallies, judged, strict=True)]
        known = [value for value in each if value is not None]
        if tallies and len(known) == len(each):
            columns[str(k)] = known
    return mean_estimates(columns)
