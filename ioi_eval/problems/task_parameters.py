"""Names of a task type's parameters: CMS stores them as a list, packages and forms by name.

Only `parameter_key` knows how such a name is composed, for readers and writers of configurations.

Source: CMS, `ACCEPTED_PARAMETERS` of each class in `cms/grading/tasktypes/`, and `ParameterType` for the names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.model import TaskType


class Parameter(StrEnum):
    """The known parameters. Each task type has some of them."""

    COMPILATION = "compilation"
    INPUT_FILE = "io_0_inputfile"
    OUTPUT_FILE = "io_1_outputfile"
    OUTPUT_EVAL = "output_eval"
    OUTPUT_ONLY_TESTS = "output_only_testcases"
    OUTPUT_OPTIONAL_TESTS = "output_optional_testcases"
    NUM_PROCESSES = "num_processes"
    USER_IO = "user_io"
    MANAGER_ARGS = "manager_args"  # not in CMS. Source: the reference


_BATCH = (Parameter.COMPILATION, (Parameter.INPUT_FILE, Parameter.OUTPUT_FILE), Parameter.OUTPUT_EVAL)
_POSITIONS: dict[TaskType, tuple[Parameter | tuple[Parameter, ...], ...]] = {
    TaskType.BATCH: _BATCH,
    TaskType.OUTPUT_ONLY: (Parameter.OUTPUT_EVAL,),
    TaskType.TWO_STEPS: (Parameter.OUTPUT_EVAL,),
    TaskType.BATCH_AND_OUTPUT: (*_BATCH, Parameter.OUTPUT_ONLY_TESTS),
    TaskType.COMMUNICATION: (Parameter.NUM_PROCESSES, Parameter.COMPILATION, Parameter.USER_IO),
}
_PREFIX = "task_type_parameters_"


def parameter_key(task_type: TaskType | None, parameter: Parameter) -> str:
    """The name of a task type's parameter: `task_type_parameters_Batch_output_eval`."""
    return f"{_PREFIX}{task_type}_{parameter}"


def with_own_names(values: Mapping[str, Any], task_type: TaskType | None) -> dict[str, Any]:
    """Named parameters. A BatchAndOutput task also takes those that are named for Batch, unless it has its own.

    Source: CMS, where `BatchAndOutput` is a subclass of `Batch`.
    """
    if task_type is not TaskType.BATCH_AND_OUTPUT:
        return dict(values)
    inherited = {
        parameter_key(task_type, parameter): values[key]
        for parameter in Parameter
        if (key := parameter_key(TaskType.BATCH, parameter)) in values
    }
    return {**inherited, **values}


def unread_names(values: Mapping[str, Any], task_type: TaskType) -> list[str]:
    """The names among `values` that begin like those of parameters, but are of none that the task type has."""
    is_batch = task_type in (TaskType.BATCH, TaskType.BATCH_AND_OUTPUT)
    types = (task_type, TaskType.BATCH if is_batch else TaskType.COMMUNICATION)
    known = {parameter_key(each, parameter) for each in types for parameter in Parameter}
    return [name for name in values if name.startswith(_PREFIX) and name not in known]


def by_name(parameters: Sequence[Any], task_type: TaskType | None, where: str) -> dict[str, Any]:
    """A list of parameters as a mapping by name."""
    positions = _POSITIONS.get(task_type) if task_type else None
    if positions is None:
        kind = "an unstated task type" if task_type is None else task_type.value
        raise UnsupportedError(f"{where} is a list, which is not supported for {kind}; name the parameters")
    if task_type is TaskType.BATCH_AND_OUTPUT and len(parameters) == len(_BATCH):
        positions = _BATCH  # Source: IOI 2026's packages, which state the tests in subtasks/
    named: dict[str, Any] = {}
    for names, value in _paired(positions, parameters, where):
        inner = _paired(names, value, where) if isinstance(names, tuple) else ((names, value),)
        named.update((parameter_key(task_type, name), parameter) for name, parameter in inner)
    return named


def _paired(names: Sequence[Any], values: Any, where: str) -> list[tuple[Any, Any]]:
    if not isinstance(values, list) or len(values) != len(names):
        wanted = ", ".join("/".join(name) if isinstance(name, tuple) else name for name in names)
        raise InputError(f"{where} holds {values!r}; it must be a list of {wanted}")
    return list(zip(names, values, strict=True))
