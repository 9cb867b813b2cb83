"""Lists the submissions that made system calls which no solution needs, from the rows of `results.jsonl`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ioi_eval.model import Verdict
from ioi_eval.report.result_values import problem_of, submission_of
from ioi_eval.report.texts import counted, printable, table

SHOWN = 1000  # lines on a terminal; all are in results.jsonl


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicious:
    """A submission that made system calls which no solution needs.

    Args:
        violations: the number of tests on which the kernel killed it for a call with no honest use (SV).
        attempted: refused calls, by name, with their counts over all tests.
    """

    submission: str
    problem: str
    verdict: str
    violations: int
    attempted: Mapping[str, int]


def suspicious_of(rows: Iterable[Mapping[str, Any]], *, id_column: str) -> list[Suspicious]:
    """The suspicious submissions among these results: most violations first, then most refused calls."""
    submissions = [submission for row in rows if (submission := _read(row, id_column)) is not None]
    return sorted(
        submissions,
        key=lambda submission: (
            -submission.violations,
            -sum(submission.attempted.values()),
            submission.problem,
            submission.submission,
        ),
    )


def suspicious_report(submissions: Iterable[Suspicious]) -> str:
    """The list for a terminal."""
    listed = list(submissions)
    if not listed:
        return "No submission tried a forbidden call."
    violating = sum(submission.violations > 0 for submission in listed)
    head = f"{counted(len(listed), 'submission')} tried forbidden calls, {violating} of them with no honest use (SV):"
    rows = [
        (
            printable(submission.submission),
            printable(submission.problem),
            submission.verdict,
            str(submission.violations),
            _calls(submission.attempted),
        )
        for submission in listed[:SHOWN]
    ]
    text = table(("submission", "problem", "verdict", "SV tests", "refused calls"), rows, left=frozenset({0, 1, 2, 4}))
    more = f"\n… and {len(listed) - SHOWN} more (results.jsonl)" if len(listed) > SHOWN else ""
    return f"{head}\n\n{text}{more}"


def _read(row: Mapping[str, Any], id_column: str) -> Suspicious | None:
    violating = {
        test["test_name"]
        for subtask in row["all_subtasks_results"]
        for test in subtask["test_results"]
        if test["status"] == Verdict.SV
    }
    attempted: Counter[str] = Counter()
    for entry in row["attempted"]:
        attempted[entry["call"]] += entry["count"]
    if not violating and not attempted:
        return None
    return Suspicious(
        submission=submission_of(row, id_column),
        problem="/".join(problem_of(row)),
        verdict=str(row["verdict"]),
        violations=len(violating),
        attempted=attempted,
    )


def _calls(attempted: Mapping[str, int]) -> str:
    ordered = sorted(attempted.items(), key=lambda entry: (-entry[1], entry[0]))
    return printable(", ".join(f"{name} {count}" for name, count in ordered))
