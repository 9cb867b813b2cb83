"""Reads `graders/grader_config.json`, which says how a problem is judged.

The keys are CMS's form fields. Several forms are in use: flat, inside `task_type_params` as an object, inside it as
JSON text, and CMS's own list. Keys that do not matter here are ignored; a value that would change the judging and that
is not supported is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

import orjson

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.model import ProcessIO, ScoreType, TaskType
from ioi_eval.problems.limits import check_processes
from ioi_eval.problems.row import is_finite
from ioi_eval.problems.task_parameters import Parameter, by_name, parameter_key, with_own_names

NameT = TypeVar("NameT", bound=StrEnum)
MeaningT = TypeVar("MeaningT")

PATH = "graders/grader_config.json"
_WITH_PROGRAM = (TaskType.BATCH, TaskType.BATCH_AND_OUTPUT)
_SOURCE_NAME = re.compile(r"\w[\w.+-]{0,249}", re.ASCII)  # without its ending
_LONGEST_NAME = 255  # bytes. Source: Linux, NAME_MAX
_WHOLE = re.compile(r"\s*\d{1,20}\s*")  # Python refuses to read thousands of digits


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderConfig:
    """The values of a configuration; `None` for those that it does not state."""

    task_type: TaskType | None = None
    score_type: ScoreType | None = None
    code: str | None = None  # the task's short name
    time_limit_s: float | None = None  # CPU time
    memory_limit_bytes: int | None = None
    linked: bool | None = None  # with a grader or stub (`compilation`: alone, or grader or stub)
    input_file: str = ""  # Batch: the files that the submission reads and writes; empty for stdin and stdout
    output_file: str = ""
    output_only_tests: tuple[str, ...] = ()  # BatchAndOutput: only a submitted output counts for these
    output_optional_tests: tuple[str, ...] | None = None  # BatchAndOutput: an output may be submitted for these
    submission_format: tuple[str, ...] | None = None  # BatchAndOutput: the file names that may be submitted
    source_name: str = ""  # of a submission of one program, without its ending
    checker_decides: bool | None = None  # rather than white-diff (`output_eval`: comparator)
    processes: int | None = None  # Communication: how many processes of the submission run
    process_io: ProcessIO | None = None  # Communication: how they get their FIFOs
    manager_args: tuple[str, ...] = ()  # Communication: further arguments of the manager (a key of the reference)


def parse_grader_config(text: str, task_type: TaskType | None) -> GraderConfig:
    """Read a configuration. It may also state the task type if the row does not."""
    if not text.strip():
        return GraderConfig(task_type=task_type)
    values = _json(text, PATH)
    if not isinstance(values, dict):
        raise InputError(f"{PATH} is not a JSON object")
    stated = None if values.get("task_type") is None else parse_task_type(values["task_type"], PATH)
    if task_type is not None and stated is not None and stated is not task_type:
        raise InputError(
            f"the row says that the task type is {task_type.value}, {PATH} says {stated.value}; make both agree"
        )
    actual = task_type or stated
    values = _flat(values, actual)
    score_type = parse_score_type(values.get("score_type"), PATH)
    code = values.get("code")
    input_file, output_file = _file_names(values, actual)
    process_io = parameter_key(TaskType.COMMUNICATION, Parameter.USER_IO)
    return GraderConfig(
        task_type=actual,
        score_type=score_type,
        code=code if isinstance(code, str) else None,
        time_limit_s=_positive(values, "time_limit"),
        memory_limit_bytes=_count(values, "memory_limit"),
        linked=_linked(values, actual),
        input_file=input_file,
        output_file=output_file,
        output_only_tests=_names(values, actual, parameter_key(actual, Parameter.OUTPUT_ONLY_TESTS)) or (),
        output_optional_tests=_names(values, actual, parameter_key(actual, Parameter.OUTPUT_OPTIONAL_TESTS)),
        submission_format=_names(values, actual, "submission_format"),
        source_name=_source_name(values.get("submission_format")),
        checker_decides=_checker_decides(values, actual),
        processes=_processes(values),
        process_io=_meaning(values, process_io, {each.value: each for each in ProcessIO}, " and ".join(ProcessIO)),
        manager_args=tuple(_text(values, parameter_key(TaskType.COMMUNICATION, Parameter.MANAGER_ARGS)).split()),
    )


def parse_task_type(value: object, where: str) -> TaskType:
    """A task type by its CMS name, in upper or lower case."""
    return named_member(TaskType, value, f"{where}: task type", any_case=True)


def parse_score_type(value: object, where: str) -> ScoreType | None:
    """A score type by its CMS name; `None` if none is stated."""
    return None if value is None else named_member(ScoreType, value, f"{where}: score type")


def named_member(kind: type[NameT], name: object, what: str, *, any_case: bool = False) -> NameT:
    """The member with this name; `what` names the setting in the message that it is not supported."""
    for known in kind:
        if name == known or (any_case and isinstance(name, str) and name.lower() == known.lower()):
            return known
    raise UnsupportedError(f"{what} {name!r} is not supported; {', '.join(kind)} are")


def _json(text: str, where: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{where} is not JSON: {error}") from error


def _flat(values: dict[str, Any], task_type: TaskType | None) -> dict[str, Any]:
    """The values as a flat mapping: parameters of the task type are unpacked; keys that were already flat win."""
    key = next((key for key in ("task_type_params", "task_type_parameters") if values.get(key)), "task_type_params")
    nested = values.get(key)
    where = f"{key} in {PATH}"
    if isinstance(nested, str):
        nested = _json(nested, where) if nested.strip() else {}
    if isinstance(nested, list):
        nested = by_name(nested, task_type, where)
    if nested is not None and not isinstance(nested, dict):
        raise InputError(f"{where} is neither an object nor a list, nor either as a JSON text")
    return with_own_names({**(nested or {}), **values}, task_type)


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{key} in {PATH} is {value!r}; it must be a text")
    return value.strip()


def _meaning(values: Mapping[str, Any], key: str, meanings: Mapping[str, MeaningT], supported: str) -> MeaningT | None:
    """What one of the supported texts means; `None` if there is none."""
    value = _text(values, key)
    if value and value not in meanings:
        raise UnsupportedError(f"{key} is {value!r} in {PATH}; {supported} are supported")
    return meanings.get(value)


def _positive(values: Mapping[str, Any], key: str) -> float | None:
    value = values.get(key)
    if value is None:
        return None
    if not is_finite(value) or value <= 0:
        raise InputError(f"{key} in {PATH} is {value!r}; it must be a number above 0")
    return float(value)


def _count(values: Mapping[str, Any], key: str) -> int | None:
    value = values.get(key)
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        value = int(value)
    number = _positive({key: value}, key)
    if number is not None and not number.is_integer():
        raise InputError(f"{key} in {PATH} is {value!r}; it must be a whole number")
    return None if number is None else int(number)


def _names(values: Mapping[str, Any], task_type: TaskType | None, key: str) -> tuple[str, ...] | None:
    """Names of a BatchAndOutput task, from a text with commas as in CMS, or from a list; `None` if none are stated."""
    value = values.get(key)
    if task_type is not TaskType.BATCH_AND_OUTPUT or value is None:
        return None
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return tuple(item for part in _text(values, key).split(",") if (item := part.strip()))


def _source_name(submission_format: object) -> str:
    """The name in CMS's `submission_format`, where `%l` is the language's ending; empty if it is not a plain name."""
    listed = submission_format.split(",") if isinstance(submission_format, str) else submission_format
    parts = [part.strip() for part in listed if isinstance(part, str)] if isinstance(listed, list) else []
    names = [part.removesuffix(".%l") for part in parts if part.endswith(".%l")]
    return names[0] if len(names) == 1 and _SOURCE_NAME.fullmatch(names[0]) else ""


def _linked(values: Mapping[str, Any], task_type: TaskType | None) -> bool | None:
    """CMS's `compilation`. The stub of a Communication task is called grader in some packages."""
    if task_type is TaskType.OUTPUT_ONLY:
        return False
    key = parameter_key(task_type if task_type in _WITH_PROGRAM else TaskType.COMMUNICATION, Parameter.COMPILATION)
    return _meaning(values, key, {"alone": False, "grader": True, "stub": True}, "alone, and grader or stub,")


def _file_names(values: Mapping[str, Any], task_type: TaskType | None) -> tuple[str, str]:
    """The files that a submission reads and writes; empty for stdin and stdout, as in CMS."""
    if task_type not in _WITH_PROGRAM:
        return "", ""
    names = []
    for parameter in (Parameter.INPUT_FILE, Parameter.OUTPUT_FILE):
        key = parameter_key(task_type, parameter)
        name = _text(values, key)
        if name in (".", "..") or "/" in name or "\0" in name or len(name.encode()) > _LONGEST_NAME:
            raise InputError(f"{key} in {PATH} is {name!r}; it must be the plain name of a file, without a directory")
        names.append(name)
    if names[0] and names[0] == names[1]:
        raise UnsupportedError(f"{PATH} gives {names[0]!r} to input and output; one file for both is not supported")
    return names[0], names[1]


def _checker_decides(values: Mapping[str, Any], task_type: TaskType | None) -> bool | None:
    if task_type is None or task_type.has_manager:
        return None
    key = parameter_key(task_type, Parameter.OUTPUT_EVAL)
    return _meaning(values, key, {"diff": False, "comparator": True}, "diff and comparator")


def _processes(values: Mapping[str, Any]) -> int | None:
    key = parameter_key(TaskType.COMMUNICATION, Parameter.NUM_PROCESSES)
    processes = _count(values, key)
    if processes is not None:
        check_processes(f"{key} in {PATH}", processes)
    return processes
