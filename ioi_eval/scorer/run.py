"""What is known of one submission while it is judged on one target."""

from __future__ import annotations

from collections.abc import Iterable

from ioi_eval.errors import SandboxError
from ioi_eval.jobs.bundled import PlannedTest
from ioi_eval.judging import Judging
from ioi_eval.model import Isolation, Language, Problem, TestOutcome, Verdict
from ioi_eval.sandbox import Target


class Run:
    """One judging of a submission.

    Args:
        problem: what it is for.
        target: where it is compiled and run.
        language: what the submission is written in.
        exhaustive: run every test, whatever its subtasks score already.
    """

    def __init__(self, problem: Problem, target: Target, *, language: Language, exhaustive: bool) -> None:
        self.problem = problem
        self.target = target
        self.language = language
        self.exhaustive = exhaustive
        self.judging = Judging(problem, exhaustive=exhaustive)
        self.weakest: Isolation | None = None

    def note_isolation(self, isolation: Isolation) -> None:
        """Remember the weakest isolation over all jobs."""
        if self.weakest is None or isolation.rank < self.weakest.rank:
            self.weakest = isolation

    def record_failure(self, tests: Iterable[PlannedTest], error: SandboxError) -> None:
        """The sandbox failed at these tests: JE, to be judged again another day."""
        for planned in tests:
            self.judging.record(TestOutcome(test=planned.test, verdict=Verdict.JE, score=None, message=str(error)))
