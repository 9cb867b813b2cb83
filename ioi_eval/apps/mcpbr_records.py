"""mcpbr's records: one dictionary for each problem. Pure.

A record made by other rules than mcpbr's names these in `judged_by`, as mcpbr's `resolved` may differ.

Source: mcpbr's page on APPS, and `src/mcpbr/benchmarks/apps.py`.
"""

from __future__ import annotations

from typing import Any

from ioi_eval.apps.catalog import CatalogEntry
from ioi_eval.apps.dump_reader import AppsCandidate, ProblemUnusable
from ioi_eval.apps.result import AppsResult
from ioi_eval.compat.mcpbr import EMPTY, ERRORS, GRADER
from ioi_eval.errors import RowError
from ioi_eval.model.apps import AppsProblem, RowFault
from ioi_eval.pipeline.dump_reader import Judgeable, Refused
from ioi_eval.problems.apps_submissions import problem_of

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
        fault, reason = entry.catalog_entry.fault, entry.catalog_entry.unusable
        message = reason if fault is None else row_message(fault, reason)
        return _with_rules(error_record(entry.catalog_entry, message), judged_by)
    try:
        problem = problem_of(entry.row)
    except RowError:
        problem = "unknown"
    return _with_rules(error_record(AppsProblem(id=problem, index=0), entry.message), judged_by)


def _with_rules(record: dict[str, Any], judged_by: str) -> dict[str, Any]:
    """A record with the name of its rules; for mcpbr's own rules the record stays as in mcpbr."""
    return record if judged_by in ("", GRADER.name) else {**record, "judged_by": judged_by}


def counted_record(problem: AppsProblem | CatalogEntry, passed: int, total: int) -> dict[str, Any]:
    """The record of a solution that passed `passed` of `total` tests; there is at least one test."""
    return {
        "instance_id": problem.instance_id,
        "resolved": passed == total,
        "passed": passed,
        "total": total,
        "pass_rate": passed / total,
    }


def row_message(fault: RowFault | None, reason: str) -> str:
    """mcpbr's message for a row that cannot be judged, else ours."""
    return (ERRORS.get(fault) if fault is not None else EMPTY) or reason


def error_record(problem: AppsProblem | CatalogEntry, message: str) -> dict[str, Any]:
    """A record with an error instead of numbers."""
    return {"instance_id": problem.instance_id, "resolved": False, "error": message}
