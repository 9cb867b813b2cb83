"""The list of submissions with system calls that no solution needs, from the rows of results."""

from __future__ import annotations

from typing import Any

from ioi_eval.report.suspicious import suspicious_of, suspicious_report


def row(**columns: Any) -> dict[str, Any]:
    """A result row of a program that asked for a socket twice."""
    attempted = [{"call": "socket", "count": 2}]
    return {
        "year": 2024,
        "problem_id": "nile",
        "verdict": "AC",
        "all_subtasks_results": [],
        "attempted": attempted,
    } | columns


def test_a_column_that_has_a_name_of_ours_still_names_the_submission() -> None:
    """`--id-column target`: in results that is where it was judged, and the dump's stands beside it."""
    (found,) = suspicious_of([row(target="local, g++", dump_target="u1")], id_column="target")
    assert (found.submission, found.problem, found.attempted) == ("u1", "2024/nile", {"socket": 2})


def test_the_list_counts_and_orders() -> None:
    """Violations first, then who tried most; nobody else is on it."""
    violation = [{"test_results": [{"test_name": "1", "status": "SV"}]}]
    rows = [row(uuid="a"), row(uuid="b", attempted=[]), row(uuid="c", verdict="SV", all_subtasks_results=violation)]
    found = suspicious_of(rows, id_column="uuid")
    assert [one.submission for one in found] == ["c", "a"]
    assert suspicious_report(found).startswith("2 submissions tried forbidden calls, 1 of them with no honest use")
    assert suspicious_report(found[1:]).startswith("1 submission tried")
    assert suspicious_report([]) == "No submission tried a forbidden call."
