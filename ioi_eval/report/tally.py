"""What a stream of results adds up to, problem by problem, in memory that does not grow with the tests."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from ioi_eval.model import Problem, SubmissionResult, Verdict
from ioi_eval.report.limited import LightRow, limited_score
from ioi_eval.report.rows import distinct_outcomes
from ioi_eval.scores import total_points


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuSplit:
    """Where CPU time went, in seconds.

    Args:
        compile: compiling submissions.
        run: their processes.
        check: checkers and managers.
    """

    compile: float = 0.0
    run: float = 0.0
    check: float = 0.0

    @property
    def total(self) -> float:
        """All of it."""
        return self.compile + self.run + self.check

    def __add__(self, other: CpuSplit) -> CpuSplit:
        return CpuSplit(compile=self.compile + other.compile, run=self.run + other.run, check=self.check + other.check)

    @classmethod
    def of(cls, result: SubmissionResult) -> CpuSplit:
        """What judging one submission took."""
        outcomes = distinct_outcomes(result)
        return cls(
            compile=result.compile.cpu_ms / 1000,
            run=math.fsum(outcome.cpu_ms or 0.0 for outcome in outcomes) / 1000,
            check=math.fsum(outcome.check_cpu_ms or 0.0 for outcome in outcomes) / 1000,
        )

    def as_dict(self) -> dict[str, float]:
        """For JSON."""
        return {name: round(getattr(self, name), 3) for name in ("compile", "run", "check")}


@dataclass(slots=True, kw_only=True)
class SubtaskTally:
    """The best in one subtask. `undecided`: submissions whose score there is not known."""

    score: float | None = None
    submission: str | None = None
    undecided: int = 0

    def add(self, score: float | None, submission: str) -> None:
        """Take in one submission."""
        if score is None:
            self.undecided += 1
        elif self.score is None or score > self.score:
            self.score, self.submission = score, submission


@dataclass(slots=True, kw_only=True)
class ProblemTally:
    """All submissions of one problem."""

    problem: Problem
    submissions: int = 0
    solved: int = 0
    undecided: int = 0
    best: float | None = None
    best_submission: str | None = None
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    subtasks: dict[str, SubtaskTally] = field(default_factory=dict)
    rows: list[LightRow] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.subtasks = {subtask.name: SubtaskTally() for subtask in self.problem.subtasks}

    def add(self, result: SubmissionResult, row: LightRow) -> None:
        """Take in one submission."""
        self.rows.append(row)
        self.submissions += 1
        self.verdicts[result.verdict] += 1
        self.solved += result.verdict is Verdict.AC
        if result.score is None:
            self.undecided += 1
        elif self.best is None or result.score > self.best:
            self.best, self.best_submission = result.score, result.submission
        for subtask in result.subtasks:
            self.subtasks[subtask.subtask].add(subtask.score, result.submission)

    @property
    def points(self) -> float:
        """Full marks."""
        return math.fsum(subtask.points for subtask in self.problem.subtasks)

    @property
    def best_together(self) -> float:
        """What all submissions are worth together: the sum of each subtask's best. A lower bound with judge errors.

        Source: IOI regulations since 2017; CMS's `score_mode: max_subtask`.
        """
        subtasks = ((self.subtasks[subtask.name].score or 0.0, subtask.points) for subtask in self.problem.subtasks)
        return total_points(subtasks, self.problem.score_precision) or 0.0

    @property
    def best_of_50(self) -> float:
        """The same over the 50 that a contestant would hand in."""
        return limited_score(self.rows)
