"""Real contestants for comparison with a model: their totals, and the points needed for medals.

They come from a file that the user names: a CSV table of one contest, or rows as in LiveOIBench. For some years the
points needed for medals are in `ioi_cutoffs.csv` in this directory, each line with the page that states them.

Source: LiveOIBench's own ranking counts medals and percentiles in the same way: a medal by its least points, and the
share of contestants with fewer points.
"""

from __future__ import annotations

import csv
import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ioi_eval.errors import InputError
from ioi_eval.problems.row import is_finite
from ioi_eval.report.texts import counted
from ioi_eval.rows import ENDINGS, open_source

MEDALS = ("gold", "silver", "bronze")
_CUTOFFS = Path(__file__).with_name("ioi_cutoffs.csv")
_TOTALS = ("Recalculated_Total", "Total")
"""Columns with a contestant's total in LiveOIBench; the first that exists is used. Source: the first counts only the
problems in the data set, where some of the contest's are missing."""

_NO_MEDAL = frozenset({"", "-", "–", "none", "hm", "honourable mention", "honorable mention"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """The place of some points among contestants; `None` without any. Equal points have the same rank, and the
    percentile is the percentage of contestants with fewer points. `medal` may be `none`, and is `None` if the points
    needed for medals are unknown."""

    medal: str | None
    rank: int | None
    contestants: int
    percentile: float | None

    def text(self) -> str:
        """`silver, rank 71 of 362, percentile 80`."""
        parts = [] if self.medal is None else ["no medal" if self.medal == "none" else self.medal]
        if self.rank is not None:
            parts.append(f"rank {self._place}, percentile {int(self.percentile or 0)}")
        return ", ".join(parts)

    @property
    def _place(self) -> str:
        """`71 of 362`; with fewer points than all of them `363, behind all 362`."""
        is_last = self.rank is not None and self.rank > self.contestants
        return f"{self.rank}, behind all {self.contestants}" if is_last else f"{self.rank} of {self.contestants}"

    def meaning(self) -> str:
        """Sentences that explain rank and percentile; empty without contestants."""
        if self.rank is None or self.percentile is None:
            return ""
        contestants = counted(self.contestants, "contestant")
        percentile = int(self.percentile)  # rounded down, so it is 100 only if all have fewer points
        return (
            f"Rank {self._place}: {self.rank - 1} of {contestants} have more points. Percentile "
            f"{percentile}: {percentile} % of the contestants have fewer points."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """The contestants of one contest.

    Args:
        year: the year of its problems; empty for any year.
        problems: the ids of its problems; if empty, all problems of that year without practice.
        totals: the contestants' points.
        cutoffs: the points needed for each medal, as far as known.
        full_marks: full marks of the contest; results with other full marks are not compared.
        source: where these facts are from.
    """

    contest: str
    year: str = ""
    problems: frozenset[str] = frozenset()
    totals: tuple[float, ...] = ()
    cutoffs: Mapping[str, float] = field(default_factory=dict)
    full_marks: float | None = None
    source: str = ""

    def has(self, problem: str, *, practice: bool) -> bool:
        """Whether a problem (`2024/nile`) belongs to the contest."""
        year, _, name = problem.partition("/")
        if self.problems:
            return name in self.problems
        return not practice and self.year in ("", year)

    def matches(self, full_marks: float) -> bool:
        """Whether problems with these full marks can be those of the contest."""
        return self.full_marks is None or self.full_marks == full_marks

    def incomplete(self, problems: int) -> str:
        """A warning if results have only so many of its problems; empty if they have all, as far as known."""
        if problems >= len(self.problems):
            return ""
        return f"The results have {problems} of its {len(self.problems)} problems: the points are a lower bound."

    def rank(self, points: float) -> Rank:
        """The place of these points among the contestants."""
        medal = next((name for name in MEDALS if points >= self.cutoffs.get(name, math.inf)), "none")
        count = len(self.totals)
        fewer = sum(total < points for total in self.totals)
        return Rank(
            medal=medal if self.cutoffs else None,
            rank=1 + sum(total > points for total in self.totals) if count else None,
            contestants=count,
            percentile=100 * fewer / count if count else None,
        )


def no_contest(source: str, standings: Sequence[Standings], results: str) -> InputError:
    """The error if these results (directories) have no problem of any of the contests in `--standings SOURCE`."""
    return InputError(
        f"--standings {source}: {counted(len(standings), 'contest')}, but none has a problem of {results}: a table "
        "needs its year in the column year, a row of LiveOIBench its problems in the column problems"
    )


def published_cutoffs() -> list[Standings]:
    """The points needed for medals at the IOI, for the years with a known source."""
    with _CUTOFFS.open(encoding="utf-8", newline="") as file:
        return [
            Standings(
                contest=f"IOI {row['year']}",
                year=row["year"],
                cutoffs={name: float(row[name]) for name in MEDALS},
                full_marks=float(row["full_marks"]),
                source=row["source"],
            )
            for row in csv.DictReader(file)
        ]


def read_standings(source: str | None) -> list[Standings]:
    """Read the contestants that a user names; if none are named, the published points for medals.

    Args:
        source: a `.csv` file with the column `points` and optionally `contestant`, `medal` and `year`; or a source of
            rows like those of `LiveOIBench/LiveOIBench_contestants`.
    """
    if source is None:
        return published_cutoffs()
    path = Path(os.path.expanduser(source))
    if source.lower().endswith(".csv"):
        return _from_table(path)
    if path.is_file() and not source.endswith(ENDINGS):
        raise InputError(
            f"{source} is no file of contestants by its name: end it with .csv (a table with a column points), or give"
            f" rows of LiveOIBench_contestants ({', '.join(ENDINGS)})"
        )
    return [_from_row(row.values, f"{source}, row {row.number}") for row in open_source(source).rows(None)]


def _from_table(path: Path) -> list[Standings]:
    years: dict[str, list[tuple[float, str]]] = {}
    for number, row in _rows_of_table(path):
        medal = row.get("medal", "").lower()
        medal = "" if medal in _NO_MEDAL else medal
        if medal and medal not in MEDALS:
            raise InputError(
                f"{path}, line {number}: {row['medal']} is not a medal; write {', '.join(MEDALS)} or nothing"
            )
        year = row.get("year", "").removesuffix(".0")  # pandas writes 2024.0 if some rows have no year
        years.setdefault(year, []).append((_points(row["points"], f"{path}, line {number}"), medal))
    return [
        Standings(
            contest=year or path.stem,
            year=year,
            totals=tuple(total for total, _ in contestants),
            cutoffs={
                medal: min(total for total, other in contestants if other == medal)
                for medal in dict.fromkeys(medal for _, medal in contestants if medal)
            },
            source=str(path),
        )
        for year, contestants in years.items()
    ]


def _rows_of_table(path: Path) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV table with a column `points`, with their lines; names of columns are in lower case."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            names = [name.strip().lower() for name in reader.fieldnames or ()]
            rows = [
                (reader.line_num, {name.strip().lower(): (value or "").strip() for name, value in row.items() if name})
                for row in reader
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path} cannot be read as a CSV table of contestants: {reason}") from error
    if not rows:
        raise InputError(f"{path}: there are no contestants in this table")
    _, first = rows[0]
    if twice := [name for name, count in Counter(names).items() if name and count > 1]:
        raise InputError(f"{path}: two columns are called {twice[0]} (in lower case); remove or rename one")
    if "points" not in first:
        columns = ", ".join(first)
        raise InputError(f"{path}: a table of contestants needs a column points; its columns are: {columns}")
    return rows


def _from_row(row: Mapping[str, Any], where: str) -> Standings:
    """A contest of LiveOIBench: `contestants_ranking` and `problems` are JSON texts, or lists already."""
    try:
        problems = frozenset(map(str, _list("problems", row["problems"])))
        totals = tuple(_totals(_list("contestants_ranking", row["contestants_ranking"] or "[]"), where))
        cutoffs = {name: _points(stated, where) for name in MEDALS if (stated := _cutoff(row, name)) is not None}
        contest = str(row["contest_id"])
    except (KeyError, ValueError) as error:
        reason = f"it lacks the column {error.args[0]}" if isinstance(error, KeyError) else error
        raise InputError(
            f"{where}: this is no contest of LiveOIBench_contestants: {reason}; a table of contestants is a .csv file "
            "with a column points (and contestant, medal, year)"
        ) from error
    return Standings(contest=contest, problems=problems, totals=totals, cutoffs=cutoffs, source=where)


def _cutoff(row: Mapping[str, Any], medal: str) -> Any:
    """What a row states as the points needed for a medal; `None` if they are unknown: null, NaN or an empty text."""
    stated = row.get(f"{medal}_cutoff")
    is_unknown = stated == "" or (isinstance(stated, int | float) and not is_finite(stated))
    return None if is_unknown else stated


def _list(column: str, value: Any) -> Sequence[Any]:
    try:
        parsed = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, Sequence) or isinstance(parsed, str | bytes):
        raise ValueError(f"{column} is not a list")
    return parsed


def _totals(contestants: Sequence[Mapping[str, Any]], where: str) -> Iterator[float]:
    if not all(isinstance(contestant, Mapping) for contestant in contestants):
        raise ValueError("contestants_ranking has an item that is not an object")
    name = next((name for name in _TOTALS if any(name in contestant for contestant in contestants)), "")
    for contestant in contestants if name else ():
        if contestant.get(name) is not None:
            yield _points(contestant[name], where)


def _points(value: object, where: str) -> float:
    try:
        points = float(str(value))
    except ValueError:
        points = math.nan
    if not math.isfinite(points):
        raise InputError(f"{where}: {value!r} is not a number of points; write a number such as 341.5")
    return points
