"""One program of which a function is called, with arguments that came in as data, in this process."""

from __future__ import annotations

import builtins
import importlib
import sys

from . import program, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types
    from typing import Any

CALL_MODULES = ("typing", "collections", "itertools", "functools", "heapq", "bisect", "math", "fractions", "random")
"""A call-based answer is written against LeetCode's preamble, which has these names and the modules themselves."""


def run_call(task: program.Task, arguments: Any, result_fd: int, report: program.Report, prelude: Any = None) -> int:
    """Load a program and call its function; what it returns is written to `result_fd`. Returns the exit code.

    Args:
        task: the program.
        arguments: of the call.
        result_fd: gets the result.
        report: where to say more.
        prelude: code that is executed before the program, in its module.
    """
    prepared, names = prepare_calls() if prelude is None else (None, frozenset())
    module = program.fresh_module("solution", task, prepared)
    phase = "compile"
    status = 1
    try:
        code = program.compiled_task(task)
        phase = "load"
        program.reset_interpreter()
        if prelude is not None:
            exec(prelude, module.__dict__)
            module.__dict__.update(call_prelude())
        exec(code, module.__dict__)
        function = _function(module, task.name)
        phase = "run"
        data = values.encode(function(*arguments))
    except BaseException as error:  # noqa: BLE001 - whatever ends a program ends it here; an exit too is no result
        program.print_error(error)
        report.write(phase, error)
    else:
        status = 0
        program.write_all(result_fd, data)
        report.write("done")
    return program.end_run(module, status, names)


_calls: list[tuple[types.ModuleType, frozenset[str]]] = []


def prepare_calls() -> tuple[types.ModuleType, frozenset[str]]:
    """A module that holds the names of `call_prelude`, and these names.

    It is made once, before forks: to put 200 objects into another dictionary changes each of them, and the kernel
    copies the pages on which they lie.
    """
    if not _calls:
        module = type(sys)("solution")
        module.__dict__["__builtins__"] = builtins
        module.__dict__.update(call_prelude())
        _calls.append((module, frozenset(module.__dict__)))
    return _calls[0]


def call_prelude() -> dict[str, Any]:
    """The names that a call-based answer may use without importing them. None hides a builtin."""
    names: dict[str, Any] = {}
    for module_name in CALL_MODULES:
        module = importlib.import_module(module_name)
        public = getattr(module, "__all__", None) or [name for name in vars(module) if name[0] != "_"]
        names.update((name, getattr(module, name)) for name in public if not hasattr(builtins, name))
    for module_name in (*CALL_MODULES, "sys", "time", "string", "re", "operator", "copy", "datetime"):
        names[module_name] = importlib.import_module(module_name)
    names.update(ListNode=ListNode, TreeNode=TreeNode)
    return names


class ListNode:
    """LeetCode's node of a list: answers name it in annotations, in rows without any list of the kind."""

    def __init__(self, val: Any = 0, next: Any = None) -> None:
        self.val, self.next = val, next


class TreeNode:
    """LeetCode's node of a tree; as above."""

    def __init__(self, val: Any = 0, left: Any = None, right: Any = None) -> None:
        self.val, self.left, self.right = val, left, right


def _function(module: types.ModuleType, name: str) -> Any:
    """The method of `class Solution` where there is one of this name, else the function."""
    solution: Any = module.__dict__.get("Solution")
    if issubclass(type(solution), type) and hasattr(solution, name):
        return getattr(solution(), name)
    if name not in module.__dict__:
        raise NameError(f"the program has no function {name}")
    return module.__dict__[name]
