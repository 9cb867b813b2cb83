"""`report.html`: one file for readers, which works without a network and without other software than a browser.

It contains numbers and programs as JSON, compressed if that saves space; scripts and styles are those of
`report/page/`. Submissions are untrusted, so they never become markup: they are in JSON without any `<`, or in base64;
the scripts insert them as text only; and the page's policy (CSP) allows only those scripts, by their hashes, and no
requests.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any, BinaryIO

from ioi_eval.errors import InputError
from ioi_eval.model import Verdict
from ioi_eval.model.apps import difficulty_order
from ioi_eval.report.groups import label_of
from ioi_eval.report.html_cells import CURVE_KS, cells_of
from ioi_eval.report.html_details import Details, mebibytes, packed, visible
from ioi_eval.report.html_rows import GROUP, PageProblem, PageResults, PageRow
from ioi_eval.report.result_sets import Family
from ioi_eval.report.result_values import PRACTICE, VERDICT_NAMES, NamedRow
from ioi_eval.report.run_summary import time_of
from ioi_eval.report.selection_table import RANKED_METHODS, contests_by_group
from ioi_eval.report.standings import Standings, published_cutoffs
from ioi_eval.report.texts import counted, points, printable
from ioi_eval.selection import ResultRow, SelectionMethod
from ioi_eval.version import __version__

MAX_ROWS = 100_000
"""The most rows in the table; charts use all rows."""

_MAX_BYTES = 4_900_000  # of a page, unless its table is very large
_LEAST_DETAILS = 1_500_000  # bytes for programs and tests, however large the table is
_PLAIN_SUMMARY = 200_000  # not compressed up to this size, so that browsers that cannot unpack show charts
_PAGE = Path(__file__).with_name("page")
_SCRIPTS = ("data.js", "charts.js", "sections.js", "table.js", "main.js")
_NOTES = 50
_FACTS = ("name", "day", "date")  # of a problem, which a directory may not state
_MAX_GROUPS = 40
_OTHERS = "(all others)"

_GroupKey = tuple[int, str]
"""A directory's position, and the model or other value by which its rows are grouped."""

_FIELD = re.compile(r"%([A-Z]+)%")


class Page:
    """The results of some directories, read and added up.

    Args:
        directories: written by runs, all for the same family of problems.
        id_column: the column that names a submission, in results that have it; by default that of each run.
        by: the columns to group by; by default those of each run.
        standings: the contests with whose contestants groups are compared.
    """

    def __init__(
        self,
        directories: Sequence[Path],
        *,
        id_column: str | None = None,
        by: tuple[str, ...] | None = None,
        standings: Sequence[Standings] | None = None,
    ) -> None:
        self.results = [PageResults(directory, index, id_column, by) for index, directory in enumerate(directories)]
        _check_together(self.results)
        self.rows: list[PageRow] = [row for results in self.results for row in results.page_rows()]
        problems: dict[str, list[PageProblem]] = {}
        for results in self.results:
            for name, problem in results.problems.items():
                problems.setdefault(name, []).append(problem)
                _check_same(name, problems[name][0], problem, results.directory)
        self._problems = {name: _joined_problem(same) for name, same in problems.items()}
        for name, same in problems.items():
            for problem in same:  # a directory may state no limit
                problem.time_limit_s = problem.time_limit_s or self._problems[name].time_limit_s
                problem.memory_limit_bytes = problem.memory_limit_bytes or self._problems[name].memory_limit_bytes
        counts = Counter((row.directory, row.model) for row in self.rows)
        self._names = _names_of_groups(self.results, counts)
        self.group_names, self._groups = _groups_on_page(self._names, counts)
        self._cells = cells_of(self.rows, self._groups, [results.problems for results in self.results])
        self._order = sorted(self._problems, key=self._sort_key)
        self.contests = self._contests(published_cutoffs() if standings is None else standings)

    @property
    def family(self) -> Family:
        """The kind of problems."""
        return self.results[0].family

    def grouped_rows(self) -> Iterator[NamedRow]:
        """All rows as in the files, each with the name of its group in the column `GROUP`; no groups are joined."""
        for kept, name, row in self._rows_again():
            yield name, {**row, GROUP: self._names[kept.directory, kept.model]}

    def _rows_again(self) -> Iterator[tuple[PageRow, str, ResultRow]]:
        """All rows as in the files, each after what the page has of it, and its name."""
        kept_rows = iter(self.rows)
        for results in self.results:
            for (name, row), kept in zip(results.named_rows(), kept_rows, strict=False):
                yield kept, name, row

    def write(self, file: BinaryIO, *, noscript: str = "") -> None:
        """Write the page, with a text that is shown if scripts are disabled."""
        in_table = self.rows[:MAX_ROWS]
        table = self._table(in_table)
        parts = [("summary", packed(self._summary(), plain=_PLAIN_SUMMARY)), ("rows", packed(table))]
        used = sum(len(text) for _, (_, text) in parts) + 4 * len(in_table) + len(noscript) + 100_000
        details = Details(self.results, max(_LEAST_DETAILS, _MAX_BYTES - used))
        details.fill(in_table, self._groups)
        if details.positions:
            table["detail"] = [details.positions.get(index, (-1, 0)) for index in range(len(in_table))]
            parts[1] = ("rows", packed(table))
        parts += [("inputs", details.inputs), *((f"block-{n}", block) for n, block in enumerate(details.blocks))]
        for text in self._document(parts, noscript):
            file.write(text.encode())

    def _document(self, parts: Sequence[tuple[str, tuple[str, str]]], noscript: str) -> Iterator[str]:
        style = (_PAGE / "page.css").read_text(encoding="utf-8")
        script = '"use strict";\n' + "\n".join((_PAGE / name).read_text(encoding="utf-8") for name in _SCRIPTS)
        policy = (
            f"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src '{_hash(style)}'; "
            f"script-src '{_hash(script)}'"
        )
        names = [printable(str(results.directory.name or results.directory)) for results in self.results]
        fields = {
            "POLICY": policy,
            "MADE": f"ioi_eval {__version__}",
            "TITLE": escape(f"Report: {', '.join(names)}"),
            "WITHOUT": escape(visible(noscript)),
            "STYLE": style,
        }
        head, body = (_PAGE / "page.html").read_text(encoding="utf-8").split("<!-- data -->")
        yield _FIELD.sub(lambda match: fields[match[1]], head)
        for name, (how, text) in parts:
            yield f'<script type="text/plain" id="{name}" data-packed="{how}">{text}</script>\n'
        yield f"<script>{script}</script>{body}"

    def _sort_key(self, name: str) -> tuple[Any, ...]:
        problem = self._problems[name]
        numbered = name.rjust(20) if name.isdigit() else name
        return difficulty_order(problem.bucket), problem.day, numbered

    def _summary(self) -> dict[str, Any]:
        indices = {name: index for index, name in enumerate(self._order)}
        cells = sorted(self._cells.items(), key=lambda item: (item[0][0], indices[item[0][1]]))
        return {
            "made": __version__,
            "family": self.family.name.lower(),
            "groups": self.group_names,
            "ks": CURVE_KS,
            "verdicts": [verdict.value for verdict in Verdict],
            "verdict_names": {str(verdict): name for verdict, name in VERDICT_NAMES.items()},
            "problems": [{"id": name, **self._problems[name].as_dict()} for name in self._order],
            "cells": [[group, indices[name], cell.as_dict()] for (group, name), cell in cells],
            "refused": sum(not row.verdict for row in self.rows),
            "rows": len(self.rows),
            "shown": min(len(self.rows), MAX_ROWS),
            "runs": [_run(results) for results in self.results],
            "contests": self.contests,
        }

    def _contests(self, standings: Sequence[Standings]) -> list[dict[str, Any]]:
        """The ranks of groups among contestants. Rows are read again only if they have a contest's problems."""
        days = {name: problem.day for name, problem in self._problems.items()}
        near = [
            item for item in standings if any(item.has(name, practice=day == PRACTICE) for name, day in days.items())
        ]
        if self.family is Family.APPS or not near:
            return []
        rows = (
            (self.group_names[self._groups[kept.directory, kept.model]], kept.problem, row)
            for kept, _, row in self._rows_again()
            if kept.verdict
        )
        by_name: dict[str, dict[str, Any]] = {}
        for group, contests in contests_by_group(rows, days, near).items():
            for item in contests:
                names = {"name": printable(item["name"]), "source": printable(item["source"], length=200)}
                facts = {name: item[name] for name in ("cutoffs", "contestants")}
                entry = by_name.setdefault(item["name"], {**names, **facts, "groups": []})
                total, index = item["scores"][SelectionMethod.ROUND_ROBIN].value, self.group_names.index(group)
                entry["groups"].append((-total, index, {"group": index, **_points_and_ranks(item)}))
        for entry in by_name.values():
            entry["groups"] = [values for _, _, values in sorted(entry["groups"])]
        return list(by_name.values())

    def _table(self, rows: Sequence[PageRow]) -> dict[str, Any]:
        """The table by columns, which compresses better; numbers are rounded as shown. `detail` is filled later."""
        problems = {name: index for index, name in enumerate(self._order)}
        verdicts = {verdict.value: index for index, verdict in enumerate(Verdict)}
        return {
            "id": [row.id for row in rows],
            "directory": [row.directory for row in rows] if len(self.results) > 1 else [],
            "line": [row.number for row in rows],
            "group": [self._groups[row.directory, row.model] for row in rows],
            "problem": [problems.get(row.problem, -1) for row in rows],
            "verdict": [verdicts.get(row.verdict, -1) for row in rows],
            "original": _originals(rows),
            "score": [None if row.score is None else round(row.score, 4) for row in rows],
            "time": [None if row.time_s is None else round(row.time_s, 3) for row in rows],
            "memory": [None if (size := row.memory_bytes) is None else mebibytes(size) for row in rows],
            "near": [index for index, row in enumerate(rows) if row.near_limit],
            "copy": [index for index, row in enumerate(rows) if row.original is not None],
            "detail": [],
        }


def _check_together(results: Sequence[PageResults]) -> None:
    """Refuse directories that cannot be in one report: one is named twice, or they are of different families."""
    first = results[0]
    for index, result in enumerate(results):
        if any(result.directory.resolve() == other.directory.resolve() for other in results[:index]):
            raise InputError(f"{result.directory} is named twice: its rows would count twice; name it once")
        if result.family is not first.family:
            raise InputError(
                f"{first.directory} holds results of {first.family}, {result.directory} of {result.family}: "
                "make a report of each"
            )


def _check_same(name: str, first: PageProblem, other: PageProblem, directory: Path) -> None:
    if first.subtasks != other.subtasks:
        raise InputError(
            f"{directory}: problem {name} was judged with other subtasks than in the directories before it; make a "
            "report of each"
        )


def _joined_problem(problems: Sequence[PageProblem]) -> PageProblem:
    """A problem as the page shows it, from that of each directory: with the first title, day and date that are known,
    and with a limit if all that state one state the same."""
    facts: dict[str, Any] = {
        name: next(filter(None, (getattr(each, name) for each in problems)), "") for name in _FACTS
    }
    time_s = {problem.time_limit_s for problem in problems} - {None, 0}
    memory = {problem.memory_limit_bytes for problem in problems} - {None, 0}
    return replace(
        problems[0],
        **facts,
        time_limit_s=time_s.pop() if len(time_s) == 1 else None,
        memory_limit_bytes=memory.pop() if len(memory) == 1 else None,
    )


def _names_of_groups(results: Sequence[PageResults], keys: Collection[_GroupKey]) -> dict[_GroupKey, str]:
    """The name of each group: a model, with the directory if dumps name none or several have the same one."""
    models = Counter(model for _, model in keys)
    names = {}
    for directory, model in keys:
        is_needed = len(results) > 1 and (models[model] > 1 or not model)
        label = label_of(str(results[directory].directory)) if is_needed else ""
        names[directory, model] = ": ".join(filter(None, [label, model])) or "all submissions"
    return names


def _groups_on_page(
    names: Mapping[_GroupKey, str], counts: Counter[_GroupKey]
) -> tuple[list[str], dict[_GroupKey, int]]:
    """The names of the groups on the page in the order of the rows, and the position of each group among them.

    If there are too many groups, the smallest are joined, as the column is probably not the name of a model.
    """
    largest = {key for key, _ in counts.most_common(_MAX_GROUPS)}
    positions: dict[str, int] = {}
    groups = {
        key: positions.setdefault(name if key in largest else _OTHERS, len(positions)) for key, name in names.items()
    }
    return list(positions), groups


def _originals(rows: Sequence[PageRow]) -> list[int]:
    """For each copy the position of the submission whose result it has; -1 if that is not among these rows."""
    positions: dict[tuple[int, str, str], int] = {}
    for index, row in enumerate(rows):
        if row.original is None:
            positions.setdefault((row.directory, row.problem, row.id), index)
    copies = ((row.directory, row.problem, row.original) for row in rows if row.original is not None)
    return [positions.get(original, -1) for original in copies]


def _points_and_ranks(contest: Mapping[str, Any]) -> dict[str, Any]:
    """Points and rank of a group for each method, and why the points are a lower bound, if they are."""
    scores, ranks, full = contest["scores"], contest["ranks"], points(contest["full_marks"])
    texts = [[f"{points(scores[method].value)} of {full}", ranks[method].text()] for method in RANKED_METHODS]
    judge_errors = f"{counted(contest['unscored'], 'submission')} without a score (JE): the points are a lower bound."
    return {
        "ways": [": ".join(filter(None, text)) for text in texts],
        "meaning": ranks[SelectionMethod.ROUND_ROBIN].meaning(),
        "note": " ".join(filter(None, [contest["warning"], judge_errors if contest["unscored"] else ""])),
    }


def _run(results: PageResults) -> dict[str, Any]:
    """The facts about a directory's run, from its summary; nearly empty if there is no summary."""
    summary = results.summary
    directory = printable(str(results.directory))
    return {
        "directory": directory,
        "complete": bool(summary.get("complete", True)),
        "interrupted": bool(summary.get("interrupted")),
        "pending": results.pending.warning(directory) if results.pending else "",
        "finished": printable(time_of(summary, "finished"), length=40),
        "notes": [printable(str(note)) for note in (summary.get("notes") or [])[:_NOTES]],
    }


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
