"""The family of APPS problems: how programs are judged, and how their results are stored and written.

Results are stored in the journal; the result files (`results.jsonl` and `report.md`, for example) are made from it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ioi_eval.apps.dump_reader import AppsCandidate, AppsDumpReader, ProblemUnusable
from ioi_eval.apps.execution import AppsExecutor
from ioi_eval.apps.report import markdown_report
from ioi_eval.apps.result import AppsResult, decode_result, encode_result
from ioi_eval.apps.result_rows import error_of, reason_of, refused_record, refused_row, result_row, sample_record
from ioi_eval.apps.settings import fingerprint_of
from ioi_eval.apps.summary import AppsSummary
from ioi_eval.concurrency import in_thread
from ioi_eval.model import Verdict
from ioi_eval.pipeline.dump_reader import Judgeable, Refused
from ioi_eval.pipeline.family import ProblemFamily, ResultFacts, how_ended
from ioi_eval.pipeline.result_store import RecordedResult, ResultCodec
from ioi_eval.pipeline.writing import TestLines
from ioi_eval.problems.apps_values import shown_texts
from ioi_eval.report.compact import TEST_RESULTS, TESTS_ID, apps_line
from ioi_eval.report.inputs import TextPart, beginning
from ioi_eval.report.result_files import MCPBR_RECORDS, RESULTS
from ioi_eval.report.result_values import deciding_test_name
from ioi_eval.report.rows import to_json
from ioi_eval.report.totals import CpuSplit, count_run

APPS_CODEC = ResultCodec(encode=encode_result, decode=decode_result, tests=lambda result: len(result.tests))
"""Results of APPS problems in the journal."""


def apps_facts(result: AppsResult) -> ResultFacts:
    """The facts about a result that a run needs. If another grader fails on a row, that is its result."""
    has_crashed = result.graded is not None and bool(result.graded.crash)
    undecided = result.tests if result.verdict is Verdict.JE and not has_crashed else None
    return ResultFacts(
        verdict=result.verdict,
        end=how_ended(undecided, cannot_be_judged=result.fault is not None),
        cpu=CpuSplit.of(result.tests),
        ran=count_run(result.tests),
        score=result.score,
        error=error_of(result),
    )


class AppsFamily(ProblemFamily[AppsCandidate, AppsResult]):
    """A dump of programs for APPS. `judged_by` is the name of the rules."""

    codec = APPS_CODEC
    facts = staticmethod(apps_facts)
    files = (RESULTS, MCPBR_RECORDS)
    report = staticmethod(markdown_report)
    summary: AppsSummary

    def __init__(
        self, dump_reader: AppsDumpReader, executor: AppsExecutor, judged_by: str, summary: AppsSummary
    ) -> None:
        super().__init__(dump_reader, summary, [dump_reader.id_column, summary.ks, summary.by])
        self._executor, self._catalog, self._judged_by = executor, dump_reader.catalog, judged_by
        summary.skipped_rows = lambda: dump_reader.skipped_rows

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
        total, judged_by = candidate.problem.tests, self._judged_by
        return AppsResult(verdict=verdict, passed=0, total=total, judged_by=judged_by, message=message)

    def add_result(
        self, entry: Judgeable[AppsCandidate], judged_program: RecordedResult[AppsResult], tests: TestLines
    ) -> tuple[bytes, ...]:
        """Add a result to the summary, and write its tests. Returns its lines of `results.jsonl` and `mcpbr.jsonl`."""
        candidate, result = entry.candidate, judged_program.result
        reason = reason_of(entry.row.values, result.verdict, candidate.submission.extraction)
        whole = result_row(entry, judged_program, reason=reason)
        line, input_of = apps_line(whole[TEST_RESULTS]), partial(self._input_of, candidate.problem.id)
        tests_id = tests.write(line, candidate.problem.id, input_of, deciding=deciding_test_name(whole))
        row = {column: value for column, value in whole.items() if column != TEST_RESULTS} | {TESTS_ID: tests_id}
        lines = to_json(row), to_json(sample_record(entry, result))
        self.summary.add(whole, entry.row.values, reason=reason, errors=result.errors)
        return lines

    def _input_of(self, problem: str, test: str) -> TextPart:
        tests = self._catalog.problem(problem).tests
        return beginning(shown_texts(tests[int(test)])[0].encode("utf-8", "replace"))

    def refuse(self, entry: Refused) -> None:
        """Add a row that was not judged to the summary."""
        if isinstance(entry, ProblemUnusable):
            self.summary.refuse_problem(entry.catalog_entry, entry.kind, entry.row.values)
        else:
            super().refuse(entry)

    def refused_lines(self, entry: Refused) -> tuple[bytes, ...]:
        """The lines of `results.jsonl` and `mcpbr.jsonl`."""
        row = refused_row(entry)
        del row[TEST_RESULTS]
        return to_json(row), to_json(refused_record(entry, self._judged_by))
