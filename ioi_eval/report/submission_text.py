"""Shows one submission: its program, the compiler's message, each test, and how the failing one differs; and lists of
submissions. Pure.

All of this text is untrusted: it is shortened, and control characters are replaced by escapes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ioi_eval.config import MIB
from ioi_eval.model import Verdict
from ioi_eval.report.inputs import TextPart
from ioi_eval.report.result_values import (
    deciding_test_name_in,
    full_marks_of,
    has_test_details,
    message_of_test,
    points_of_subtask,
    problem_name_of,
    submission_of,
    tests_of,
    total_of,
)
from ioi_eval.report.texts import (
    counted,
    escaped_line,
    escaped_text,
    excerpt,
    first_difference,
    points,
    printable,
    table,
)
from ioi_eval.sandbox import LOCAL

_CODE_LINES = 400
_SUSPICIOUS = 1000  # submissions of which `--suspicious` prints a line; all are in results.jsonl
_THIS_MACHINE = "the embedded sandbox"
_COMPARED = frozenset({Verdict.AC, Verdict.PA, Verdict.WA})
"""Verdicts of tests on which the output was judged: other programs ended early."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """A problem's limits: CPU seconds and bytes; `None` if unknown."""

    time_s: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TestTexts:
    """A test's input, official output and the program's output; `None` for those that are not available. If a checker
    judges outputs (`has_checker`), one that differs from the official one may be right."""

    __test__ = False

    input: TextPart | None = None
    expected: TextPart | None = None
    output: TextPart | None = None
    has_checker: bool = False


def submission_text(
    row: Mapping[str, Any], name: tuple[str, str], limits: Limits, *, test: str | None, texts: TestTexts
) -> str:
    """The text about a submission (`name`: its problem and id), from its result with tests.

    Its test `test` is shown in detail, with its `texts`; none if that is `None`.
    """
    parts = [_head(row, name), _code(row)]
    if (message := row.get("compile_message")) and message != row.get("error"):
        parts.append(f"{'Compiler' if row.get('code') else 'Why'}:\n" + _indented(excerpt(str(message), lines=60)))
    parts += [_subtasks(row), _tests(row, limits) if has_test_details(row) or test is not None else ""]
    if test is not None:
        parts.append(_one_test(tests_of(row)[test], test, limits, texts))
    return escaped_text("\n\n".join(part for part in parts if part))


def listing(rows: Iterable[tuple[tuple[str, str], Mapping[str, Any]]], *, most: int) -> str:
    """Submissions in a table of at most `most` lines, from their names, `verdict`, and points or passed tests."""
    lines: list[tuple[str, ...]] = []
    count = 0
    for (problem, submission), row in rows:
        count += 1
        if len(lines) < most:
            score = points(total_of(row)) if "total_score" in row else _passed(row)
            lines.append(
                (printable(problem), printable(submission), printable(str(row.get("verdict") or "not judged")), score)
            )
    text = table(("problem", "submission", "verdict", "score"), lines, left=frozenset({0, 1, 2}))
    return text + (f"\n… and {count - len(lines)} more" if count > len(lines) else "")


def suspicious_report(rows: Iterable[Mapping[str, Any]], *, id_column: str) -> str:
    """The submissions that made system calls which no solution needs, from the rows of `results.jsonl`; sorted
    by how many tests ended with SV (a call with no honest use ended the program), then by how many calls were refused;
    the most first."""
    found: list[tuple[int, Counter[str], str, str, str]] = []
    for row in rows:
        violations = sum(test["status"] == Verdict.SV for test in tests_of(row).values())
        calls = Counter({entry["call"]: entry["count"] for entry in row["attempted"]})
        if violations or calls:
            problem, submission = "/".join(problem_name_of(row)), submission_of(row, id_column)
            found.append((violations, calls, problem, submission, str(row["verdict"])))
    if not found:
        return "No submission tried a forbidden call."
    found.sort(key=lambda item: (-item[0], -item[1].total(), *item[2:4]))
    violators = sum(violations > 0 for violations, *_ in found)
    head = f"{counted(len(found), 'submission')} tried forbidden calls, {violators} of them with no honest use (SV):"
    lines = [
        (submission, problem, verdict, str(violations), ", ".join(f"{name} {n}" for name, n in calls.most_common()))
        for violations, calls, problem, submission, verdict in found[:_SUSPICIOUS]
    ]
    text = table(("submission", "problem", "verdict", "SV tests", "refused calls"), lines, left=frozenset({0, 1, 2, 4}))
    more = f"\n… and {len(found) - _SUSPICIOUS} more (results.jsonl)" if len(found) > _SUSPICIOUS else ""
    return f"{head}\n\n{text}{more}"


def _head(row: Mapping[str, Any], name: tuple[str, str]) -> str:
    problem, submission = map(printable, name)
    if "all_subtasks_results" in row:
        score = f"{points(total_of(row))} of {points(full_marks_of(row))} points"
    else:
        score = f"{_passed(row)} tests"
    result = f"{row['verdict']}, {score}" if row.get("verdict") else "not judged"
    lines = [f"{problem}  {submission}: {result}"]
    if row.get("error"):
        why = "why there is no score" if row.get("verdict") else "why not judged"
        lines.append(f"  {why}: {printable(str(row['error']))}")
    if row.get("target"):
        where, comma, compiler = str(row["target"]).partition(",")
        lines.append(f"  judged on: {printable((_THIS_MACHINE if where == LOCAL else where) + comma + compiler)}")
    for column, label in (("isolation", "isolation"), ("duplicate_of", "result taken from")):
        if row.get(column):
            lines.append(f"  {label}: {printable(str(row[column]))}")
    if row.get("target_subtask"):
        target = ": ".join(map(str, filter(None, (row["target_subtask"], row.get("target_subtask_status")))))
        lines.append(f"  written for subtask {printable(target)}")
    if row.get("near_limit"):
        lines.append("  near the time limit: another machine may give another verdict")
    return "\n".join(lines)


def _code(row: Mapping[str, Any]) -> str:
    code = row.get("code")
    if not code:
        return "No program."
    if not isinstance(code, str):
        return f"A program of several files, or several programs: {escaped_line(str(code))}"
    lines = excerpt(code, lines=_CODE_LINES, width=400)
    head = f"Program (found by {printable(str(row.get('extraction') or 'column:code'))}):"
    return "\n".join([head, *(f"{number:4}  {line}" for number, line in enumerate(lines, 1))])


def _subtasks(row: Mapping[str, Any]) -> str:
    lines = [
        (
            printable(str(subtask["subtask"])),
            str(subtask["status"]),
            f"{points(points_of_subtask(subtask))}/{points(subtask['points'])}",
            printable(deciding_test_name_in(subtask) or ""),
        )
        for subtask in row.get("all_subtasks_results") or ()
    ]
    columns = 4 if any(decisive for *_, decisive in lines) else 3
    head = ("subtask", "verdict", "points", "decided by")[:columns]
    return table(head, [line[:columns] for line in lines], left=frozenset({0, 1, 3})) if lines else ""


def _tests(row: Mapping[str, Any], limits: Limits) -> str:
    head = ("test", "verdict", "score", "time", "memory", "feedback")
    lines = [
        (
            printable(name),
            str(test["status"]),
            _score(test),
            _time(test, limits),
            _memory(test, limits),
            printable(message_of_test(test), length=60),
        )
        for name, test in tests_of(row).items()
    ]
    return table(head, lines, left=frozenset({0, 1, 5})) if lines else ""


def _one_test(test: Mapping[str, Any], name: str, limits: Limits, texts: TestTexts) -> str:
    ended = [f"{what} {test[key]}" for key, what in (("exit_code", "exit code"), ("signal", "signal")) if test.get(key)]
    facts = [str(test["status"]), f"time {_time(test, limits)}", f"memory {_memory(test, limits)}", *ended]
    parts = [f"Test {printable(name)}: {', '.join(facts)}"]
    if feedback := message_of_test(test):
        parts.append("Feedback:\n" + _indented(excerpt(feedback)))
    for title, text in (("Input", texts.input), ("Output", texts.output), ("Expected", texts.expected)):
        if text is not None:
            size = "" if text.size is None else f" ({text.size:,} bytes)"
            lines = excerpt(text.content, size=text.size, is_part=text.size is None) or ["(empty)"]
            parts.append(f"{title}{size}:\n" + _indented(lines))
    if texts.output is None:
        parts.append("Its output is not available.")
    elif texts.expected is not None and test["status"] in _COMPARED:
        parts.append(_comparison(texts.expected, texts.output, has_checker=texts.has_checker))
    if stderr := test.get("stderr"):
        parts.append("Stderr:\n" + _indented(excerpt(str(stderr), is_part=True)))
    return "\n".join(parts)


def _comparison(expected: TextPart, output: TextPart, *, has_checker: bool) -> str:
    """Where an output differs from the official one, unless a checker decides what is right."""
    if has_checker:
        return "The problem has a checker of its own, which may accept several outputs."
    whole = output.whole and expected.whole
    difference = first_difference(expected.content, output.content, whole=whole)
    if difference is not None:
        return f"First difference: {difference}"
    return f"No difference {'except for blanks' if whole else 'in the part that is shown'}."


def _indented(lines: Sequence[str]) -> str:
    return "\n".join(f"  | {line}" for line in lines)


def _score(test: Mapping[str, Any]) -> str:
    if "passed" in test:
        return "–" if test["passed"] is None else str(int(test["passed"]))
    return "–" if test.get("score") is None else f"{test['score']:.6g}"


def _passed(row: Mapping[str, Any]) -> str:
    return "–" if row.get("passed") is None else f"{row['passed']}/{row.get('total')}"


def _time(test: Mapping[str, Any], limits: Limits) -> str:
    if test.get("time_s") is None:
        return "–"
    of = "" if limits.time_s is None else f" of {limits.time_s:g}"
    return f"{test['time_s']:.3f}{of} s"


def _memory(test: Mapping[str, Any], limits: Limits) -> str:
    if test.get("memory_bytes") is None:
        return "–"
    of = "" if limits.memory_bytes is None else f" of {limits.memory_bytes / MIB:.0f}"
    return f"{test['memory_bytes'] / MIB:.1f}{of} MiB"
