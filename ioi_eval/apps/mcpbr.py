"""mcpbr's records: one dictionary for each problem. Pure.

A record made by other rules than mcpbr's names these in `judged_by`, as mcpbr's `resolved` may differ.

Source: mcpbr's page on APPS, and `src/mcpbr/benchmarks/apps.py`.
"""

from __future__ import annotations

from typing import Any, Protocol

from ioi_eval.compat.mcpbr import EMPTY, ERRORS, GRADER
from ioi_eval.model.apps import RowFault

SHOWN_ERROR = 500  # characters of a failure's message


class Named(Protocol):
    """A problem, or its entry in the catalog."""

    @property
    def instance_id(self) -> str:
        """Its id in mcpbr's spelling."""
        ...


def under(record: dict[str, Any], judged_by: str) -> dict[str, Any]:
    """A record with the name of its rules; for mcpbr's own rules the record stays as in mcpbr."""
    return record if judged_by in ("", GRADER.name) else {**record, "judged_by": judged_by}


def counted_record(problem: Named, passed: int, total: int) -> dict[str, Any]:
    """The record of a solution that passed `passed` of `total` tests; there is at least one test."""
    return {
        "instance_id": problem.instance_id,
        "resolved": passed == total,
        "passed": passed,
        "total": total,
        "pass_rate": passed / total,
    }


def row_words(fault: RowFault | None, reason: str) -> str:
    """mcpbr's message for a row that cannot be judged, else ours."""
    return (ERRORS.get(fault) if fault is not None else EMPTY) or reason


def unwritten_record(problem: Named, message: str) -> dict[str, Any]:
    """The record of a solution that could not be written to its file."""
    return error_record(problem, f"Failed to write solution: {message[:SHOWN_ERROR]}")


def error_record(problem: Named, message: str) -> dict[str, Any]:
    """A record with an error instead of numbers."""
    return {"instance_id": problem.instance_id, "resolved": False, "error": message}
