"""mcpbr's records: one dictionary for each problem. Pure.

Source: mcpbr's page on APPS, and `src/mcpbr/benchmarks/apps.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ioi_eval.compat.mcpbr import ERRORS
from ioi_eval.compat.terms import Code
from ioi_eval.model.apps import AppsProblem

SHOWN_ERROR = 500  # characters of a failure's words


def record(problem: AppsProblem, codes: Sequence[Code]) -> dict[str, Any]:
    """The record of a judged solution: resolved where every test passed.

    Args:
        problem: what was asked; with a fault, see `row_record`.
        codes: one for each test that counts.
    """
    if not codes:
        return row_record(problem)
    passed = sum(code is True for code in codes)
    return {
        "instance_id": problem.instance_id,
        "resolved": passed == len(codes),
        "passed": passed,
        "total": len(codes),
        "pass_rate": passed / len(codes),
    }


def row_record(problem: AppsProblem) -> dict[str, Any]:
    """The record of a problem that cannot be judged: mcpbr's words, or ours where it would judge what is broken."""
    words = ERRORS.get(problem.fault) if problem.fault is not None else "Empty test cases"
    return error_record(problem, words or problem.reason)


def unwritten_record(problem: AppsProblem, words: str) -> dict[str, Any]:
    """The record of a solution that could not even be put where it would run."""
    return error_record(problem, f"Failed to write solution: {words[:SHOWN_ERROR]}")


def error_record(problem: AppsProblem, words: str) -> dict[str, Any]:
    """A record with an error instead of numbers."""
    return {"instance_id": problem.instance_id, "resolved": False, "error": words}
