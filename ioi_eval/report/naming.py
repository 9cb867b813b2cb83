"""Reads a row of results: problem and submission, as judging named them, verdict and score. Reads tests likewise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ioi_eval.model import DEFAULT_YEAR, Verdict

VERDICT_NAMES: Final[Mapping[str, str]] = {
    Verdict.AC: "accepted",
    Verdict.PA: "partly accepted",
    Verdict.WA: "wrong answer",
    Verdict.TLE: "time limit exceeded",
    Verdict.MLE: "memory limit exceeded",
    Verdict.OLE: "output limit exceeded",
    Verdict.SV: "security violation",
    Verdict.RE: "runtime error",
    Verdict.CE: "compilation error",
    Verdict.NC: "no code found",
    Verdict.JE: "judge error",
    Verdict.SKIPPED: "not run",
}
"""The full names of verdicts; `docs/verdicts.md` says when each is given."""


def name_columns(id_column: str) -> tuple[str, ...]:
    """The columns that name problem and submission in results of a contest."""
    return ("year", "problem_id", id_column, f"dump_{id_column}")


def problem_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Year and id of the problem; a whole number that a table turned into 2024.0 becomes 2024 again."""
    year = row.get("year")
    try:
        year = DEFAULT_YEAR if year is None or year == "" else int(year)
    except (TypeError, ValueError, OverflowError):  # such a row was refused
        year = str(year)
    return str(year), _plain(row.get("problem_id"))


def submission_of(row: Mapping[str, Any], id_column: str, *, otherwise: str = "–") -> str:
    """The submission's id. If its column has the same name as a result column, it is in `dump_<name>`.

    Args:
        row: a row of results.
        id_column: the column that names a submission.
        otherwise: returned if the row has no id.
    """
    value = row.get(f"dump_{id_column}", row.get(id_column))
    return otherwise if value is None else _plain(value)


def _plain(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


Row = Mapping[str, Any]


def verdict_of(row: Row) -> str:
    """The verdict; empty if not judged."""
    return str(row.get("verdict") or "")


def share_of(row: Row) -> float | None:
    """The share of the points, or for APPS of the tests; `None` if it is unknown (not judged, or JE)."""
    if "all_subtasks_results" not in row:
        total, passed = row.get("total"), row.get("passed")
        if row.get("verdict") in {None, "JE"}:
            return None
        return float(row["verdict"] == "AC") if not total else None if passed is None else passed / total
    score, full = row.get("total_score"), full_marks_of(row)
    if score is None or row.get("verdict") == "JE" or not _subtasks(row):
        return None
    return float(score / full) if full else 0.0


def full_marks_of(row: Row) -> float:
    """The points of all subtasks; 1 for APPS, where the score is a share."""
    return math.fsum(subtask["points"] for subtask in _subtasks(row)) if "all_subtasks_results" in row else 1.0


PASSED = (Verdict.AC, Verdict.SKIPPED)
"""Verdicts of tests that need no details in a report."""


def name_of_test(test: Row) -> str:
    """The name of a test of either family; empty if it has none."""
    return str(test.get("test_name", test.get("test", "")))


def verdict_of_test(test: Row) -> str:
    """The verdict of a test of either family."""
    return str(test.get("status", test.get("verdict", "")))


def message_of_test(test: Row) -> str:
    """The message about a test of either family; empty if there is none."""
    return str(test.get("feedback") or test.get("message") or "")


def _subtasks(row: Row) -> Sequence[Row]:
    return row.get("all_subtasks_results") or ()
