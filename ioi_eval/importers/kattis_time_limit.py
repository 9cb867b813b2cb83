"""The time limit of a Kattis package: what it states, or how to derive it from its accepted submissions.

Before 2023-07 the limit is derived from the submissions in `accepted/`. Since then all submissions that must not be
late count, also wrong answers, and `accepted/` may mean something else.

Source: Kattis problem package format, legacy (`time_multiplier`, 5) and since 2023-07 (`time_multipliers`, 2, and
`time_resolution`; "Timelimit inference"); problemtools.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ioi_eval.errors import InputError
from ioi_eval.expectations import MODEL_SOLUTION
from ioi_eval.importers.kattis_domjudge import INI_FILE
from ioi_eval.importers.kattis_settings import ROOT_FILE
from ioi_eval.importers.package import Package
from ioi_eval.importers.task import ImportedTask, Timing
from ioi_eval.problems.row import is_number

MAX_MEASURED_S = 60.0
"""The limit while solutions are measured. Source: chosen; problemtools has 300 s."""

_LIMIT_FILE = ".timelimit"  # of DOMjudge
_LEGACY_MULTIPLIER, _MULTIPLIER = 5.0, 2.0


def stated_limits(package: Package, limits: Mapping[str, Any], ini: Mapping[str, str]) -> dict[str, object]:
    """The time limits that the files of a package state, by file. `limits` are those of `problem.yaml`."""
    file = package.text(_LIMIT_FILE).strip() if package.has(_LIMIT_FILE) else None
    stated = {ROOT_FILE: limits.get("time_limit"), INI_FILE: ini.get("timelimit"), _LIMIT_FILE: file}
    return {name: value for name, value in stated.items() if value is not None}


def time_limit(package: Package, limits: Mapping[str, Any], ini: Mapping[str, str], given: float | None) -> float:
    """The time limit in seconds: the caller's, else that of `problem.yaml`, else that of DOMjudge's files.

    As in DOMjudge, `.timelimit` may not state another limit.
    """
    if given is not None:
        return _seconds(given)
    sources = stated_limits(package, limits, ini)
    if not sources:
        raise InputError(
            f"{package.where} states no time limit (Kattis derives it from the accepted submissions);"
            " give it in seconds with --time-limit, or --time-limit auto"
        )
    name, stated = next(iter(sources.items()))
    seconds = _seconds(stated)
    if _seconds(sources.get(_LIMIT_FILE, stated)) != seconds:
        raise InputError(
            f"the time limit is {stated} in {name} and {sources[_LIMIT_FILE]} in {_LIMIT_FILE}; give"
            " it with --time-limit"
        )
    return seconds


def _seconds(stated: object) -> float:
    try:
        seconds = float(str(stated))
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise InputError(f"the time limit {stated!r} is not a number of seconds")
    return seconds


def derived_timing(task: ImportedTask, limits: Mapping[str, Any], *, legacy: bool, any_group: bool) -> Timing:
    """How to derive the limit of a package that states none.

    Args:
        legacy: whether the package is of a version before 2023-07. For later ones, a submission of which only some
            groups are stated does not count: it may fail or be late in the others.
        any_group: as in `Timing`.
    """
    name, default = ("time_multiplier", _LEGACY_MULTIPLIER) if legacy else ("time_multipliers", _MULTIPLIER)
    multiplier = limits.get(name) if legacy else limits.get(name) or {}
    if isinstance(multiplier, Mapping) and not legacy:
        name, multiplier = "ac_to_time_limit of time_multipliers", multiplier.get("ac_to_time_limit")
    worth = {str(row["subtask"]) for row in task.problem_rows if row["score"] > 0}
    stated = {str(row["label"]): _verdicts(row, worth) for row in task.solution_rows}
    if legacy:
        stated = {label: {"AC"} for label in stated if label.startswith("accepted/")}
    return Timing(
        multiplier=_factor(name, default if multiplier is None else multiplier, 1.0),
        resolution_s=_factor("time_resolution", limits.get("time_resolution", 1.0), 0.001),
        accepted=frozenset(label for label, verdicts in stated.items() if verdicts == {"AC"}),
        in_time=frozenset(label for label, verdicts in stated.items() if verdicts and "TLE" not in verdicts),
        any_group=any_group,
    )


def _factor(name: str, value: object, least: float) -> float:
    if not is_number(value) or not least <= value <= 1000:
        raise InputError(f"{name} in {ROOT_FILE} is {value!r}; it must be a number from {least:g} to 1,000")
    return float(value)


def _verdicts(row: Mapping[str, Any], worth: set[str]) -> set[str]:
    """All verdicts that a submission may have; empty if nothing is stated about one of the subtasks worth points."""
    if row["expected"] == MODEL_SOLUTION:
        return {"AC"}
    by_subtask = row["expected_subtasks"] or {}
    if row["expected"] is None and not worth <= by_subtask.keys():
        return set()
    stated = by_subtask.values() if row["expected"] is None else (row["expected"],)
    return {verdict for verdicts in stated for verdict in verdicts.split(",")}
