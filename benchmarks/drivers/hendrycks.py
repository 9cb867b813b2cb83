"""Runs the grader of hendrycks/apps: `hendrycks.py CHECKOUT [--command]`, with an interpreter that has numpy and pyext.

A task is a list of rows and programs, its result the list of the codes of each program. Each program is graded by
`run_test` in a separate process, forked from this one, because that function removes what a second call would need.
With `--command` each is graded as by the repository's command: with a second process, which receives the results, and
with a limit of 10 s for all tests together.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from answering import answer

Grade = Callable[[dict[str, Any], str], list[Any]]


def grader(checkout: str, *, is_command: bool) -> Grade:
    """Import the grader. pyext needs a function of `inspect` that Python 3.11 has removed."""
    sys.path.insert(0, str(Path(checkout) / "eval"))
    if not hasattr(inspect, "getargspec"):
        inspect.getargspec = inspect.getfullargspec  # type: ignore[attr-defined]
    if not is_command:
        run_test: Callable[..., list[Any]] = importlib.import_module("testing_util").run_test
        return lambda row, code: forked(lambda: run_test(problem={"input_output": row}, test=code))
    datasets = ModuleType("datasets")  # the command loads rows with this package; here they come with the task
    datasets.load_dataset = None  # type: ignore[attr-defined]
    sys.modules.setdefault("datasets", datasets)
    command = importlib.import_module("test_one_solution")
    check: Callable[..., list[Any]] = command.check_correctness
    return lambda row, code: check({"input_output": row}, code, command.TIMEOUT, False)


def forked(grade: Callable[[], list[Any]]) -> list[Any]:
    """The return value of a function that is called in a separate process.

    Raises:
        ValueError: it returned nothing.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(writing, "w") as file:
                json.dump(plain(grade()), file)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    os.waitpid(child, 0)
    codes: list[Any] = json.loads(text)
    return codes


def plain(codes: list[Any]) -> list[Any]:
    """The codes without types of numpy."""
    return [code if isinstance(code, int) else bool(code) for code in codes]


def main() -> None:
    """Answer tasks. The codes: true, false, -1 (an error or a timeout), -2 (does not load)."""
    grade = grader(sys.argv[1], is_command="--command" in sys.argv[2:])

    def work(task: list[tuple[dict[str, Any], str]]) -> list[list[Any]]:
        return [plain(grade(row, code)) for row, code in task]

    answer(work)


if __name__ == "__main__":
    main()
