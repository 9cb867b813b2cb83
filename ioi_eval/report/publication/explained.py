"""Why a submission has its verdict, in a few lines, for formats that have a place for words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ioi_eval.report.excerpt import excerpt
from ioi_eval.report.one_submission import failing_test, tests_of
from ioi_eval.report.terminal import points
from ioi_eval.report.worth import full_marks_of, share_of, verdict_of

_LINES, _WIDTH = 10, 200

Row = Mapping[str, Any]


def headline(row: Row) -> str:
    """`WA, 30 of 100 points`, or `WA, 3 of 4 tests`; or why there is no score."""
    verdict = verdict_of(row)
    if share_of(row) is None:
        reason = excerpt(str(row.get("error") or row.get("message") or "no reason is recorded"), lines=1, width=_WIDTH)
        return f"{verdict or 'not judged'}: {' '.join(reason)}"
    if "all_subtasks_results" in row:
        total = row.get("total_score", row.get("all_subtasks_points"))
        return f"{verdict}, {points(total)} of {points(full_marks_of(row))} points"
    return f"{verdict}, {row['passed']} of {row['total']} tests"


def details(row: Row) -> str:
    """The compiler's words, and the first test that failed; empty where nothing did."""
    parts = []
    if row.get("code_compiles") is False or verdict_of(row) in {"CE", "NC"}:
        parts += excerpt(str(row.get("compile_message") or row.get("message") or ""), lines=_LINES, width=_WIDTH)
    name = failing_test(row)
    if name is not None:
        test = tests_of(row)[name]
        words = str(test.get("feedback") or test.get("message") or "")
        first, *more = excerpt(words, lines=_LINES, width=_WIDTH) or [""]
        parts += [f"test {name}: {test['status']}{', ' if first else ''}{first}", *more]
    return "\n".join(parts)
