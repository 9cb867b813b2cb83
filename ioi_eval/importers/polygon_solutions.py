"""Solutions of a Polygon package, and what their tags state.

A tag such as `wrong-answer` states that some tests fail so, and all others are passed. So one subtask must have that
verdict. `accepted` and `main` pass all tests. A solution may have further tags for groups (`extra-tag`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from posixpath import basename
from xml.etree.ElementTree import Element

from ioi_eval.expectations import MODEL_SOLUTION
from ioi_eval.importers.package import Package
from ioi_eval.importers.polygon_groups import PolygonGroup
from ioi_eval.importers.task import PackageSolution, language
from ioi_eval.model import Subtask

_ACCEPTED = ("main", "accepted")
_FAILURES = {
    "rejected": "FAILED",
    "failed": "FAILED",
    "wrong-answer": "WA",
    "presentation-error": "WA",
    "time-limit-exceeded": "TLE",
    "memory-limit-exceeded": "MLE,RE",
    "time-limit-exceeded-or-memory-limit-exceeded": "TLE,MLE,RE",
}
_LATE_OR_ACCEPTED = "time-limit-exceeded-or-accepted"
_NOT_RUN = "do-not-run"
_PYTHON_2 = ("python.2", "python.pypy2")


def read_solutions(
    package: Package, assets: Element, testset: str, subtasks: Sequence[Subtask], groups: Sequence[PolygonGroup]
) -> list[PackageSolution]:
    """The solutions in languages that have a name here."""
    solutions: list[PackageSolution] = []
    left_out: list[str] = []
    for element in assets.iterfind("solutions/solution"):
        source = element.find("source")
        path = "" if source is None else source.get("path", "")
        if source is None or language(path) is None or source.get("type", "").startswith(_PYTHON_2):
            left_out.append(path)
            continue
        tag, by_group = _tags(element, testset)
        if tag not in (*_ACCEPTED, *_FAILURES, _LATE_OR_ACCEPTED, _NOT_RUN):
            package.notes.append(f"{path}: the tag {tag!r} is not known, and states nothing here")
        expected, expected_subtasks = _expected(tag, subtasks)
        if expected != MODEL_SOLUTION:
            expected_subtasks |= _of_groups(by_group, groups)
        solutions.append(
            PackageSolution(
                path=path, label=f"{tag}/{basename(path)}", expected=expected, expected_subtasks=expected_subtasks
            )
        )
    package.leave_out("as they are in other languages", left_out)
    return solutions


def _tags(element: Element, testset: str) -> tuple[str, dict[str, str]]:
    """The tag of a solution on these tests, and those of groups."""
    tag, by_group = element.get("tag", ""), {}
    for extra in element.iterfind("extra-tags/extra-tag"):
        stated, group = extra.get("tag", ""), extra.get("group")
        if extra.get("testset", testset) != testset:
            continue
        if group:
            by_group[group] = stated
        else:
            tag = stated
    return tag, by_group


def _expected(tag: str, subtasks: Sequence[Subtask]) -> tuple[str | None, dict[str, str]]:
    """The verdicts that a tag states of the whole solution, and of each subtask."""
    names = [subtask.name for subtask in subtasks]
    if tag in _ACCEPTED:
        return MODEL_SOLUTION, dict.fromkeys(names, "AC")
    if tag == _LATE_OR_ACCEPTED:
        return None, dict.fromkeys(names, "AC,TLE")
    if tag in _FAILURES and len(names) == 1:
        return None, {names[0]: _FAILURES[tag]}
    return _FAILURES.get(tag), {}


def _of_groups(tags: Mapping[str, str], groups: Sequence[PolygonGroup]) -> dict[str, str]:
    """The verdicts that tags of groups state of their subtasks.

    A tag is about the group's own tests, and a subtask has also those of the groups that the group depends on. Of a
    group with points for each test, a failure does not say which test fails.
    """
    expected: dict[str, str] = {}
    for group in groups:
        tag = tags.get(group.name, "")
        subtasks = [subtask.name for subtask in group.subtasks()]
        if tag in _ACCEPTED and all(tags.get(other) in _ACCEPTED for other in group.depends_on):
            expected |= dict.fromkeys(subtasks, "AC")
        elif tag in _FAILURES and len(subtasks) == 1:
            expected[subtasks[0]] = "FAILED" if group.required else _FAILURES[tag]
    return expected
