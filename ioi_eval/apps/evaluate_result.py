"""Our versions of Eval Protocol's result classes: the same fields and access, without its package.

`evaluate_apps_solution` returns these if that package is not imported. Eval Protocol's are pydantic models; like those,
these are mutable, can be read like dictionaries, and have `model_dump`.

Source: `EvaluateResult` and `MetricResult` in eval-protocol 0.3, `eval_protocol/models.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from typing import Any


class _Readable:
    """Makes the fields of a dataclass readable as keys too."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        if key not in self:
            raise KeyError(f"'{key}'")
        return getattr(self, key)

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def get(self, key: str, default: Any = None) -> Any:
        """A field, or the default if there is no field with this name."""
        return getattr(self, key, default)

    def keys(self) -> list[str]:
        """The names of the fields."""
        return [field.name for field in fields(self)]  # type: ignore[arg-type]

    def values(self) -> list[Any]:
        """The fields' values."""
        return [getattr(self, key) for key in self.keys()]

    def items(self) -> list[tuple[str, Any]]:
        """Names and values."""
        return [(key, getattr(self, key)) for key in self.keys()]

    def model_dump(self) -> dict[str, Any]:
        """Everything as dictionaries."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]


@dataclass(slots=True, kw_only=True)
class MetricResult(_Readable):
    """One metric.

    Args:
        is_score_valid: whether the score has a meaning; else only the reason has.
        score: in [0, 1].
        reason: a message, or JSON.
    """

    is_score_valid: bool = True
    score: float
    reason: str

    def __post_init__(self) -> None:
        if not 0.0 <= self.score <= 1.0:
            raise ValueError(f"a metric's score is in [0, 1], not {self.score}")


@dataclass(slots=True, kw_only=True)
class EvaluateResult(_Readable):
    """The score of a solution.

    Args:
        score: in [0, 1].
        is_score_valid: `False` if there is no score, as we failed or the ground truth is broken.
        reason: in one line.
        metrics: by name.
        error: why there is no score; `None` if there is one.
        step_outputs, trajectory_info, final_control_plane_info, agg_score, standard_error: always `None` here.
    """

    score: float
    is_score_valid: bool = True
    reason: str | None = None
    metrics: dict[str, MetricResult] = field(default_factory=dict)
    step_outputs: list[Any] | None = None
    error: str | None = None
    trajectory_info: dict[str, Any] | None = None
    final_control_plane_info: dict[str, Any] | None = None
    agg_score: float | None = None
    standard_error: float | None = None


@dataclass(slots=True, kw_only=True)
class Message(_Readable):
    """One message of a conversation.

    Args:
        role: `user`, `assistant`, …
        content: a text, or parts.
    """

    role: str
    content: Any = None


@dataclass(slots=True, kw_only=True)
class EvaluationRow(_Readable):
    """A question with its tests, and the result of an answer.

    Args:
        messages: the conversation.
        ground_truth: the tests.
        evaluation_result: the result.
    """

    messages: list[Message]
    ground_truth: Any = None
    evaluation_result: EvaluateResult | None = None
