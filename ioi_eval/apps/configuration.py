"""mcpbr's configuration files: the keys that say which problems are taken, and how long a test may run.

Other keys (which model, which server) are not about scoring, and are passed over; `unused` names them.

Source: mcpbr's page on APPS and its `HarnessConfig`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ioi_eval.errors import InputError
from ioi_eval.problems.apps_selection import Sampling

KEYS = ("sample_size", "timeout_seconds", "filter_difficulty", "sampling_strategy", "random_seed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What such a file says; `None` and empty where it says nothing.

    Args:
        sample_size: how many problems.
        timeout_seconds: how long a task may take; a test at most so long.
        filter_difficulty: which difficulties.
        sampling_strategy: which problems of these.
        random_seed: of the random choices.
        unused: the other keys.
    """

    sample_size: int | None = None
    timeout_seconds: float | None = None
    filter_difficulty: tuple[str, ...] = ()
    sampling_strategy: Sampling | None = None
    random_seed: int | None = None
    unused: tuple[str, ...] = ()


def read_configuration(path: Path) -> Configuration:
    """Read a YAML file.

    Raises:
        InputError: it cannot be read, or a value makes no sense.
    """
    import yaml

    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"the configuration {path} cannot be read: {error}") from error
    if values is None:
        return Configuration()
    if not isinstance(values, dict):
        raise InputError(f"the configuration {path} is no table of names and values")
    strategy = values.get("sampling_strategy")
    try:
        sampling = None if strategy is None else Sampling(strategy)
    except ValueError:
        raise _wrong(path, "sampling_strategy", values, f"one of {', '.join(Sampling)}") from None
    return Configuration(
        sample_size=_integer(path, values, "sample_size", at_least=1),
        timeout_seconds=_seconds(path, values),
        filter_difficulty=_difficulties(path, values),
        sampling_strategy=sampling,
        random_seed=_integer(path, values, "random_seed"),
        unused=tuple(str(key) for key in values if key not in KEYS),
    )


def _integer(path: Path, values: Mapping[str, Any], key: str, at_least: int | None = None) -> int | None:
    value = values.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or (at_least is not None and value < at_least):
        raise _wrong(path, key, values, "a whole number" + (f" from {at_least} on" if at_least is not None else ""))
    return value


def _seconds(path: Path, values: Mapping[str, Any]) -> float | None:
    value = values.get("timeout_seconds")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise _wrong(path, "timeout_seconds", values, "a number of seconds above 0")
    return float(value)


def _difficulties(path: Path, values: Mapping[str, Any]) -> tuple[str, ...]:
    value = values.get("filter_difficulty")
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _wrong(path, "filter_difficulty", values, "a list of difficulties")
    return tuple(value)


def _wrong(path: Path, key: str, values: Mapping[str, Any], needed: str) -> InputError:
    return InputError(f"the configuration {path}: {key} is {values[key]!r}, where {needed} is needed")
