"""Methods: one class for each task type, and what users need to build a problem with one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import ioi_eval
from ioi_eval.model import CheckerProtocol, JudgeProgram, Problem, ProcessIO, RunMethod, SourceFile, TaskType

API_PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
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


def test_a_problem_is_built_from_public_names() -> None:
    """As in the example of `docs/api.md`. All classes of methods and their parameters are public."""
    (example,) = re.findall(r"```python\n(.*?)```", API_PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)
    problem = names["problem"]
    assert isinstance(problem, Problem)
    assert problem.checker == JudgeProgram(source=names["checker"], protocol=CheckerProtocol.KATTIS)
    for kind in (*get_args(RunMethod), JudgeProgram, SourceFile, CheckerProtocol, ProcessIO):
        assert getattr(ioi_eval, kind.__name__) is kind
