"""Adds up results one by one for each problem; the memory does not grow with the number of tests."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ioi_eval.estimates import Estimate, mean_estimates, pass_at_each_k
from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.model import Problem, SubmissionResult, Verdict
from ioi_eval.scores import BestSubtasks
from ioi_eval.selection import sum_of_points

_COLUMNS = ("all_subtasks_results", "target_subtask", "code_compiles", "metadata")


def scores_of(result: SubmissionResult) -> bytes:
    """Score, weighted score and whether it is AC (1 or 0) of each subtask as doubles, one after the other.

    A score that is not known is NaN. Scores of the reference are rounded, so a score of 1 may be PA.
    """
    values = (
        math.nan if value is None else value
        for subtask in result.subtasks
        for value in (subtask.score, subtask.weighted_score, subtask.verdict is Verdict.AC)
    )
    return array("d", values).tobytes()


@fast_dataclass
class LightRow(Mapping[str, Any]):
    """A result row with only the columns that `selection` reads (scores, target, length), in about 250 bytes: a problem
    may have a hundred thousand rows with long generations. Its scores are as `scores_of` gives them; `compiles` is
    `None` if we failed to find out; the length is that of the model's reasoning."""

    problem: Problem
    compiles: bool | None
    scores: bytes
    target_subtask: str | None
    length: float

    def __getitem__(self, column: str) -> Any:
        if column == "all_subtasks_results":
            return self.results()
        if column == "metadata":
            return {"completion_tokens": self.length}
        return self.compiles if column == "code_compiles" else self.target_subtask

    def get(self, column: str, default: Any = None) -> Any:
        """Like `Mapping.get` in half the time: choosing 50 of a hundred thousand rows calls it half a million times."""
        return self[column] if column in _COLUMNS else default

    def __iter__(self) -> Iterator[str]:
        return iter(_COLUMNS)

    def __len__(self) -> int:
        return len(_COLUMNS)

    def results(self) -> list[dict[str, Any]]:
        """The subtasks, as in the column `all_subtasks_results`."""
        scores = array("d")
        scores.frombytes(self.scores)
        return [
            {
                "subtask": subtask.name,
                "points": subtask.points,
                "score_precision": self.problem.score_precision,
                "score": None if math.isnan(score) else score,
                "weighted_score": None if math.isnan(score) else points,
                "status": Verdict.AC if accepted else Verdict.PA,
            }
            for subtask, score, points, accepted in zip(
                self.problem.subtasks, scores[::3], scores[1::3], scores[2::3], strict=True
            )
        ]


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
    together: BestSubtasks = field(init=False)
    rows: list[LightRow] = field(default_factory=list)
    _scores: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.together = BestSubtasks(self.problem)

    def add(self, submission: str, result: SubmissionResult, row: LightRow) -> None:
        """Add a submission; its result may be that of another submission with the same program."""
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
        if result.score is None or row.scores not in self._scores:  # else no subtask has a better score than before
            self._scores.add(row.scores)
            self.together.add(result, submission=submission)

    @property
    def points(self) -> float:
        """Full marks of the problem."""
        return sum_of_points(subtask.points for subtask in self.problem.subtasks)


def problem_estimates(tallies: Sequence[ProblemTally], *, intervals: bool) -> dict[str, Estimate]:
    """Means over problems: the average share of the points that a submission gets, and pass@k with k as text.

    Solved means full marks in every subtask; submissions that could not be judged are left out. pass@k is given only if
    every problem has k judged submissions; the average only if every problem has points and a judged submission.
    """
    judged = [tally.submissions - tally.undecided for tally in tallies]
    columns: dict[str, list[float]] = {}
    if tallies and all(judged) and all(tally.points for tally in tallies):
        pairs = zip(tallies, judged, strict=True)
        columns[AVERAGE] = [tally.total_score / count / tally.points for tally, count in pairs]
    counts = [(count, tally.solved) for tally, count in zip(tallies, judged, strict=True)]
    columns |= {str(k): column for k, column in pass_at_each_k(counts, KS).items()}
    return mean_estimates(columns, intervals=intervals)
