"""Two samples of our own: a contest of four small tasks, and five problems as in APPS; each with a dump to score.

They show how tasks are packaged, they are what `ioi-eval demo` scores, and they prove that a sandbox judges as it
should: what each program is worth is known. `tasks/` and `apps/` hold what people wrote, one folder a task;
`python -m ioi_eval.sample.generate` makes the rows, which lie beside this file, out of it.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

YEAR = 2026


def problems() -> Path:
    """The problems: a row a subtask, columns as in `open-r1/ioi`."""
    return _path("problems.jsonl")


def tests() -> Path:
    """The tests: columns as in `open-r1/ioi-test-cases`."""
    return _path("tests.jsonl")


def solutions() -> Path:
    """The solutions: year, problem_id, label, code, and what they are worth (expected_subtasks, expected_total)."""
    return _path("solutions.jsonl")


def dump() -> Path:
    """The dump: generations in the manner of a language model, some of them of no use."""
    return _path("dump.jsonl")


def dump_expected() -> Path:
    """What each generation of the dump is worth, by uuid."""
    return _path("dump_expected.jsonl")


def tasks() -> Path:
    """The folder of the tasks' sources."""
    return _path("tasks")


def apps_problems() -> Path:
    """The sample of APPS: columns as in `codeparrot/apps`; standard input, functions, and one with several answers."""
    return _path("apps_problems.jsonl")


def apps_dump() -> Path:
    """Generations for the sample of APPS."""
    return _path("apps_dump.jsonl")


def apps_expected() -> Path:
    """What each generation of that dump is worth, by uuid."""
    return _path("apps_expected.jsonl")


def apps_checker() -> Path:
    """The checker of problem 3 of the sample of APPS, which has several answers."""
    return _path("apps/crews/checker.cpp")


def _path(name: str) -> Path:
    # The package is installed as files, never zipped: sources go to a compiler, rows to readers that want a path.
    return Path(str(files(__name__).joinpath(name)))
