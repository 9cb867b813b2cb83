"""`ioi-eval import cms`, `import tps`, `import kattis` and `import library-checker`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ioi_eval.cli import options

if TYPE_CHECKING:
    from ioi_eval.importers.task import ImportedTask

Year = Annotated[int, typer.Option("--year", metavar="Y", help="The contest's year; packages do not say.")]
Day = Annotated[str | None, typer.Option("--day", metavar="D", help="The contest day, as it shall stand in the rows.")]

TimeLimit = Annotated[
    float | None,
    typer.Option("--time-limit", metavar="S", help="Seconds of CPU time, where the package states none or another."),
]


def cms(
    packages: Annotated[list[Path], typer.Argument(metavar="PACKAGE…", help="CMS export packages: zips or folders.")],
    year: Year,
    out: options.Out,
    day: Day = None,
) -> int:
    """Turn official CMS export packages into rows.

    DIR gets problems.jsonl, tests.jsonl and solutions.jsonl; rows of other problems that are there already stay.
    """
    from ioi_eval.importers.cms import import_package

    return _write([import_package(package, year=year, day=day) for package in packages], out)


def tps(
    tasks: Annotated[list[Path], typer.Argument(metavar="TASK…", help="TPS task folders, with generated tests.")],
    year: Year,
    out: options.Out,
    day: Day = None,
) -> int:
    """Turn TPS task folders into rows, with what they state of each solution in each subtask.

    DIR gets problems.jsonl, tests.jsonl and solutions.jsonl; rows of other problems that are there already stay.
    """
    from ioi_eval.importers.tps import import_package

    return _write([import_package(task, year=year, day=day) for task in tasks], out)


def kattis(
    packages: Annotated[list[Path], typer.Argument(metavar="PACKAGE…", help="Problem packages: folders or archives.")],
    year: Year,
    out: options.Out,
    day: Day = None,
    time_limit: TimeLimit = None,
) -> int:
    """Turn problem packages of Kattis or DOMjudge into rows, with what they state of each submission.

    DIR gets problems.jsonl, tests.jsonl and solutions.jsonl; rows of other problems that are there already stay.
    """
    from ioi_eval.importers.kattis import import_package

    return _write([import_package(one, year=year, day=day, time_limit_s=time_limit) for one in packages], out)


def library_checker(
    problems: Annotated[list[Path], typer.Argument(metavar="PROBLEM…", help="Folders with info.toml, in/ and out/.")],
    year: Year,
    out: options.Out,
    time_limit: TimeLimit = None,
) -> int:
    """Turn problems in the layout of Library Checker, with generated tests, into rows.

    DIR gets problems.jsonl, tests.jsonl and solutions.jsonl; rows of other problems that are there already stay.
    """
    from ioi_eval.importers.library_checker import import_package

    return _write([import_package(one, year=year, time_limit_s=time_limit) for one in problems], out)


def _write(tasks: list[ImportedTask], out: Path) -> int:
    from ioi_eval.importers.rows_out import write_rows
    from ioi_eval.report.terminal import printable

    written = write_rows(tasks, out)
    for task in tasks:
        tests = {name for row in task.problem_rows for name in row["test_names"]}
        print(f"{task.key}: {len(task.problem_rows)} subtasks, {len(tests)} tests, {len(task.solution_rows)} solutions")
        for note in task.notes:
            print(f"  {printable(note)}")
    print(f"\n{written.problems}\n{written.tests}\n{written.solutions}")
    return 0
