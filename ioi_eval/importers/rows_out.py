"""Writes imported tasks to `problems.jsonl`, `tests.jsonl` and `solutions.jsonl`, which `score` and `validate` read.

Tests are streamed, one at a time. The files get their names only when all three are complete; if one cannot be written,
the directory does not change. If a test of one of several packages cannot be read, only that package's rows are not
written. Existing rows of other problems are kept, so a contest can be imported day by day.
Imports into the same directory wait for each other.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from ioi_eval.errors import InputError, SetupError
from ioi_eval.importers.task import ImportedTask
from ioi_eval.model import ProblemKey
from ioi_eval.new_files import new_file
from ioi_eval.rows import open_source

Refused = Callable[[InputError | SetupError], None]
"""Is called with the error about a task whose rows cannot be written."""


class _UnwritableError(SetupError):
    """A file of rows cannot be written, so the rows of no task can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenRows:
    """The paths of the files, and the tasks whose rows were written."""

    problems: Path
    tests: Path
    solutions: Path
    tasks: tuple[ImportedTask, ...]


def write_rows(tasks: Sequence[ImportedTask], out: str | Path, *, refused: Refused | None = None) -> WrittenRows:
    """Write tasks as rows.

    Args:
        tasks: of one or several packages, each problem once.
        out: the directory; made if absent.
        refused: is called with the error about each task whose rows cannot be written; those of the others are written,
            and older rows of that problem stay. Without it, the first such error is raised.

    Raises:
        InputError: two packages hold the same problem, or no task can be written, for example because a package's test
            cannot be read.
        SetupError: the directory cannot be written, or the disk is full; without `refused` also if a package's tests
            cannot be made on this machine.
    """
    keys = [task.key for task in tasks]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(f"the problem {key} is in several of the packages; give each once")
    directory = Path(out)
    problems, tests, solutions = (directory / f"{name}.jsonl" for name in ("problems", "tests", "solutions"))
    new_directories = [parent for parent in (directory, *directory.parents) if not parent.exists()]
    try:
        with _only_writer(problems), ExitStack() as opened:
            files = [
                _RowFile.open(problems, "id", opened),
                _RowFile.open(tests, "problem_id", opened),
                _RowFile.open(solutions, "problem_id", opened),
            ]
            for file in files:
                file.keep(lambda key: key not in keys)
            written = tuple(task for task in tasks if _write_task(task, files, refused))
            if not written:
                raise InputError("no rows are written: no package can be read to its end")
            for file in files:
                file.store()
    except BaseException:
        with suppress(OSError):
            for new_directory in new_directories:
                new_directory.rmdir()
        raise
    return WrittenRows(problems=problems, tests=tests, solutions=solutions, tasks=written)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RowFile:
    """One of the files while it is written."""

    path: Path
    id_column: str
    new: BinaryIO  # will replace the file at `path`

    @classmethod
    def open(cls, path: Path, id_column: str, opened: ExitStack) -> _RowFile:
        opened.enter_context(_errors_with_path(path))
        return cls(path=path, id_column=id_column, new=opened.enter_context(new_file(path, one_writer=True)))

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        with _errors_with_path(self.path):
            for row in rows:
                try:
                    self.new.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
                except orjson.JSONEncodeError as error:
                    raise InputError(
                        f"{self.path.name}: a row of {row.get('problem_id', row.get('id'))!a} cannot be JSON: {error};"
                        " correct the package"
                    ) from error

    def keep(self, kept: Callable[[ProblemKey], bool]) -> None:
        """Write the existing rows of some problems again."""
        if not self.path.is_file() or self.path.stat().st_size == 0:
            return
        rows = open_source(self.path).iterate()
        self.write(
            dict(row.values)
            for row in rows
            if kept(ProblemKey(year=row.integer("year"), id=row.identifier(self.id_column)))
        )

    def cut(self, size: int) -> None:
        """Remove what was written after this many bytes."""
        with _errors_with_path(self.path):
            self.new.seek(size)
            self.new.truncate()

    def store(self) -> None:
        """Store all rows on the disk: a full disk may show only here, and then no file may have its name yet."""
        with _errors_with_path(self.path):
            self.new.flush()
            os.fsync(self.new.fileno())


def _write_task(task: ImportedTask, files: Sequence[_RowFile], refused: Refused | None) -> bool:
    """Write a task's rows; if that fails, none of them, but its older rows. Whether it succeeded."""
    sizes = [file.new.tell() for file in files]
    try:
        for file, rows in zip(files, (task.problem_rows, task.tests(), task.solution_rows), strict=True):
            file.write(rows)
    except (InputError, SetupError) as error:
        if refused is None or isinstance(error, _UnwritableError):
            raise
        refused(error)
        for file, size in zip(files, sizes, strict=True):
            file.cut(size)
            file.keep(lambda key: key == task.key)
        return False
    return True


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


@contextmanager
def _errors_with_path(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _UnwritableError(
            f"cannot write {path}: {error.strerror or error}; free space or choose another directory"
        ) from error
