"""Turns score type parameters of CMS into subtasks.

A group is `[points, tests]` (with a threshold as third value for GroupThreshold), or an object with these names.
`tests` is the number of tests (beginning with the first that is in no earlier group), or a regular expression that
matches the beginning of their names, or the list of their names. All groups of a task use the same form.

Source: CMS, `cms/grading/scoretypes/abc.py`, `ScoreTypeGroup`; task-maker-rust, `ioi/format/italian_yaml/mod.rs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from ioi_eval.errors import InputError, UnsupportedError, listed
from ioi_eval.importers.name_patterns import select_tests
from ioi_eval.importers.package import ONLY_SUBTASK, ROOT_FILE, number_of
from ioi_eval.model import ScoreType, Subtask
from ioi_eval.problems.grader_config import parse_score_type

_SHOWN_TO_ALL = "always_show_testcases"  # says only what contestants see


def score_type_without_parameters(meta: Mapping[str, Any]) -> ScoreType | None:
    """The score type that `problem.json` states; `None` if it states none."""
    score_type = parse_score_type(meta.get("score_type"), ROOT_FILE)
    if score_type is ScoreType.GROUP_THRESHOLD:
        raise UnsupportedError(
            f"{ROOT_FILE}: score type GroupThreshold needs thresholds, and packages of this format state none; remove"
            " score_type from a copy of the package, import that, and add score_type and threshold to each problem row"
        )
    return score_type


def subtasks_of(score_type: ScoreType, parameters: object, tests: Sequence[str]) -> list[Subtask]:
    """The subtasks that a score type and its parameters define.

    Args:
        parameters: a list of groups; for Sum also the points of each test, as in CMS. (task-maker-rust writes groups
            for Sum too: the mean of a group's tests counts.)
        tests: the names of all tests; they are used in lexicographical order.
    """
    names = sorted(tests)
    if score_type is ScoreType.SUM and not isinstance(parameters, list):
        points = number_of("score_type_parameters", parameters)
        total = float(Decimal(str(points)) * len(names))  # `scores.py` divides it again, also as decimal numbers
        return [Subtask(name=ONLY_SUBTASK, points=total, tests=tuple(names))]
    if not isinstance(parameters, list) or not parameters:
        raise InputError(f"score_type_parameters is {parameters!r}; it must be a list of groups")
    groups = {f"{number:02}": _group(number, group) for number, group in enumerate(parameters)}
    wanted = {name: group["testcases"] for name, group in groups.items()}
    return [
        Subtask(
            name=name,
            points=number_of(f"the score of subtask {name}", group["max_score"]),
            tests=chosen,
            threshold=_threshold(name, group) if score_type is ScoreType.GROUP_THRESHOLD else None,
        )
        for (name, group), chosen in zip(groups.items(), _chosen_tests(wanted, names), strict=True)
    ]


def _chosen_tests(wanted: Mapping[str, Any], names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The tests of each group. All groups must state theirs in the same form."""
    kinds = {type(tests) for tests in wanted.values()}
    if len(kinds) > 1:
        raise InputError("the groups of score_type_parameters name their tests in different ways; use one")
    if kinds == {str}:
        yield from select_tests(wanted, names).values()
        return
    used = 0
    for group, tests in wanted.items():
        if isinstance(tests, int):
            first, used = used, used + tests
            if used > len(names):
                raise InputError(f"the groups up to {group} take {used} tests, but there are {len(names)}")
            yield tuple(names[first:used])
        else:
            if absent := [test for test in tests if test not in names]:
                raise InputError(
                    f"subtask {group} in score_type_parameters names the test {absent[0]!r}; tests are {listed(names)}"
                )
            yield tuple(tests)


def _group(number: int, group: object) -> Mapping[str, Any]:
    """A group as an object, from either form."""
    names = ("max_score", "testcases", "threshold")
    named = dict(zip(names, group, strict=False)) if isinstance(group, list) else group
    if isinstance(named, Mapping) and (unknown := [name for name in named if name not in (*names, _SHOWN_TO_ALL)]):
        raise UnsupportedError(
            f"group {number} of score_type_parameters has {unknown[0]!r}, which may change its score and is not known;"
            f" {', '.join(names)} are"
        )
    if not isinstance(named, Mapping) or not {"max_score", "testcases"} <= set(named):
        raise InputError(f"group {number} of score_type_parameters is {group!r}, not [points, tests]")
    wanted = named["testcases"]
    if isinstance(wanted, bool) or not isinstance(wanted, int | str | list) or (isinstance(wanted, int) and wanted < 0):
        raise InputError(
            f"group {number} of score_type_parameters has the tests {wanted!r}; they must be a number of "
            "tests, a regular expression or a list of names"
        )
    return named


def _threshold(subtask: str, group: Mapping[str, Any]) -> float:
    if "threshold" not in group:
        raise InputError(f"subtask {subtask} has no threshold, which GroupThreshold needs")
    return number_of(f"the threshold of subtask {subtask}", group["threshold"])
