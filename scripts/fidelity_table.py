#!/usr/bin/env python3
"""Make `docs/fidelity.md` from the results of `ioi-eval validate … --out DIR`.

    scripts/fidelity_table.py DIR…

Each DIR has a `validation.json`. Rows of the page about other tasks are kept, and marked. Exit code 1 if a disagreement
has no reason in `docs/fidelity-reasons.toml`, or a task has no origin in `docs/fidelity-packages.toml`; 2 if something
cannot be read.

Reasons are stored apart from results, by problem, solution and subtask, so that the table can be made again after
every run. A disagreement without a reason is still unexplained; a reason without a disagreement is outdated, or applies
to another machine.

Packages are not always available. So a task's earlier rows are kept until it is judged again, with a mark that they are
not results of the present code.

Agreement with one author only shows that we read this author's packages correctly. So the page names the importer and
the author of each package.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environment import use_environment

if __name__ == "__main__":
    use_environment()

from ioi_eval.errors import InputError
from ioi_eval.report.markdown import cell, markdown_table
from ioi_eval.report.validation import evidence_of

DOCS = Path(__file__).resolve().parent.parent / "docs"
EARLIER_MARK = "†"
IMPORTERS = ("cms", "italian-yaml", "kattis", "library-checker", "polygon", "tps")
_COUNTS = re.compile(rf"\| (\S+)(?: {EARLIER_MARK})? ((?:\| \d+ ){{6}})\|")
_ORIGINS_HEAD = ("importer", "tasks", "from", "by")
_HEAD = ("task", "solutions", "stated", "agree", "disagree", "not judged", "times near the limit")
_OTHERWISE_HEAD = ("task", "solution", "subtask", "stated", "seen", "the test that decided", "why")
_NEAR_HEAD = ("task", "solution", "tests", "verdicts", "closest", "of the limit")
_OPEN = "**not explained yet**"
_REFUSED_ROW = re.compile(r"\S+, row \d+(?: \(.*?\))?: (.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """The reason why an author's statement about a solution does not hold.

    Args:
        problem: the task's key (`2024/machine`).
        solutions: the labels of the solutions with this reason.
        where: the subtasks that it explains; all if empty.
        text: the reason, in Markdown.
    """

    problem: str
    solutions: tuple[str, ...]
    where: tuple[str, ...] = ()
    text: str

    def explains(self, row: Sequence[str]) -> bool:
        """Whether it explains the disagreement in a row of the table, whose first cells are task, solution, subtask."""
        task, solution, subtask, *_ = row
        return (
            task == cell(self.problem)
            and solution in map(cell, self.solutions)
            and (not self.where or subtask in map(cell, self.where))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Packages of one author.

    Args:
        importer: the format that `ioi-eval import` read them in.
        source: the repository.
        by: who made them, according to the package or the repository's history.
        tasks: the tasks' keys (`2024/machine`).
    """

    importer: str
    source: str
    by: str
    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRows:
    """Rows of the earlier document that are kept.

    Args:
        counts: the numbers of each task, by its key.
        disagreements: unchanged lines of the table of disagreements; their reasons are looked up again.
        near: unchanged lines of the table of times close to a limit.
    """

    counts: tuple[tuple[str, tuple[int, ...]], ...] = ()
    disagreements: tuple[str, ...] = ()
    near: tuple[str, ...] = ()

    @classmethod
    def read(cls, document: str, judged: Collection[str]) -> EarlierRows:
        """Read the rows of tasks that were not judged again.

        Args:
            document: the Markdown of the earlier document; empty for none.
            judged: the tasks that were judged again, by their keys.
        """
        counts, *sections = document.split("\n## ")
        matches = [match for line in counts.splitlines() if (match := _COUNTS.fullmatch(line))]
        numbers_by_task = {match[1]: tuple(map(int, re.findall(r"\d+", match[2]))) for match in matches}
        numbers_by_task = {
            key: numbers for key, numbers in numbers_by_task.items() if key != "all" and key not in judged
        }
        return cls(
            counts=tuple(numbers_by_task.items()),
            disagreements=_lines_below(sections, "What came out otherwise", numbers_by_task),
            near=_lines_below(sections, "Times near a time limit", numbers_by_task),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FidelityTable:
    """The document, and what it lacks.

    Args:
        markdown: the document.
        unexplained: how many disagreements have no reason, including those of earlier rows.
        unused: the reasons that explain no disagreement.
        tasks_without_origin: the tasks without a known origin, if any origins are given.
    """

    markdown: str
    unexplained: int
    unused: tuple[Reason, ...]
    tasks_without_origin: tuple[str, ...] = ()


def read_reasons(path: Path) -> tuple[Reason, ...]:
    """Read reasons from TOML: `[[reason]]` with problem, solutions, optionally where, and text.

    Raises:
        InputError: the file cannot be read, or an entry lacks something.
    """
    return tuple(_reason(path, number, entry) for number, entry in enumerate(_entries(path, "reason"), 1))


def _entries(path: Path, table: str) -> Sequence[Mapping[str, Any]]:
    try:
        entries: Sequence[Mapping[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8")).get(table, [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    return entries


def _reason(path: Path, number: int, entry: Mapping[str, Any]) -> Reason:
    texts, lists = ("problem", "text"), ("solutions", "where")
    good = all(isinstance(entry.get(name), str) and entry[name].strip() for name in texts) and all(
        isinstance(value, list) and all(isinstance(item, str) for item in value)
        for value in (entry.get("solutions"), entry.get("where", []))
    )
    if not good or set(entry) - {*texts, *lists}:
        raise InputError(f"{path}, reason {number}: it needs problem and text, and lists of solutions and where")
    return Reason(
        problem=entry["problem"],
        solutions=tuple(entry["solutions"]),
        where=tuple(entry.get("where", ())),
        text=" ".join(entry["text"].split()),
    )


def read_origins(path: Path) -> tuple[Origin, ...]:
    """Read origins from TOML: `[[package]]` with importer, source, by and tasks.

    Raises:
        InputError: the file cannot be read, an entry lacks something, or a task is in two of them.
    """
    origins = tuple(_origin(path, number, entry) for number, entry in enumerate(_entries(path, "package"), 1))
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


def fidelity_table(
    validations: Sequence[Mapping[str, Any]],
    reasons: Sequence[Reason],
    document: str = "",
    origins: Sequence[Origin] = (),
) -> FidelityTable:
    """The document with the table of official tasks.

    Args:
        validations: values from `Validation.as_dict`; each problem is in only one of them.
        reasons: the reasons for disagreements.
        document: the earlier document; rows of tasks that are in no validation are kept, with a mark.
        origins: where packages are from.

    Raises:
        InputError: a problem is in two validations, or one was interrupted.
    """
    if any(values.get("pending") for values in validations):
        raise InputError("one of the validations was interrupted before all its solutions were judged; make it anew")
    keys = [key for values in validations for key in values["problems"]]
    if twice := sorted({key for key in keys if keys.count(key) > 1}):
        raise InputError(f"{', '.join(twice)} was validated in several of the given directories; give each once")
    earlier = EarlierRows.read(document, keys)
    judged_rows = [tuple(map(cell, _facts(entry))) for values in validations for entry in values["disagreements"]]
    rows = [*judged_rows, *(tuple(line[2:].split(" | ")[:-1]) for line in earlier.disagreements)]
    reason_of = {row: next((reason for reason in reasons if reason.explains(row)), None) for row in rows}
    parts = [_INTRODUCTION, markdown_table(_HEAD, _rows(validations, earlier))]
    if earlier.counts:
        parts.append(_EARLIER)
    judged = {*keys, *dict(earlier.counts)}
    parts += filter(None, [origins_section(origins, judged)])
    if rows:
        parts += _otherwise(rows, reason_of)
    near = [f"| {' | '.join(map(cell, row))} |" for row in _near_limit_rows(validations)]
    if near or earlier.near:
        parts += [_NEAR_LIMIT, _table(_NEAR_HEAD, near, earlier.near)]
    failed = [line for values in validations for line in (*values["undecided"], *values["refused"])]
    if failed:
        parts += ["## Not judged", _not_judged(failed)]
    targets = sorted({target for values in validations for target in values["targets"]})
    parts += ["## Judged by", "\n".join(f"- {cell(target)}" for target in targets)]
    return FidelityTable(
        markdown="\n\n".join(parts) + "\n",
        unexplained=sum(reason_of[row] is None for row in rows),
        unused=tuple(
            reason
            for reason in reasons
            if reason.problem not in dict(earlier.counts) and not any(map(reason.explains, judged_rows))
        ),
        tasks_without_origin=without_origin(origins, judged) if origins else (),
    )


def _rows(validations: Sequence[Mapping[str, Any]], earlier: EarlierRows) -> list[tuple[str, ...]]:
    counted = [_count(key, values) for values in validations for key in values["problems"]]
    counted += [(f"{key} {EARLIER_MARK}", numbers) for key, numbers in earlier.counts]
    sums = tuple(sum(column) for column in zip(*(numbers for _, numbers in counted), strict=True))
    return [(key, *map(str, numbers)) for key, numbers in (*sorted(counted), ("all", sums))]


def _count(key: str, values: Mapping[str, Any]) -> tuple[str, tuple[int, ...]]:
    counts = values["problems"][key]
    disagreements = sum(entry["problem"] == key for entry in values["disagreements"])
    stated, agree = counts["statements"], counts["agreements"]
    near = sum(entry["problem"] == key for entry in values["near_limit"])
    return key, (counts["solutions"], stated, agree, disagreements, stated - agree - disagreements, near)


def _near_limit_rows(validations: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """A row for each solution that came close to a limit, the closest first within its task."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for values in validations:
        for entry in values["near_limit"]:
            groups.setdefault((entry["problem"], entry["solution"]), []).append(entry)
    rows = []
    for (problem, solution), times in groups.items():
        closest = min(times, key=lambda entry: abs(entry["margin"]))
        verdicts = ", ".join(sorted({entry["verdict"] for entry in times}))
        figures = (f"{closest['cpu_s']:.3f} s in {closest['test']}", f"{1 - closest['margin']:.1%}")
        rows.append((abs(closest["margin"]), (problem, solution, str(len(times)), verdicts, *figures)))
    return [row for _, row in sorted(rows, key=lambda pair: (pair[1][0], pair[0], pair[1]))]


def _facts(disagreement: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        disagreement["problem"],
        disagreement["solution"],
        disagreement["where"],
        disagreement["stated"],
        disagreement["seen"],
        evidence_of(disagreement),
    )


def origins_section(origins: Sequence[Origin], judged: Collection[str]) -> str:
    """The section that says where the packages of these tasks are from, in Markdown; empty if no origin is known.

    Args:
        origins: the origins of these tasks, and possibly of others.
        judged: the keys of all tasks in the table.
    """
    with_tasks = [(origin, [task for task in origin.tasks if task in judged]) for origin in origins]
    rows = sorted(
        (origin.importer, ", ".join(tasks), origin.source, origin.by) for origin, tasks in with_tasks if tasks
    )
    return f"## Where the packages are from\n\n{markdown_table(_ORIGINS_HEAD, rows)}" if rows else ""


def without_origin(origins: Sequence[Origin], judged: Collection[str]) -> tuple[str, ...]:
    """The tasks in the table without a known origin."""
    known = {task for origin in origins for task in origin.tasks}
    return tuple(sorted(set(judged) - known))


def _lines_below(sections: Collection[str], title: str, tasks: Collection[str]) -> tuple[str, ...]:
    lines = next((section.splitlines() for section in sections if section.startswith(title)), [])
    return tuple(line for line in lines if line.startswith(tuple(f"| {key} | " for key in tasks)))


def _otherwise(rows: Sequence[tuple[str, ...]], reason_of: Mapping[tuple[str, ...], Reason | None]) -> list[str]:
    """The section on disagreements: a table that names reasons by number, and the reasons, each once."""
    numbers: dict[str, int] = {}
    lines = []
    for row in sorted(rows, key=lambda row: row[0]):
        reason = reason_of[row]
        why = _OPEN if reason is None else str(numbers.setdefault(reason.text, len(numbers) + 1))
        lines.append(f"| {' | '.join((*row, why))} |")
    texts = "\n".join(f"{number}. {text}" for text, number in numbers.items())
    introduction = "The last column has the number of the reason in the list below the table."
    return ["## What came out otherwise", introduction, _table(_OTHERWISE_HEAD, lines, ()), *filter(None, [texts])]


def _not_judged(messages: Sequence[str]) -> str:
    """A list of what was not judged. Rows that were refused for the same reason are counted together."""
    refused = Counter(match[1] for message in messages if (match := _REFUSED_ROW.fullmatch(message)))
    others = [message for message in messages if not _REFUSED_ROW.fullmatch(message)]
    counted = [f"{count} {'row' if count == 1 else 'rows'}: {reason}" for reason, count in refused.most_common()]
    return "\n".join(f"- {cell(line)}" for line in (*others, *counted))


def _table(head: Sequence[str], lines: Sequence[str], earlier: Sequence[str]) -> str:
    """A table of these lines and of earlier lines of other tasks, sorted by task."""
    rows = sorted((*lines, *earlier), key=lambda line: line.split(" | ", 1)[0])
    return "\n".join([f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *rows])


_EARLIER = f"{EARLIER_MARK} Found earlier, by an older version of the code; not judged again."

_NEAR_LIMIT = """\
## Times near a time limit

On a slower or faster machine these may fall on the other side (`ioi-eval doctor --calibrate`, `--time-scale`)."""

_INTRODUCTION = """\
# Fidelity: official tasks

This page compares our verdicts for official solutions, judged on every test, with those that their authors state. TPS
and Kattis packages state a verdict for each subtask, CMS exports a label for the whole solution, Library Checker a
verdict, Polygon a tag for the whole solution and for some groups of tests, and the Italian format which solution is the
model, and for some solutions the result in each subtask. `docs/validation.md` says which verdict agrees with which
label. The packages are not part of this project. This file is generated:

    ioi-eval import cms PACKAGE… --year 2024 --out 2024        (import tps TASK…, import kattis PACKAGE… likewise)
    ioi-eval validate 2024/solutions.jsonl --problems 2024/problems.jsonl --tests 2024/tests.jsonl --out found/2024
    scripts/fidelity_table.py found/2024 …

Reasons for what came out otherwise are from `docs/fidelity-reasons.toml`, the origins of packages from
`docs/fidelity-packages.toml`. Rows of tasks that are in none of the given directories are kept from the last version of
this file, and marked. Most formats state no year. The year before a task's name is the one that was given to the
import; it tells tasks of the same name apart."""


def main(directories: list[str]) -> int:
    """Write the page; print the disagreements without a reason, and the reasons that are not needed."""
    try:
        validations = [_read(Path(name) / "validation.json") for name in directories]
        document = DOCS / "fidelity.md"
        before = document.read_text(encoding="utf-8") if document.exists() else ""
        origins = read_origins(DOCS / "fidelity-packages.toml")
        table = fidelity_table(validations, read_reasons(DOCS / "fidelity-reasons.toml"), before, origins)
    except (OSError, ValueError, KeyError, InputError) as error:
        print(f"fidelity_table: {error}", file=sys.stderr)
        return 2
    document.write_text(table.markdown, encoding="utf-8")
    for reason in table.unused:
        print(f"no disagreement for this reason: {reason.problem}, {', '.join(reason.solutions)}", file=sys.stderr)
    if table.tasks_without_origin:
        tasks = ", ".join(table.tasks_without_origin)
        print(f"docs/fidelity-packages.toml does not say where these are from: {tasks}", file=sys.stderr)
    print(f"{document}: {table.unexplained} disagreements are not explained")
    return 1 if table.unexplained or table.tasks_without_origin else 0


def _read(path: Path) -> dict[str, Any]:
    values = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(values, dict) or values.get("format") != 1:
        raise InputError(f"{path} was not written by this version of `ioi-eval validate --out`; make it again")
    return values


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 2)
    sys.exit(main(sys.argv[1:]))
