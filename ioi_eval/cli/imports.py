"""`ioi-eval import cms`, `tps`, `polygon`, `italian-yaml`, `kattis` and `library-checker`.

There is one command for each format, also for those that other Python packages read (`extensions`). Each reads
packages one by one, writes the rows of all that it can read, prints what it found, and names those that it refuses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ioi_eval.cli.grouped import OptionGroup, argument, option
from ioi_eval.config import LEAST_SECONDS, MAX_SECONDS
from ioi_eval.errors import InputError, SetupError
from ioi_eval.extensions import Kind, extension

if TYPE_CHECKING:
    from ioi_eval.importers.task import ImportedTask

TimeLimit = Annotated[
    float | None,
    option(
        "--time-limit S",
        "Seconds of CPU time, in place of the package's time limit or if it has none.",
        min=LEAST_SECONDS,
        max=MAX_SECONDS,
    ),
]
KattisTimeLimit = Annotated[
    str | None,
    option(
        "--time-limit S|auto",
        "Seconds of CPU time, in place of the package's time limit or if it has none. auto: if it has none, "
        "derive it as Kattis does from the package's accepted submissions, which are judged here.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """The options that all formats have: the rows' year and day, and where they go."""

    year: Annotated[int, option("--year Y", "The contest's year, which packages do not state.", min=1900)]
    out: Annotated[
        Path,
        option(
            "--out DIR",
            "The directory for problems.jsonl, tests.jsonl and solutions.jsonl; made if absent. Rows of other "
            "problems in it are kept.",
        ),
    ]
    day: Annotated[str | None, option("--day D", "The contest day, for the column `day` of the rows.")] = None

    def run(self, packages: Sequence[Path], read: Callable[..., ImportedTask], **stated: Any) -> int:
        """Turn packages (directories or archives) into rows by `import_package` of a format, with a line about each.

        Raises:
            InputError: packages are refused. If there are several packages, the rows of the others are written, unless
                two hold the same problem.
            SetupError: the only package needs something that this machine lacks; or the rows cannot be written.
        """
        from ioi_eval.cli.messages import tell
        from ioi_eval.importers.rows_out import write_rows
        from ioi_eval.journal import check_writable
        from ioi_eval.report.texts import counted, printable

        check_writable(self.out)
        tasks: list[ImportedTask] = []
        for package in packages:
            try:
                tasks.append(read(package, year=self.year, day=self.day, **stated))
            except (InputError, SetupError) as error:
                if len(packages) == 1:
                    raise
                tell(str(error))
        if not tasks:
            raise InputError(f"no package was imported (of {len(packages)}); the lines above say why")
        refused = None if len(packages) == 1 else lambda error: tell(str(error))
        written = write_rows(tasks, self.out, refused=refused)
        for task in written.tasks:
            tests = {name for row in task.problem_rows for name in row["test_names"]}
            sizes = {"subtask": len(task.problem_rows), "test": len(tests), "solution": len(task.solution_rows)}
            print(f"{printable(str(task.key))}: {', '.join(counted(size, noun) for noun, size in sizes.items())}")
            for note in task.notes:
                print(f"  {printable(note)}")
        print(f"\n{written.problems}\n{written.tests}\n{written.solutions}")
        if missing := len(packages) - len(written.tasks):
            was_or_were = "was" if missing == 1 else "were"
            raise InputError(
                f"{missing} of {len(packages)} packages {was_or_were} not imported; the lines above say why"
            )
        return 0


Options = Annotated[ImportOptions, OptionGroup()]


def cms(
    packages: Annotated[list[Path], argument("PACKAGE", "Exports of CMS: directories, archives.")],
    options: Options,
) -> int:
    """Turn official CMS export packages into rows."""
    from ioi_eval.importers.cms import import_package

    return options.run(packages, import_package)


def tps(
    tasks: Annotated[list[Path], argument("TASK", "TPS task directories, with generated tests.")],
    options: Options,
) -> int:
    """Turn TPS task directories with generated tests into rows."""
    from ioi_eval.importers.tps import import_package

    return options.run(tasks, import_package)


def polygon(
    packages: Annotated[list[Path], argument("PACKAGE", "Polygon packages: directories, archives.")],
    options: Options,
) -> int:
    """Turn problem packages of Polygon into rows."""
    from ioi_eval.importers.polygon import import_package

    return options.run(packages, import_package)


def italian_yaml(
    tasks: Annotated[list[Path], argument("TASK", "Directories with task.yaml, input/, output/.")],
    options: Options,
    time_limit: TimeLimit = None,
) -> int:
    """Turn tasks in CMS's Italian YAML format into rows.

    Their inputs and outputs must have been generated.
    """
    from ioi_eval.importers.italian_yaml import import_package

    return options.run(tasks, import_package, time_limit_s=time_limit)


def kattis(
    packages: Annotated[list[Path], argument("PACKAGE", "Kattis packages: directories, archives.")],
    options: Options,
    time_limit: KattisTimeLimit = None,
) -> int:
    """Turn problem packages of Kattis or DOMjudge into rows."""
    from ioi_eval.importers.kattis import import_package

    if time_limit != "auto":
        return options.run(packages, import_package, time_limit_s=_seconds(time_limit))

    from ioi_eval.validate.time_limit import with_measured_limit

    def read(package: Path, **stated: Any) -> ImportedTask:
        return with_measured_limit(import_package(package, derive=True, **stated))

    return options.run(packages, read)


def _seconds(time_limit: str | None) -> float | None:
    if time_limit is None:
        return None
    try:
        seconds = float(time_limit)
    except ValueError:
        seconds = math.nan
    if not LEAST_SECONDS <= seconds <= MAX_SECONDS:
        raise InputError(
            f"--time-limit {time_limit}: must be auto, or a number of seconds from {LEAST_SECONDS:g} to {MAX_SECONDS:g}"
        )
    return seconds


def library_checker(
    problems: Annotated[list[Path], argument("PROBLEM", "Directories with info.toml, in/, out/.")],
    options: Options,
    time_limit: TimeLimit = None,
) -> int:
    """Turn problems of Library Checker into rows.

    Their inputs and outputs must have been generated.
    """
    from ioi_eval.importers.library_checker import import_package

    return options.run(problems, import_package, time_limit_s=time_limit)


def import_by_extension(name: str) -> Callable[..., int]:
    """The command of a format that another Python package reads."""

    def by_extension(
        packages: Annotated[list[Path], argument("PACKAGE", "What that package's importer reads.")],
        options: Options,
    ) -> int:
        """Turn packages into rows by an importer that another Python package provides."""
        from ioi_eval.importers.task import ImportedTask

        read = extension(Kind.IMPORTER, name)

        def checked(package: Path, **stated: Any) -> ImportedTask:
            task = read(package, **stated)
            if not isinstance(task, ImportedTask):
                raise InputError(
                    f"the importer {name!r} gives a {type(task).__name__}, not an ImportedTask, for {package}"
                )
            return task

        return options.run(packages, checked)

    return by_extension
