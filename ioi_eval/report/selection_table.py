"""The points of a run's submissions if only a limited number counts, for each method of choosing them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ioi_eval import selection
from ioi_eval.errors import ODD_DATA, InputError
from ioi_eval.estimates import Estimate
from ioi_eval.report.groups import Grouping, Groups
from ioi_eval.report.result_sets import Family, ResultSet
from ioi_eval.report.result_values import PRACTICE, SUBTASK_COLUMNS, day_of, light_row, verdict_of
from ioi_eval.report.standings import Standings
from ioi_eval.report.texts import counted, points, printable, table
from ioi_eval.selection import LIMIT, SEEDS, ResultRow, SelectionMethod, sum_of_points

DEFAULT_METHODS = tuple(method for method in SelectionMethod if method is not SelectionMethod.REFERENCE)
RANKED_METHODS = (SelectionMethod.SINGLE, SelectionMethod.ROUND_ROBIN, SelectionMethod.ALL)
"""The methods for which a report gives the rank that a group would have among the contestants."""

_COLUMNS = ("code", "code_compiles", "target_subtask", "all_subtasks_results", "metadata", "generation")


@dataclass(slots=True)
class _GroupRows:
    """The rows of one group by problem, the days of the problems, and how many rows were refused."""

    rows: dict[str, list[ResultRow]] = field(default_factory=dict)
    days: dict[str, str] = field(default_factory=dict)
    refused: int = 0


def selection_table(
    results: ResultSet,
    methods: Sequence[SelectionMethod],
    *,
    limit: int,
    seeds: int,
    grouping: Grouping,
    standings: Sequence[Standings],
) -> list[dict[str, Any]]:
    """The points of each problem, and of each day and year without practice, by each method; for each group.

    Rows that could not be judged (they have no verdict, and perhaps an unknown problem) are no submissions, and are
    only counted.

    Args:
        limit: how many submissions count for a problem; for `reference` always 50.
        seeds: how often `random` draws.
        grouping: the columns to group by; without any, all rows are one group.
        standings: the contests with whose contestants the points are compared.
    """
    if results.family is not Family.CONTEST:
        raise InputError(f"{results.directory} holds results of {results.family}: only contests limit submissions")
    if SelectionMethod.REFERENCE in methods and limit != LIMIT:
        raise InputError(f"the reference always selects {LIMIT} submissions: --limit {limit} is not possible with it")
    groups: Groups[_GroupRows] = Groups(grouping, _GroupRows)
    known = results.known_problems
    wanted = {"verdict", *_COLUMNS, "day", "fingerprint", *results.naming_columns, *grouping.needed}
    for number, row in enumerate(results.rows(wanted), 1):
        group = groups.of(row)
        if not verdict_of(row):
            group.refused += 1
            continue
        problem, _ = results.name_of(row)
        light = _light(row, f"row {number} of {results.path}")
        group.rows.setdefault(problem, []).append(light)
        group.days.setdefault(problem, day_of(row, known.get(problem, {}).get("day")) or "")

    return groups.as_list(lambda group: _points_of_group(group, methods, limit, seeds, standings))


def contests_by_group(
    rows: Iterable[tuple[str, str, ResultRow]], days: Mapping[str, str], standings: Sequence[Standings]
) -> dict[str, Sequence[Mapping[str, Any]]]:
    """For each group the contests, with points and ranks for each method in `RANKED_METHODS`.

    A row comes with the names of its group and of its problem. `days` has `practice` for practice problems.
    """
    groups: dict[str, _GroupRows] = {}
    for group, problem, row in rows:
        light = _light(row, f"a row of problem {problem}")
        groups.setdefault(group, _GroupRows(days=dict(days))).rows.setdefault(problem, []).append(light)
    return {
        name: _points_of_group(each, RANKED_METHODS, LIMIT, SEEDS, standings)["contests"]
        for name, each in groups.items()
    }


def selection_text(groups: Sequence[Mapping[str, Any]], methods: Sequence[SelectionMethod], *, limit: int) -> str:
    """The groups of `selection_table` as text, with a column for each method."""
    heads = {
        SelectionMethod.SINGLE: "best submission",
        SelectionMethod.ALL: "all",
        SelectionMethod.ROUND_ROBIN: f"round-robin {limit}",
        SelectionMethod.FIRST: f"first {limit}",
        SelectionMethod.RANDOM: f"random {limit}",
        SelectionMethod.ORACLE: f"oracle {limit}",
        SelectionMethod.REFERENCE: "reference's 50",
    }
    parts = []
    for group in groups:
        lines = [
            (
                printable(line["name"]),
                str(line["submissions"]),
                *(_score_text(line["scores"][method]) for method in methods),
            )
            for line in (*group["problems"], *group["days"], *group["years"])
        ]
        title = f"{printable(group['name'])}:\n" if group["name"] else ""
        parts.append(title + table(("problem", "submissions", *(heads[method] for method in methods)), lines))
        parts += [_contest_text(contest, methods, heads) for contest in group["contests"]]
        if group["unscored"]:
            parts.append(
                f"{group['unscored']} without a score because of a judge error (JE): their subtasks without a score "
                "add nothing, so all numbers are lower bounds."
            )
        if group["refused"]:
            parts.append(f"Left out: {counted(group['refused'], 'row')} that could not be judged.")
    return "\n\n".join([*parts, "\n".join(_LEGENDS[method] for method in methods)])


def _contest_text(
    contest: Mapping[str, Any], methods: Sequence[SelectionMethod], heads: Mapping[SelectionMethod, str]
) -> str:
    cutoffs = ", ".join(f"{name} {points(least)}" for name, least in contest["cutoffs"].items())
    scores, ranks = contest["scores"], contest["ranks"]
    lines = [(heads[method], _score_text(scores[method]), ranks[method].text()) for method in methods]
    parts = [
        f"Points needed for medals: {cutoffs}" if cutoffs else "",
        f"Source: {printable(contest['source'], length=200)}",
    ]
    head = (f"in {printable(contest['name'])}", "points", "place")
    meaning = ranks[methods[0]].meaning()
    notes = [meaning, contest["warning"], ". ".join(part for part in parts if part)]
    return "\n".join([table(head, lines, left=frozenset({0, 2})), *(note for note in notes if note)])


_LEGENDS = {
    SelectionMethod.SINGLE: "best submission (single): the most points of one submission to each problem",
    SelectionMethod.ALL: "all: sum of best subtasks over all submissions; the others: over those that are chosen",
    SelectionMethod.ROUND_ROBIN: "round-robin: target subtasks take turns, the last first; chosen without knowing"
    " scores",
    SelectionMethod.FIRST: "first: the first that compile, in the order of the results",
    SelectionMethod.RANDOM: "random: drawn from those that compile; mean of the draws, and a range that contains at"
    " least 95 % of them",
    SelectionMethod.ORACLE: "oracle: the best choice, or nearly, with knowledge of all scores; no result of a model",
    SelectionMethod.REFERENCE: "reference's 50: what the code of huggingface/ioi selects, its bugs included",
}


def _light(row: ResultRow, where: str) -> ResultRow:
    """A row with only the columns needed for choosing."""
    try:
        light = light_row(
            compiles=row.get("code_compiles"),
            target_subtask=row.get("target_subtask"),
            subtasks=[map(each.get, SUBTASK_COLUMNS) for each in row.get("all_subtasks_results") or ()],
            length=selection.reasoning_length(row),
        )
        return {**light, "code": bool(row["code"])} if "code" in row else light
    except ODD_DATA as error:
        raise InputError(f"{where} is not a row of results ({type(error).__name__}: {error})") from error


def _points_of_group(
    group: _GroupRows, methods: Sequence[SelectionMethod], limit: int, seeds: int, standings: Sequence[Standings]
) -> Mapping[str, Any]:
    problems = {
        name: _ProblemPoints(
            submissions=len(rows),
            unscored=sum(map(_is_unscored, rows)),
            full_marks=sum_of_points(_full_marks(rows)),
            drawn={method: _points_by_draw(method, rows, limit, seeds, name) for method in methods},
        )
        for name, rows in sorted(group.rows.items())
    }
    years: dict[str, list[_ProblemPoints]] = {}
    days: dict[tuple[str, str], list[_ProblemPoints]] = {}
    for name, problem in problems.items():
        year, day = name.split("/")[0], group.days[name]
        if day != PRACTICE:
            years.setdefault(year, []).append(problem)
            days.setdefault((year, day), []).append(problem)
    return {
        "problems": [_line(name, [problem]) for name, problem in problems.items()],
        "days": [
            _line(f"{year}, {day if day.lower().startswith('day') else f'day {day}'}", parts)
            for (year, day), parts in sorted(days.items())
            if day
        ],
        "years": [_line(f"{year} in all", parts) for year, parts in years.items()],
        "contests": [
            _contest(contest, parts)
            for contest in standings
            if (parts := [p for n, p in problems.items() if contest.has(n, practice=group.days[n] == PRACTICE)])
            and contest.matches(sum_of_points(part.full_marks for part in parts))
        ],
        "unscored": sum(problem.unscored for problem in problems.values()),
        "refused": group.refused,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProblemPoints:
    """The points of a problem's submissions for each method; several if submissions are drawn at random (`drawn`)."""

    submissions: int
    unscored: int
    full_marks: float
    drawn: Mapping[SelectionMethod, Sequence[float]]


def _full_marks(rows: Sequence[ResultRow]) -> Sequence[float]:
    listed = next((results for row in rows if (results := row["all_subtasks_results"])), ())
    return [subtask["points"] or 0.0 for subtask in listed]


def _contest(standings: Standings, parts: Sequence[_ProblemPoints]) -> dict[str, Any]:
    """The points in a contest, and their ranks among its contestants."""
    line = _line(standings.contest, parts)
    full_marks = sum_of_points(part.full_marks for part in parts)
    return {
        **line,
        "problems": len(parts),
        "full_marks": full_marks,
        "ranks": {method: standings.rank(score.value) for method, score in line["scores"].items()},
        "cutoffs": dict(standings.cutoffs),
        "contestants": len(standings.totals),
        "unscored": sum(part.unscored for part in parts),
        "source": standings.source,
        "warning": standings.incomplete(len(parts)),
    }


def _is_unscored(row: ResultRow) -> bool:
    """Whether a submission was not judged in some subtask; with `--unscored-as zero` only the status shows this."""
    return any(
        subtask["weighted_score"] is None or subtask["status"] == "JE" for subtask in row["all_subtasks_results"]
    )


def _line(name: str, parts: Sequence[_ProblemPoints]) -> dict[str, Any]:
    """The sums over some problems; points of random draws are added for each seed."""
    drawn = [part.drawn for part in parts]
    sums = {
        method: [sum_of_points(values) for values in zip(*(each[method] for each in drawn), strict=True)]
        for method in drawn[0]
    }
    scores = {method: _estimate(values) for method, values in sums.items()}
    return {"name": name, "submissions": sum(part.submissions for part in parts), "scores": scores}


def _points_by_draw(
    method: SelectionMethod, rows: Sequence[ResultRow], limit: int, seeds: int, problem: str
) -> Sequence[float]:
    """The points of a problem: one number, or one for each seed."""
    if method is SelectionMethod.RANDOM:
        return selection.random_scores(rows, limit, seeds=seeds, problem=problem)
    if method is SelectionMethod.SINGLE:
        return [max((selection.selected_score([row]) for row in rows if not _is_unscored(row)), default=0.0)]
    choose: dict[SelectionMethod, Callable[[], Sequence[int] | None]] = {
        SelectionMethod.ALL: lambda: None,
        SelectionMethod.ROUND_ROBIN: lambda: selection.select(rows, limit),
        SelectionMethod.FIRST: lambda: selection.select_first(rows, limit),
        SelectionMethod.ORACLE: lambda: selection.select_by_oracle(rows, limit),
        SelectionMethod.REFERENCE: lambda: selection.select_as_reference(rows),
    }
    return [selection.selected_score(rows, choose[method]())]


def _estimate(drawn: Sequence[float]) -> Estimate:
    """Points; if submissions are drawn at random, the mean over seeds and a range that has at least 95 % of them."""
    if len(drawn) == 1:
        return Estimate(value=drawn[0], low=None, high=None)
    ordered = sorted(drawn)
    cut = int(0.025 * len(ordered))
    return Estimate(value=math.fsum(drawn) / len(drawn), low=ordered[cut], high=ordered[-1 - cut])


def _score_text(score: Estimate) -> str:
    """`48.2 [30, 60]`."""
    if score.low is None or score.high is None:
        return points(score.value)
    return f"{points(score.value, 2)} [{points(score.low, 2)}, {points(score.high, 2)}]"
