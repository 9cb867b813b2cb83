"""What is particular to contest problems: how a submission is judged, and how its result is kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from ioi_eval.journal import RecordKind, decode_result, encode_result
from ioi_eval.model import CompileOutcome, Problem, Submission, SubmissionResult, TestOutcome, Verdict
from ioi_eval.pipeline.ledger import Format
from ioi_eval.pipeline.run import Told
from ioi_eval.pipeline.window import Candidate
from ioi_eval.report.tally import CpuSplit
from ioi_eval.scores import submission_result


class Judge(Protocol):
    """What judges one submission: `ioi_eval.scorer.Scorer`."""

    async def score(self, problem: Problem, submission: Submission, *, exhaustive: bool = False) -> SubmissionResult:
        """Judge it."""
        ...

    def fingerprints(self, problem: Problem, submission: Submission) -> Sequence[str]:
        """Hashes of everything that determines the outcome, one for each way of judging. Called from another thread."""
        ...


class ContestJudging:
    """Judges submissions to contest problems.

    Args:
        judge: judges one.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    async def judge(self, candidate: Candidate) -> SubmissionResult:
        """Judge one."""
        return await self._judge.score(candidate.problem, candidate.submission)

    def failed(self, candidate: Candidate, words: str) -> SubmissionResult:
        """The result of one that our sandbox failed at."""
        failure = CompileOutcome(verdict=Verdict.JE, message=words)
        return submission_result(candidate.problem, candidate.submission, failure, {})

    def told(self, result: SubmissionResult) -> Told:
        """What a run needs to know of a result."""
        kept = kind_of(result) is not None
        return Told(
            verdict=result.verdict,
            cpu=CpuSplit.of(result),
            kept=kept,
            blames_sandbox=not kept and blames_the_sandbox(result),
            fingerprint=result.fingerprint,
        )


def kind_of(result: SubmissionResult) -> RecordKind | None:
    """As what a result is kept: RESULT, FAILED (a judge program's fault, final), or not at all (ours, `None`)."""
    if result.score is not None:
        return RecordKind.RESULT
    if result.compile.verdict is Verdict.JE:
        return RecordKind.FAILED if result.compile.final else None
    errors = [outcome for outcome in _undecided(result) if outcome.verdict is Verdict.JE]
    return RecordKind.FAILED if errors and all(outcome.final for outcome in errors) else None


CONTEST_FORMAT = Format(
    encode=encode_result,
    decode=decode_result,
    kind=kind_of,
    tests=lambda result: sum(len(subtask.tests) for subtask in result.subtasks),
)
"""Results of contest problems in the journal."""


def blames_the_sandbox(result: SubmissionResult) -> bool:
    """Whether a judge error says that the sandbox failed, rather than that one program could not be judged in it."""
    if result.compile.verdict is Verdict.JE:
        return not result.compile.unfit
    errors = [outcome for outcome in _undecided(result) if outcome.verdict is Verdict.JE]
    return any(outcome.judge_program is None for outcome in errors)


def _undecided(result: SubmissionResult) -> Iterable[TestOutcome]:
    return (outcome for subtask in result.subtasks if subtask.score is None for outcome in subtask.tests)
