"""Methods: one class for each task type."""

from __future__ import annotations

from typing import get_args

from ioi_eval.model import JudgeProgram, RunMethod, SourceFile, TaskType

PROGRAM = JudgeProgram(source=SourceFile(path="graders/manager.cpp", content=b""))


def test_each_task_type_has_one_class() -> None:
    """The properties of the task type fit the parameters of its class."""
    with_manager = ("Communication", "Interactive")
    methods = [kind(**({"manager": PROGRAM} if kind.__name__ in with_manager else {})) for kind in get_args(RunMethod)]
    assert sorted(method.task_type for method in methods) == sorted(TaskType)
    for method in methods:
        assert type(method).__name__ == method.task_type.value
        assert method.task_type.has_manager == (method.manager is not None)
        assert method.task_type.takes_outputs == ("output_tests" in method.__dataclass_fields__)
