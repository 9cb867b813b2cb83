"""Two sets of results side by side: which verdicts changed and why, and whether a difference is more than chance.

The two results of a submission are a pair. Two models have no common submissions, so their problems are compared.
Submissions that one of the runs failed to judge are in no mean, and are counted separately.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import orjson

from ioi_eval.errors import InputError, listed, similar
from ioi_eval.estimates import LEAST_PROBLEMS, SIGNIFICANT, Estimate, mcnemar, mean_estimates, sign_flip
from ioi_eval.report.groups import NONE, Grouping, label_of
from ioi_eval.report.result_sets import Family, Name, ResultSet
from ioi_eval.report.result_values import share_of, verdict_of
from ioi_eval.report.texts import counted, printable

_COLUMNS = (
    "code", "verdict", "total_score", "all_subtasks_results", "passed", "total", "codes", "judged_by",
    "fingerprint", "target", "isolation", "time_scale", "near_limit",
)  # fmt: skip
_LIMITS = ("time_limit_s", "memory_limit_bytes")
_RULES = ("std", "python", "near_limit_repeats", "score_only", "fix_includes", "conventions", "fail_fast", "profile")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFilter:
    """Selects the rows of a set that have a value in a column; all rows if no column is named."""

    column: str = ""
    value: str = ""

    @classmethod
    def parse(cls, text: str) -> RowFilter:
        """Read `COLUMN=VALUE`."""
        column, equals, value = text.partition("=")
        if not equals or not column:
            raise InputError(f"{text!r} must be COLUMN=VALUE, as in model=o3")
        return cls(column=column, value=value)

    @property
    def labels(self) -> frozenset[tuple[str, ...]]:
        """The labels (`label_of`) of rows with the value: as text, and as a number if it is one (for 1.0: 1)."""
        labels = {(label_of(self.value),)}
        with suppress(ValueError):
            if math.isfinite(number := float(self.value)):
                labels.add((label_of(number),))
        return frozenset(labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a submission in one set.

    Args:
        verdict: empty if it was not judged.
        share: the share of the points, or of the tests; `None` if unknown.
        has_points: whether the problem is worth points; for APPS it always is.
        program: a hash of it.
        shape: a hash of the subtasks, or of the number of tests; `None` if another grader judged: its `total` is the
            number of its codes.
        rules: how it was judged, as far as its row states it.
    """

    verdict: str
    share: float | None
    has_points: bool
    program: bytes
    shape: bytes | None
    rules: str
    time_scale: float
    machine: tuple[str, str]
    near_limit: bool
    fingerprint: str

    @property
    def solved(self) -> bool:
        """Whether the verdict is AC."""
        return self.verdict == "AC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A pair whose two results differ in score or verdict."""

    name: Name
    before: Result
    after: Result
    reasons: tuple[str, ...]

    @property
    def flipped(self) -> bool:
        """Whether the verdict changed, and not only the score."""
        return self.before.verdict != self.after.verdict

    @property
    def worse(self) -> bool:
        """Whether the score is lower or no longer known, or only the first verdict is AC."""
        before, after = self.before, self.after
        if before.share is None or after.share is None:
            return before.share is not None
        return after.share < before.share or (before.solved and not after.solved)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The comparison of two sets.

    Args:
        pairs: the number of submissions in both; 0 if only problems are compared.
        only_before, only_after: how many submissions (or problems) only one of them has.
        missing: how many submissions of the first, with a verdict, the second does not have.
        unscored: how many pairs have no score in one of them; if only problems are compared, how many submissions of
            both have no score.
        problems: the number of problems in the means.
        with_points: how many of them are in the mean score: those that are worth points.
        changes: changed verdicts first, and of these the worse ones first.
        lost, won: how many pairs were solved only before, and only after.
        pending: how many submissions of each run are not judged yet. If there are any, there are no intervals and no p,
            as the judged submissions are not a random sample.
        p: p of McNemar's test; `None` if only problems are compared.
        means: means by name: `score before`, `score difference`, `solved before`, …
        sign_flip_p: p of the randomisation test of each difference that has an interval: `score`, `solved`.
    """

    family: Family
    pairs: int = 0
    only_before: int
    only_after: int
    missing: int = 0
    unscored: int
    problems: int
    with_points: int
    changes: tuple[Change, ...] = ()
    lost: int = 0
    won: int = 0
    pending: tuple[int, int] = (0, 0)
    p: float | None = None
    means: Mapping[str, Estimate]
    sign_flip_p: Mapping[str, float]
    notes: tuple[str, ...]

    @property
    def regressed(self) -> bool:
        """Whether a pair is worse or missing. For problems, whether the mean score fell by more than chance."""
        if not self.pairs:
            return self.more_than_chance("score") and self.means["score difference"].value < 0
        return bool(self.missing) or any(change.worse for change in self.changes)

    def interval_without_0(self, what: str) -> bool:
        """Whether the difference of this mean (`score`, `solved`) has an interval that does not contain 0."""
        difference = self.means.get(f"{what} difference", Estimate(value=0, low=None, high=None))
        return (difference.low or 0) > 0 or (difference.high or 0) < 0

    def more_than_chance(self, what: str) -> bool:
        """Whether its interval and the randomisation test both say so: alone, either is wrong too often."""
        return self.interval_without_0(what) and self.sign_flip_p[what] < SIGNIFICANT


def compare_runs(
    before: ResultSet,
    after: ResultSet,
    *,
    only: tuple[RowFilter, RowFilter] = (RowFilter(), RowFilter()),
    by_problem: bool = False,
) -> Comparison:
    """Compare two sets, which must be of one family and have something in common; with `by_problem` the means of
    problems, and no pairs of submissions."""
    if before.family is not after.family:
        raise InputError(
            f"{before.directory} holds results of {before.family}, {after.directory} of {after.family}: "
            "they cannot be compared"
        )
    old, new = sides = [_results(of, row_filter) for of, row_filter in zip((before, after), only, strict=True)]
    if by_problem:
        judged = [[name for name, result in side.items() if result.share is not None] for side in sides]
        comparison = _comparison_of_problems(before, after, sides, judged)
        if not comparison.problems:
            first, second = (listed(map(printable, dict.fromkeys(name[0] for name in side)), most=3) for side in judged)
            raise InputError(
                f"{before.directory} and {after.directory} have no problem in common that was judged in both: the first"
                f" has scores for {first}, the second for {second}; name results that have scores for the same problems"
            )
        return comparison
    common = [name for name in old if name in new]
    if not common:
        raise InputError(
            f"{before.directory} and {after.directory} have no submission in common: the first has {_such_as(old)}, "
            f"the second {_such_as(new)}. Name the column that names submissions with --id-column; different models "
            "are compared with --by-problem"
        )
    scored = [name for name in common if old[name].share is not None and new[name].share is not None]
    option_differences = _stated_differences(before, after)
    changed = [name for name in common if (old[name].verdict, old[name].share) != (new[name].verdict, new[name].share)]
    changes = [_change(name, old[name], new[name], option_differences) for name in changed]
    lost = sum(old[name].solved and not new[name].solved for name in scored)
    won = sum(new[name].solved and not old[name].solved for name in scored)
    comparison = _comparison_of_problems(before, after, sides, [scored, scored])
    return replace(
        comparison,
        pairs=len(common),
        only_before=len(old) - len(common),
        only_after=len(new) - len(common),
        missing=sum(name not in new and bool(result.verdict) for name, result in old.items()),
        unscored=len(common) - len(scored),
        changes=tuple(sorted(changes, key=lambda change: (not change.flipped, not change.worse, change.name))),
        lost=lost,
        won=won,
        p=None if any(comparison.pending) else mcnemar(lost, won),
    )


def _comparison_of_problems(
    before: ResultSet, after: ResultSet, sides: Sequence[Mapping[Name, Result]], judged: Sequence[Sequence[Name]]
) -> Comparison:
    """The means of problems, from the results of each side that count in them (`judged`)."""
    old, new = (_results_of_problems(side, names) for side, names in zip(sides, judged, strict=True))
    pending = (before.pending.count, after.pending.count)
    common = [problem for problem in old if problem in new]
    means, p_values, with_points = _means(common, old, new, intervals=not any(pending))
    return Comparison(
        family=before.family,
        only_before=len(old) - len(common),
        only_after=len(new) - len(common),
        unscored=sum(map(len, sides)) - sum(map(len, judged)),
        problems=len(common),
        with_points=with_points,
        pending=pending,
        means=means,
        sign_flip_p=p_values,
        notes=tuple(filter(None, [_note_on_versions(before, after)])),
    )


def _results(of: ResultSet, only: RowFilter) -> dict[Name, Result]:
    """The result of each submission; of several rows with its name, the first that was judged. Unnamed rows differ."""
    grouping = Grouping(columns=(only.column,) if only.column else ())
    wanted = only.labels
    by_name: dict[Name, Result] = {}
    found: dict[str, None] = {}
    for number, row in enumerate(of.rows((*_COLUMNS, *of.naming_columns, *grouping.needed)), 1):
        if grouping.columns:
            labels = grouping.labels(row)
            found |= dict.fromkeys(labels)
            if labels not in wanted:
                continue
        name = of.name_of(row, otherwise=f"row {number}")
        if name not in by_name or not by_name[name].verdict:
            by_name[name] = _result(of.family, row)
    if not by_name:
        raise InputError(f"{of.directory}: {_why_no_row(of, only, [value for value in found if value != NONE])}")
    return by_name


def _why_no_row(of: ResultSet, only: RowFilter, values: Sequence[str]) -> str:
    """Why no row is selected: its column has other `values`, or none. Names those that exist."""
    columns = list(next(of.rows()))
    if values:
        message = f"no row has {only.value!r} in the column {only.column}, which has {listed(map(printable, values))}"
        near = similar(only.value, values)
    else:
        message = f"no column {only.column} with a value; the columns are: {', '.join(map(printable, columns))}"
        near = similar(only.column, (column for column in columns if column != only.column))
    return f"{message}. Did you mean {printable(near)}?" if near else message


def _result(family: Family, row: Mapping[str, Any]) -> Result:
    subtasks = row.get("all_subtasks_results") or ()
    points = [[subtask["subtask"], subtask["points"]] for subtask in subtasks]
    shape: object = row.get("total") if family is Family.APPS else points
    code = row.get("code")
    return Result(
        verdict=verdict_of(row),
        share=share_of(row),
        has_points=family is Family.APPS or any(worth for _, worth in points),
        program=_hash(code.lstrip("\r\n").rstrip() if isinstance(code, str) else code),
        shape=_hash(shape) if row.get("codes") is None else None,
        rules=str(row.get("judged_by") or ""),
        time_scale=float(row.get("time_scale") or 1.0),
        machine=(str(row.get("target") or ""), str(row.get("isolation") or "")),
        near_limit=bool(row.get("near_limit")),
        fingerprint=str(row.get("fingerprint") or ""),
    )


def _hash(value: object) -> bytes:
    return blake2b(orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS), digest_size=12).digest()


def _change(name: Name, before: Result, after: Result, option_differences: Sequence[str]) -> Change:
    """A change, with the differences in how the two were judged, as far as results record them."""
    are_judged = bool(before.verdict and after.verdict) and None not in (before.shape, after.shape)
    differs = {
        "program": before.program != after.program,
        "problem": are_judged and before.shape != after.shape,
        "limits": before.time_scale != after.time_scale or "limits" in option_differences,
        "rules": before.rules != after.rules or "rules" in option_differences,
        "machine": before.machine != after.machine and all(before.machine) and all(after.machine),
        "near limit": before.near_limit or after.near_limit,
    }
    reasons = [name for name, is_different in differs.items() if is_different]
    if not reasons and before.fingerprint and before.fingerprint == after.fingerprint:
        reasons.append("nothing: judged in the same way")
    elif not reasons and before.fingerprint and after.fingerprint:
        reasons.append("problem, limits or rules (fingerprint)")
    return Change(name=name, before=before, after=after, reasons=tuple(reasons or ["not recorded"]))


def _stated_differences(before: ResultSet, after: ResultSet) -> tuple[str, ...]:
    """Which options of the runs differ: `limits`, `rules`."""
    old, new = before.options, after.options
    differences = []
    if any(old.get(name) != new.get(name) for name in _LIMITS if name in old and name in new):
        differences.append("limits")
    if _note_on_versions(before, after) or any(
        old.get(name) != new.get(name) for name in _RULES if name in old and name in new
    ):
        differences.append("rules")
    return tuple(differences)


def _note_on_versions(before: ResultSet, after: ResultSet) -> str:
    """A note if two versions of ioi_eval are known to have judged; else empty."""
    if not before.version or not after.version or before.version == after.version:
        return ""
    return (
        f"{before.directory} was judged by ioi_eval {before.version}, {after.directory} by {after.version}: rules may "
        "differ; judge both again with one version to be sure"
    )


def _results_of_problems(side: Mapping[Name, Result], names: Iterable[Name]) -> dict[str, list[Result]]:
    problems: dict[str, list[Result]] = {}
    for name in names:
        problems.setdefault(name[0], []).append(side[name])
    return problems


def _means(
    common: Sequence[str], old: Mapping[str, Sequence[Result]], new: Mapping[str, Sequence[Result]], *, intervals: bool
) -> tuple[dict[str, Estimate], dict[str, float], int]:
    """Means over common problems of the mean of each problem's submissions: before, after, and the difference. And p of
    each difference with an interval, and how many of the problems are in the mean score: those that are worth points.
    """
    with_points = [problem for problem in common if old[problem][0].has_points and new[problem][0].has_points]
    means: dict[str, Estimate] = {}
    p_values: dict[str, float] = {}
    for what, problems in (("score", with_points), ("solved", common)):
        before, after = ([_mean(side[problem], what) for problem in problems] for side in (old, new))
        differences = [b - a for a, b in zip(before, after, strict=True)]
        columns = {f"{what} before": before, f"{what} after": after, f"{what} difference": differences}
        means |= mean_estimates(columns, intervals=intervals) if problems else {}
        if intervals and len(problems) >= LEAST_PROBLEMS:
            p_values[what] = sign_flip(differences)
    return means, p_values, len(with_points)


def _mean(results: Sequence[Result], what: str) -> float:
    values = (float(result.solved) if what == "solved" else result.share or 0.0 for result in results)
    return math.fsum(values) / len(results)


def _such_as(results: Mapping[Name, Result]) -> str:
    problem, submission = next(iter(results))
    return f"{counted(len(results), 'submission')} such as {printable(submission)} of {printable(problem)}"
