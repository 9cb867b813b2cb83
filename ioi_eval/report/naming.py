"""What a row of results tells: problem and submission, as judging named them, verdict, worth; and what a test tells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ioi_eval.model import Verdict
from ioi_eval.problems.submissions import DEFAULT_YEAR

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
"""What verdicts are called in full; `docs/verdicts.md` says when each is given."""


def name_columns(id_column: str) -> tuple[str, ...]:
    """The columns that say it, for results of a contest."""
    return ("year", "problem_id", id_column, f"dump_{id_column}")


def problem_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Year and id of the problem; numbers are whole, also where a table has made 2024.0 of them."""
    year = row.get("year")
    try:
        year = DEFAULT_YEAR if year is None or year == "" else int(year)
    except (TypeError, ValueError, OverflowError):  # such a row was refused
        year = str(year)
    return str(year), _plain(row.get("problem_id"))


def submission_of(row: Mapping[str, Any], id_column: str, *, otherwise: str = "–") -> str:
    """The submission's id. Where its column has the name of one of ours, it stands in `dump_<name>`.

    Args:
        row: of results.
        id_column: names a submission.
        otherwise: what stands where a row has no id.
    """
    value = row.get(f"dump_{id_column}", row.get(id_column))
    return otherwise if value is None else _plain(value)


def _plain(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


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


PASSED = (Verdict.AC, Verdict.SKIPPED)
"""Verdicts of tests that no reader need look at."""


def name_of_test(test: Row) -> str:
    """The name of a test of either family; empty where it has none."""
    return str(test.get("test_name", test.get("test", "")))


def verdict_of_test(test: Row) -> str:
    """The verdict of a test of either family."""
    return str(test.get("status", test.get("verdict", "")))


def message_of_test(test: Row) -> str:
    """The words about a test of either family; empty for none."""
    return str(test.get("feedback") or test.get("message") or "")


def _subtasks(row: Row) -> Sequence[Row]:
    return row.get("all_subtasks_results") or ()
