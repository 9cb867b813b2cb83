"""Opens the results of a run, of either family: rows, summary, and the options of judging.

`html_rows` keeps other values of each row, and its position on disk, for `report.html`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any

from ioi_eval.errors import ODD_DATA, InputError
from ioi_eval.report.result_files import RESULTS, directory_of, lines_of, not_a_result_row, result_rows, summary_of
from ioi_eval.report.result_values import name_columns, problem_name_of, submission_of, with_our_columns
from ioi_eval.report.run_summary import Pending


class Family(StrEnum):
    """The kind of problems of the results."""

    CONTEST = "contest problems"
    APPS = "APPS problems"


FAMILY_COLUMNS = {Family.CONTEST: "all_subtasks_results", Family.APPS: "judged_by"}
"""For each family, a column that only its results have."""


Name = tuple[str, str]
"""The problem and submission of a result."""


@dataclass(slots=True, kw_only=True)
class ResultSet:
    """The results in a directory; `summary` has the contents of `summary.json`, and is empty if there is none."""

    directory: Path
    family: Family
    summary: dict[str, Any]
    id_column: str

    @property
    def path(self) -> Path:
        """The file with the rows."""
        return self.directory / RESULTS

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of the run; empty if unknown."""
        return self.summary.get("options") or {}

    @property
    def version(self) -> str:
        """The version of ioi_eval that wrote them; empty if unknown."""
        return str(self.summary.get("ioi_eval") or "")

    @property
    def pending(self) -> Pending:
        """How many submissions of the run are not judged yet, as far as the summary has it."""
        return Pending.of(self.summary)

    @property
    def known_problems(self) -> dict[str, Mapping[str, Any]]:
        """The problems (`2024/nile`) that the summary has, with what it says of them."""
        return {f"{each['year']}/{each['problem']}": each for each in self.summary.get("problems") or ()}

    def rows(self, columns: Collection[str] | None = None, *, tests: bool = False) -> Iterator[dict[str, Any]]:
        """The rows, one at a time, with only these columns, if they exist. Those of the reference get our columns
        too."""
        wanted = None if columns is None else set(columns)
        for number, row in enumerate(result_rows(self.directory, tests=tests), 1):
            try:
                whole = with_our_columns(row)
            except ODD_DATA as error:
                raise not_a_result_row(self.path, number, error) from error
            yield whole if wanted is None else {name: value for name, value in whole.items() if name in wanted}

    def name_of(self, row: Mapping[str, Any], *, otherwise: str = "–") -> Name:
        """The problem and submission of a row; `otherwise` if the row names no submission."""
        submission = submission_of(row, self.id_column, otherwise=otherwise)
        if self.family is Family.APPS:  # a row that was refused has no `submission`
            return problem_name_of(row)[1], str(row.get("submission") or submission)
        return "/".join(problem_name_of(row)), submission

    @property
    def naming_columns(self) -> tuple[str, ...]:
        """The columns that `name_of` reads."""
        columns = name_columns(self.id_column)
        return ("submission", *columns) if self.family is Family.APPS else columns


def open_results(directory: str | Path, *, id_column: str | None = None) -> ResultSet:
    """Open the results of a run, by the directory that was given as `--out` or the `results.jsonl` in it. By default
    the column that names a submission is that of the run."""
    found = directory_of(directory)
    summary = summary_of(found)
    first = required_first_row(found)
    family = family_of(first, found)
    column = id_column or id_column_of(summary)
    if family is Family.CONTEST and not has_column(found, column):
        raise no_id_column(found, column)
    return ResultSet(directory=found, family=family, summary=summary, id_column=column)


def no_id_column(directory: Path, column: str) -> InputError:
    """The error about results without this column."""
    return InputError(
        f"{directory / RESULTS}: its first row has no column {column}; name the one that names submissions with "
        "--id-column"
    )


def has_column(directory: Path, column: str) -> bool:
    """Whether the first row, or the first one that was judged, has this column. Rows that were refused may lack it."""
    rows = (row for _, _, row in lines_of(directory / RESULTS) if isinstance(row, dict))
    first = next(rows, {})
    judged = (row for row in chain((first,), rows) if row.get("verdict", "") is not None)
    return column in first or column in next(judged, ())


def id_column_of(summary: Mapping[str, Any]) -> str:
    """The column that named a submission in the run with this summary."""
    return str((summary.get("options") or {}).get("id_column") or "uuid")


def first_row(directory: Path) -> Any:
    """The first row of results; `None` if there is no line."""
    return next((row for _, _, row in lines_of(directory / RESULTS)), None)


def required_first_row(directory: Path) -> Any:
    """The first row of results, of which there must be one."""
    first = first_row(directory)
    if first is None:
        raise InputError(f"{directory / RESULTS} is empty: there are no results to look at")
    return first


def family_of(row: Any, directory: Path) -> Family:
    """The family of results, from their first row."""
    for family, column in FAMILY_COLUMNS.items():
        if isinstance(row, dict) and column in row:
            return family
    raise InputError(
        f"{directory / RESULTS}, line 1: this is not a row of results, as it has neither "
        f"{' nor '.join(FAMILY_COLUMNS.values())}; name a directory that `ioi-eval score` or `ioi-eval apps score` has "
        "written"
    )
