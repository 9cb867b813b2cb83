"""The limits of a problem: which one counts, and which limits and numbers of processes the runner accepts."""

from __future__ import annotations

from ioi_eval.boxfiles import runner_rules
from ioi_eval.errors import InputError
from ioi_eval.model import TaskType

_LEAST_TIME_S = 0.001  # the runner's unit
_LONG_S = 60.0  # a longer time limit may be meant in milliseconds
_LEAST_MEMORY = 1024 * 1024  # no C++ program starts with less: a lower number is in another unit

_UNUSED_LIMITS = {"time_limit": 1.0, "memory_limit": float(1 << 28)}
"""Limits of OutputOnly tasks, for which packages may state none: no program of the submission runs."""


def limit_of(name: str, stated: float | None, configured: float | None, task_type: TaskType) -> float:
    """The limit that counts: the row's, else that of the configuration."""
    limit = configured if stated is None else stated
    if limit is None and task_type is TaskType.OUTPUT_ONLY:
        return _UNUSED_LIMITS[name]
    if limit is None:
        raise InputError(f"neither the row nor graders/grader_config.json gives a {name}")
    return limit


def check_time_limit(limit_s: float) -> None:
    """Check that the runner accepts a time limit."""
    max_s = runner_rules()["kMaxMs"] / 1000
    if not _LEAST_TIME_S <= limit_s <= max_s:
        raise InputError(f"time_limit is {limit_s:g} s; it must be from {_LEAST_TIME_S:g} to {max_s:g} s")


def long_limit_notes(limit_s: float, task_type: TaskType) -> tuple[str, ...]:
    """A note if a time limit may be meant in milliseconds, and a submission's program runs."""
    if limit_s < _LONG_S or task_type is TaskType.OUTPUT_ONLY:
        return ()
    return (f"the time limit is {limit_s:g} s; if milliseconds were meant, state seconds",)


def check_memory_limit(limit: int) -> None:
    """Check that a memory limit can be a number of bytes, and that the runner accepts it."""
    if limit < _LEAST_MEMORY:
        raise InputError(f"memory_limit is {limit}; it must be a number of bytes, 1 MiB or more")
    check_bytes("memory_limit", limit)


def check_bytes(name: str, limit: int) -> None:
    """Check that the runner accepts a number of bytes as a limit."""
    most = runner_rules()["kMaxBytes"]
    if limit > most:
        raise InputError(f"{name} is {limit}; at most {most} is possible")


def check_processes(name: str, count: int) -> None:
    """Check that the runner can run so many processes of a submission to a Communication task."""
    most = runner_rules()["kMaxProcesses"]
    if count > most:
        raise InputError(f"{name} is {count}; at most {most} are possible")
