"""Writes imported tasks to `problems.jsonl`, `tests.jsonl` and `solutions.jsonl`, which `score` and `validate` read.

Tests are streamed, one at a time. The files get their names only when all three are complete; if one cannot be written,
the directory does not change. Existing rows of other problems are kept, so a contest can be imported day by day.
Imports into the same directory wait for each other.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from ioi_eval.errors import InputError, SetupError
from ioi_eval.importers.task import ImportedTask
from ioi_eval.model import ProblemKey
from ioi_eval.new_files import new_file
from ioi_eval.rows import open_source


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenRows:
    """The paths of the files."""

    problems: Path
    tests: Path
    solutions: Path


def write_rows(tasks: Sequence[ImportedTask], out: str | Path) -> WrittenRows:
    """Write tasks as rows.

    Args:
        tasks: of one or several packages, each problem once.
        out: the directory; made if absent.

    Raises:
        InputError: two packages hold the same problem, or a package's test cannot be read.
        SetupError: the directory cannot be written, or the disk is full.
    """
    keys = [task.key for task in tasks]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(f"the problem {key} is in several of the packages; give each once")
    directory = Path(out)
    written = WrittenRows(
        problems=directory / "problems.jsonl", tests=directory / "tests.jsonl", solutions=directory / "solutions.jsonl"
    )
    rows: dict[Path, tuple[str, Iterable[dict[str, Any]]]] = {
        written.problems: ("id", (row for task in tasks for row in task.problem_rows)),
        written.tests: ("problem_id", chain.from_iterable(task.tests() for task in tasks)),
        written.solutions: ("problem_id", (row for task in tasks for row in task.solution_rows)),
    }
    new_directories = [parent for parent in (directory, *directory.parents) if not parent.exists()]
    try:
        with _only_writer(written.problems), ExitStack() as files:
            for path, (id_column, of_tasks) in rows.items():
                files.enter_context(_errors_with_path(path))
                file = files.enter_context(new_file(path, alone=True))
                with _errors_with_path(path):
                    _write(file, path.name, chain(_rows_of_other_problems(path, id_column, keys), of_tasks))
    except BaseException:
        with suppress(OSError):
            for new_directory in new_directories:
                new_directory.rmdir()
        raise
    return written


@contextmanager
def _only_writer(path: Path) -> Iterator[None]:
    """Create the directory of a file, and lock it: two imports at once would both add to the same old rows."""
    with _errors_with_path(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        directory = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # NFS locks no directories
            fcntl.flock(directory, fcntl.LOCK_EX)
        yield
    finally:
        os.close(directory)


def _write(file: BinaryIO, name: str, rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        try:
            file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
        except orjson.JSONEncodeError as error:
            raise InputError(
                f"{name}: a row of {row.get('problem_id', row.get('id'))!a} cannot be JSON: {error};"
                " correct the package"
            ) from error
    file.flush()
    os.fsync(file.fileno())  # a full disk may show only here, and then no file may have its name yet


@contextmanager
def _errors_with_path(path: Path) -> Iterator[None]:
    """Turn system errors into an error that names the file that could not be written."""
    try:
        yield
    except OSError as error:
        raise SetupError(
            f"cannot write {path}: {error.strerror or error}; free space or choose another directory"
        ) from error


def _rows_of_other_problems(path: Path, id_column: str, replaced: Sequence[ProblemKey]) -> Iterator[dict[str, Any]]:
    """The existing rows that belong to other problems."""
    if not path.is_file() or path.stat().st_size == 0:
        return
    for row in open_source(path).iterate():
        if ProblemKey(year=row.integer("year"), id=row.identifier(id_column)) not in replaced:
            yield dict(row.values)
