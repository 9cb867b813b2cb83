"""The verdict of a row of results, and its share of full marks, for both families."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def verdict_of(row: Row) -> str:
    """The verdict, empty where it was not judged; of the reference's rows, which have none, AC where all subtasks are,
    else the first other one."""
    if "verdict" in row:
        return str(row["verdict"] or "")
    subtasks = _subtasks(row)
    return next((str(one["status"]) for one in subtasks if one["status"] != "AC"), "AC") if subtasks else ""


def share_of(row: Row) -> float | None:
    """The share of the points, or for APPS of the tests; `None` where it is not known: not judged, or JE."""
    if "all_subtasks_results" not in row:
        total, passed = row.get("total"), row.get("passed")
        if row.get("verdict") in {None, "JE"}:
            return None
        return float(row["verdict"] == "AC") if not total else None if passed is None else passed / total
    score, full = row.get("total_score", row.get("all_subtasks_points")), full_marks_of(row)
    if score is None or row.get("verdict") == "JE" or not _subtasks(row):
        return None
    return float(score / full) if full else 0.0


def full_marks_of(row: Row) -> float:
    """The points of all subtasks; for APPS, where a share is a score, 1."""
    return math.fsum(one["points"] for one in _subtasks(row)) if "all_subtasks_results" in row else 1.0


def _subtasks(row: Row) -> Sequence[Row]:
    return row.get("all_subtasks_results") or ()
