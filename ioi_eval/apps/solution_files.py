"""Opens dumps of programs in all their forms: rows, a `solution.py`, a directory of directories with these."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ioi_eval.errors import InputError, NotReadWarning, listed
from ioi_eval.model.apps import without_prefix
from ioi_eval.problems.apps import without_zeros
from ioi_eval.problems.row import Row, Source
from ioi_eval.report.texts import counted
from ioi_eval.rows import open_source

SOLUTION = "solution.py"  # Source: mcpbr, whose agents write their program to this file


class SolutionFiles(Source):
    """Programs in files, by problem, as rows."""

    def __init__(self, files: Mapping[str, Path], name: str) -> None:
        self._files = files
        self._name = name

    def describe(self) -> str:
        """The name of the file or directory."""
        return self._name

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:  # noqa: ARG002 - there are just two
        """One row for each file."""
        for problem, path in self._files.items():
            try:
                code = path.read_bytes().decode("utf-8-sig", "replace")
            except OSError as error:
                raise InputError(f"{path} cannot be read: {error.strerror}") from error
            yield Row(source=str(path), number=1, values={"problem_id": problem, "code": code})


def open_dump(spec: str, ids: Sequence[str]) -> Source:
    """Open a dump: a source of rows; a `.py` file; or a directory of `<id>/solution.py`.

    `ids` are the problems that the user named. If there is one, a single file is for that problem; else the name of its
    directory is the problem. A directory's own `solution.py` is the dump if one problem is named, and no
    `<id>/solution.py` in it is for that one.
    """
    path = Path(os.path.expanduser(spec))
    try:
        if path.is_file() and path.suffix == ".py":
            return SolutionFiles({_problem_of_file(path, ids): path}, str(path))
        if path.is_dir():
            own, solutions = path / SOLUTION, _solutions_below(path)
            if own.is_file():
                if solutions and not (len(ids) == 1 and _problem_of_directory(ids[0]) not in solutions):
                    raise InputError(f"{own} is beside directories with a {SOLUTION}; score it apart ({own} -t ID)")
                return SolutionFiles({_problem_of_file(own, ids): own}, str(own))
            if solutions:
                return SolutionFiles(solutions, f"{path} ({counted(len(solutions), 'file')} {SOLUTION})")
            if next(path.rglob("*.py"), None) is not None:
                try:
                    return open_source(str(path))
                except InputError as error:
                    raise InputError(f"{error}. To score its programs, call them ID/{SOLUTION}") from error
    except OSError as error:
        raise InputError(f"{error.filename or path} cannot be read: {error.strerror}") from error
    return open_source(spec)


def _solutions_below(path: Path) -> Mapping[str, Path]:
    """The programs in the directories of a directory, by problem. If only some have one, a warning names the others."""
    solutions: dict[str, Path] = {}
    others: list[str] = []
    for directory in sorted(entry for entry in path.iterdir() if entry.is_dir()):
        file = directory / SOLUTION
        if not file.is_file():
            others.append(directory.name)
            continue
        first = solutions.setdefault(_problem_of_directory(directory.name), file)
        if first != file:
            raise InputError(
                f"{first} and {file} are for the same problem; delete one, or score their directories apart"
            )
    if solutions and others:
        message = f"{path}: no {SOLUTION} in {listed(others)}, so nothing is scored for these"
        warnings.warn(message, NotReadWarning, stacklevel=1)
    return solutions


def _problem_of_directory(name: str) -> str:
    return without_zeros(without_prefix(name.strip()))


def _problem_of_file(path: Path, ids: Sequence[str]) -> str:
    if len(ids) == 1:
        return without_prefix(ids[0].strip())
    directory = path.absolute().parent.name
    if not ids and (directory.isdecimal() or directory != without_prefix(directory)):
        return without_prefix(directory)
    raise InputError(f"{path} is for one problem: name it with -t ID, once")
