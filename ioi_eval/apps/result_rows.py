"""The rows of `results.jsonl`, with the dump's columns and ours."""

from __future__ import annotations

from typing import Any

from ioi_eval.apps.dump_reader import JudgeableSample
from ioi_eval.apps.result import AppsResult
from ioi_eval.model import Language, TestOutcome, Verdict
from ioi_eval.pipeline.dump_reader import Refused
from ioi_eval.pipeline.result_store import RecordedResult
from ioi_eval.problems.apps_submissions import PROGRAM_COLUMNS, Sample, text_of
from ioi_eval.report.compact import TEST_RESULTS
from ioi_eval.report.failure_reasons import failure_reason
from ioi_eval.report.rows import dump_columns

RESULT_COLUMNS = (
    "submission",
    "extraction",
    "verdict",
    "score",
    "passed",
    "total",
    "resolved",
    "message",
    "judged_by",
    "near_limit",
    "codes",
    "rules",
    "test_results",
    "tests_id",
    "python",
    "target",
    "isolation",
    "duplicate_of",
    "fingerprint",
    "error",
)
"""Our columns of a row; the others (the problem's, the program's) have the same meaning as in a dump."""
_RESULTS = frozenset(RESULT_COLUMNS)


def refused_row(entry: Refused) -> dict[str, Any]:
    """The row of a submission that was not judged: our columns are empty, even if the dump has values for them."""
    empty: dict[str, Any] = dict.fromkeys(RESULT_COLUMNS)
    return {**empty, **dump_columns(entry.row.values, _RESULTS), TEST_RESULTS: [], "error": entry.message}


def result_row(entry: JudgeableSample, judged: RecordedResult[AppsResult]) -> dict[str, Any]:
    """The row of a submission, with its tests."""
    result, candidate = judged.result, entry.candidate
    columns = {name: value for name, value in entry.row.values.items() if name not in PROGRAM_COLUMNS}
    given = {} if entry.sample.column == "code" else {entry.sample.column: entry.sample.value}
    message = result.message
    if result.verdict is Verdict.NC and (reason := reason_of(entry, result)):
        message = ": ".join(filter(None, (message, reason)))
    return {
        **dump_columns(columns, _RESULTS),
        **given,
        "submission": candidate.submission.id,
        "problem_id": candidate.problem.id,
        "instance_id": candidate.problem.instance_id,
        "difficulty": candidate.problem.difficulty,
        "code": candidate.submission.code,
        "extraction": candidate.submission.extraction,
        **judged_columns(result),
        "message": message,
        "duplicate_of": judged.duplicate_of,
        "fingerprint": candidate.fingerprint,
        "error": error_of(result),
    }


def reason_of(entry: JudgeableSample, result: AppsResult) -> str:
    """Why a sample has no program, or none that compiles; empty if the row does not show it."""
    return failure_reason_of(result.verdict, entry.candidate.submission.extraction, entry.sample)


def failure_reason_of(verdict: Verdict, extraction: str, sample: Sample) -> str:
    """The same, from the verdict, the rule that found the program, and the sample."""
    if verdict not in {Verdict.NC, Verdict.CE} or extraction not in {"none", "column:code"}:
        return ""
    is_code = sample.column == "code"
    return failure_reason(
        verdict,
        code=sample.value if is_code else None,
        text=None if is_code else text_of(sample),
        language=Language.PYTHON,
        source="as all programs for APPS",
    )


def error_of(result: AppsResult) -> str | None:
    """Why there is no score; `None` if there is one."""
    return result.message if result.score is None else None


def judged_columns(result: AppsResult) -> dict[str, Any]:
    """The columns of a row with the program's result and tests."""
    graded = result.graded
    return {
        "verdict": result.verdict,
        "score": result.score,
        "passed": result.passed if result.score is not None else None,
        "total": result.total,
        "resolved": None if result.score is None else result.verdict is Verdict.AC,
        "message": result.message,
        "judged_by": result.judged_by,
        "near_limit": any(test.near_limit for test in result.tests),
        "codes": None if graded is None else list(graded.codes),
        "rules": None if graded is None else list(graded.rules),
        "test_results": [_test(test, result) for test in result.tests],
        "tests_id": None,
        "python": result.python,
        "target": result.target,
        "isolation": result.isolation,
    }


def _test(test: TestOutcome, result: AppsResult) -> dict[str, Any]:
    row: dict[str, Any] = {
        "test": int(test.test),
        "verdict": test.verdict,
        "passed": test.passed,
        "time_s": test.time_s,
        "wall_s": test.wall_s,
        "memory_bytes": test.memory_bytes,
        "near_limit": test.near_limit,
        "reran": test.reran,
        "message": test.message,
    }
    row["output"] = test.printed_text
    if test.passed is not True:
        row["stderr"] = test.stderr
    if (code := result.code_of(test)) is not None:
        row["code"] = code
    return row
