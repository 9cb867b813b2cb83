"""APPS: what its users call and what they get. Formats of Eval Protocol and mcpbr, runs of dumps, summaries.

    result = evaluate_apps_solution(messages, ground_truth)

The names here are public; they are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ioi_eval.apps.evaluate import apps_dataset_to_evaluation_row, evaluate_apps_solution
    from ioi_eval.apps.evaluate_result import EvaluateResult, EvaluationRow, Message, MetricResult
    from ioi_eval.apps.execution import AppsExecutor
    from ioi_eval.apps.outcomes import AppsResult, AppsSettings

_HOMES = {
    "AppsExecutor": "ioi_eval.apps.execution",
    "AppsResult": "ioi_eval.apps.outcomes",
    "AppsSettings": "ioi_eval.apps.outcomes",
    "EvaluateResult": "ioi_eval.apps.evaluate_result",
    "EvaluationRow": "ioi_eval.apps.evaluate_result",
    "Message": "ioi_eval.apps.evaluate_result",
    "MetricResult": "ioi_eval.apps.evaluate_result",
    "apps_dataset_to_evaluation_row": "ioi_eval.apps.evaluate",
    "evaluate_apps_solution": "ioi_eval.apps.evaluate",
}

_ITS_OWN = frozenset({"evaluation_test", "RolloutProcessor", "SingleTurnRolloutProcessor"})
"""Names in `eval_protocol.pytest`, which only that package has."""

__all__ = [
    "AppsExecutor",
    "AppsResult",
    "AppsSettings",
    "EvaluateResult",
    "EvaluationRow",
    "Message",
    "MetricResult",
    "apps_dataset_to_evaluation_row",
    "evaluate_apps_solution",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ITS_OWN:  # not an AttributeError: `from ioi_eval.apps import …` would not show its message
        raise ImportError(
            f"ioi_eval.apps has no {name}; it is Eval Protocol's own: from eval_protocol.pytest import {name} "
            "(pip install eval-protocol)"
        )
    raise AttributeError(f"module 'ioi_eval.apps' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
