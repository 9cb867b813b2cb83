"""Lists the submissions that made system calls which no solution needs, from the rows of `results.jsonl`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ioi_eval.model import Verdict
from ioi_eval.report.result_values import problem_name_of, submission_of
from ioi_eval.report.texts import counted, printable, table

SHOWN = 1000  # lines on a terminal; all are in results.jsonl


def suspicious_report(rows: Iterable[Mapping[str, Any]], *, id_column: str) -> str:
    """The list for a terminal: most tests that ended with SV first, then most refused calls.

    SV: the kernel killed the submission for a call with no honest use.
    """
    listed: list[tuple[int, Counter[str], str, str, str]] = []
    for row in rows:
        violating = {
            test["test_name"]
            for subtask in row["all_subtasks_results"]
            for test in subtask["test_results"]
            if test["status"] == Verdict.SV
        }
        calls = Counter({entry["call"]: entry["count"] for entry in row["attempted"]})
        if violating or calls:
            problem, submission = "/".join(problem_name_of(row)), submission_of(row, id_column)
            listed.append((len(violating), calls, problem, submission, str(row["verdict"])))
    if not listed:
        return "No submission tried a forbidden call."
    listed.sort(key=lambda item: (-item[0], -item[1].total(), *item[2:4]))
    violators = sum(violations > 0 for violations, *_ in listed)
    head = f"{counted(len(listed), 'submission')} tried forbidden calls, {violators} of them with no honest use (SV):"
    lines = [
        (submission, problem, verdict, str(violations), _calls(calls))
        for violations, calls, problem, submission, verdict in listed[:SHOWN]
    ]
    text = table(("submission", "problem", "verdict", "SV tests", "refused calls"), lines, left=frozenset({0, 1, 2, 4}))
    more = f"\n… and {len(listed) - SHOWN} more (results.jsonl)" if len(listed) > SHOWN else ""
    return f"{head}\n\n{text}{more}"


def _calls(calls: Mapping[str, int]) -> str:
    ordered = sorted(calls.items(), key=lambda entry: (-entry[1], entry[0]))
    return printable(", ".join(f"{name} {count}" for name, count in ordered))
