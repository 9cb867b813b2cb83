"""APPS: the public functions and their results, the formats of Eval Protocol and mcpbr, runs of dumps, summaries.

    result = evaluate_apps_solution(messages, ground_truth)

The names here are public; each is imported at its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ioi_eval.apps.evaluate import apps_dataset_to_evaluation_row, evaluate_apps_solution
    from ioi_eval.apps.evaluate_result import EvaluateResult, EvaluationRow, Message, MetricResult
    from ioi_eval.apps.execution import AppsExecutor
    from ioi_eval.apps.result import AppsResult
    from ioi_eval.apps.settings import AppsSettings

_MODULES = {
    "AppsExecutor": "ioi_eval.apps.execution",
    "AppsResult": "ioi_eval.apps.result",
    "AppsSettings": "ioi_eval.apps.settings",
    "EvaluateResult": "ioi_eval.apps.evaluate_result",
    "EvaluationRow": "ioi_eval.apps.evaluate_result",
    "Message": "ioi_eval.apps.evaluate_result",
    "MetricResult": "ioi_eval.apps.evaluate_result",
    "apps_dataset_to_evaluation_row": "ioi_eval.apps.evaluate",
    "evaluate_apps_solution": "ioi_eval.apps.evaluate",
}

_OF_EVAL_PROTOCOL = frozenset({"evaluation_test", "RolloutProcessor", "SingleTurnRolloutProcessor"})
"""Names in `eval_protocol.pytest` that we do not offer."""

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
    """Import a public name at its first use."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    if name in _OF_EVAL_PROTOCOL:  # not an AttributeError: `from ioi_eval.apps import …` would not show its message
        raise ImportError(
            f"ioi_eval.apps has no {name}; it is Eval Protocol's own: from eval_protocol.pytest import {name} "
            "(pip install eval-protocol)"
        )
    raise AttributeError(f"module 'ioi_eval.apps' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
