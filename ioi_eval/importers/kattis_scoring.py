"""Scoring problems of the Kattis format since version 2025-09, as subtasks.

`test_group.yaml` states the points of a group; a directory of `data/secret` without it is no group, and its tests are
those of `secret`. A group with `pass-fail` or `min` aggregation is a subtask worth its `max_score`; a group with `sum`
becomes one subtask for each test. Before a subtask's own tests come the tests of all groups that it needs by
`require_pass`, directly or indirectly, because a group that is not run is not passed. If the validator gives no scores,
all tests are 0 or 1, so the minimum is 1 only if all tests were accepted. Samples are subtasks worth 0 points.

Source: Kattis problem package format 2025-09, "Test data groups" (as of December 2025; before, each directory was a
group), "Result aggregation", "Group dependencies".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.importers.kattis_data import DATA, TestGroup
from ioi_eval.importers.package import number_of
from ioi_eval.model import Subtask
from ioi_eval.problems.row import is_whole

_SECRET_SCORE = 100
_AGGREGATIONS = ("pass-fail", "sum", "min")


def subtasks_by_group(root: TestGroup, *, has_validator: bool) -> list[Subtask]:
    """The groups of a scoring problem."""
    parts = {group.name: group for group in root.groups}
    sample, secret = parts.get("sample"), parts["secret"]
    subtasks = [] if sample is None or not sample.all_tests else [_subtask("sample", 0, sample.all_tests)]
    groups = [group for group in secret.groups if group.configured]
    if groups and (len(groups) < len(secret.groups) or secret.tests):
        raise InputError(f"{secret.path} holds test groups and other tests; only one of them may be there")
    aggregation = _aggregation(secret, "sum")
    required = _required(root, groups)
    if not groups:
        points = _points(secret, _SECRET_SCORE)
        return subtasks + _of_tests(secret, aggregation, points, required[secret.path], has_validator=has_validator)
    if aggregation == "pass-fail":
        tests = [*required[secret.path], *(test for group in groups for test in required[group.path])]
        return [*subtasks, _subtask("secret", _points(secret, _SECRET_SCORE), (*tests, *secret.all_tests))]
    if aggregation == "min":
        raise UnsupportedError(f"{secret.path} takes the min of its groups; only their sum is supported")
    stated, most = sum(_points(group) for group in groups), secret.config.get("max_score", _SECRET_SCORE)
    if isinstance(most, int) and stated > most:
        raise InputError(f"the groups of {secret.path} are worth {stated} points, more than its max_score {most}")
    for group in groups:
        before = (*required[secret.path], *required[group.path])
        aggregation = _aggregation(group, "pass-fail")
        subtasks += _of_tests(group, aggregation, _points(group), before, has_validator=has_validator)
    return subtasks


def _of_tests(
    group: TestGroup,
    aggregation: str,
    points: float,
    required: Sequence[str],
    *,
    has_validator: bool,
) -> list[Subtask]:
    tests = group.all_tests
    if not tests:
        raise InputError(f"the test group {group.path} has no tests; get the complete package")
    if has_validator and aggregation != "pass-fail":
        raise UnsupportedError(
            f"{group.path} takes the {aggregation} of scores that the package's output validator gives; in this version"
            " of the format a validator is supported only in groups with pass-fail aggregation"
        )
    if aggregation != "sum":
        return [_subtask(group.name, points, (*required, *tests))]
    return [_subtask(test, points / len(tests), (*required, test)) for test in tests]


def _subtask(name: str, points: float, tests: Sequence[str]) -> Subtask:
    return Subtask(name=name, points=points, tests=tuple(dict.fromkeys(tests)))


def _required(root: TestGroup, groups: Sequence[TestGroup]) -> dict[str, tuple[str, ...]]:
    """For each group's path the tests that must be accepted before it counts, also those that they depend on."""
    required: dict[str, tuple[str, ...]] = {}
    known: dict[str, TestGroup] = {}
    for group in (*root.groups, *groups):  # a group can only require earlier ones, and `secret` only the samples
        stated = group.config.get("require_pass") or []
        tests: list[str] = []
        for name in stated if isinstance(stated, list) else [stated]:
            if not isinstance(name, str) or name not in known:
                raise InputError(f"{group.path} requires {name!r}, which is not a test group before it")
            tests += (*required[known[name].path], *known[name].all_tests)
        required[group.path] = tuple(dict.fromkeys(tests))
        if group.path != f"{DATA}/secret":
            known |= {group.path.removeprefix(f"{DATA}/"): group, group.name: group}
    return required


def _aggregation(group: TestGroup, default: str) -> str:
    stated = group.config.get("score_aggregation", default)
    if stated not in _AGGREGATIONS:
        known = ", ".join(_AGGREGATIONS)
        raise InputError(f"score_aggregation of {group.path} is {stated!r}; it must be one of {known}")
    return str(stated)


def _points(group: TestGroup, default: Any = "unbounded") -> int:
    stated = group.config.get("max_score", default)
    if stated == "unbounded":
        raise UnsupportedError(f"{group.path} has no max_score; unbounded scores are not supported")
    if not is_whole(stated) or stated < 0:
        raise InputError(f"max_score of {group.path} is {stated!r}; it must be a whole number of points")
    number_of(f"max_score of {group.path}", stated)
    return stated
