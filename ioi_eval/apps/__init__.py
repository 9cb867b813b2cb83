"""APPS: the public functions and their results, the formats of Eval Protocol and mcpbr, runs of dumps, summaries.

    result = evaluate_apps_solution(messages, ground_truth)

The names here are public; each is imported at its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ioi_eval.apps.evaluate import apps_dataset_to_evaluation_row as apps_dataset_to_evaluation_row
    from ioi_eval.apps.evaluate import evaluate_apps_solution as evaluate_apps_solution
    from ioi_eval.apps.evaluate_result import EvaluateResult as EvaluateResult
    from ioi_eval.apps.evaluate_result import EvaluationRow as EvaluationRow
    from ioi_eval.apps.evaluate_result import Message as Message
    from ioi_eval.apps.evaluate_result import MetricResult as MetricResult
    from ioi_eval.apps.execution import AppsExecutor as AppsExecutor
    from ioi_eval.apps.result import AppsResult as AppsResult
    from ioi_eval.apps.settings import AppsSettings as AppsSettings
    from ioi_eval.model.apps import AppsProblem as AppsProblem
    from ioi_eval.problems.apps import apps_problem as apps_problem

_MODULES = {
    "ioi_eval.apps.evaluate": ("apps_dataset_to_evaluation_row", "evaluate_apps_solution"),
    "ioi_eval.apps.evaluate_result": ("EvaluateResult", "EvaluationRow", "Message", "MetricResult"),
    "ioi_eval.apps.execution": ("AppsExecutor",),
    "ioi_eval.apps.result": ("AppsResult",),
    "ioi_eval.apps.settings": ("AppsSettings",),
    "ioi_eval.model.apps": ("AppsProblem",),
    "ioi_eval.problems.apps": ("apps_problem",),
}
"""The public names, by the module that has them."""

_HOMES = {name: module for module, names in _MODULES.items() for name in names}
__all__ = [
    "AppsExecutor",
    "AppsProblem",
    "AppsResult",
    "AppsSettings",
    "EvaluateResult",
    "EvaluationRow",
    "Message",
    "MetricResult",
    "apps_dataset_to_evaluation_row",
    "apps_problem",
    "evaluate_apps_solution",
]

_OF_EVAL_PROTOCOL = frozenset({"evaluation_test", "RolloutProcessor", "SingleTurnRolloutProcessor"})
"""Names in `eval_protocol.pytest` that we do not offer."""


def __getattr__(name: str) -> Any:
    """Import a public name at its first use."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _OF_EVAL_PROTOCOL:  # not an AttributeError: `from ioi_eval.apps import …` would not show its message
        raise ImportError(
            f"ioi_eval.apps has no {name}; it is Eval Protocol's own: from eval_protocol.pytest import {name} "
            "(pip install eval-protocol)"
        )
    raise AttributeError(f"module 'ioi_eval.apps' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
