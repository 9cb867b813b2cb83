"""The family of contest problems: how submissions are judged, and how their results are stored and written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import orjson

from ioi_eval.config import Unscored
from ioi_eval.journal import decode_result, encode_result
from ioi_eval.model import CompileOutcome, Problem, Submission, SubmissionResult, Verdict
from ioi_eval.pipeline.contest_dump import ContestCandidate, ContestDumpReader
from ioi_eval.pipeline.dump_reader import Judgeable, Refused
from ioi_eval.pipeline.family import ProblemFamily, ResultFacts, how_ended
from ioi_eval.pipeline.result_store import RecordedResult, ResultCodec
from ioi_eval.pipeline.writing import TestLines
from ioi_eval.problems.submissions import target_subtask
from ioi_eval.recent_values import RecentValues
from ioi_eval.report import compact
from ioi_eval.report.groups import Grouping
from ioi_eval.report.inputs import beginning
from ioi_eval.report.markdown import markdown_report
from ioi_eval.report.result_values import deciding_test_name
from ioi_eval.report.rows import JudgedSubmission, ResultColumns, refused_row, to_json
from ioi_eval.report.summary import Summary
from ioi_eval.report.totals import CpuSplit, count_run, distinct_outcomes, judge_error
from ioi_eval.scores import submission_result

_KNOWN = 4096  # results whose columns are kept in memory: about 4 kB each


class SubmissionScorer(Protocol):
    """Judges submissions and computes their scores: `ioi_eval.scorer.Scorer`."""

    async def score(self, problem: Problem, submission: Submission, *, exhaustive: bool = False) -> SubmissionResult:
        """The result of a submission."""
        ...

    def fingerprints(self, problem: Problem, submission: Submission) -> Sequence[str]:
        """Hashes of everything that determines the outcome, one for each kind of target. Called from another thread."""
        ...


CONTEST_CODEC = ResultCodec(
    encode=encode_result,
    decode=decode_result,
    tests=lambda result: sum(len(subtask.tests) for subtask in result.subtasks),
)
"""Results of contest problems in the journal."""


def contest_facts(result: SubmissionResult) -> ResultFacts:
    """The facts about a result that a run needs."""
    undecided = (outcome for subtask in result.subtasks if subtask.score is None for outcome in subtask.tests)
    outcomes = distinct_outcomes(result)
    return ResultFacts(
        verdict=result.verdict,
        end=how_ended(None if result.score is not None else undecided, cannot_be_judged=result.compile.all_unsuitable),
        cpu=CpuSplit.of(outcomes, compile_ms=result.compile.cpu_ms),
        ran=count_run(outcomes),
        score=result.score,
        error=judge_error(result),
    )


class ContestFamily(ProblemFamily[ContestCandidate, SubmissionResult]):
    """A dump of submissions to contest problems. Columns that rows with the same result share are computed once.

    Args:
        unscored: the value in the results for scores that are not known.
        grouping: the columns of the dump by which the summary has groups too.
        dump_notes: notes on the dump, for the summary.
    """

    codec = CONTEST_CODEC
    facts = staticmethod(contest_facts)
    report = staticmethod(markdown_report)
    dump_reader: ContestDumpReader
    summary: Summary

    def __init__(
        self,
        dump_reader: ContestDumpReader,
        scorer: SubmissionScorer,
        *,
        unscored: Unscored = Unscored.NULL,
        grouping: Grouping | None = None,
        dump_notes: Sequence[str] = (),
    ) -> None:
        chosen = dump_reader.selection
        options = [sorted(chosen.years), sorted(chosen.problems), chosen.limit, dump_reader.id_column, str(unscored)]
        summary = Summary(grouping=grouping)
        summary.dump_notes = dump_notes
        super().__init__(dump_reader, summary, [*options, list(summary.by)])
        self._scorer, self._unscored = scorer, unscored
        self._known: RecentValues[int, ResultColumns] = RecentValues(_KNOWN)

    def await_problems(self) -> None:
        """Wait for the tests of all problems; then the summary names the problems that are unusable."""
        self.summary.unusable = self.dump_reader.problems.wait_for_all().unusable

    async def judge(self, candidate: ContestCandidate) -> SubmissionResult:
        """Judge a submission."""
        return await self._scorer.score(candidate.problem, candidate.submission)

    def our_failure(self, candidate: ContestCandidate, message: str) -> SubmissionResult:
        """The result of a submission that we failed to judge."""
        failure = CompileOutcome(verdict=Verdict.JE, message=message)
        return submission_result(candidate.problem, candidate.submission, failure, {})

    def add_result(
        self, entry: Judgeable[ContestCandidate], judged_row: RecordedResult[SubmissionResult], tests: TestLines
    ) -> tuple[bytes, ...]:
        """Add a result to the summary, and write its tests. Returns its line of `results.jsonl`."""
        candidate, dump_row = entry.candidate, entry.row.values
        judged = JudgedSubmission(
            problem=candidate.problem,
            submission=candidate.submission,
            fingerprint=candidate.fingerprint,
            result=judged_row.result,
            duplicate_of=judged_row.duplicate_of,
        )
        columns, reason = self._columns(judged, judged_row.offset, tests), judged.reason(dump_row)
        row = columns.row(dump_row, judged, target_subtask=target_subtask(entry.row), reason=reason)
        line = to_json(row)
        self.summary.add(
            row, dump_row, judged.problem, judged.result, submission=candidate.id, cpu=columns.cpu, reason=reason
        )
        return (line,)

    def refused_lines(self, entry: Refused) -> tuple[bytes, ...]:
        """The line of `results.jsonl`."""
        return (to_json(refused_row(entry.row.values, entry.message)),)

    def _columns(self, judged: JudgedSubmission, offset: int | None, tests: TestLines) -> ResultColumns:
        """The columns that depend on the result only, which is the record at this offset of the journal, if any."""
        if offset is not None and (known := self._known.get(offset)) is not None:
            return known
        whole = ResultColumns.of(judged, unscored=self._unscored)
        subtasks, line = compact.without_tests(whole.reference["all_subtasks_results"])
        cases = judged.problem.tests
        deciding = deciding_test_name({**whole.reference, "verdict": judged.result.verdict})
        key = str(judged.problem.key)
        tests_id = tests.write(line, key, lambda test: beginning(cases[test].input), deciding=deciding)
        encoded = to_json(subtasks).removesuffix(b"\n")
        columns = whole.with_tests_id(orjson.Fragment(encoded), tests_id)
        return columns if offset is None else self._known.put(offset, columns)
