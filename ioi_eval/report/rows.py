"""A result as a row: the dump's own columns, those of the reference, and ours.

The reference's columns keep their names and meaning, so that what reads its results reads these, but for what is wrong
there: `score` is the unrounded minimum (0.9999 is not solved), `all_subtasks_points` is rounded once from the
unrounded sum, and what could not be judged is null, not 0.

Source: `ioi/run_tests` of huggingface/ioi (`TestResult`, `SubtaskResult.to_dict`, `full_result_data`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ioi_eval.model import Problem, Submission, SubmissionResult, SubtaskResult, TestOutcome, Verdict
from ioi_eval.scores import total_points

REFERENCE_COLUMNS = (
    "code",
    "target_subtask",
    "target_subtask_score",
    "target_subtask_status",
    "code_compiles",
    "all_subtasks_points",
    "all_subtasks_results",
)
OUR_COLUMNS = (
    "verdict",
    "total_score",
    "compile_message",
    "extraction",
    "fixes",
    "target",
    "isolation",
    "time_scale",
    "near_limit",
    "attempted",
    "cpu_s",
    "duplicate_of",
    "fingerprint",
    "error",
)


_FROM_THE_DUMP = frozenset({"code", "target_subtask"})
"""Columns of results that are columns of dumps, with the same meaning: what was read there stands here."""

_RESULTS = frozenset({*REFERENCE_COLUMNS, *OUR_COLUMNS}) - _FROM_THE_DUMP


class Unscored(StrEnum):
    """What stands where a score would, had we not failed to find it out."""

    NULL = "null"
    ZERO = "zero"  # for training loops that cannot take anything else


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A submission and what became of it.

    Args:
        problem: what it was judged on.
        submission: what was judged.
        fingerprint: of all that determined the outcome.
        result: the outcome; a copy has its leader's.
        duplicate_of: id of the submission that was judged in its place.
    """

    problem: Problem
    submission: Submission
    fingerprint: str
    result: SubmissionResult
    duplicate_of: str | None = None


def result_row(
    row: Mapping[str, Any], judged: Judged, *, target_subtask: str | None, unscored: Unscored = Unscored.NULL
) -> dict[str, Any]:
    """The row of a submission that was judged, or that we failed to judge.

    Args:
        row: the dump's.
        judged: what became of it.
        target_subtask: the subtask that the program was written for, if the dump tells.
        unscored: what stands for scores that are not known.
    """
    result = judged.result
    blank: float | None = 0.0 if unscored is Unscored.ZERO else None
    target = next((s for s in result.subtasks if s.subtask == target_subtask), None)
    total = result.score
    if total is None and unscored is Unscored.ZERO:
        total = total_points(((s.score or 0.0, s.points) for s in result.subtasks), judged.problem.score_precision)
    outcomes = distinct_outcomes(result)
    compiled = result.compile.verdict
    return {
        **own_columns(row, _RESULTS),
        "code": _code(row, judged.submission),
        "target_subtask": target_subtask,
        "target_subtask_score": None if target is None else _or(target.score, blank),
        "target_subtask_status": None if target is None else target.verdict,
        "code_compiles": None if compiled is Verdict.JE else compiled is None,
        "all_subtasks_points": total,
        "all_subtasks_results": [_subtask(s, judged.problem, blank) for s in result.subtasks],
        "verdict": result.verdict,
        "total_score": total,
        "compile_message": result.compile.message,
        "extraction": judged.submission.extraction,
        "fixes": list(judged.submission.fixes),
        "target": result.target,
        "isolation": result.isolation,
        "time_scale": judged.problem.time_scale,
        "near_limit": any(outcome.near_limit for outcome in outcomes),
        "attempted": _calls(sum((Counter(outcome.attempted) for outcome in outcomes), Counter())),
        "cpu_s": _seconds(math.fsum(outcome.cpu_ms or 0.0 for outcome in outcomes)),
        "duplicate_of": judged.duplicate_of,
        "fingerprint": judged.fingerprint,
        "error": judge_error(result),
    }


def refused_row(row: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """The row of a submission that could not be judged at all, so that every row of the dump has one.

    Args:
        row: the dump's.
        reason: why not, and what to do.
    """
    empty: dict[str, Any] = dict.fromkeys((*REFERENCE_COLUMNS, *OUR_COLUMNS))
    return {
        **empty,
        **own_columns(row, _RESULTS),
        "all_subtasks_results": [],
        "fixes": [],
        "attempted": [],
        "error": reason,
    }


def distinct_outcomes(result: SubmissionResult) -> list[TestOutcome]:
    """Every test that was run, once, though several subtasks list it."""
    found: dict[str, TestOutcome] = {}
    for subtask in result.subtasks:
        for outcome in subtask.tests:
            if outcome.verdict is not Verdict.SKIPPED:
                found[outcome.test] = outcome
    return list(found.values())


def judge_error(result: SubmissionResult) -> str | None:
    """Why a result has no score: the first failure of ours, or of a judge program; `None` if it has one."""
    if result.score is not None:
        return None
    if result.compile.verdict is Verdict.JE:
        return result.compile.message or "judge error while compiling"
    for subtask in result.subtasks:
        for outcome in subtask.tests:
            if subtask.score is None and outcome.verdict is Verdict.JE:
                return f"test {outcome.test}: {outcome.message or 'judge error'}"
    return None


def own_columns(row: Mapping[str, Any], results: Collection[str]) -> dict[str, Any]:
    """The dump's columns; one that has the name of a result's goes on as `dump_<name>`, so that it is never one.

    In a dump that is itself a results file they are of an earlier judging, and are replaced.

    Args:
        row: the dump's.
        results: the names of our columns that are not the dump's too.
    """
    if "fingerprint" in row and "duplicate_of" in row:
        return {name: value for name, value in row.items() if name not in results}
    return {f"dump_{name}" if name in results else name: value for name, value in row.items()}


def _code(row: Mapping[str, Any], submission: Submission) -> Any:
    """The program that was judged; one of several files as the dump has them, so that the row can be judged again."""
    return submission.code if not submission.sources or row.get("code") is None else row["code"]


def _subtask(result: SubtaskResult, problem: Problem, blank: float | None) -> dict[str, Any]:
    return {
        "problem": problem.key.id,
        "subtask": result.subtask,
        "score": _or(result.score, blank),
        "weighted_score": _or(result.weighted_score, blank),
        "points": result.points,
        "score_precision": problem.score_precision,
        "status": result.verdict,
        "test_results": [_test(outcome) for outcome in result.tests],
    }


def _test(outcome: TestOutcome) -> dict[str, Any]:
    return {
        "test_name": outcome.test,
        "score": outcome.score,
        "status": outcome.verdict,
        "feedback": outcome.message,
        "time_s": _seconds(outcome.cpu_ms),
        "wall_time_s": _seconds(outcome.wall_ms),
        "memory_bytes": outcome.memory_bytes,
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "limit": outcome.limit or _LIMITS.get(outcome.verdict),
        "near_limit": outcome.near_limit,
        "reran": outcome.reran,
        "attempted": _calls(outcome.attempted),
        "stderr": outcome.evidence,
    }


_LIMITS = {Verdict.TLE: "cpu", Verdict.MLE: "memory"}
"""What a program was over that ended by itself before anybody stopped it."""


def _calls(attempted: Mapping[str, int]) -> list[dict[str, Any]]:
    """As a list, as tables want the same columns in every row."""
    ordered: Iterable[tuple[str, int]] = sorted(attempted.items())
    return [{"call": name, "count": count} for name, count in ordered]


def _seconds(ms: float | None) -> float | None:
    return None if ms is None else round(ms / 1000, 6)


def _or(value: float | None, blank: float | None) -> float | None:
    return blank if value is None else value
