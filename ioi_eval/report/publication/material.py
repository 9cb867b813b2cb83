"""What formats are made from: the rows of a directory, their groups, and the numbers of each group."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from ioi_eval.errors import ODD_DATA, InputError, similar
from ioi_eval.estimates import Estimate, means_of_problems
from ioi_eval.report.groups import MAX_GROUPS, MODEL_COLUMNS, NONE, Grouping, group_name
from ioi_eval.report.result_files import not_a_result_row
from ioi_eval.report.result_sets import Family, ResultSet
from ioi_eval.report.result_values import (
    deciding_test_name,
    full_marks_of,
    message_of_test,
    share_of,
    tests_of,
    verdict_of,
)
from ioi_eval.report.texts import excerpt, points
from ioi_eval.rows import is_hub_id
from ioi_eval.selection import ResultRow

SCORE = "score"
"""The metric that is the mean share of the points, or of the tests."""

_MODEL = "model"


@dataclass(slots=True, kw_only=True)
class ModelGroup:
    """The submissions of one model, or of one group of another kind.

    Args:
        name: its name in reports; empty if there are no groups.
        model: the name of the model in its rows; empty if no column has it.
        values: the values that its rows have in common, by column.
        unscored: how many rows have no score (not judged, or JE).
        shares, solved, full: for each problem the shares of the submissions with a score, how many of these have full
            marks, and what full marks are.
        is_part: whether submissions of the run are not judged yet; then means have no intervals.
    """

    name: str
    model: str
    values: Mapping[str, str]
    rows: int = 0
    unscored: int = 0
    shares: dict[str, list[float]] = field(default_factory=dict)
    solved: dict[str, int] = field(default_factory=dict)
    full: dict[str, float] = field(default_factory=dict)
    is_part: bool = False

    def add(self, problem: str, row: ResultRow) -> None:
        """Add a row of results."""
        self.rows += 1
        share = share_of(row)
        if verdict_of(row) and (share is not None or "all_subtasks_results" in row):  # as in `summary.json`
            self.shares.setdefault(problem, [])
            self.full[problem] = full_marks_of(row)
        if share is None:
            self.unscored += 1
            return
        self.shares[problem].append(share)
        self.solved[problem] = self.solved.get(problem, 0) + (verdict_of(row) == "AC")

    @property
    def metrics(self) -> dict[str, Estimate]:
        """Means over problems, the same as in `summary.json`: `score`, and `pass@1`, `pass@2`, …"""
        problems = []
        for problem, shares in self.shares.items():
            mean = math.fsum(shares) / len(shares) if shares and self.full[problem] else None
            problems.append((mean, len(shares), self.solved.get(problem, 0)))
        average, passing = means_of_problems(problems, intervals=not self.is_part)
        named = {f"pass@{k}": estimate for k, estimate in passing.items()}
        return named if average is None else {SCORE: average, **named}


class Material:
    """The results of a directory, the columns to group them by, and the user's settings, for a format to write."""

    def __init__(self, results: ResultSet, *, grouping: Grouping, settings: Mapping[str, str]) -> None:
        self.results, self.grouping, self.settings = results, grouping, settings

    @cached_property
    def groups(self) -> Mapping[tuple[str, ...], ModelGroup]:
        """All groups by their labels, in the order of the rows; one group if there are no columns to group by."""
        columns = self.grouping.columns
        wanted = (*_READ, *self.results.naming_columns, *self.grouping.needed)
        by_labels: dict[tuple[str, ...], ModelGroup] = {}
        for number, row in enumerate(self.results.rows(wanted), 1):
            labels = self.grouping.labels(row)
            if labels not in by_labels:
                if len(by_labels) >= MAX_GROUPS:
                    raise InputError(
                        f"--by {','.join(columns)} makes more than {MAX_GROUPS} groups, which would be a file each: "
                        "choose columns with fewer values"
                    )
                by_labels[labels] = self._group(labels, row)
            try:
                by_labels[labels].add(self.results.name_of(row)[0], row)
            except ODD_DATA as error:
                raise not_a_result_row(self.results.path, number, error) from error
        return by_labels

    def _group(self, labels: tuple[str, ...], row: ResultRow) -> ModelGroup:
        columns = self.grouping.columns
        values = dict(zip(columns, labels, strict=True))
        likely = [name for name in columns if name.rpartition(".")[2].lower().startswith(_MODEL)]
        named = min(likely, key=lambda name: name.rpartition(".")[2] not in MODEL_COLUMNS, default=None)
        model = "" if named is None or values[named] == NONE else str(row.get(named) or values[named])
        return ModelGroup(
            name=group_name(columns, labels),
            model=model,
            values=values,
            is_part=bool(self.results.pending),
        )

    def group_of(self, row: ResultRow) -> ModelGroup:
        """The group of a row that has the columns of the grouping."""
        return self.groups[self.grouping.labels(row)]

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows, with their tests."""
        return self.results.rows(tests=True)

    def setting(self, key: str, otherwise: str = "") -> str:
        """The value of a user's setting, without blanks around it."""
        return self.settings.get(key, "").strip() or otherwise

    def model_of(self, group: ModelGroup) -> str:
        """The name of a group's model: from its rows, else from the user; empty if unknown."""
        return group.model or (self.setting(_MODEL) if len(self.groups) == 1 else "")

    @property
    def dataset(self) -> str:
        """The Hub id of the data set with the problems: the user's setting, else the run's source; empty if unknown."""
        if named := self.setting("dataset"):
            return named
        key = "dataset" if self.results.family is Family.APPS else "problems"
        source = self.results.options.get(key)
        return source if isinstance(source, str) and is_hub_id(source) else ""

    @cached_property
    def finished(self) -> datetime:
        """When the run finished, according to its summary; else when the file was written."""
        try:
            time = datetime.fromisoformat(str(self.results.summary.get("finished")))
        except ValueError:
            time = datetime.fromtimestamp(self.results.path.stat().st_mtime, UTC)
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)

    @property
    def family_name(self) -> str:
        """The family of problems: `contest` or `apps`."""
        return self.results.family.name.lower()


_READ = ("verdict", "total_score", "all_subtasks_results", "passed", "total")


def refuse_unknown(settings: Mapping[str, str], known: Mapping[str, str], name: str) -> None:
    """Refuse a setting of the user that is not among the `known` ones of the format `name`, by an `InputError`."""
    for key in settings:
        if key not in known:
            possible = "; ".join(f"{known_name}: {about}" for known_name, about in known.items()) or "none"
            near = similar(key, known)
            hint = f". Did you mean {near!r}?" if near else f"; it has {possible}"
            raise InputError(f"--set {key}: {name} has no such setting{hint}")


_LINES, _WIDTH = 10, 200


def headline(row: ResultRow) -> str:
    """`WA, 30 of 100 points`, or `WA, 3 of 4 tests`, or the reason why there is no score."""
    verdict = verdict_of(row)
    if share_of(row) is None:
        reason = excerpt(str(row.get("error") or row.get("message") or "no reason is recorded"), lines=1, width=_WIDTH)
        return f"{verdict or 'not judged'}: {' '.join(reason)}"
    if "all_subtasks_results" in row:
        total = row.get("total_score")
        return f"{verdict}, {points(total)} of {points(full_marks_of(row))} points"
    return f"{verdict}, {row.get('passed', '–')} of {row.get('total', '–')} tests"


def details(row: ResultRow) -> str:
    """The compiler's message, and the test that gave the verdict; empty if nothing failed."""
    parts = []
    if row.get("code_compiles") is False or verdict_of(row) in {"CE", "NC"}:
        parts += excerpt(str(row.get("compile_message") or row.get("message") or ""), lines=_LINES, width=_WIDTH)
    tests = tests_of(row)
    name = deciding_test_name(row)
    if name is not None:
        test = tests[name]
        first, *more = excerpt(message_of_test(test), lines=_LINES, width=_WIDTH) or [""]
        parts += [f"test {name}: {test['status']}{', ' if first else ''}{first}", *more]
    return "\n".join(parts)
