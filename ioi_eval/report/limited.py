"""The score of a problem's submissions if only 50 of them count.

`selection` reads result rows; a problem may have a hundred thousand, with their generations. Here a row is what
`selection` looks at and nothing else, in about 250 bytes.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

from ioi_eval.model import Problem, Verdict
from ioi_eval.scores import total_points
from ioi_eval.selection import reasoning_length, select

_COLUMNS = ("all_subtasks_results", "target_subtask", "code_compiles", "metadata")


class LightRow(Mapping[str, Any]):
    """A result row of which only scores, target and length are kept.

    Args:
        row: the dump's.
        problem: what the submission is for.
        compiles, scores: of its result (`Totals`).
        target_subtask: the subtask that it was written for.
    """

    __slots__ = ("_compiles", "_length", "_problem", "_scores", "_target")

    def __init__(
        self,
        row: Mapping[str, Any],
        problem: Problem,
        *,
        compiles: bool | None,
        scores: bytes,
        target_subtask: str | None,
    ) -> None:
        self._problem = problem
        self._compiles, self._scores = compiles, scores
        self._length = reasoning_length(row)
        self._target = target_subtask

    def __getitem__(self, column: str) -> Any:
        if column == "all_subtasks_results":
            return self.results()
        if column == "metadata":
            return {"completion_tokens": self._length}
        if column == "code_compiles":
            return self._compiles
        if column == "target_subtask":
            return self._target
        raise KeyError(column)

    def __iter__(self) -> Iterator[str]:
        return iter(_COLUMNS)

    def __len__(self) -> int:
        return len(_COLUMNS)

    def results(self) -> list[dict[str, Any]]:
        """The subtasks, as the column `all_subtasks_results` has them."""
        scores = array("d")
        scores.frombytes(self._scores)
        return [
            {
                "subtask": subtask.name,
                "points": subtask.points,
                "score": None if math.isnan(score) else score,
                "weighted_score": None if math.isnan(score) else points,
                "status": Verdict.AC if score == 1.0 else Verdict.PA,
            }
            for subtask, score, points in zip(self._problem.subtasks, scores[::2], scores[1::2], strict=True)
        ]


def limited_score(rows: list[LightRow], problem: Problem) -> float:
    """The points of 50 submissions, chosen without knowing their scores, as a contestant would choose.

    Args:
        rows: all submissions to the problem.
        problem: gives the points of its subtasks. As any total, the sum is rounded once (source: CMS).
    """
    best = [0.0] * len(problem.subtasks)
    for index in select(rows):
        best = [max(ever, result["score"] or 0.0) for ever, result in zip(best, rows[index].results(), strict=True)]
    parts = zip(best, (subtask.points for subtask in problem.subtasks), strict=True)
    return total_points(parts, problem.score_precision) or 0.0
