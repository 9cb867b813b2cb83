"""Sums over the tests of a result, each test counted once, even if several subtasks have it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ioi_eval.model import SubmissionResult, TestOutcome, Verdict

MAY_NOT_HAVE_RUN = (Verdict.SKIPPED, Verdict.JE)
"""Verdicts of tests that may not have been run: some that were have them too."""


def distinct_outcomes(result: SubmissionResult) -> list[TestOutcome]:
    """Every test that is not SKIPPED, each once, even if several subtasks list it."""
    by_test: dict[str, TestOutcome] = {}
    for subtask in result.subtasks:
        for outcome in subtask.tests:
            if outcome.verdict is not Verdict.SKIPPED:
                by_test[outcome.test] = outcome
    return list(by_test.values())


def count_run(outcomes: Iterable[TestOutcome]) -> int:
    """How many of these tests were run or judged. If nothing could be started, all are JE and have no time."""
    return sum(outcome.verdict not in MAY_NOT_HAVE_RUN or outcome.cpu_ms is not None for outcome in outcomes)


def judge_error(result: SubmissionResult) -> str | None:
    """Why a result has no score: the first failure of ours or of a judge program; `None` if it has a score."""
    if result.score is not None:
        return None
    if result.compile.verdict is Verdict.JE:
        return result.compile.message or "judge error while compiling"
    for subtask in result.subtasks:
        for outcome in subtask.tests:
            if subtask.score is None and outcome.verdict is Verdict.JE:
                return f"test {outcome.test}: {outcome.message or 'judge error'}"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuSplit:
    """Where CPU time went, in seconds: compiling submissions, running them, and their checkers and managers."""

    compile: float = 0.0
    run: float = 0.0
    check: float = 0.0

    @property
    def total(self) -> float:
        """All CPU time."""
        return self.compile + self.run + self.check

    def __add__(self, other: CpuSplit) -> CpuSplit:
        return CpuSplit(compile=self.compile + other.compile, run=self.run + other.run, check=self.check + other.check)

    @classmethod
    def of(cls, outcomes: Collection[TestOutcome], *, compile_ms: float = 0.0) -> CpuSplit:
        """The CPU time of judging one submission, from its tests, each once, and its compilation."""
        return cls(
            compile=compile_ms / 1000,
            run=math.fsum(outcome.cpu_ms or 0.0 for outcome in outcomes) / 1000,
            check=math.fsum(outcome.check_cpu_ms or 0.0 for outcome in outcomes) / 1000,
        )

    def as_dict(self) -> dict[str, float]:
        """For JSON."""
        return {name: round(getattr(self, name), 3) for name in ("compile", "run", "check")}
