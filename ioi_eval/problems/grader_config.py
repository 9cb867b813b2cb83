"""`graders/grader_config.json`: what a problem's files say about how it is judged.

The keys are CMS's form fields. Three shapes are in use: flat, inside `task_type_params` as an object, and inside it
as a JSON text once more. Keys that do not matter here are passed over; a value that would change the judging and
that we cannot honour is refused by name.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.model import ProcessIO, ScoreType, TaskType

PATH = "graders/grader_config.json"
_PREFIX = "task_type_parameters_"
_BATCH = f"{_PREFIX}Batch_"
_COMMUNICATION = f"{_PREFIX}Communication_"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderConfig:
    """What a configuration says; `None` where it is silent.

    Args:
        task_type: Batch, Communication or Interactive.
        score_type: what a subtask makes of its tests.
        code: the task's short name.
        time_limit_s: CPU seconds.
        memory_limit_bytes: bytes.
        linked: whether the submission is linked with a grader or stub (`compilation`: alone, or grader or stub).
        comparator: Batch: whether a checker decides (`output_eval`: comparator), or the white-diff.
        processes: Communication: how many processes of the submission run.
        process_io: Communication: how they get their FIFOs.
        manager_args: Communication: further arguments of the manager (a key of the reference).
    """

    task_type: TaskType | None = None
    score_type: ScoreType | None = None
    code: str | None = None
    time_limit_s: float | None = None
    memory_limit_bytes: int | None = None
    linked: bool | None = None
    comparator: bool | None = None
    processes: int | None = None
    process_io: ProcessIO | None = None
    manager_args: tuple[str, ...] = ()


def parse_grader_config(text: str, task_type: TaskType | None) -> GraderConfig:
    """Read a configuration.

    Args:
        text: the file's content; empty for a problem that has none.
        task_type: what the row says; where it is silent, the configuration's own.

    Raises:
        InputError: it is no JSON object, or a value makes no sense.
        UnsupportedError: it asks for something that is not supported.
    """
    if not text.strip():
        return GraderConfig(task_type=task_type)
    values = _flat(_json_object(text, PATH))
    score_type = parse_score_type(values.get("score_type"), PATH)
    stated = None if values.get("task_type") is None else parse_task_type(values["task_type"], PATH)
    if task_type is not None and stated is not None and stated is not task_type:
        raise InputError(f"the row says that the task type is {task_type.value}, {PATH} says {stated.value}")
    actual = task_type or stated
    code = values.get("code")
    return GraderConfig(
        task_type=actual,
        score_type=score_type,
        code=code if isinstance(code, str) else None,
        time_limit_s=_positive(values, "time_limit"),
        memory_limit_bytes=_count(values, "memory_limit"),
        linked=_linked(values, actual),
        comparator=_comparator(values, actual),
        processes=_count(values, f"{_COMMUNICATION}num_processes"),
        process_io=_process_io(values),
        manager_args=tuple(_text(values, f"{_COMMUNICATION}manager_args").split()),
    )


def parse_task_type(value: object, where: str) -> TaskType:
    """A task type by its CMS name, in any case.

    Raises:
        UnsupportedError: it is another one (OutputOnly, TwoSteps, BatchAndOutput, …).
    """
    for known in TaskType:
        if isinstance(value, str) and value.lower() == known.value.lower():
            return known
    names = ", ".join(known.value for known in TaskType)
    raise UnsupportedError(f"{where}: task type {value!r} is not supported; {names} are")


def parse_score_type(value: object, where: str) -> ScoreType | None:
    """A score type by its CMS name; `None` where nothing is said.

    Raises:
        UnsupportedError: it is one of which early stopping could change the score (Sum, GroupThreshold, …).
    """
    if value is None:
        return None
    for known in ScoreType:
        if value == known.value:
            return known
    raise UnsupportedError(
        f"{where}: score type {value!r} is not supported; GroupMin (the minimum over a subtask's tests) and GroupMul"
        " (their product) are"
    )


def _json_object(text: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not JSON: {error}") from error
    if isinstance(value, list):
        raise UnsupportedError(f"{where} is a list; write the parameters by name ({_BATCH}compilation, …)")
    if not isinstance(value, dict):
        raise InputError(f"{where} is not a JSON object")
    return value


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    """The values with `task_type_params` taken apart; what stands flat beside it holds."""
    nested = values.get("task_type_params")
    where = f"task_type_params in {PATH}"
    if isinstance(nested, str):
        nested = _json_object(nested, where) if nested.strip() else {}
    if isinstance(nested, list):
        raise UnsupportedError(f"{where} is a list; write the parameters by name ({_BATCH}compilation, …)")
    if nested is not None and not isinstance(nested, dict):
        raise InputError(f"{where} is neither an object nor a JSON text")
    return {**(nested or {}), **values}


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{key} in {PATH} is {value!r}, where a text is needed")
    return value.strip()


def _positive(values: Mapping[str, Any], key: str) -> float | None:
    value = values.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < sys.float_info.max:
        raise InputError(f"{key} in {PATH} is {value!r}, where a number above 0 is needed")
    return float(value)


def _count(values: Mapping[str, Any], key: str) -> int | None:
    value = values.get(key)
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    number = _positive({key: value}, key)
    if number is not None and not number.is_integer():
        raise InputError(f"{key} in {PATH} is {value!r}, where a whole number is needed")
    return None if number is None else int(number)


def _linked(values: Mapping[str, Any], task_type: TaskType | None) -> bool | None:
    """CMS's `compilation`. The stub of a Communication task is called grader in some packages."""
    key = (_BATCH if task_type is TaskType.BATCH else _COMMUNICATION) + "compilation"
    value = _text(values, key)
    if value in ("", "alone"):
        return False if value else None
    if value in ("grader", "stub"):
        return True
    raise UnsupportedError(f"{key} is {value!r} in {PATH}; alone, and grader or stub, are supported")


def _comparator(values: Mapping[str, Any], task_type: TaskType | None) -> bool | None:
    if task_type is not TaskType.BATCH:
        return None
    for key in (f"{_BATCH}io_0_inputfile", f"{_BATCH}io_1_outputfile"):
        if _text(values, key):
            raise UnsupportedError(
                f"{key} is {values[key]!r} in {PATH}; programs that read or write files by name are not supported"
            )
    key = f"{_BATCH}output_eval"
    value = _text(values, key)
    if value not in ("", "diff", "comparator"):
        raise UnsupportedError(f"{key} is {value!r} in {PATH}; diff and comparator are supported")
    return value == "comparator" if value else None


def _process_io(values: Mapping[str, Any]) -> ProcessIO | None:
    key = f"{_COMMUNICATION}user_io"
    value = _text(values, key)
    if value and value not in set(ProcessIO):
        raise UnsupportedError(f"{key} is {value!r} in {PATH}; {' and '.join(ProcessIO)} are supported")
    return ProcessIO(value) if value else None
