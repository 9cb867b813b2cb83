"""DOMjudge's additions to the Kattis format, and how it scores test groups.

If a package has `domjudge-problem.ini` instead of `problem.yaml`, an existing output validator is used. A group of
tests gets its points once, or the points that the validator gives.

Source: DOMjudge, `ImportProblemService`, `SubmissionService::maybeSetScoringResult`; DOMjudge manual, "Problem format".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ioi_eval.errors import UnsupportedError
from ioi_eval.importers.kattis_data import TestGroup
from ioi_eval.importers.package import Package

INI_FILE = "domjudge-problem.ini"
_QUOTED = re.compile(r"(['\"])(.*?)\1\s*(?:;.*)?\Z", re.DOTALL)
_ROUNDING = 0.01  # of points that are stated with two decimals
_DEFAULTS = {"special_compare": "compare", "special_run": "run"}
"""The programs of a DOMjudge server that judge if a package names none."""


def read_ini(package: Package) -> Mapping[str, str]:
    """DOMjudge's own settings: a file with lines `key = value`, the last of which counts. Sections mean nothing.

    A value may be in quotes, on one line, and a comment may follow it. Other lines are ignored.
    Source: PHP's `parse_ini_string`, which DOMjudge uses.
    """
    values: dict[str, str] = {}
    for line in package.lines(INI_FILE) if package.has(INI_FILE) else ():
        key, equals, value = line.strip().partition("=")
        if equals and not key.startswith(("[", ";", "#")):
            values[key.rstrip()] = _unquoted(value.lstrip())
    return values


def _unquoted(value: str) -> str:
    """A value without its quotes and the comment after it; `;` in quotes begins no comment."""
    quoted = _QUOTED.match(value)
    return quoted[2] if quoted else value.partition(";")[0].strip().strip("'\"")


def check_executables(ini: Mapping[str, str], *, ignored_setting: str | None) -> None:
    """Refuse packages that are judged by a program of the DOMjudge server, because the package does not contain it.

    A package's own validator replaces the program that `ignored_setting` names.
    """
    for key, default in _DEFAULTS.items():
        name = ini.get(key) or default
        if name != default and key != ignored_setting:
            raise UnsupportedError(
                f"{INI_FILE} names {key} {name!r}, a program of a DOMjudge server that is not in the"
                " package; add it as an output validator, or, if it only allows for errors of numbers, replace the"
                " line by validator_flags in problem.yaml (float_tolerance 1e-6)"
            )


def scored_once(group: TestGroup) -> TestGroup:
    """The groups as DOMjudge scores them: a group of tests gets its `accept_score` once, if all tests are accepted.

    A group without `accept_score` gets nothing.
    """
    if group.groups:
        return replace(group, groups=tuple(map(scored_once, group.groups)))
    return group.with_settings(accept_score=group.config.get("accept_score", 0)).with_lowest_score()


def is_scored_once(root: TestGroup, totals: Sequence[float]) -> bool:
    """Whether a package can be meant for DOMjudge, which gives each group of tests its `accept_score` once.

    Old packages for Kattis, which adds the scores of tests, state the points of submissions (`totals`) in the same
    words. Packages for other judges state none.
    """
    most = 0.0
    for group in (group for group in root.secret if group.tests):
        once = group.config.get("accept_score")
        try:
            most += (group.range or (0, 0))[1] if once is None else float(once)
        except (TypeError, ValueError, OverflowError):
            return bool(totals)
    return bool(totals) and (most == 0.0 or max(totals) <= most + _ROUNDING)


def states_only_ranges(root: TestGroup) -> bool:
    """Whether a group of secret tests states its points by `range` alone, so that the validator gives the scores."""
    return any(group.tests and "range" in group.config and "accept_score" not in group.config for group in root.secret)


def scored_by_validator(group: TestGroup) -> TestGroup:
    """The groups as DOMjudge scores them, if the validator gives the scores: the upper end of `range` is full marks.

    Source: DOMjudge's example problem *knapsack*.
    """
    if group.groups:
        return replace(group, groups=tuple(scored_by_validator(inner) for inner in group.groups))
    if "accept_score" in group.config or "range" not in group.config:
        return group.with_settings(accept_score=group.config.get("accept_score", 0))
    if len(group.tests) > 1 and group.aggregations[-1:] != ("min",):
        raise UnsupportedError(
            f"{group.path} has one range for the sum of several tests' scores; one test, or grader_flags: min,"
            " is supported"
        )
    _, most = group.range or (0.0, 0.0)
    return group.with_settings(accept_score=most).with_lowest_score()
