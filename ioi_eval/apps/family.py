"""The family of APPS problems: how programs are judged, and how their results are stored and written.

Results are stored in the journal; `results.jsonl`, `mcpbr.jsonl`, `summary.json` and `report.md` are made from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from ioi_eval.apps import mcpbr
from ioi_eval.apps.codec import decode_result, encode_result
from ioi_eval.apps.dump_reader import AppsCandidate, AppsDumpReader, Invalid, JudgeableSample
from ioi_eval.apps.outcomes import AppsResult, fingerprint_of
from ioi_eval.apps.report import markdown_report
from ioi_eval.apps.results import (
    AppsSummary,
    JudgedSample,
    error_of,
    failure_reason_of,
    refused_row,
    result_row,
)
from ioi_eval.errors import RowError
from ioi_eval.journal import RecordKind
from ioi_eval.model import Verdict
from ioi_eval.model.apps import AppsProblem
from ioi_eval.pipeline.dump_reader import Refused
from ioi_eval.pipeline.family import ProblemFamily, ResultFacts
from ioi_eval.pipeline.finish import TestLines, to_json
from ioi_eval.pipeline.result_store import RecordedResult, ResultCodec
from ioi_eval.pipeline.threads import in_thread
from ioi_eval.problems.apps_submissions import problem_of
from ioi_eval.problems.apps_values import shown_texts
from ioi_eval.report.compact import TEST_RESULTS, TESTS_ID, apps_line
from ioi_eval.report.frame import RESULTS
from ioi_eval.report.inputs import beginning
from ioi_eval.report.one_submission import Seen
from ioi_eval.report.totals import CpuSplit


class Executor(Protocol):
    """Judges a program: `ioi_eval.apps.execution.AppsExecutor`."""

    async def score(self, problem: AppsProblem, code: str) -> AppsResult:
        """Judge it."""
        ...


def kind_of(result: AppsResult) -> RecordKind | None:
    """The kind of a result's record: RESULT, FINAL_JE (the comparator's checker failed twice); `None` for failures of
    ours, which are not stored. If the other grader fails, that is its RESULT.
    """
    if result.verdict is not Verdict.JE or (result.graded is not None and result.graded.crash):
        return RecordKind.RESULT
    errors = [test for test in result.tests if test.verdict is Verdict.JE]
    return RecordKind.FINAL_JE if errors and all(test.final for test in errors) else None


def is_sandbox_failure(result: AppsResult) -> bool:
    """Whether a judge error means that the sandbox failed, and not a checker or the row."""
    errors = [test for test in result.tests if test.verdict is Verdict.JE]
    return result.fault is None and (not errors or any(test.failed_program is None for test in errors))


APPS_CODEC = ResultCodec(
    encode=encode_result,
    decode=decode_result,
    kind=kind_of,
    tests=lambda result: len(result.tests),
)
"""Results of APPS problems in the journal."""


def apps_facts(result: AppsResult) -> ResultFacts:
    """The facts about a result that a run needs."""
    is_stored = kind_of(result) is not None
    return ResultFacts(
        verdict=result.verdict,
        cpu=CpuSplit(run=math.fsum(test.time_s or 0.0 for test in result.tests)),
        is_stored=is_stored,
        is_sandbox_failure=not is_stored and is_sandbox_failure(result),
        fingerprint=result.fingerprint,
        ran=sum(test.verdict is not Verdict.SKIPPED for test in result.tests),
        score=result.score,
        error=error_of(result),
    )


class AppsFamily(ProblemFamily[AppsCandidate, AppsResult]):
    """A dump of programs for APPS.

    Args:
        dump_reader: reads it.
        executor: judges a program.
        judged_by: the name of the rules.
        summary: sums up results.
    """

    codec = APPS_CODEC
    facts = staticmethod(apps_facts)
    files = (RESULTS, "mcpbr.jsonl")
    report = staticmethod(markdown_report)
    summary: AppsSummary

    def __init__(self, dump_reader: AppsDumpReader, executor: Executor, judged_by: str, summary: AppsSummary) -> None:
        super().__init__(dump_reader, summary, [dump_reader.id_column, summary.ks, summary.by])
        self._executor, self._catalog, self._judged_by = executor, dump_reader.catalog, judged_by
        summary.passed_over = lambda: dump_reader.passed_over

    async def judge(self, candidate: AppsCandidate) -> AppsResult:
        """Judge a submission. Without a program nothing is run, and no test is passed."""
        submission = candidate.submission
        if submission.code is None:
            verdict, message = (Verdict.CE, submission.refused) if submission.refused else (Verdict.NC, "no code found")
            return self._nothing(candidate, verdict, message)
        problem = await in_thread(self._catalog.problem, candidate.problem.id)
        result = await self._executor.score(problem, submission.code)
        if not result.judging_digest:
            return result
        return replace(result, fingerprint=fingerprint_of(result.judging_digest, candidate.problem.digest, submission))

    def our_failure(self, candidate: AppsCandidate, message: str) -> AppsResult:
        """The result of a submission that we failed to judge."""
        return self._nothing(candidate, Verdict.JE, message)

    def _nothing(self, candidate: AppsCandidate, verdict: Verdict, message: str) -> AppsResult:
        return AppsResult(
            problem=candidate.problem.id,
            verdict=verdict,
            passed=0,
            total=candidate.problem.tests,
            judged_by=self._judged_by,
            message=message,
        )

    def lines(
        self, entry: JudgeableSample, judged_program: RecordedResult[AppsResult], tests: TestLines
    ) -> tuple[bytes, ...]:
        """The lines of `results.jsonl` and `mcpbr.jsonl`."""
        candidate, row = entry.candidate, result_row(entry, judged_program)
        row[TESTS_ID] = tests.name(apps_line(row.pop(TEST_RESULTS)), candidate.problem.id, self._given(candidate))
        lines = (
            to_json(row),
            to_json(mcpbr.under(_record(entry, judged_program.result), judged_program.result.judged_by)),
        )
        judged = JudgedSample(
            problem=candidate.problem.id,
            difficulty=candidate.problem.difficulty,
            submission=candidate.submission,
            result=judged_program.result,
            reason=failure_reason_of(judged_program.result.verdict, candidate.submission, entry.sample),
            duplicate_of=judged_program.duplicate_of,
        )
        self.summary.add(judged, entry.row.values)
        return lines

    def _given(self, candidate: AppsCandidate) -> Callable[[str], Seen]:
        def given(test: str) -> Seen:
            tests = self._catalog.problem(candidate.problem.id).tests
            return beginning(shown_texts(tests[int(test)])[0].encode("utf-8", "replace"))

        return given

    def refuse(self, entry: Refused) -> None:
        """Add a row that was not judged to the summary."""
        if isinstance(entry, Invalid):
            self.summary.refuse_problem(entry.listed, entry.kind, entry.row.values)
        else:
            super().refuse(entry)

    def refused_lines(self, entry: Refused) -> tuple[bytes, ...]:
        """The lines of `results.jsonl` and `mcpbr.jsonl`."""
        row = refused_row(entry)
        del row[TEST_RESULTS]
        return to_json(row), to_json(mcpbr.under(_refused_record(entry), self._judged_by))


def _record(entry: JudgeableSample, result: AppsResult) -> dict[str, Any]:
    """The record in mcpbr's format."""
    candidate = entry.candidate
    if candidate.submission.refused:
        return mcpbr.unwritten_record(candidate.problem, candidate.submission.refused)
    if result.score is None:
        return mcpbr.error_record(candidate.problem, result.message[: mcpbr.SHOWN_ERROR])
    if not result.total:
        return mcpbr.error_record(candidate.problem, mcpbr.row_words(candidate.problem.fault, ""))
    return mcpbr.counted_record(candidate.problem, result.passed, result.total)


def _refused_record(entry: Refused) -> dict[str, Any]:
    if isinstance(entry, Invalid):
        fault, refusal = entry.listed.fault, entry.listed.refusal
        return mcpbr.error_record(entry.listed, refusal if fault is None else mcpbr.row_words(fault, refusal))
    try:
        problem = problem_of(entry.row)
    except RowError:
        problem = "unknown"
    return mcpbr.error_record(AppsProblem(id=problem, index=0), entry.message)
