"""Runs programs as other graders run them, but securely.

Graders differ in what a program finds: names that exist without an import, a function around its top level (where
`global` and star imports mean something else), a replacement of standard input without `buffer`, no `exit`. Their
verdicts depend on all this. For each grader a file in `compat/` defines it.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import types
from typing import Any

from . import endings, execution, values


class OtherGrader:
    """One grader, by the name of its file in `compat/`. The file defines

    `PRELUDE`: source that is put before every program;
    `MODULE`, `ENTRY`: the names of the module, and of the function that contains a stdin program;
    `DIGITS`: how many digits an integer may have; `None` for the interpreter's own limit;
    `prepare(text)`: a stdin program as the grader executes it;
    `guard()`: removes from the interpreter what the grader removes;
    `replace_stdin(text)`: replaces standard input as the grader does;
    `close_stdout`: what the method `close` of `sys.stdout` becomes;
    or only `PRELUDE` and `SCRIPT`: programs run as under our own rules, after the prelude.

    A run ends in the phase `load`, `run` or `done`. A `SystemExit` from the function is ignored, as they all do.
    """

    def __init__(self, name: str) -> None:
        for library in ("OPENBLAS", "OMP", "MKL"):  # a process with threads cannot be forked safely
            os.environ[f"{library}_NUM_THREADS"] = "1"
        self._rules: Any = importlib.import_module(f"{__package__}.compat.{name}")
        self._is_script: bool = getattr(self._rules, "SCRIPT", False)
        if not self._is_script:
            with contextlib.suppress(ImportError):
                import numpy  # noqa: F401 - all these graders have it loaded
        self._prelude = compile(self._rules.PRELUDE, "prelude", "exec", dont_inherit=True)
        exec(self._prelude, {"__name__": "prelude"})  # its imports are then done before any program runs

    def run_stdin(self, program: execution.Program, report: endings.Report) -> int:
        """Run a program as the function that the grader makes of it; write its output if it succeeded."""
        if self._is_script:
            return execution.run_stdin(program, report, self._prelude)
        self._allow_digits()  # before a grader parses the program
        text = execution.read_all(0).decode("utf-8", "replace")
        module = self._load(program, self._rules.prepare(program.source.decode("utf-8", "surrogatepass")), report)
        if module is None:
            return 1
        result_fd = os.dup(1)
        os.dup2(2, 1)  # output that does not go through `sys.stdout` does not count
        printed: Any = io.StringIO()
        printed.close = self._rules.close_stdout
        phase = "load"
        try:
            entry = getattr(module, self._rules.ENTRY)
            phase = "run"
            sys.stdout = printed
            self._rules.replace_stdin(text)
            with contextlib.suppress(SystemExit):
                entry()
        except Exception as error:  # noqa: BLE001 - as these graders do
            report.write(phase, error)
            return 1
        endings.write_all(result_fd, printed.getvalue().encode("utf-8", "backslashreplace"))
        report.write("done")
        return 0

    def run_call(self, program: execution.Program, arguments: Any, result_fd: int, report: endings.Report) -> int:
        """Call the function; its result is written to `result_fd`."""
        if self._is_script:
            from . import calls

            return calls.run_call(program, arguments, result_fd, report, self._prelude)
        self._allow_digits()
        text = program.source.decode("utf-8", "surrogatepass")
        module = self._load(program, self._rules.PRELUDE + text, report)
        if module is None:
            return 1
        phase = "load"
        try:
            function = getattr(module.Solution() if "class Solution" in text else module, program.name)
            phase = "run"
            data = values.encode(function(*arguments))
        except Exception as error:  # noqa: BLE001 - as these graders do
            report.write(phase, error)
            return 1
        endings.write_all(result_fd, data)
        report.write("done")
        return 0

    def _allow_digits(self) -> None:
        if self._rules.DIGITS is not None and hasattr(sys, "set_int_max_str_digits"):
            sys.set_int_max_str_digits(self._rules.DIGITS)

    def _load(self, program: execution.Program, source: str, report: endings.Report) -> types.ModuleType | None:
        module = types.ModuleType(self._rules.MODULE)
        try:
            self._rules.guard()
            code = execution.code_of(program, lambda: compile(source, "<string>", "exec", dont_inherit=True))
            exec(code, module.__dict__)
        except Exception as error:  # noqa: BLE001 - as these graders do
            report.write("load", error)
            return None
        return module
