"""The interface of a family of problems in a run: how its submissions are read, judged, stored and written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, ClassVar, Generic

from ioi_eval.events import Events
from ioi_eval.journal import RecordKind
from ioi_eval.model import TestOutcome, Verdict
from ioi_eval.pipeline.dump_reader import DumpReader, Refused
from ioi_eval.pipeline.result_store import RecordedResult, ResultCodec, ResultT
from ioi_eval.pipeline.window import CandidateT
from ioi_eval.pipeline.writing import TestLines
from ioi_eval.report.result_files import RESULTS
from ioi_eval.report.run_summary import RunSummary
from ioi_eval.report.totals import CpuSplit


class JudgingEnd(Enum):
    """How judging a submission ended: with a result, or by whose failure."""

    RESULT = auto()
    FINAL_JE = auto()
    """Each JE is final: a judge program failed, or does not compile."""
    SANDBOX_FAILED = auto()
    """There is a JE that names no program: the sandbox failed. It may fail on other submissions too."""
    NOT_JUDGEABLE = auto()
    """Only this submission fails: its row or problem cannot be judged, our own code failed on it, or each JE names a
    program that failed (a judge program, the runner). So it does not count for `MAX_FAILURES`."""

    @property
    def record_kind(self) -> RecordKind | None:
        """The kind of its record in the journal; `None` if nothing is stored there, so that it is judged again."""
        return _RECORD_KINDS.get(self)


_RECORD_KINDS = {JudgingEnd.RESULT: RecordKind.RESULT, JudgingEnd.FINAL_JE: RecordKind.FINAL_JE}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFacts:
    """The facts about a result that a run needs.

    Args:
        verdict: for the progress.
        ran: how many tests were run or judged.
        score: points, or the share of the tests that passed; `None` if unknown.
        error: why it has no score; `None` if it has one.
    """

    verdict: str
    cpu: CpuSplit
    end: JudgingEnd
    ran: int
    score: float | None
    error: str | None

    def emit(self, events: Events, names: Mapping[str, Any], seconds: float) -> None:
        """Emit the event that a submission was judged."""
        events.emit(
            "submission_judged",
            **names,
            verdict=self.verdict,
            score=self.score,
            tests=self.ran,
            seconds=round(seconds, 3),
            cpu_s=round(self.cpu.total, 3),
        )
        if self.error is not None:
            events.emit("judge_error", **names, message=self.error)


def how_ended(undecided: Iterable[TestOutcome] | None, *, cannot_be_judged: bool) -> JudgingEnd:
    """How judging a submission ended.

    Args:
        undecided: if the submission has no score, the tests that can be the reason: those of the subtasks without a
            score, for APPS all. `None` if it has one, or if JE is its result (another grader fails on the row).
        cannot_be_judged: whether the reason is its row or problem, which cannot be judged here.
    """
    if undecided is None:
        return JudgingEnd.RESULT
    errors = [outcome for outcome in undecided if outcome.verdict is Verdict.JE]
    if errors and all(outcome.final for outcome in errors):
        return JudgingEnd.FINAL_JE
    without_program = not errors or any(outcome.failed_program is None for outcome in errors)
    return JudgingEnd.SANDBOX_FAILED if without_program and not cannot_be_judged else JudgingEnd.NOT_JUDGEABLE


class ProblemFamily(ABC, Generic[CandidateT, ResultT]):
    """One dump of submissions to problems of a family.

    Besides the dump, the problems and the run's options, results depend on `options` only.
    """

    codec: ClassVar[ResultCodec[Any]]
    files: ClassVar[tuple[str, ...]] = (RESULTS,)

    def __init__(self, dump_reader: DumpReader[CandidateT], summary: RunSummary, options: Sequence[Any]) -> None:
        self.dump_reader, self.summary, self.options = dump_reader, summary, options

    def await_problems(self) -> None:
        """Wait until it is known which problems can be judged. Called from a thread, before a result is written."""

    @staticmethod
    @abstractmethod
    def facts(result: Any) -> ResultFacts:
        """The facts about a result that a run needs."""

    @abstractmethod
    async def judge(self, candidate: CandidateT) -> ResultT:
        """Judge a submission.

        Raises:
            SandboxError: our failure.
            InputError, SetupError: nothing can be judged like this, for example with a checker that does not compile.
        """

    @abstractmethod
    def our_failure(self, candidate: CandidateT, message: str) -> ResultT:
        """The result of a submission that we failed to judge, with this message."""

    @abstractmethod
    def add_result(self, entry: Any, judged: RecordedResult[ResultT], tests: TestLines) -> Sequence[bytes]:
        """Add a result to the summary, and write its tests. Returns its lines, one for each file."""

    def refuse(self, entry: Refused) -> None:
        """Add a row that was not judged to the summary."""
        self.summary.refuse(entry.kind, entry.message, entry.row.values)

    @abstractmethod
    def refused_lines(self, entry: Refused) -> Sequence[bytes]:
        """The lines of a row that was not judged, one for each file."""

    @staticmethod
    @abstractmethod
    def report(summary: Mapping[str, Any]) -> str:
        """The summary as Markdown."""
