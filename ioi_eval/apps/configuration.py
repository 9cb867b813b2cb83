"""mcpbr's configuration files: the keys that select problems and say how long a test may run.

Other keys (which model, which server) are not about scoring, and are ignored; `unused` lists them. A misspelt key is an
error: if it were ignored, another score would be computed.

Source: mcpbr's page on APPS, and its `HarnessConfig`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ioi_eval.errors import ODD_DATA, InputError, similar
from ioi_eval.problems.apps_selection import Sampling


def _are_texts(value: object, *others: type) -> bool:
    """Whether a value is a text, or one of these other types, or a list of such."""
    return all(type(item) in (str, *others) for item in (value if isinstance(value, list) else [value]))


VALUES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "benchmark": ("apps", lambda value: str(value).strip().lower() == "apps"),
    "stratify_field": ("difficulty", lambda value: str(value).strip().lower() == "difficulty"),
    "sampling_strategy": (f"one of {', '.join(Sampling)}", lambda value: value in tuple(Sampling)),
    "sample_size": ("a whole number from 1 on", lambda value: type(value) is int and value >= 1),
    "timeout_seconds": (
        "a number of seconds above 0",
        lambda value: type(value) in (int, float) and 0 < value <= sys.float_info.max,
    ),
    "filter_difficulty": ("a list of difficulties", _are_texts),
    "task_ids": ("a list of ids, as 42 or apps_42", lambda value: _are_texts(value, int)),
    "random_seed": ("a whole number", lambda value: type(value) is int),
}
"""The keys that are read here, and for each what its value must be."""

_ALIKE = 0.9
"""A key that is at least so similar to one of these is misspelt. mcpbr's own `eval_timeout_seconds` has 0.86."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The values in such a file; `None` or empty for missing keys."""

    sample_size: int | None = None
    timeout_seconds: float | None = None  # how long a task may take; a test may take no longer
    filter_difficulty: tuple[str, ...] = ()
    task_ids: tuple[str, ...] = ()  # as `42` or `apps_42`
    sampling_strategy: Sampling | None = None
    random_seed: int | None = None
    unused: tuple[str, ...] = ()  # the keys that are not about scoring


def read_configuration(path: Path) -> Configuration:
    """Read a YAML file."""
    import yaml

    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError, *ODD_DATA) as error:  # such as ValueError for the date 2024-99-99
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"the configuration {path} cannot be read: {reason}") from error
    if values is None:
        return Configuration()
    if not isinstance(values, dict):
        raise InputError(f"the configuration {path} is not a table of names and values")
    for key, value in values.items():
        if key == "extends":
            advice = "put the keys of that file into this one"
            raise InputError(f"the configuration {path}: extends is not read here; {advice}")
        near = similar(str(key), VALUES, least=_ALIKE)
        if near not in (None, key):
            raise InputError(f"the configuration {path}: mcpbr has no key {str(key)!r}. Did you mean {near!r}?")
        if value is None or key not in VALUES:
            continue
        needed, is_allowed = VALUES[key]
        if not is_allowed(value):
            raise InputError(f"the configuration {path}: {key} is {value!r}; it must be {needed}")
    timeout_s, sampling = values.get("timeout_seconds"), values.get("sampling_strategy")
    return Configuration(
        sample_size=values.get("sample_size"),
        timeout_seconds=None if timeout_s is None else float(timeout_s),
        filter_difficulty=_several(values.get("filter_difficulty")),
        task_ids=_several(values.get("task_ids")),
        sampling_strategy=None if sampling is None else Sampling(sampling),
        random_seed=values.get("random_seed"),
        unused=tuple(str(key) for key in values if key not in VALUES),
    )


def _several(value: Any) -> tuple[str, ...]:
    return () if value is None else tuple(map(str, value if isinstance(value, list) else [value]))
