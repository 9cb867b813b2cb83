"""Two samples of our own: a contest of four small tasks, and five problems as in APPS; each with a dump to score.

They show how tasks are packaged. `ioi-eval demo` scores them. The score of each program is known, so they also show
that a sandbox judges correctly. `tasks/` and `apps/` have the sources, one directory for each task;
`python -m tests.sample.generate`, in a checkout, makes the rows beside this file from them.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

YEAR = 2026


def problems() -> Path:
    """The problems: a row for each subtask, columns as in `open-r1/ioi`."""
    return _path("problems.jsonl")


def tests() -> Path:
    """The tests: columns as in `open-r1/ioi-test-cases`."""
    return _path("tests.jsonl")


def solutions() -> Path:
    """The solutions: year, problem_id, label, code, and the expected results (expected_subtasks, expected_total)."""
    return _path("solutions.jsonl")


def dump() -> Path:
    """The dump: generations as a language model might write them, some of them without a correct program."""
    return _path("dump.jsonl")


def dump_expected() -> Path:
    """The expected results of each generation of the dump, by uuid."""
    return _path("dump_expected.jsonl")


def tasks() -> Path:
    """The directory of the tasks' sources."""
    return _path("tasks")


def apps_problems() -> Path:
    """The sample of APPS: columns as in `codeparrot/apps`; standard input, functions, and one with several answers."""
    return _path("apps_problems.jsonl")


def apps_dump() -> Path:
    """Generations for the sample of APPS."""
    return _path("apps_dump.jsonl")


def apps_expected() -> Path:
    """The expected results of each generation of that dump, by uuid."""
    return _path("apps_expected.jsonl")


def apps_checker() -> Path:
    """The checker of problem 3 of the sample of APPS, which has several answers."""
    return _path("apps/crews/checker.cpp")


def _path(name: str) -> Path:
    # The package is installed as files, never zipped, because compilers and readers of rows need paths.
    return Path(str(files(__name__).joinpath(name)))
