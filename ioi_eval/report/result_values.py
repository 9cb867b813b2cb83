"""Reads a row of results of either family, or of the reference (huggingface/ioi): names, verdict, score, tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from ioi_eval.model import DEFAULT_YEAR, Verdict
from ioi_eval.report.rows import RECOGNIZED_BY, name_in
from ioi_eval.report.totals import MAY_NOT_HAVE_RUN
from ioi_eval.selection import PRECISION, ResultRow, sum_of_points

NamedRow = tuple[str, ResultRow]
"""The name of a submission, and its row: results of several runs may name submissions in different columns."""

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
    Verdict.SKIPPED: "not counted",
}
"""The full names of verdicts; `docs/verdicts.md` says when each is given."""


def name_columns(id_column: str) -> tuple[str, ...]:
    """The columns of results that `problem_name_of` and `submission_of` read."""
    return ("year", "problem_id", id_column, f"dump_{id_column}", *RECOGNIZED_BY)


def problem_name_of(row: ResultRow) -> tuple[str, str]:
    """Year and id of the problem, or `–` without an id; 2024.0, as tables have it, becomes 2024 again."""
    year = row.get("year")
    try:
        year = DEFAULT_YEAR if year is None or year == "" else int(year)
    except (TypeError, ValueError, OverflowError):  # such a row was refused
        year = str(year)
    return str(year), _id_text(row.get("problem_id"))


PRACTICE = "practice"
"""The day of practice problems, which do not belong to a contest."""


def day_of(row: ResultRow, known: object) -> str | None:
    """The contest day of a row's problem: that of the summary (`known`) if it has one.

    Otherwise that of a row of the reference, which has the columns of the problem. In our results a column `day` is the
    dump's, and may mean anything.
    """
    day = row.get("day") if known is None and not row.get("fingerprint") else known
    return None if day is None else str(day)


def submission_of(row: ResultRow, id_column: str, *, otherwise: str = "–") -> str:
    """The submission's id, else `otherwise`. If its column has the name of a result column, it is in `dump_<name>`."""
    value = row.get(name_in(row, id_column))
    return otherwise if value is None else _id_text(value)


def _id_text(value: Any) -> str:
    if value is None:
        return "–"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def verdict_of(row: ResultRow) -> str:
    """The verdict; empty if not judged."""
    return str(row.get("verdict") or "")


def total_of(row: ResultRow) -> float | None:
    """The points of a submission to a contest problem; `None` if they are unknown. With `--unscored-as zero`, rows have
    a 0 for JE, which is no score."""
    return None if row.get("verdict") == Verdict.JE else row.get("total_score")


def points_of_subtask(subtask: Mapping[str, Any]) -> float | None:
    """The points in a subtask, rounded, from its entry in a row; `None` if they are unknown, as for `total_of`."""
    return None if subtask["status"] == Verdict.JE else subtask.get("weighted_score")


def share_of(row: ResultRow) -> float | None:
    """The share of the points, or for APPS of the tests; `None` if it is unknown (not judged, or JE)."""
    if "all_subtasks_results" not in row:
        verdict, total, passed = row.get("verdict"), row.get("total"), row.get("passed")
        if verdict in {None, Verdict.JE}:
            return None
        if not total:  # another grader judged a row without tests
            return float(verdict == Verdict.AC)
        return None if passed is None else passed / total
    score, full = total_of(row), full_marks_of(row)
    if score is None or not _subtasks(row):
        return None
    return float(score / full) if full else 0.0


def full_marks_of(row: ResultRow) -> float:
    """The points of all subtasks; 1 for APPS, where the score is a share."""
    return sum_of_points(subtask["points"] for subtask in _subtasks(row)) if "all_subtasks_results" in row else 1.0


NOT_FAILED = (Verdict.AC, Verdict.SKIPPED)
"""Verdicts of tests that did not fail; a SKIPPED one does not count. Reports show no details of them."""


def name_of_test(test: Mapping[str, Any]) -> str:
    """The name of a test of either family; empty if it has none."""
    return str(test.get("test_name", test.get("test", "")))


def _verdict_of_test(test: Mapping[str, Any]) -> str:
    return str(test.get("status", test.get("verdict", "")))


def message_of_test(test: Mapping[str, Any]) -> str:
    """The message about a test of either family; empty if there is none."""
    return str(test.get("feedback") or test.get("message") or "")


def tests_of(row: ResultRow) -> dict[str, Mapping[str, Any]]:
    """The tests of a result of either family, each once, by name and with a `status`.

    If a subtask skipped a test that ran for a later one, the test has its result and place there.
    """
    tests: dict[str, Mapping[str, Any]] = {}
    for holder in _subtasks(row) if "all_subtasks_results" in row else (row,):
        for test in holder.get("test_results") or ():
            name, verdict = name_of_test(test), _verdict_of_test(test)
            if verdict != Verdict.SKIPPED and name in tests and tests[name]["status"] == Verdict.SKIPPED:
                del tests[name]
            tests.setdefault(name, {**test, "status": verdict})
    return tests


def deciding_test_name(row: ResultRow) -> str | None:
    """The name of the test that gave a result of either family its verdict; `None` if no test failed.

    For APPS it is the first one with that verdict. For contest problems it is that of the first subtask with that
    verdict.
    """
    verdict = verdict_of(row)
    if "all_subtasks_results" not in row:
        return _deciding(row.get("test_results") or (), verdict)
    failed = [subtask for subtask in _subtasks(row) if subtask["status"] != Verdict.AC]
    holder = next((subtask for subtask in failed if subtask["status"] == verdict), failed[0] if failed else None)
    return None if holder is None else deciding_test_name_in(holder)


def deciding_test_name_in(subtask: Mapping[str, Any]) -> str | None:
    """The name of the test that gave a subtask its verdict; `None` if no test failed.

    It is the first test with the lowest score. Under `GroupThreshold` a score over the threshold may decide, and the
    threshold is not known here: then it is the test with the highest score. But if another test is WA, that one is
    named, although it did not decide.
    """
    tests: Sequence[Mapping[str, Any]] = subtask.get("test_results") or ()
    verdict = str(subtask["status"])
    if verdict == Verdict.WA and tests and all(_verdict_of_test(test) != Verdict.WA for test in tests):
        return name_of_test(max(tests, key=_known_score))
    return _deciding(tests, verdict)


def _deciding(tests: Sequence[Mapping[str, Any]], verdict: str) -> str | None:
    failures = [test for test in tests if _verdict_of_test(test) not in NOT_FAILED]
    if with_verdict := [test for test in failures if _verdict_of_test(test) == verdict]:
        return name_of_test(min(with_verdict, key=_known_score))
    return name_of_test(failures[0]) if failures else None


def _known_score(test: Mapping[str, Any]) -> float:
    return float(test.get("score") or 0.0)


def has_test_details(row: ResultRow) -> bool:
    """Whether the tests of a result say more than the result itself: one was run, or their messages differ."""
    tests = tests_of(row).values()
    has_result = any(test.get("time_s") is not None or test["status"] not in MAY_NOT_HAVE_RUN for test in tests)
    return has_result or len({message_of_test(test) for test in tests} - {""}) > 1


SUBTASK_COLUMNS = ("subtask", "points", "score", "score_precision", "weighted_score", "status")
"""The columns of a subtask that `selection` reads."""


def light_row(
    *, compiles: bool | None, target_subtask: Any, subtasks: Iterable[Iterable[Any]], length: float
) -> dict[str, Any]:
    """A row with only the columns that `selection` reads, in about 300 bytes: a problem may have a hundred thousand
    rows with long generations. `subtasks`: for each its `SUBTASK_COLUMNS`; `length` is
    `selection.reasoning_length` of the row.
    """
    return {
        "code_compiles": compiles,
        "target_subtask": target_subtask,
        "all_subtasks_results": tuple(_subtask(*values) for values in subtasks),
        "metadata": _metadata(length),
    }


@lru_cache(maxsize=1 << 16)
def _subtask(*values: Any) -> Mapping[str, Any]:
    """A subtask's result, of which most are equal to that of another row: equal ones share this object."""
    return dict(zip(SUBTASK_COLUMNS, values, strict=True))


@lru_cache(maxsize=1 << 16)
def _metadata(length: float) -> Mapping[str, float]:
    return {"completion_tokens": length}


_DEFAULTS: ResultRow = {
    "target_subtask": None,
    "compile_message": "",
    "target": "",
    "isolation": None,
    "near_limit": False,
    "attempted": (),
    "cpu_s": 0.0,
    "extraction": "",
    "duplicate_of": None,
    "fingerprint": "",
}
"""Values for columns that reports read, if a row of the reference lacks them."""


def with_our_columns(row: Any) -> Any:
    """The row with all columns that reports read. A row of ours or for APPS is returned unchanged.

    The verdict is AC if all subtasks are AC, else the first other status. It is NC if all are SKIPPED. (Source: in the
    reference, all subtasks of a row without code are SKIPPED, with the score 0.) Raises an error of `ODD_DATA` for what
    is not a row of results.
    """
    if not isinstance(row, dict) or "verdict" in row or "all_subtasks_results" not in row:
        return row
    subtasks = [
        {
            "problem": problem_name_of(row)[1],
            "score_precision": PRECISION,
            **subtask,
            "weighted_score": _points(subtask),
        }
        for subtask in row["all_subtasks_results"] or ()
    ]
    statuses = [subtask["status"] for subtask in subtasks]
    verdict = str(next((status for status in statuses if status != Verdict.AC), Verdict.AC)) if statuses else ""
    if set(statuses) == {Verdict.SKIPPED}:
        verdict = Verdict.NC.value
    compiles, total = row.get("code_compiles"), row.get("all_subtasks_points")
    return {
        **_DEFAULTS,
        **row,
        "all_subtasks_results": subtasks,
        "code_compiles": verdict not in {Verdict.CE, Verdict.NC} if compiles is None else compiles,
        "total_score": sum_of_points(subtask["weighted_score"] for subtask in subtasks) if total is None else total,
        "verdict": verdict or None,
        "error": None if verdict else "it has no results of subtasks",
    }


def _points(subtask: Mapping[str, Any]) -> Any:
    return subtask["weighted_score"] if "weighted_score" in subtask else subtask["score"] * subtask["points"]


def _subtasks(row: ResultRow) -> Sequence[Mapping[str, Any]]:
    return row.get("all_subtasks_results") or ()
