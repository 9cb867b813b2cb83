"""Test groups of the Kattis problem package format, as subtasks.

Here the score of a subtask is its points times the lowest score of its tests. The rules of Kattis's default grader
(`grader_flags`) are expressed in this way if that is exactly possible; otherwise they are refused by name:

- a pass-fail problem is one subtask of all its tests, samples first. If samples are ignored they are left out, and
  secret data is judged whatever their results are;
- a group with `min` is a subtask worth its `accept_score`;
- a group that sums (the default) becomes one subtask for each test. If it breaks at the first rejection, subtask i has
  the first i tests, because each test counts only if all tests before it were accepted;
- a group that takes the mean also becomes one subtask for each test, with an equal part of the points;
- groups of groups take the sum, the mean or the minimum. If one breaks at the first rejected group, each later group
  also has the tests of the groups before it.

Source: Kattis problem package format (legacy), "Test Data Groups", "Graders"; problemtools' default grader.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ioi_eval.errors import UnsupportedError
from ioi_eval.importers.kattis_data import AGGREGATIONS, DATA, VERDICT_FLAGS, TestGroup
from ioi_eval.importers.kattis_programs import validator_flags
from ioi_eval.importers.kattis_settings import KattisKind
from ioi_eval.importers.package import ONLY_SUBTASK, number_of
from ioi_eval.model import StepRounding, Subtask


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedGroup:
    """How the package's own grader scores a group: the lowest score of its tests / `full_score` * `points`.

    `rounding` says how the result is rounded to whole points; `None` if it is not.
    """

    points: int
    rounding: StepRounding | None
    full_score: int


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


def has_old_scores(root: TestGroup) -> bool:
    """Whether the groups of a newer package state points in the form used before 2025, as with drafts of the format.

    Source: `examples/oddecho` of problemtools, whose version is 2023-07-draft.
    """
    configs = [group.config for group in root.walk()]
    if any("max_score" in config for config in configs):
        return False
    old = {"accept_score", "range"}
    return any(old & set(config) or config["grader_flags"] or config["grading"] != "default" for config in configs)


def scoring_subtasks(
    root: TestGroup, *, gives_scores: bool, graded: Mapping[str, GradedGroup] | None = None
) -> list[Subtask]:
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
            subtasks += _subtasks(group, gives_scores, graded or {}, before)
    names = [subtask.name for subtask in subtasks]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UnsupportedError(f"two test groups are called {twice}; rename one")
    return subtasks


def _with_required(group: TestGroup, before: tuple[str, ...]) -> Iterator[tuple[TestGroup, tuple[str, ...]]]:
    """The groups in a group, each with the tests that must be accepted before it is judged."""
    for index, inner in enumerate(group.groups):
        yield inner, before
        if group.config["on_reject"] == "break" and index + 1 < len(group.groups):
            before = (*before, *_accepting(inner))


def _accepting(group: TestGroup) -> tuple[str, ...]:
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
    if not group.all_tests:
        return []
    if before and gives_scores:
        raise UnsupportedError(
            f"{group.path} is judged only if the groups before it are accepted (on_reject: break), and has"
            " scores of its own; that is not supported"
        )
    if group.path in graded and not group.groups:
        return [Subtask(name=group.name, points=graded[group.path].points, tests=group.tests)]
    aggregation = _aggregation(group)
    if not group.groups:
        return _leaf(group, aggregation, before, gives_scores=gives_scores)
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


def _leaf(group: TestGroup, aggregation: str, before: tuple[str, ...], *, gives_scores: bool) -> list[Subtask]:
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


def test_columns(root: TestGroup, kind: KattisKind, graded: Mapping[str, GradedGroup]) -> dict[str, dict[str, object]]:
    """The columns of test rows: further flags of the output validator, and how its scores are read.

    If the package's own grader multiplies the validator's score, full marks are what the grader takes for that, and the
    score is rounded if the grader rounds the points. Otherwise the score is in points, at most the group's points.
    On samples that are worth nothing, and in a pass-fail problem, it does not count: there only acceptance does.
    """
    columns: dict[str, dict[str, object]] = {}
    gives_scores = kind.scoring and kind.custom_score
    only_accepts = not kind.scoring and bool(kind.validation)
    for group in root.walk():
        own: dict[str, object] = {}
        if flags := validator_flags(group.path, group.config):
            own["checker_args"] = flags
        if group.path in graded:
            rule = graded[group.path]
            own |= {"full_score": rule.full_score} if rule.full_score != 1 else {}
            own |= {"score_steps": max(rule.points, 1)} if rule.rounding else {}
            own |= {"step_rounding": rule.rounding.value} if rule.rounding not in (None, StepRounding.DOWN) else {}
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


def with_most_points(group: TestGroup) -> TestGroup:
    """The groups of a validator that gives scores; where only the `range` states the most points, with `accept_score`.

    The range is that of a test if the group has one test, or takes the minimum of its tests.
    """
    if group.groups:
        return replace(group, groups=tuple(map(with_most_points, group.groups)))
    is_of_tests = group.config["grading"] == "default" and (
        len(group.tests) == 1 or group.aggregations[-1:] == ("min",)
    )
    if not group.configured or "accept_score" in group.config or not is_of_tests:
        return group
    most = group.range[1] if group.range else math.inf
    return group if math.isinf(most) else group.with_settings(accept_score=most)


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
