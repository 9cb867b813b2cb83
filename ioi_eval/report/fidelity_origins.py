"""Where the packages of the table of official tasks are from: for each importer, whose packages were judged.

Statements that all come from one author show that one author's habits are understood. So the page says which importer
read a task, and who made its package.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ioi_eval.errors import InputError
from ioi_eval.report.markdown import markdown_table

IMPORTERS = ("cms", "italian-yaml", "kattis", "library-checker", "tps")
_HEAD = ("importer", "tasks", "from", "by")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Packages of one author.

    Args:
        importer: the format that `ioi-eval import` read them in.
        source: the repository.
        by: who made them, as the package or the repository's history says.
        tasks: the tasks' keys (`2024/machine`).
    """

    importer: str
    source: str
    by: str
    tasks: tuple[str, ...]


def read_origins(path: Path) -> tuple[Origin, ...]:
    """Read origins from TOML: `[[package]]` with importer, source, by and tasks.

    Raises:
        InputError: the file cannot be read, an entry lacks something, or a task is in two of them.
    """
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("package", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    origins = tuple(_origin(path, number, entry) for number, entry in enumerate(entries, 1))
    tasks = [task for origin in origins for task in origin.tasks]
    if twice := sorted({task for task in tasks if tasks.count(task) > 1}):
        raise InputError(f"{path}: {', '.join(twice)} is in two packages; name each task once")
    return origins


def _origin(path: Path, number: int, entry: Mapping[str, Any]) -> Origin:
    tasks: Any = entry.get("tasks")
    good = all(isinstance(entry.get(name), str) and entry[name].strip() for name in ("importer", "source", "by"))
    good = good and isinstance(tasks, list) and bool(tasks) and all(isinstance(task, str) for task in tasks)
    if not good or set(entry) - {"importer", "source", "by", "tasks"} or entry["importer"] not in IMPORTERS:
        raise InputError(
            f"{path}, package {number}: it needs source, by, a list of tasks, and an importer: {', '.join(IMPORTERS)}"
        )
    return Origin(importer=entry["importer"], source=entry["source"], by=entry["by"], tasks=tuple(tasks))


def origins_section(origins: Sequence[Origin], judged: Collection[str]) -> str:
    """The section that says where the packages of these tasks are from, in Markdown; empty if nothing is known.

    Args:
        origins: of these, and maybe of others.
        judged: the keys of all tasks in the table.
    """
    shown = [(one, [task for task in one.tasks if task in judged]) for one in origins]
    rows = sorted((one.importer, ", ".join(tasks), one.source, one.by) for one, tasks in shown if tasks)
    return f"## Where the packages are from\n\n{markdown_table(_HEAD, rows)}" if rows else ""


def without_origin(origins: Sequence[Origin], judged: Collection[str]) -> tuple[str, ...]:
    """The tasks in the table of which nobody says where they are from."""
    known = {task for origin in origins for task in origin.tasks}
    return tuple(sorted(set(judged) - known))
