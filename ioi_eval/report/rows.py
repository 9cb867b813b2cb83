"""A result as a row: the dump's own columns, those of the reference, and ours.

The reference's columns keep their names and meaning, so that programs for its results can read ours. Errors of the
reference are corrected: `score` is the unrounded minimum (0.9999 is not solved), `all_subtasks_points` is rounded once
from the unrounded sum, and scores that could not be determined are null, not 0.

Source: `ioi/run_tests` of huggingface/ioi (`TestResult`, `SubtaskResult.to_dict`, `full_result_data`).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, time
from typing import Any, Self

import orjson

from ioi_eval.config import Unscored
from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.model import OutputOnly, Problem, Submission, SubmissionResult, SubtaskResult, TestOutcome, Verdict
from ioi_eval.report.compact import TEST_RESULTS
from ioi_eval.report.failure_reasons import failure_reason
from ioi_eval.report.schema_check import schema_named
from ioi_eval.report.totals import CpuSplit, distinct_outcomes, judge_error
from ioi_eval.scores import total_points


def result_columns(schema: str) -> tuple[str, ...]:
    """The columns that a run adds to the rows of a dump, from a schema of results: `result`, or `apps-result`."""
    return tuple(schema_named(schema)["properties"])


CONTEST_RESULT_COLUMNS = result_columns("result")

_FROM_THE_DUMP = frozenset({"code", "target_subtask"})
"""Columns of results that dumps have too, with the same meaning: their values come from the dump."""

_RENAMED_FOR_CONTESTS = frozenset(CONTEST_RESULT_COLUMNS) - _FROM_THE_DUMP
RENAMED_FOR_APPS = frozenset((*result_columns("apps-result"), TEST_RESULTS, "all_subtasks_results"))
"""The columns of a dump that results for APPS rename: ours, and that by which readers know results of contests."""

RECOGNIZED_BY = ("fingerprint", "duplicate_of", "all_subtasks_results")
"""The columns by which a row is recognized as one of our results, and its family."""


@fast_dataclass
class JudgedSubmission:
    """A submission and its result; for a copy, the result of its leader (the equal program that was judged), whose id
    is `duplicate_of`. The fingerprint is a hash of everything that determined the outcome."""

    problem: Problem
    submission: Submission
    fingerprint: str
    result: SubmissionResult
    duplicate_of: str | None = None

    def reason(self, row: Mapping[str, Any]) -> str:
        """Why it has no program, or none that compiles, as far as its row in the dump shows it; else empty."""
        if isinstance(self.problem.method, OutputOnly):
            return ""
        language, extraction = self.submission.language, self.submission.extraction
        message = self.result.compile.message
        return failure_reason(row, self.result.verdict, language=language, extraction=extraction, message=message)


def result_row(row: Mapping[str, Any], judged: JudgedSubmission, *, target_subtask: str | None) -> dict[str, Any]:
    """The row of a submission that was judged, or that we failed to judge; `target_subtask` is the one that the program
    was written for, if the dump states it."""
    columns = ResultColumns.of(judged, unscored=Unscored.NULL)
    return columns.row(row, judged, target_subtask=target_subtask, reason=judged.reason(row))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultColumns:
    """The part of a row that is the same for all copies of a program: the reference's columns, and our own.

    It also has score and status of each subtask, for `target_subtask_score` and `target_subtask_status` (`targets`);
    and the CPU time of judging, of which the row has only a part.
    """

    reference: Mapping[str, Any]
    ours: Mapping[str, Any]
    targets: Mapping[str, tuple[float | None, Verdict]]
    cpu: CpuSplit

    @classmethod
    def of(cls, judged: JudgedSubmission, *, unscored: Unscored) -> Self:
        """The columns of a result."""
        result, compiled = judged.result, judged.result.compile.verdict
        outcomes = distinct_outcomes(result)
        cpu = CpuSplit.of(outcomes, compile_ms=result.compile.cpu_ms)
        total = result.score
        if total is None and unscored is Unscored.ZERO:
            total = total_points(((s.score or 0.0, s.points) for s in result.subtasks), judged.problem.score_precision)
        return cls(
            reference={
                "code_compiles": None if compiled is Verdict.JE else compiled is None,
                "all_subtasks_points": total,
                "all_subtasks_results": [_subtask(s, judged.problem, unscored) for s in result.subtasks],
            },
            ours={
                "verdict": result.verdict,
                "total_score": total,
                "compile_message": result.compile.message,
                "target": result.target,
                "isolation": result.isolation,
                "time_scale": judged.problem.time_scale,
                "near_limit": any(outcome.near_limit for outcome in outcomes),
                "attempted": _calls(sum((Counter(outcome.attempted) for outcome in outcomes), Counter())),
                "cpu_s": round(cpu.run, 6),
                "error": judge_error(result),
            },
            targets={s.subtask: (unscored.of(s.score), s.verdict) for s in result.subtasks},
            cpu=cpu,
        )

    def with_tests_id(self, subtasks: orjson.Fragment, tests_id: str | None) -> Self:
        """The columns with the id of the line that has the tests. `subtasks`, without tests, is JSON: it is large."""
        return replace(self, reference={**self.reference, "all_subtasks_results": subtasks, "tests_id": tests_id})

    def row(
        self, row: Mapping[str, Any], judged: JudgedSubmission, *, target_subtask: str | None, reason: str
    ) -> dict[str, Any]:
        """The row of a submission with this result; `row` and `target_subtask` are from the dump."""
        score, status = self.targets.get(target_subtask or "", (None, None))
        ours, submission = self.ours, judged.submission
        if reason and judged.result.verdict is Verdict.NC:
            ours = {**ours, "compile_message": f"{ours['compile_message']}: {reason}"}
        return {
            **dump_columns(row, _RENAMED_FOR_CONTESTS),
            # of a program of several files the dump's value, so that the row can be judged again
            "code": row["code"] if submission.sources and row.get("code") is not None else submission.code,
            "target_subtask": target_subtask,
            "target_subtask_score": score,
            "target_subtask_status": status,
            **self.reference,
            **ours,
            "extraction": submission.extraction,
            "fixes": list(submission.fixes),
            "duplicate_of": judged.duplicate_of,
            "fingerprint": judged.fingerprint,
        }


def refused_row(row: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """The row of a submission that cannot be judged, so that every row of the dump has a result row. The reason says
    what to do, too."""
    lists: dict[str, Any] = {name: [] for name in ("all_subtasks_results", "fixes", "attempted")}
    return {
        **dict.fromkeys(CONTEST_RESULT_COLUMNS),
        **dump_columns(row, _RENAMED_FOR_CONTESTS),
        **lists,
        "error": reason,
    }


def dump_columns(row: Mapping[str, Any], results: frozenset[str]) -> dict[str, Any]:
    """The dump's columns; one with the name of a result column is renamed to `dump_<name>`, and a column of the dump
    that has this name already to `dump_dump_<name>`.

    In a dump that is itself a results file, such columns are from an earlier judging, and are replaced.
    """
    if is_of_results(row):
        return {name: value for name, value in row.items() if name not in results}
    if results.isdisjoint(row):
        return dict(row)
    return {f"dump_{name}" if _is_renamed(name, row, results) else name: value for name, value in row.items()}


def _is_renamed(name: str, row: Mapping[str, Any], results: frozenset[str]) -> bool:
    """Whether it is the name of a result column, or the new name of another column of the row."""
    while name not in results and name.startswith("dump_") and name.removeprefix("dump_") in row:
        name = name.removeprefix("dump_")
    return name in results


def name_in(row: Mapping[str, Any], column: str) -> str:
    """The name that a column of the dump has in this row: in a row of a dump its own, in a row of results perhaps
    `dump_<column>`.

    If only some columns of a row were read, these must be among them, if the row has them: `column`, `dump_<column>`
    and `RECOGNIZED_BY`.
    """
    renamed, base = f"dump_{column}", column
    if renamed not in row or not is_of_results(row):
        return column
    results = _RENAMED_FOR_CONTESTS if "all_subtasks_results" in row else RENAMED_FOR_APPS
    while base not in results and base.startswith("dump_"):
        base = base.removeprefix("dump_")
    return renamed if base in results else column


def is_of_results(row: Mapping[str, Any]) -> bool:
    """Whether it is a row of our results, by its columns."""
    return "fingerprint" in row and "duplicate_of" in row


def _subtask(result: SubtaskResult, problem: Problem, unscored: Unscored) -> dict[str, Any]:
    return {
        "problem": problem.key.id,
        "subtask": result.subtask,
        "score": unscored.of(result.score),
        "weighted_score": unscored.of(result.weighted_score),
        "points": result.points,
        "score_precision": problem.score_precision,
        "status": result.verdict,
        "test_results": [_test(outcome) for outcome in result.tests],
    }


def _test(outcome: TestOutcome) -> dict[str, Any]:
    with_output = {} if outcome.output is None else {"output": outcome.output.decode("utf-8", "backslashreplace")}
    return {
        "test_name": outcome.test,
        "score": outcome.score,
        "status": outcome.verdict,
        "feedback": outcome.message,
        "time_s": outcome.time_s,
        "wall_time_s": outcome.wall_s,
        "memory_bytes": outcome.memory_bytes,
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "limit": outcome.limit or _LIMITS.get(outcome.verdict),
        "near_limit": outcome.near_limit,
        "reran": outcome.reran,
        "attempted": _calls(outcome.attempted),
        "stderr": outcome.stderr,
        **with_output,
    }


_LIMITS = {Verdict.TLE: "cpu", Verdict.MLE: "memory"}
"""The limit that a program exceeded if it ended by itself before it was stopped."""


def _calls(attempted: Mapping[str, int]) -> list[dict[str, Any]]:
    """As a list, because tables need the same columns in every row."""
    return [{"call": name, "count": count} for name, count in sorted(attempted.items())]


# --------------------------------------------------------------------------- as JSON

_LEAST, _MOST = -(2**63), 2**64 - 1
"""Of integers: orjson, which reads our files, reads others as floats."""

_WHOLE_BITS = 1023
"""Of integers that are written whole, as text: an id may be one. (Python prints at least 640 digits, which are twice as
many bits.)"""


def to_json(row: dict[str, Any] | list[Any]) -> bytes:
    """A row, or a column of one, as a line of JSON.

    Other values from tables are converted: dates, decimals, bytes and integers beyond 64 bits to text, NaN to null.
    Messages may quote a file name that is not UTF-8: invalid bytes become question marks.
    """
    try:
        return orjson.dumps(row, default=_json_value, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)
    except TypeError:  # an integer beyond 64 bits, or a text that is not UTF-8
        return (
            json.dumps(_writable_value(row), default=_json_value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        )


_MAX_NESTED = 100


def _writable_value(value: Any, left: int = _MAX_NESTED) -> Any:
    """The value, with a text for integers that readers would change and for values that are nested too deeply, and
    null for floats that JSON cannot represent."""
    if left == 0 and isinstance(value, dict | list | tuple):
        return f"(nested more than {_MAX_NESTED} deep)"
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _writable_value(item, left - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_writable_value(item, left - 1) for item in value]
    return value if not isinstance(value, int) or _LEAST <= value <= _MOST else _as_text(value)


def _as_text(value: int) -> str:
    return str(value) if value.bit_length() <= _WHOLE_BITS else f"(an integer of {value.bit_length()} bits)"


def _json_value(value: object) -> object:
    if isinstance(value, orjson.Fragment):
        return orjson.loads(orjson.dumps(value))
    if isinstance(value, date | time):  # as orjson writes them; it refuses pandas' times of nanoseconds
        return value.isoformat()
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
