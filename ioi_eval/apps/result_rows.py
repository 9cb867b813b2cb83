"""The rows of `results.jsonl`, with the dump's columns and ours; and mcpbr's records, a dictionary for each program."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ioi_eval.apps.catalog import CatalogEntry
from ioi_eval.apps.dump_reader import AppsCandidate, ProblemUnusable
from ioi_eval.apps.result import AppsResult
from ioi_eval.compat.mcpbr import EMPTY, ERRORS, GRADER
from ioi_eval.errors import RowError
from ioi_eval.model import Language, TestOutcome, Verdict
from ioi_eval.model.apps import AppsProblem, RowFault
from ioi_eval.pipeline.dump_reader import Judgeable, Refused
from ioi_eval.pipeline.result_store import RecordedResult
from ioi_eval.problems.apps_submissions import problem_of
from ioi_eval.report.compact import TEST_RESULTS
from ioi_eval.report.failure_reasons import failure_reason
from ioi_eval.report.rows import RENAMED_FOR_APPS, dump_columns, result_columns

APPS_RESULT_COLUMNS = (*result_columns("apps-result"), TEST_RESULTS)
"""Our columns of a row; the others (the problem's, the program's) have the same meaning as in a dump."""


def refused_row(entry: Refused) -> dict[str, Any]:
    """The row of a submission that was not judged: our columns are empty, even if the dump has values for them.

    Its problem's id is a text, as in rows that were judged: a table with `1` and `"1"` has two groups for one problem.
    """
    row: dict[str, Any] = {**dict.fromkeys(APPS_RESULT_COLUMNS), **dump_columns(entry.row.values, RENAMED_FOR_APPS)}
    with suppress(RowError):
        row["problem_id"] = problem_of(entry.row)
    return {**row, TEST_RESULTS: [], "error": entry.message}


def result_row(entry: Judgeable[AppsCandidate], judged: RecordedResult[AppsResult], *, reason: str) -> dict[str, Any]:
    """The row of a submission, with its tests; `reason` as `reason_of` gives it."""
    result, candidate = judged.result, entry.candidate
    message = result.message
    if result.verdict is Verdict.NC:
        message = ": ".join(filter(None, (message, reason)))
    return {
        **dump_columns(entry.row.values, RENAMED_FOR_APPS),
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


def reason_of(row: Mapping[str, Any], verdict: Verdict, extraction: str) -> str:
    """Why no program was found, or it does not compile; empty if the row does not show why, or this is not the case.

    The row may be of the dump or of results. Other graders' rules of extraction are not explained.
    """
    if extraction not in {"none", "column:code"}:
        return ""
    source = "as all programs for APPS"
    return failure_reason(row, verdict, language=Language.PYTHON, extraction=extraction, source=source)


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


# --------------------------------------------------------------------------- mcpbr's records
# Source: mcpbr's page on APPS, and `src/mcpbr/benchmarks/apps.py`. A record made by other rules than mcpbr's names
# these in `judged_by`, as mcpbr's `resolved` may differ.

_SHOWN_ERROR = 500  # characters of a failure's message


def sample_record(entry: Judgeable[AppsCandidate], result: AppsResult) -> dict[str, Any]:
    """The record of a program that was judged."""
    problem, refused = entry.candidate.problem, entry.candidate.submission.refused
    if refused:
        record = error_record(problem, f"Failed to write solution: {refused[:_SHOWN_ERROR]}")
    elif result.score is None:
        record = error_record(problem, result.message[:_SHOWN_ERROR])
    elif not result.total:
        record = error_record(problem, row_message(problem.fault, EMPTY))
    else:
        record = counted_record(problem, result.passed, result.total)
    return _with_rules(record, result.judged_by)


def refused_record(entry: Refused, judged_by: str) -> dict[str, Any]:
    """The record of a row that was not judged."""
    if isinstance(entry, ProblemUnusable):
        message = row_message(entry.catalog_entry.fault, entry.catalog_entry.unusable)
        return _with_rules(error_record(entry.catalog_entry, message), judged_by)
    try:
        problem = problem_of(entry.row)
    except RowError:
        problem = "unknown"
    return _with_rules(error_record(AppsProblem(id=problem, index=0), entry.message), judged_by)


def _with_rules(record: dict[str, Any], judged_by: str) -> dict[str, Any]:
    return record if judged_by in ("", GRADER.name) else {**record, "judged_by": judged_by}


def counted_record(problem: AppsProblem | CatalogEntry, passed: int, total: int) -> dict[str, Any]:
    """The record of a solution that passed `passed` of `total` tests; there is at least one test."""
    counts = {"passed": passed, "total": total, "pass_rate": passed / total}
    return {"instance_id": problem.instance_id, "resolved": passed == total, **counts}


def row_message(fault: RowFault | None, reason: str) -> str:
    """mcpbr's message for a row that cannot be judged, else ours."""
    return reason if fault is None else ERRORS.get(fault, reason)


def error_record(problem: AppsProblem | CatalogEntry, message: str) -> dict[str, Any]:
    """A record with an error instead of numbers."""
    return {"instance_id": problem.instance_id, "resolved": False, "error": message}
