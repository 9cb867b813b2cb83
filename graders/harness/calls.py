"""Calls a function of one program in this process, with arguments that are read as data."""

from __future__ import annotations

import builtins
import importlib
import sys

from . import endings, execution, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types
    from typing import Any

CALL_MODULES = ("typing", "collections", "itertools", "functools", "heapq", "bisect", "math", "fractions", "random")
"""Programs with a function are written for LeetCode's preamble, which has these modules and their names."""


def run_call(
    program: execution.Program, arguments: Any, result_fd: int, report: endings.Report, prelude: Any = None
) -> int:
    """Load a program, call its function, and write the function's result to `result_fd`. Returns the exit code.

    `prelude` is code that is executed before the program, in its module.
    """
    prepared, names = prepare_calls() if prelude is None else (None, frozenset())
    module = execution.fresh_module("solution", program, prepared)
    if prelude is None:
        _hide(module, program.name)
    phase = "compile"
    status = 1
    try:
        execution.allow_long_integers()
        code = execution.compiled_program(program)
        phase = "load"
        execution.allow_script_recursion()
        if prelude is not None:
            exec(prelude, module.__dict__)
            module.__dict__.update(call_prelude())
        exec(code, module.__dict__)
        function = _function(module, program.name)
        phase = "run"
        data = values.encode(function(*arguments))
    except BaseException as error:  # noqa: BLE001 - a program may end by any exception; an exit has no result either
        endings.print_error(error)
        report.write(phase, error)
    else:
        status = 0
        endings.write_all(result_fd, data)
        report.write("done")
    return endings.end_run([module], status, names)


_calls: list[tuple[types.ModuleType, frozenset[str]]] = []


def prepare_calls() -> tuple[types.ModuleType, frozenset[str]]:
    """A module that has the names of `call_prelude`, and these names.

    It is made once, before forks: putting 200 objects into another dictionary changes each object, and then the kernel
    copies their pages.
    """
    if not _calls:
        module = type(sys)("solution")
        module.__dict__["__builtins__"] = builtins
        module.__dict__.update(call_prelude())
        _calls.append((module, frozenset(module.__dict__)))
    return _calls[0]


def call_prelude() -> dict[str, Any]:
    """The names that a program with a function may use without importing them. None of them hides a builtin."""
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
    """LeetCode's node of a list: programs name it in annotations, also in rows that use no such list."""

    def __init__(self, val: Any = 0, next: Any = None) -> None:
        self.val, self.next = val, next


class TreeNode:
    """LeetCode's node of a tree, for the same reason."""

    def __init__(self, val: Any = 0, left: Any = None, right: Any = None) -> None:
        self.val, self.left, self.right = val, left, right


def _hide(module: types.ModuleType, name: str) -> None:
    """Move a name of our own out of the program's module, into the builtins, if the program is asked for it.

    So a program that lacks the function `gcd` fails, but can still use ours.
    """
    if name in module.__dict__:
        setattr(builtins, name, module.__dict__.pop(name))


def _function(module: types.ModuleType, name: str) -> Any:
    """The method of `class Solution` if it has one of this name, else the function."""
    solution: Any = module.__dict__.get("Solution")
    if issubclass(type(solution), type) and hasattr(solution, name):
        return getattr(solution(), name)
    if name not in module.__dict__:
        raise NameError(f"the program has no function {name}")
    return module.__dict__[name]
