"""Test groups of the Kattis problem package format, as subtasks.

A subtask here is worth its points times the lowest score among its tests. What Kattis's default grader computes from
`grader_flags` is put in these terms where that can be done exactly, and refused by name where it cannot:

- a pass-fail problem is one subtask of all its tests, samples first;
- a group with `min` is a subtask worth its `accept_score`;
- a group that sums (the default) is a subtask a test; where it breaks at the first rejection, subtask i consists of the
  first i tests, as each of them is worth something only if all before it were accepted;
- groups above these sum (their other flags decide the verdict, not the score).

Source: Kattis problem package format (legacy), "Test Data Groups", "Graders"; problemtools' default grader.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.importers.package import Package
from ioi_eval.importers.task import SubtaskFile

DATA = "data"
_DEFAULTS = {"on_reject": "break", "grading": "default", "grader_flags": "", "output_validator_flags": ""}
_AGGREGATIONS = ("sum", "avg", "min", "max")
_VERDICT_FLAGS = ("worst_error", "no_errors", "first_error", "always_accept", "accept_if_any_accepted", "ignore_sample")
PASS_FAIL = "all"
"""The name of a pass-fail problem's only subtask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestGroup:
    """A folder of test data.

    Args:
        path: in the package (`data/secret/group1`).
        config: of its `testdata.yaml`, with what it inherits.
        tests: names of the tests that lie in it directly, in order: paths below `data/` without an ending.
        groups: the folders in it, in order.
    """

    __test__ = False

    path: str
    config: Mapping[str, Any]
    tests: tuple[str, ...]
    groups: tuple[TestGroup, ...]

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    def walk(self) -> Iterator[TestGroup]:
        """This group and all below it, in the order in which they are judged."""
        yield self
        for group in self.groups:
            yield from group.walk()


def read_groups(package: Package, inherited: Mapping[str, Any] | None = None) -> TestGroup:
    """The tree of test data.

    Args:
        package: its `data/` is read.
        inherited: what `problem.yaml` states for all groups (old packages do).

    Raises:
        InputError: an input has no answer or the other way round, or there is no secret data.
    """
    if links := [name for name in package.links if name.startswith(f"{DATA}/")]:
        raise InputError(f"{package.where}: {links[0]} is a link; unpack the archive and import the folder")
    root = _read(package, DATA, {**_DEFAULTS, **(inherited or {})})
    if root.tests or not {group.name for group in root.groups} <= {"sample", "secret"}:
        other = [*root.tests, *(group.path for group in root.groups if group.name not in ("sample", "secret"))]
        raise InputError(f"{package.where}: {DATA}/ holds {other[0]}; only sample/ and secret/ belong there")
    if not any(group.tests for group in root.walk()):
        raise InputError(
            f"{package.where} holds no {DATA}/secret/*.in: the tests are missing; get the complete package"
        )
    return root


def _read(package: Package, path: str, inherited: Mapping[str, Any]) -> TestGroup:
    names = package.names(path)
    below = [name.removeprefix(f"{path}/") for name in names]
    inputs = {name.removesuffix(".in") for name in below if "/" not in name and name.endswith(".in")}
    answers = {name.removesuffix(".ans") for name in below if "/" not in name and name.endswith(".ans")}
    for missing, there, ending in ((inputs - answers, "in", "ans"), (answers - inputs, "ans", "in")):
        if missing:
            name = f"{path}/{min(missing)}"
            raise InputError(f"{package.where}: {name}.{there} has no {name}.{ending}; get the complete package")
    own = f"{path}/testdata.yaml"
    config = {**inherited, **(package.yaml(own) if package.has(own) else {})}
    folders = {name.partition("/")[0] for name in below if "/" in name}
    prefix = f"{path}/".removeprefix(f"{DATA}/")
    items = sorted([*(f"{name}.in" for name in inputs), *folders])  # as they are judged: by their names
    return TestGroup(
        path=path,
        config=config,
        tests=tuple(f"{prefix}{item.removesuffix('.in')}" for item in items if item not in folders),
        groups=tuple(_read(package, f"{path}/{item}", config) for item in items if item in folders),
    )


def pass_fail_subtasks(root: TestGroup) -> list[SubtaskFile]:
    """All tests as one subtask that is worth one point."""
    tests = tuple(test for group in root.walk() for test in group.tests)
    return [SubtaskFile(name=PASS_FAIL, points=1, tests=tests)]


def scoring_subtasks(
    where: Path, root: TestGroup, *, custom: bool, graded: Mapping[str, int] | None = None
) -> list[SubtaskFile]:
    """The groups of a scoring problem as subtasks.

    Args:
        where: the package, for messages.
        root: of its test data.
        custom: whether its output validator gives scores of its own.
        graded: what groups are worth that a grader of the package's own judges by their lowest score, by their paths.

    Raises:
        UnsupportedError: the groups are scored in a way that no minimum can express.
    """
    samples_count = "ignore_sample" not in _flags(where, root)
    found: list[SubtaskFile] = []
    for group in root.groups:
        if group.name == "sample" and not samples_count:
            if tests := tuple(test for one in group.walk() for test in one.tests):
                found.append(SubtaskFile(name="sample", points=0, tests=tests))
        else:
            found += _subtasks(where, group, custom, graded or {})
    names = [subtask.name for subtask in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UnsupportedError(f"{where}: two test groups are called {twice}; rename one")
    return found


def _subtasks(where: Path, group: TestGroup, custom: bool, graded: Mapping[str, int]) -> list[SubtaskFile]:
    if group.path in graded and not group.groups:
        return [SubtaskFile(name=group.name, points=graded[group.path], tests=group.tests)]
    aggregation = _aggregation(where, group)
    if not group.groups:
        return _leaf(where, group, aggregation, custom=custom) if group.tests else []
    if group.tests:
        raise UnsupportedError(f"{where}: {group.path} holds both tests and groups; such a score is not supported")
    if aggregation != "sum":
        raise UnsupportedError(
            f"{where}: {group.path} takes the {aggregation} of its groups; only their sum is supported"
        )
    return [subtask for one in group.groups for subtask in _subtasks(where, one, custom, graded)]


def _leaf(where: Path, group: TestGroup, aggregation: str, *, custom: bool) -> list[SubtaskFile]:
    points = _points(where, group)
    if aggregation == "min":
        return [SubtaskFile(name=group.name, points=points, tests=group.tests)]
    if aggregation != "sum":
        raise UnsupportedError(f"{where}: {group.path} takes the {aggregation} of its tests; min and sum are supported")
    breaks = group.config["on_reject"] == "break"
    if breaks and custom and len(group.tests) > 1:
        raise UnsupportedError(
            f"{where}: {group.path} sums scores of its own and breaks at the first rejection; that is not supported"
        )
    return [
        SubtaskFile(
            name=group.name if len(group.tests) == 1 else test,
            points=points,
            tests=group.tests[: place + 1] if breaks else (test,),
        )
        for place, test in enumerate(group.tests)
    ]


def _points(where: Path, group: TestGroup) -> float:
    """What an accepted test of the group is worth."""
    points, rejected = group.config.get("accept_score", 1), group.config.get("reject_score", 0)
    for name, value in (("accept_score", points), ("reject_score", rejected)):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{where}: {name} of {group.path} is {value!r}, where a number is needed")
    if rejected != 0:
        raise UnsupportedError(f"{where}: reject_score of {group.path} is {rejected}; only 0 is supported")
    return float(points) if isinstance(points, float) and not points.is_integer() else int(points)


def _flags(where: Path, group: TestGroup) -> list[str]:
    if group.config["grading"] != "default":
        raise UnsupportedError(
            f"{where}: {group.path} has grading {group.config['grading']!r}, by a program of its own;"
            " default is supported"
        )
    flags = str(group.config["grader_flags"] or "").split()
    if unknown := [flag for flag in flags if flag not in _AGGREGATIONS + _VERDICT_FLAGS]:
        raise UnsupportedError(f"{where}: the grader flag {unknown[0]!r} of {group.path} is not supported")
    return flags


def _aggregation(where: Path, group: TestGroup) -> str:
    """The last one named, as the default grader reads its flags."""
    return ([flag for flag in _flags(where, group) if flag in _AGGREGATIONS] or ["sum"])[-1]


def test_columns(
    where: Path, root: TestGroup, *, custom: bool, graded: Mapping[str, int]
) -> dict[str, dict[str, object]]:
    """What the rows of single tests say: the output validator's further flags, and how its scores are read.

    A score of the validator's own is a part of 1 where a grader of the package's multiplies it, and is rounded down
    with the points; else it is in points, up to what the group is worth.
    """
    columns: dict[str, dict[str, object]] = {}
    for group in root.walk():
        own: dict[str, object] = {}
        if flags := str(group.config["output_validator_flags"] or "").split():
            own["checker_args"] = flags
        if group.path in graded:
            own["score_steps"] = max(graded[group.path], 1)
        elif custom and group.tests and group.path.startswith(f"{DATA}/secret"):
            own["full_score"] = _full_score(where, group)
        columns.update(dict.fromkeys(group.tests, own))
    return columns


def _full_score(where: Path, group: TestGroup) -> int:
    """The most that a test of the group can get: the upper end of its `range`."""
    words = str(group.config.get("range", "")).split()
    points = _points(where, group)
    try:
        low, high = (float(word) for word in words)
    except ValueError:
        low, high = 0.0, math.inf
    if low != 0 or not high.is_integer() or high != points or high < 1:
        raise UnsupportedError(
            f"{where}: {group.path} has scores of its own within {' '.join(words) or 'no range'} and an accept_score of"
            f" {points}; a range from 0 to an accept_score in whole points is supported"
        )
    return int(high)
