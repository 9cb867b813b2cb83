"""The family of contest problems: how their submissions are judged, stored and written."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Protocol

import orjson

from ioi_eval.journal import RecordKind, decode_result, encode_result
from ioi_eval.model import CompileOutcome, Problem, Submission, SubmissionResult, TestOutcome, Verdict
from ioi_eval.pipeline.contest_dump_reader import ContestCandidate, ContestDumpReader, JudgeableRow
from ioi_eval.pipeline.dump_reader import Refused
from ioi_eval.pipeline.family import ProblemFamily, ResultFacts
from ioi_eval.pipeline.finish import TestLines, to_json
from ioi_eval.pipeline.result_store import RecordedResult, ResultCodec
from ioi_eval.report import compact
from ioi_eval.report.groups import Grouping
from ioi_eval.report.inputs import beginning
from ioi_eval.report.markdown import markdown_report
from ioi_eval.report.rows import JudgedSubmission, ResultColumns, Unscored, refused_row
from ioi_eval.report.summary import Summary
from ioi_eval.report.totals import CpuSplit, Totals, distinct_outcomes, judge_error
from ioi_eval.scores import submission_result

_KNOWN = 4096  # results whose totals and columns are kept in memory: about 4 kB each


class SubmissionScorer(Protocol):
    """Judges submissions and computes their scores: `ioi_eval.scorer.Scorer`."""

    async def score(self, problem: Problem, submission: Submission, *, exhaustive: bool = False) -> SubmissionResult:
        """The result of a submission."""
        ...

    def fingerprints(self, problem: Problem, submission: Submission) -> Sequence[str]:
        """Hashes of everything that determines the outcome, one for each kind of target. Called from another thread."""
        ...


def kind_of(result: SubmissionResult) -> RecordKind | None:
    """The kind of a result's record: RESULT, FINAL_JE (a judge program failed twice); `None` for failures of ours.

    These are not stored.
    """
    if result.score is not None:
        return RecordKind.RESULT
    if result.compile.verdict is Verdict.JE:
        return RecordKind.FINAL_JE if result.compile.final else None
    errors = [outcome for outcome in _undecided(result) if outcome.verdict is Verdict.JE]
    return RecordKind.FINAL_JE if errors and all(outcome.final for outcome in errors) else None


def is_sandbox_failure(result: SubmissionResult) -> bool:
    """Whether a judge error means that the sandbox failed, and not only that it could not judge this program."""
    if result.compile.verdict is Verdict.JE:
        return not result.compile.unfit
    errors = [outcome for outcome in _undecided(result) if outcome.verdict is Verdict.JE]
    return any(outcome.failed_program is None for outcome in errors)


def _undecided(result: SubmissionResult) -> Iterable[TestOutcome]:
    return (outcome for subtask in result.subtasks if subtask.score is None for outcome in subtask.tests)


CONTEST_CODEC = ResultCodec(
    encode=encode_result,
    decode=decode_result,
    kind=kind_of,
    tests=lambda result: sum(len(subtask.tests) for subtask in result.subtasks),
)
"""Results of contest problems in the journal."""


def contest_facts(result: SubmissionResult) -> ResultFacts:
    """The facts about a result that a run needs."""
    is_stored = kind_of(result) is not None
    return ResultFacts(
        verdict=result.verdict,
        cpu=CpuSplit.of(result),
        is_stored=is_stored,
        is_sandbox_failure=not is_stored and is_sandbox_failure(result),
        fingerprint=result.fingerprint,
        ran=len(distinct_outcomes(result)),
        score=result.score,
        error=judge_error(result),
    )


class ContestFamily(ProblemFamily[ContestCandidate, SubmissionResult]):
    """A dump of submissions to contest problems. Columns that rows with the same result share are computed once.

    Args:
        dump_reader: reads it.
        scorer: judges a submission, and computes its score.
        unscored: the value in the results for scores that are not known.
        grouping: the columns of the dump by which the summary has groups too.
    """

    codec = CONTEST_CODEC
    facts = staticmethod(contest_facts)
    report = staticmethod(markdown_report)
    summary: Summary

    def __init__(
        self,
        dump_reader: ContestDumpReader,
        scorer: SubmissionScorer,
        *,
        unscored: Unscored = Unscored.NULL,
        grouping: Grouping | None = None,
    ) -> None:
        chosen = dump_reader.selection
        options = [sorted(chosen.years), sorted(chosen.problems), chosen.limit, dump_reader.id_column, str(unscored)]
        summary = Summary(unusable=dump_reader.problems.unusable, grouping=grouping)
        super().__init__(dump_reader, summary, [*options, list(summary.by)])
        self._scorer, self._unscored = scorer, unscored
        self._known: OrderedDict[int, tuple[Totals, ResultColumns]] = OrderedDict()

    async def judge(self, candidate: ContestCandidate) -> SubmissionResult:
        """Judge a submission."""
        return await self._scorer.score(candidate.problem, candidate.submission)

    def our_failure(self, candidate: ContestCandidate, message: str) -> SubmissionResult:
        """The result of a submission that we failed to judge."""
        failure = CompileOutcome(verdict=Verdict.JE, message=message)
        return submission_result(candidate.problem, candidate.submission, failure, {})

    def lines(
        self, entry: JudgeableRow, judged_row: RecordedResult[SubmissionResult], tests: TestLines
    ) -> tuple[bytes, ...]:
        """Write one row: its line of `results.jsonl`. Also stores its tests, and adds it to the summary."""
        row, target = entry.row.values, entry.target_subtask
        judged, columns = self._parts(entry.candidate, judged_row, tests)
        line = to_json(columns.row(row, judged, target_subtask=target))
        self.summary.add(judged, row, target_subtask=target)
        return (line,)

    def refused_lines(self, entry: Refused) -> tuple[bytes, ...]:
        """The line of `results.jsonl`."""
        return (to_json({**refused_row(entry.row.values, entry.message), compact.TESTS_ID: None}),)

    def _parts(
        self, candidate: ContestCandidate, judged_row: RecordedResult[SubmissionResult], tests: TestLines
    ) -> tuple[JudgedSubmission, ResultColumns]:
        """A submission with its result, and the columns that depend on the result only."""
        known = None if judged_row.offset is None else self._known.get(judged_row.offset)
        judged = JudgedSubmission(
            problem=candidate.problem,
            submission=candidate.submission,
            fingerprint=candidate.fingerprint,
            result=judged_row.result,
            duplicate_of=judged_row.duplicate_of,
            known=Totals.of(judged_row.result) if known is None else known[0],
        )
        if known is not None:
            return judged, known[1]
        whole = ResultColumns.of(judged, unscored=self._unscored)
        subtasks, line = compact.without_tests(whole.reference["all_subtasks_results"])
        cases = candidate.problem.tests
        name = tests.name(line, str(candidate.problem.key), lambda test: beginning(cases[test].input))
        encoded = to_json({"": subtasks}).removeprefix(b'{"":').removesuffix(b"}\n")
        columns = whole.sharing(orjson.Fragment(encoded), name)
        if judged_row.offset is not None:
            self._known[judged_row.offset] = judged.totals, columns
            if len(self._known) > _KNOWN:
                self._known.popitem(last=False)
        return judged, columns
