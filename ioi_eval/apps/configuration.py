"""mcpbr's configuration files: the keys that select problems and say how long a test may run.

Other keys (which model, which server) are not about scoring, and are ignored; `unused` lists them. A misspelt key is an
error: if it were ignored, another score would be computed.

Source: mcpbr's page on APPS, and its `HarnessConfig`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ioi_eval.errors import InputError, similar
from ioi_eval.problems.apps_selection import Sampling

KEYS = (
    *("benchmark", "sample_size", "timeout_seconds", "filter_difficulty", "task_ids"),
    *("sampling_strategy", "random_seed", "stratify_field"),
)
"""The keys that are read here."""

_ALIKE = 0.9
"""A key that is as similar to one of these is misspelt. mcpbr's own `eval_timeout_seconds` has 0.86."""

_BENCHMARK, _STRATUM = "apps", "difficulty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The values in such a file; `None` or empty for missing keys.

    Args:
        sample_size: how many problems.
        timeout_seconds: how long a task may take; a test may take no longer.
        task_ids: only these problems, as `42` or `apps_42`.
        sampling_strategy: how the problems are chosen from these.
        unused: the keys in the file that are not about scoring.
    """

    sample_size: int | None = None
    timeout_seconds: float | None = None
    filter_difficulty: tuple[str, ...] = ()
    task_ids: tuple[str, ...] = ()
    sampling_strategy: Sampling | None = None
    random_seed: int | None = None
    unused: tuple[str, ...] = ()


def read_configuration(path: Path) -> Configuration:
    """Read a YAML file.

    Raises:
        InputError: it cannot be read, a key is misspelled, or a value is not allowed.
    """
    import yaml

    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"the configuration {path} cannot be read: {error}") from error
    if values is None:
        return Configuration()
    if not isinstance(values, dict):
        raise InputError(f"the configuration {path} is not a table of names and values")
    for key in values:
        _check_key(path, str(key))
    _check_word(path, values, "benchmark", _BENCHMARK)
    _check_word(path, values, "stratify_field", _STRATUM)
    strategy = values.get("sampling_strategy")
    try:
        sampling = None if strategy is None else Sampling(strategy)
    except ValueError:
        raise _wrong(path, "sampling_strategy", values, f"one of {', '.join(Sampling)}") from None
    return Configuration(
        sample_size=_integer(path, values, "sample_size", at_least=1),
        timeout_seconds=_seconds(path, values),
        filter_difficulty=_words(path, values, "filter_difficulty", "difficulties"),
        task_ids=_words(path, values, "task_ids", "ids, as 42 or apps_42"),
        sampling_strategy=sampling,
        random_seed=_integer(path, values, "random_seed"),
        unused=tuple(str(key) for key in values if key not in KEYS),
    )


def _check_key(path: Path, key: str) -> None:
    """Refuse a misspelt key, and one that would add the keys of another file."""
    if key == "extends":
        raise InputError(f"the configuration {path}: extends is not read here; put the keys of that file into this one")
    near = similar(key, KEYS, least=_ALIKE)
    if near not in (None, key):
        raise InputError(f"the configuration {path}: mcpbr has no key {key!r}. Did you mean {near!r}?")


def _check_word(path: Path, values: Mapping[str, Any], key: str, only: str) -> None:
    """Refuse a value that asks for something else than what is done here."""
    value = values.get(key)
    if value is not None and not (isinstance(value, str) and value.strip().lower() == only):
        raise _wrong(path, key, values, only)


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


def _words(path: Path, values: Mapping[str, Any], key: str, what: str) -> tuple[str, ...]:
    value = values.get(key)
    if value is None:
        return ()
    several = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str) or (key == "task_ids" and type(item) is int) for item in several):
        raise _wrong(path, key, values, f"a list of {what}")
    return tuple(map(str, several))


def _wrong(path: Path, key: str, values: Mapping[str, Any], needed: str) -> InputError:
    return InputError(f"the configuration {path}: {key} is {values[key]!r}; it must be {needed}")
