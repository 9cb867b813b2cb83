"""Test groups of the Kattis problem package format, as subtasks.

Here the score of a subtask is its points times the lowest score of its tests. Before version 2025-09, the rules of
Kattis's default grader (`grader_flags`) are expressed in this way if that is exactly possible; otherwise they are
refused by name:

- a pass-fail problem is one subtask of all its tests, samples first. If samples are ignored they are left out, and
  secret data is judged whatever their results are;
- a group with `min` is a subtask worth its `accept_score`;
- a group that sums (the default) becomes one subtask for each test. If it breaks at the first rejection, subtask i has
  the first i tests, because each test counts only if all tests before it were accepted;
- a group that takes the mean also becomes one subtask for each test, with an equal part of the points;
- groups of groups take the sum, the mean or the minimum. If one breaks at the first rejected group, each later group
  also has the tests of the groups before it.

Since version 2025-09 `test_group.yaml` states the points of a group; a directory of `data/secret` without it is no
group, and its tests are those of `secret`. A group with `pass-fail` or `min` aggregation is a subtask worth its
`max_score`; a group with `sum` becomes one subtask for each test. Before a subtask's own tests come the tests of all
groups that it needs by `require_pass`, directly or indirectly, because a group that is not run is not passed. If the
validator gives no scores, all tests are 0 or 1, so the minimum is 1 only if all tests were accepted. Samples are
subtasks worth 0 points.

Source: Kattis problem package format (legacy), "Test Data Groups", "Graders"; problemtools' default grader; 2025-09,
"Test data groups" (as of December 2025; before, each directory was a group), "Result aggregation", "Group
dependencies".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.importers.kattis_data import AGGREGATIONS, ARGUMENTS, DATA, VERDICT_FLAGS, TestGroup
from ioi_eval.importers.kattis_graders import GradedGroup
from ioi_eval.importers.kattis_programs import validator_flags
from ioi_eval.importers.kattis_scoring import KattisData
from ioi_eval.importers.package import ONLY_SUBTASK, Package, number_of
from ioi_eval.model import Subtask
from ioi_eval.problems.row import is_whole
from ioi_eval.problems.token_rules import check_token_flags

_SECRET_SCORE = 100
_SCORE_AGGREGATIONS = ("pass-fail", "sum", "min")


def subtasks_of(data: KattisData) -> list[Subtask]:
    """The subtasks of a problem."""
    if not data.kind.scoring:
        return pass_fail_subtasks(data.root)
    if not data.by_points:
        return _subtasks_by_max_score(data.root, has_validator=bool(data.kind.validation))
    return scoring_subtasks(data.root, gives_scores=data.kind.custom_score, graded=data.graded)


def pass_fail_subtasks(root: TestGroup) -> list[Subtask]:
    """All tests as one subtask worth one point. Ignored samples are a separate subtask worth 0 points."""
    for group in root.walk():
        flags, tests = _flags(group), len(group.all_tests)
        for flag, least in (("always_accept", 1), ("accept_if_any_accepted", 2)):
            if flag in flags and tests >= least:
                raise UnsupportedError(
                    f"{group.path} has {flag}; in a pass-fail problem only groups that need all their tests"
                    " to be accepted are supported"
                )
    counted = tuple(test for group in root.groups if group.name != "sample" for test in group.all_tests)
    if "ignore_sample" not in _flags(root) or root.config["on_reject"] == "break" or not counted:
        return [Subtask(name=ONLY_SUBTASK, points=1, tests=root.all_tests)]
    return [*_sample_subtasks(root), Subtask(name=ONLY_SUBTASK, points=1, tests=counted)]


def _sample_subtasks(root: TestGroup) -> list[Subtask]:
    samples = [group.all_tests for group in root.groups if group.name == "sample"]
    return [Subtask(name="sample", points=0, tests=tests) for tests in samples if tests]


def scoring_subtasks(root: TestGroup, *, gives_scores: bool, graded: Mapping[str, GradedGroup]) -> list[Subtask]:
    """The groups of a scoring problem as subtasks."""
    samples_count = "ignore_sample" not in _flags(root)
    counted = [group for group in root.groups if group.all_tests and (samples_count or group.name != "sample")]
    if len(counted) > 1 and (aggregation := _aggregation(root)) != "sum":
        raise UnsupportedError(
            f"{root.path} takes the {aggregation} of its groups; the sum of samples and secret data is"
            " supported, and ignore_sample"
        )
    subtasks = [] if samples_count else _sample_subtasks(root)
    for group, before in _with_required(root, ()):
        if group in counted:
            subtasks += _subtasks(group, gives_scores, graded, before)
    names = [subtask.name for subtask in subtasks]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UnsupportedError(f"two test groups are called {twice}; rename one")
    return subtasks


def _with_required(group: TestGroup, before: tuple[str, ...]) -> Iterator[tuple[TestGroup, tuple[str, ...]]]:
    """The groups in a group, each with the tests that must be accepted before it is judged."""
    for index, inner in enumerate(group.groups):
        yield inner, before
        if group.config["on_reject"] == "break" and index + 1 < len(group.groups):
            before = (*before, *_needed_to_accept(inner))


def _needed_to_accept(group: TestGroup) -> tuple[str, ...]:
    """The tests that must be accepted so that a group is accepted."""
    tests = group.all_tests
    flags = {flag for inner in group.walk() if inner.all_tests for flag in _flags(inner)}
    if "always_accept" in (flags if len(tests) == 1 else _flags(group)):
        return ()
    if len(tests) > 1 and flags & {"always_accept", "accept_if_any_accepted"}:
        raise UnsupportedError(
            f"the group after {group.path} is judged only if this one is accepted, and this one has"
            f" {' and '.join(sorted(flags))}, which is not supported there; set on_reject: continue"
        )
    return tests


def _subtasks(
    group: TestGroup, gives_scores: bool, graded: Mapping[str, GradedGroup], before: tuple[str, ...]
) -> list[Subtask]:
    if before and gives_scores:
        raise UnsupportedError(
            f"{group.path} is judged only if the groups before it are accepted (on_reject: break), and has"
            " scores of its own; that is not supported"
        )
    if group.path in graded and not group.groups:
        return [Subtask(name=group.name, points=graded[group.path].points, tests=group.tests)]
    aggregation = _aggregation(group)
    if not group.groups:
        return _subtasks_of_tests(group, aggregation, before, gives_scores=gives_scores)
    if group.tests:
        raise UnsupportedError(f"{group.path} holds both tests and groups; such a score is not supported")
    inner = [
        _subtasks(part, gives_scores, graded, needed)
        for part, needed in _with_required(group, before)
        if part.all_tests  # Source: problemtools: a group without tests has no result
    ]
    if aggregation == "min":
        return [_lowest(group, inner, gives_scores)]
    if aggregation == "avg" and group.config["on_reject"] != "break":
        inner = [[replace(part, points=part.points / len(inner)) for part in subtasks] for subtasks in inner]
    elif aggregation != "sum":
        raise UnsupportedError(
            f"{group.path} takes the {aggregation} of its groups; their sum and min are supported, and without"
            " on_reject: break their avg"
        )
    return [subtask for subtasks in inner for subtask in subtasks]


def _lowest(group: TestGroup, inner: list[list[Subtask]], gives_scores: bool) -> Subtask:
    """The minimum over several groups, as one subtask of all their tests.

    Its points are those of the group with the fewest: each gets all or nothing, unless the validator gives scores.
    """
    points = {subtask.points for subtasks in inner for subtask in subtasks}
    if any(len(subtasks) != 1 for subtasks in inner) or (gives_scores and len(points) > 1):
        raise UnsupportedError(
            f"{group.path} takes the min of its groups; that is supported if each takes the min of its"
            " tests, and all have the same points if the validator gives scores"
        )
    tests = dict.fromkeys(test for subtasks in inner for subtask in subtasks for test in subtask.tests)
    return Subtask(name=group.name, points=min(points), tests=tuple(tests))


def _subtasks_of_tests(
    group: TestGroup, aggregation: str, before: tuple[str, ...], *, gives_scores: bool
) -> list[Subtask]:
    points = _points(group)
    if aggregation == "min":
        return [Subtask(name=group.name, points=points, tests=(*before, *group.tests))]
    breaks = group.config["on_reject"] == "break"
    if aggregation == "avg" and (not breaks or len(group.tests) == 1):
        points /= len(group.tests)
    elif aggregation != "sum":
        raise UnsupportedError(
            f"{group.path} takes the {aggregation} of its tests; min and sum are supported, and without"
            " on_reject: break avg"
        )
    if breaks and gives_scores and len(group.tests) > 1:
        raise UnsupportedError(
            f"{group.path} sums scores of its own and breaks at the first rejection; that is not supported"
        )
    return [
        Subtask(
            name=group.name if len(group.tests) == 1 else test,
            points=points,
            tests=(*before, *(group.tests[: index + 1] if breaks else (test,))),
        )
        for index, test in enumerate(group.tests)
    ]


def _points(group: TestGroup) -> float:
    points, rejected = group.config.get("accept_score", 1), group.config.get("reject_score", 0)
    for name, value in (("accept_score", points), ("reject_score", rejected)):
        number_of(f"{name} of {group.path}", value)
    if rejected != 0:
        raise UnsupportedError(f"reject_score of {group.path} is {rejected}; only 0 is supported")
    return float(points) if isinstance(points, float) and not points.is_integer() else int(points)


def _flags(group: TestGroup) -> tuple[str, ...]:
    """The flags of a group with default grading."""
    if group.config["grading"] != "default":
        raise UnsupportedError(
            f"{group.path} has grading {group.config['grading']!r}, by a program of its own; that is supported if the"
            " validator gives scores (validation: custom score), else state the points with grading: default"
        )
    if unknown := [flag for flag in group.flags if flag not in AGGREGATIONS + VERDICT_FLAGS]:
        raise UnsupportedError(f"the grader flag {unknown[0]!r} of {group.path} is not supported")
    return group.flags


def _aggregation(group: TestGroup) -> str:
    """The group's aggregation: the last one in its flags, as in the default grader."""
    _flags(group)
    return (group.aggregations or ("sum",))[-1]


def test_columns(package: Package, data: KattisData) -> dict[str, dict[str, object]]:
    """The columns of test rows. Since version 2025 a test's own file replaces the validator's flags of its group.

    Source: Kattis problem package format (2025-09), "Test case configuration".
    """
    kind, columns = data.kind, _group_columns(data)
    for test in columns if not kind.legacy else ():
        name = f"data/{test}.yaml"
        own = package.yaml(name) if package.has(name) else {}
        if ARGUMENTS in own:
            columns[test] = {**columns[test], "checker_args": validator_flags(name, own)}
    if not kind.validation:
        for test, values in columns.items():
            if isinstance(flags := values.get("checker_args"), list):
                check_token_flags(flags, f"data/{test}: ")
    return columns


def _group_columns(data: KattisData) -> dict[str, dict[str, object]]:
    """The columns by a test's group: further flags of the output validator, and how its scores are read.

    If the package's own grader multiplies the validator's score, full marks are what the grader takes for that, and the
    score is rounded if the grader rounds the points. Otherwise the score is in points, at most the group's points.
    On samples that are worth nothing, and in a pass-fail problem, it does not count: there only acceptance does.
    """
    columns: dict[str, dict[str, object]] = {}
    kind, root, graded = data.kind, data.root, data.graded
    gives_scores = kind.scoring and kind.custom_score
    only_accepts = not kind.scoring and bool(kind.validation)
    for group in root.walk():
        own: dict[str, object] = {}
        if flags := validator_flags(group.path, group.config):
            own["checker_args"] = flags
        if group.path in graded:
            own |= graded[group.path].columns()
        elif gives_scores and group.tests and group.path.startswith(f"{DATA}/secret"):
            own["full_score"] = _full_score(group)
        elif only_accepts:
            own["full_score"] = 0
        columns.update(dict.fromkeys(group.tests, own))
    for group in root.groups:
        if gives_scores and group.name == "sample" and ("ignore_sample" in _flags(root) or not _points(group)):
            for test in group.all_tests:
                columns[test] = {**columns[test], "full_score": 0}
    return columns


def _full_score(group: TestGroup) -> int:
    """The most points of a test of the group: its `accept_score`, if the group's `range` ends with the sum of these."""
    points = _points(group)
    summed = len(group.tests) if _aggregation(group) == "sum" else 1
    low, high = group.range or (0.0, math.inf)
    if low != 0 or high != points * summed or not float(points).is_integer() or points < 1:
        each = f" for each of {summed} tests" if summed > 1 else ""
        raise UnsupportedError(
            f"{group.path} has scores of its own within {group.config.get('range', 'no range')} and an accept_score of"
            f" {points}{each}; a range from 0 to the sum of accept_scores, in whole points, is supported: state the"
            " most points of a test as accept_score"
        )
    return int(points)


def _subtasks_by_max_score(root: TestGroup, *, has_validator: bool) -> list[Subtask]:
    """The groups of a scoring problem."""
    secret = root.secret[0]
    subtasks = _sample_subtasks(root)
    groups = [group for group in secret.groups if group.configured]
    if groups and (len(groups) < len(secret.groups) or secret.tests):
        raise InputError(f"{secret.path} holds test groups and other tests; only one of them may be there")
    aggregation = _score_aggregation(secret, "sum")
    required = _required_tests(root, groups)
    if not groups:
        points = _max_score(secret, _SECRET_SCORE)
        return subtasks + _of_tests(secret, aggregation, points, required[secret.path], has_validator=has_validator)
    if aggregation == "pass-fail":
        tests = [*required[secret.path], *(test for group in groups for test in required[group.path])]
        return [*subtasks, _subtask("secret", _max_score(secret, _SECRET_SCORE), (*tests, *secret.all_tests))]
    if aggregation == "min":
        raise UnsupportedError(f"{secret.path} takes the min of its groups; only their sum is supported")
    stated, most = sum(_max_score(group) for group in groups), secret.config.get("max_score", _SECRET_SCORE)
    if isinstance(most, int) and stated > most:
        raise InputError(f"the groups of {secret.path} are worth {stated} points, more than its max_score {most}")
    for group in groups:
        before = (*required[secret.path], *required[group.path])
        aggregation = _score_aggregation(group, "pass-fail")
        subtasks += _of_tests(group, aggregation, _max_score(group), before, has_validator=has_validator)
    return subtasks


def _of_tests(
    group: TestGroup, aggregation: str, points: float, required: Sequence[str], *, has_validator: bool
) -> list[Subtask]:
    tests = group.all_tests
    if not tests:  # it is worth nothing: another one is refused before
        return []
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


def _required_tests(root: TestGroup, groups: Sequence[TestGroup]) -> dict[str, tuple[str, ...]]:
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


def _score_aggregation(group: TestGroup, default: str) -> str:
    stated = group.config.get("score_aggregation", default)
    if stated not in _SCORE_AGGREGATIONS:
        known = ", ".join(_SCORE_AGGREGATIONS)
        raise InputError(f"score_aggregation of {group.path} is {stated!r}; it must be one of {known}")
    return str(stated)


def _max_score(group: TestGroup, default: Any = "unbounded") -> int:
    stated = group.config.get("max_score", default)
    if stated == "unbounded":
        raise UnsupportedError(f"{group.path} has no max_score; unbounded scores are not supported")
    if not is_whole(stated) or stated < 0:
        raise InputError(f"max_score of {group.path} is {stated!r}; it must be a whole number of points")
    number_of(f"max_score of {group.path}", stated)
    return stated
