"""Results that a run has left, of either family, as what reads them needs them: its rows, and how they were judged."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from ioi_eval.errors import InputError
from ioi_eval.report.frame import RESULTS, result_rows
from ioi_eval.report.naming import name_columns, problem_of, submission_of


class Family(StrEnum):
    """Of what problems results are."""

    CONTEST = "contest problems"
    APPS = "APPS problems"


Name = tuple[str, str]
"""Problem and submission: what a result is of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSet:
    """The results of a directory.

    Args:
        directory: where they are.
        family: of what problems.
        version: of ioi_eval, that wrote them; empty where they do not say.
        options: what the run was asked to do; none where they do not say.
        id_column: names a submission.
        practice: the problems that are no part of a contest, as far as the summary says.
    """

    directory: Path
    family: Family
    version: str
    options: Mapping[str, Any]
    id_column: str
    practice: frozenset[str] = frozenset()

    @property
    def path(self) -> Path:
        """The file with the rows."""
        return self.directory / RESULTS

    def rows(self, columns: Collection[str] | None = None, *, tests: bool = False) -> Iterator[dict[str, Any]]:
        """The rows; see `result_rows`."""
        return result_rows(self.directory, columns=columns, tests=tests)

    def name(self, row: Mapping[str, Any]) -> Name:
        """What a row is the result of."""
        if self.family is Family.APPS:
            return str(row.get("problem_id")), str(row.get("submission"))
        return "/".join(problem_of(row)), submission_of(row, self.id_column)

    @property
    def naming(self) -> tuple[str, ...]:
        """The columns that `name` reads."""
        return ("problem_id", "submission") if self.family is Family.APPS else name_columns(self.id_column)


def open_results(directory: str | Path, *, id_column: str | None = None) -> ResultSet:
    """Look at what a run has left.

    Args:
        directory: what was given as `--out`.
        id_column: names a submission; by default the one of the run.

    Raises:
        InputError: there are no results, they are damaged, or of no family that is known.
    """
    folder = Path(directory)
    folder = folder.parent if folder.name == RESULTS else folder
    summary = _summary(folder / "summary.json")
    options = summary.get("options") or {}
    first = next(result_rows(folder, tests=False), None)
    if first is None:
        raise InputError(f"{folder / RESULTS} is empty: there are no results to look at")
    if "all_subtasks_results" in first:
        family = Family.CONTEST
    elif "judged_by" in first:
        family = Family.APPS
    else:
        raise InputError(
            f"{folder / RESULTS} holds no results of `ioi-eval score` or `apps score`: its rows have neither "
            "all_subtasks_results nor judged_by"
        )
    column = id_column or str(options.get("id_column") or "uuid")
    if family is Family.CONTEST and column not in first:
        raise InputError(
            f"{folder / RESULTS}: its first row has no column {column}; name the one that names submissions with "
            "--id-column"
        )
    return ResultSet(
        directory=folder,
        family=family,
        version=str(summary.get("ioi_eval") or ""),
        options=options,
        id_column=column,
        practice=frozenset(
            f"{one['year']}/{one['problem']}" for one in summary.get("problems") or () if one.get("day") == "practice"
        ),
    )


def _summary(path: Path) -> Mapping[str, Any]:
    """The summary beside results; empty where there is none, as beside those of others."""
    try:
        values = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}; run the same command again, which makes it anew") from error
    return values if isinstance(values, dict) else {}
