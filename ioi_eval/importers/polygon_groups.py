"""Tests and groups of a Polygon package, as subtasks. `docs/formats.md`, "From packages", has the rules.

If group A depends on B, and B on C, then A depends on C too: A is tested only after both. A test of a complete group,
and of a group that others depend on, is passed only with full marks.

Source: MikeMirzayanov, "Polygon improvements: points and groups" (codeforces.com/blog/entry/60217).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from xml.etree.ElementTree import Element

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.importers.task import RowValues
from ioi_eval.model import Subtask

ROOT_FILE = "problem.xml"

_COMPLETE, _EACH = "complete-group", "each-test"
_AS_PERCENT = "treat-points-from-checker-as-percent"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolygonTest:
    """A test."""

    name: str  # its number, with leading zeros
    input: str  # the path of its input in the package
    answer: str
    group: str | None
    points: float
    command: str  # the generator and its arguments; empty if the test is a file of the package
    from_file: str  # the file that the generator writes; empty for its stdout


@dataclass(frozen=True, slots=True, kw_only=True)
class PolygonGroup:
    """A group of tests."""

    name: str
    complete: bool  # it gives its points only if all its tests are passed; else each test gives its own
    points: float  # the points of a complete group
    tests: tuple[PolygonTest, ...]
    required: tuple[PolygonTest, ...] = ()  # the tests of all groups that it depends on
    depends_on: tuple[str, ...] = ()  # the names of these groups

    def subtasks(self) -> Iterator[Subtask]:
        """Its subtasks; one if it gives its points as a whole, or none."""
        before = tuple(test.name for test in self.required)
        if self.complete or not any(test.points for test in self.tests):
            yield Subtask(
                name=self.name,
                points=self.points if self.complete else 0,
                tests=(*before, *(test.name for test in self.tests)),
            )
            return
        for test in self.tests:
            yield Subtask(name=f"{self.name}/{test.name}", points=test.points, tests=(*before, test.name))


def stated_points(where: str, element: Element) -> float:
    """The points of a test or group, 0 if the element does not state them."""
    stated = element.get("points") or "0"
    try:
        value = float(stated)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise InputError(f"{where} has points={stated!r} in {ROOT_FILE}; it must be a number from 0 on")
    return int(value) if value.is_integer() else value


def read_group_list(testset: Element, tests: Sequence[PolygonTest]) -> list[PolygonGroup]:
    """The groups that have tests, in the order of their first tests. A test outside of groups is a group by itself."""
    stated = {element.get("name", ""): element for element in testset.iterfind("groups/group")}
    names = {test.group for test in tests} | stated.keys()
    of_group: dict[str, list[PolygonTest]] = {}
    for test in tests:
        of_group.setdefault(_name_alone(test, names) if test.group is None else test.group, []).append(test)
    for name, group in stated.items():
        _check_points(name, group, of_group.get(name, ()))
    needed = _dependencies(stated)
    groups = []
    for name, own in of_group.items():
        element = stated.get(name, Element("group"))
        policy = element.get("points-policy", _EACH)
        if policy not in (_COMPLETE, _EACH):
            raise UnsupportedError(
                f"the group {name} has the points-policy {policy!r}; {_COMPLETE} and {_EACH} are known"
            )
        total = sum(test.points for test in own)
        if policy == _COMPLETE and element.get("points"):
            total = stated_points(f"the group {name}", element)
        groups.append(
            PolygonGroup(
                name=name,
                complete=policy == _COMPLETE,
                points=total,
                tests=tuple(own),
                required=tuple(test for other in needed.get(name, ()) for test in of_group.get(other, ())),
                depends_on=needed.get(name, ()),
            )
        )
    return groups


def _name_alone(test: PolygonTest, names: Collection[str | None]) -> str:
    """The name of a test outside of groups as a group by itself: that of the test, if no group is called so."""
    name = test.name
    while name in names:
        name = f"test {name}"
    return name


def _check_points(name: str, element: Element, tests: Sequence[PolygonTest]) -> None:
    """Refuse a group whose points no submission gets: a group without tests, or one in which only tests give points."""
    if not stated_points(f"the group {name}", element):
        return
    if not tests:
        raise InputError(f"the group {name} has points and no tests; correct its points, or add its tests")
    if element.get("points-policy", _EACH) == _EACH and not any(test.points for test in tests):
        raise InputError(
            f"the group {name} has points, but its policy is {_EACH} and its tests have none; state the points of its"
            f' tests, or points-policy="{_COMPLETE}"'
        )


def _dependencies(stated: Mapping[str, Element]) -> dict[str, tuple[str, ...]]:
    """For each group those that it depends on, also through others."""
    direct = {
        name: [inner.get("group", "") for inner in element.iterfind("dependencies/dependency")]
        for name, element in stated.items()
    }
    for name, others in direct.items():
        if unknown := [other for other in others if other not in stated]:
            raise InputError(
                f"the group {name} depends on {unknown[0]!r}, but {ROOT_FILE} has no group of that name; correct it"
            )
    try:
        order = list(TopologicalSorter(direct).static_order())
    except CycleError as error:
        raise InputError(f"groups depend on each other in a circle: {' -> '.join(error.args[1])}") from error
    found: dict[str, tuple[str, ...]] = {}
    for name in order:
        found[name] = tuple(dict.fromkeys(part for other in direct[name] for part in (*found[other], other)))
    return found


def has_points(testset: Element, tests: Sequence[PolygonTest]) -> bool:
    """Whether a submission gets points; otherwise it passes all tests, or fails."""
    return any(test.points for test in tests) or any(
        stated_points("a group", group) for group in testset.iterfind("groups/group")
    )


def refuse_unknown_full_marks(testset: Element) -> None:
    """Refuse points of a checker in a problem whose tests and groups are all worth 0: no file states full marks."""
    elements = (*testset.iterfind("tests/test"), *testset.iterfind("groups/group"))
    if any("points" in element.attrib for element in elements):
        raise UnsupportedError(
            f"the checker gives points, and every test is worth 0 in {ROOT_FILE}, so full marks are not known; state"
            " the most points of each test there"
        )


def test_columns(groups: Sequence[PolygonGroup], judging: Element) -> dict[str, RowValues]:
    """How the points are read that the checker gives on each test: as points of the test, or as a percentage of these.

    Args:
        judging: the element that says whether they are a percentage. Source: VNOJ's importer, which reads it too.
    """
    columns: dict[str, RowValues] = {}
    required = {name for group in groups for name in group.depends_on}
    for group in groups:
        for test in group.tests:
            full = test.points or (group.points if group.complete else 0)
            if full and judging.get(_AS_PERCENT) == "true":
                full = 100
            if isinstance(full, float):
                raise UnsupportedError(
                    f"the checker gives points, and the test {test.name} is worth {full}; whole points are supported"
                )
            columns[test.name] = {"full_score": full, **({"score_steps": 1} if group.complete and full else {})}
        if not group.complete and group.name in required and any(test.points for test in group.tests):
            raise UnsupportedError(
                f"the checker gives points in the group {group.name}, where each test has its own, and other groups"
                " depend on it; that is not supported"
            )
    return columns
