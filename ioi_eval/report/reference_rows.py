"""Adds our columns to rows of results that the reference (huggingface/ioi) wrote."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ioi_eval.model import Verdict
from ioi_eval.report.naming import problem_of

_DEFAULTS: Mapping[str, Any] = {
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

_PRECISION = 2
"""Decimals of a score if a row does not state them. Source: `score_precision` of open-r1/ioi."""


def with_our_columns(row: Any) -> Any:
    """The row with all columns that reports read. A row of ours or for APPS is returned unchanged.

    The verdict is AC if all subtasks are AC, else the first other status.

    Args:
        row: a row of `results.jsonl`.

    Raises:
        KeyError, TypeError: it is not a row of results.
    """
    if not isinstance(row, dict) or "verdict" in row or "all_subtasks_results" not in row:
        return row
    subtasks = [
        {"problem": problem_of(row)[1], "score_precision": _PRECISION, **subtask, "weighted_score": _points(subtask)}
        for subtask in row["all_subtasks_results"] or ()
    ]
    verdict = (
        next((str(subtask["status"]) for subtask in subtasks if subtask["status"] != "AC"), "AC") if subtasks else ""
    )
    compiles, total = row.get("code_compiles"), row.get("all_subtasks_points")
    return {
        **_DEFAULTS,
        **row,
        "all_subtasks_results": subtasks,
        "code_compiles": verdict != Verdict.CE if compiles is None else compiles,
        "total_score": math.fsum(subtask["weighted_score"] for subtask in subtasks) if total is None else total,
        "verdict": verdict or None,
        "error": None if verdict else "it has no results of subtasks",
    }


def _points(subtask: Mapping[str, Any]) -> Any:
    return subtask["weighted_score"] if "weighted_score" in subtask else subtask["score"] * subtask["points"]
