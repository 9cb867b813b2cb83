"""How to derive the time limit of a Kattis package that states none from its accepted submissions.

Before 2023-07 these are the submissions in `accepted/`. Since then all submissions that must not be late count, also
wrong answers, and `accepted/` may mean something else.

Source: Kattis problem package format, legacy (`time_multiplier`, 5) and since 2023-07 (`time_multipliers`, 2, and
`time_resolution`; "Timelimit inference"); problemtools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ioi_eval.errors import InputError
from ioi_eval.expectations import MODEL_SOLUTION
from ioi_eval.importers.kattis_domjudge import stated_limits
from ioi_eval.importers.kattis_settings import ROOT_FILE
from ioi_eval.importers.package import Package
from ioi_eval.importers.task import ImportedTask, Timing
from ioi_eval.problems.row import is_number

MAX_MEASURED_S = 60.0
"""The limit while solutions are measured. Source: chosen; problemtools has 300 s."""

_DIRECTORY = "submissions/accepted/"
_LEGACY_MULTIPLIER, _MULTIPLIER = 5.0, 2.0


def derived_timing(package: Package, meta: Mapping[str, Any], ini: Mapping[str, str], *, legacy: bool) -> Timing | None:
    """How to derive the limit from the submissions in `accepted/`; `None` if one is stated.

    Args:
        package: the names of its accepted submissions are read.
        legacy: whether the package is of a version before 2023-07.
    """
    limits = meta.get("limits") or {}
    if not isinstance(limits, Mapping) or stated_limits(package, limits, ini):
        return None
    multipliers = limits.get("time_multipliers") or {}
    name, stated, default = "time_multiplier", limits.get("time_multiplier"), _LEGACY_MULTIPLIER
    if not legacy:
        name, stated, default = "time_multipliers", multipliers, _MULTIPLIER
        if isinstance(multipliers, Mapping):
            name, stated = "ac_to_time_limit of time_multipliers", multipliers.get("ac_to_time_limit")
    resolution = limits.get("time_resolution", 1.0)
    values = []
    for key, value, least in (
        (name, default if stated is None else stated, 1.0),
        ("time_resolution", resolution, 0.001),
    ):
        if not is_number(value) or not least <= value <= 1000:
            raise InputError(f"{key} in {ROOT_FILE} is {value!r}; it must be a number from {least:g} to 1,000")
        values.append(float(value))
    names = [name.removeprefix(_DIRECTORY) for name in package.names(_DIRECTORY.rstrip("/"))]
    labels = {*names, *(name.partition("/")[0] for name in names)}  # a file's, or that of a directory of several
    accepted = frozenset(f"accepted/{label}" for label in labels)
    return Timing(multiplier=values[0], resolution_s=values[1], accepted=accepted)


def timing_by_statements(timing: Timing, task: ImportedTask) -> Timing:
    """The timing with submissions selected by their statements (versions since 2023-07), not by their directories.

    A submission of which only some groups are stated does not count: it may fail or be late in the others.
    """
    worth = {str(row["subtask"]) for row in task.problem_rows if row["score"] > 0}
    stated = {str(row["label"]): _verdicts(row, worth) for row in task.solution_rows}
    return replace(
        timing,
        accepted=frozenset(label for label, verdicts in stated.items() if verdicts == {"AC"}),
        in_time=frozenset(label for label, verdicts in stated.items() if verdicts and "TLE" not in verdicts),
    )


def _verdicts(row: Mapping[str, Any], worth: set[str]) -> set[str]:
    """All verdicts that a submission may have; empty if nothing is stated about one of the subtasks worth points."""
    if row["expected"] == MODEL_SOLUTION:
        return {"AC"}
    by_subtask = row["expected_subtasks"] or {}
    if row["expected"] is None and not worth <= by_subtask.keys():
        return set()
    stated = by_subtask.values() if row["expected"] is None else (row["expected"],)
    return {verdict for verdicts in stated for verdict in verdicts.split(",")}
