"""The state of one submission that is being judged on one target."""

from __future__ import annotations

from collections.abc import Hashable

from ioi_eval.engine.judging import Judging
from ioi_eval.model import Isolation, Problem, Submission, TestOutcome, Verdict
from ioi_eval.sandbox import Target
from ioi_eval.tools import Tool

NOT_SUBMITTED = "File not submitted"
"""Source: CMS, `cms/grading/tasktypes/OutputOnly.py`."""


class SubmissionRun:
    """One judging of a submission. The problem has the tests of each subtask in the order in which they run.

    Attributes:
        outputs: the outputs that were submitted instead of a program, by test.
        weakest: the weakest isolation over all jobs so far; `None` before the first.
        tool: the compiler or interpreter for it, once that is known.
        compiler_state: that of the compiler before the program was first compiled (`Tools.state_of_compiler`).
    """

    def __init__(
        self, problem: Problem, submission: Submission, target: Target, *, exhaustive: bool, near_limit_repeats: int
    ) -> None:
        self.problem, self.submission, self.target = problem, submission, target
        self.sources = submission.source_files(problem.source_name)
        self.outputs = {output.test: output.content for output in submission.outputs}
        self.judging = Judging(
            (subtask.tests for subtask in problem.subtasks),
            zero_decides=problem.score_type.zero_decides,
            exhaustive=exhaustive,
            near_limit_repeats=near_limit_repeats,
        )
        self.weakest: Isolation | None = None
        self.tool: Tool | None = None
        self.compiler_state: Hashable = None

    def note_isolation(self, isolation: Isolation) -> None:
        """Include a job in the weakest isolation over all jobs."""
        self.weakest = isolation.weaker(self.weakest)

    def record_missing(self) -> None:
        """Record score 0, with CMS's message, for tests with neither an output nor a program that may produce it."""
        for test in dict.fromkeys(test for subtask in self.problem.subtasks for test in subtask.tests):
            may_be_made = bool(self.sources) and test not in self.problem.method.output_only_tests
            if test not in self.outputs and not may_be_made:
                outcome = TestOutcome(test=test, verdict=Verdict.WA, score=0.0, message=NOT_SUBMITTED)
                self.judging.record(outcome)
