"""The list of submissions with system calls that no solution needs, made from result rows."""

from __future__ import annotations

from typing import Any

from ioi_eval.report.submission_text import suspicious_report


def row(**columns: Any) -> dict[str, Any]:
    """The result row of a program that tried `socket` twice."""
    attempted = [{"call": "socket", "count": 2}]
    return {
        "year": 2024,
        "problem_id": "nile",
        "verdict": "AC",
        "all_subtasks_results": [],
        "attempted": attempted,
        "duplicate_of": None,
        "fingerprint": "f",
    } | columns


def test_the_id_column_may_have_the_name_of_a_result_column() -> None:
    """With `--id-column target`: in results, `target` is where the row was judged, and the dump's column is
    `dump_target`.
    """
    text = suspicious_report([row(target="local, g++", dump_target="u1")], id_column="target")
    assert text.splitlines()[-1].split() == ["u1", "2024/nile", "AC", "0", "socket", "2"]


def test_the_list_counts_and_orders() -> None:
    """Violations come first, then the submissions with most calls. Others are not listed."""
    violation = [{"test_results": [{"test_name": "1", "status": "SV"}]}]
    rows = [row(uuid="a"), row(uuid="b", attempted=[]), row(uuid="c", verdict="SV", all_subtasks_results=violation)]
    text = suspicious_report(rows, id_column="uuid")
    assert text.startswith("2 submissions tried forbidden calls, 1 of them with no honest use")
    assert [line.split()[0] for line in text.splitlines()[4:]] == ["c", "a"]
    assert suspicious_report(rows[:1], id_column="uuid").startswith("1 submission tried")
    assert suspicious_report([], id_column="uuid") == "No submission tried a forbidden call."
