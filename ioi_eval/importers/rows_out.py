"""Imported tasks to files: `problems.jsonl`, `tests.jsonl`, `solutions.jsonl`, as `score` and `validate` read them.

Tests are streamed, one at a time. A file takes its name only when it is whole. Rows of other problems that are in
the files already stay there, so that a contest can be imported day by day.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import orjson

from ioi_eval.errors import InputError, SetupError
from ioi_eval.importers.task import ImportedTask
from ioi_eval.model import ProblemKey
from ioi_eval.rows import open_source


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenRows:
    """Where the rows went."""

    problems: Path
    tests: Path
    solutions: Path


def write_rows(tasks: Sequence[ImportedTask], out: str | Path) -> WrittenRows:
    """Write tasks as rows.

    Args:
        tasks: of one or several packages, each problem once.
        out: the folder; made if absent.

    Raises:
        InputError: two packages hold the same problem, or a package's test cannot be read.
        SetupError: the folder cannot be written, or the disk is full.
    """
    keys = [task.key for task in tasks]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(f"the problem {key} is in several of the packages; give each once")
    folder = Path(out)
    written = WrittenRows(
        problems=folder / "problems.jsonl", tests=folder / "tests.jsonl", solutions=folder / "solutions.jsonl"
    )
    _write(written.problems, "id", keys, (row for task in tasks for row in task.problem_rows))
    _write(written.tests, "problem_id", keys, chain.from_iterable(task.tests() for task in tasks))
    _write(written.solutions, "problem_id", keys, (row for task in tasks for row in task.solution_rows))
    return written


def _write(path: Path, id_column: str, replaced: Sequence[ProblemKey], rows: Iterable[dict[str, Any]]) -> None:
    temporary = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                for row in chain(_others(path, id_column, replaced), rows):
                    file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise SetupError(
            f"cannot write {path}: {error.strerror or error}; free space or choose another folder"
        ) from error


def _others(path: Path, id_column: str, replaced: Sequence[ProblemKey]) -> Iterator[dict[str, Any]]:
    """The rows that are there already and belong to other problems."""
    if not path.is_file() or path.stat().st_size == 0:
        return
    for row in open_source(path).iterate():
        if ProblemKey(year=row.integer("year"), id=row.identifier(id_column)) not in replaced:
            yield dict(row.values)
