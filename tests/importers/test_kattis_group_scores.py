"""The subtasks of random Kattis packages give the same points as judging group by group.

The model below judges as problemtools does: in order, stopping where `on_reject` says so, and with the default grader.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence

import pytest

from ioi_eval.errors import UnsupportedError
from ioi_eval.importers.kattis_data import TestGroup
from ioi_eval.importers.kattis_groups import pass_fail_subtasks, scoring_subtasks

Result = tuple[bool, float]
"""Whether a test or a group is accepted, and its score."""

_PACKAGES = 250
_MAX_TESTS = 7
_AGGREGATIONS = ("sum", "min", "avg", "max")
_ACCEPTING = ("first_error", "always_accept", "accept_if_any_accepted")
_DEFAULTS = {"on_reject": "break", "grading": "default", "grader_flags": "", "output_validator_flags": ""}


def graded(results: Sequence[Result], flags: Sequence[str]) -> Result:
    """The result of a group with the default grader. Source: problemtools, `support/default_grader`."""
    counted = results[-1:] if "ignore_sample" in flags else results
    accepted, scores = [one for one, _ in counted], [score for _, score in counted]
    aggregation = ([flag for flag in flags if flag in _AGGREGATIONS] or ["sum"])[-1]
    values = {"sum": sum(scores), "min": min(scores), "max": max(scores), "avg": sum(scores) / len(scores)}
    any_ = "accept_if_any_accepted" in flags and any(accepted)
    return any_ or "always_accept" in flags or all(accepted), values[aggregation]


def judged(group: TestGroup, passes: Mapping[str, bool]) -> Result | None:
    """The result of a group; `None` if it has no tests. Source: problemtools, `SubmissionJudge`."""
    results: list[Result] = []
    items: tuple[str | TestGroup, ...] = (*group.tests, *group.groups)
    for item in items:
        if isinstance(item, TestGroup):
            result = judged(item, passes)
        else:
            result = passes[item], float(group.config.get("accept_score", 1)) if passes[item] else 0.0
        if result is None:
            continue
        results.append(result)
        if not result[0] and group.config["on_reject"] == "break":
            break
    return graded(results, str(group.config["grader_flags"]).split()) if results else None


class Packages:
    """Random test data of scoring problems."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def root(self) -> TestGroup:
        """The root, with a group of samples and a group of secret data."""
        config = {**_DEFAULTS, "on_reject": "continue", "grader_flags": self._pick("", "ignore_sample")}
        inner = self._config({**_DEFAULTS, "on_reject": "continue"})
        groups = (self._leaf("data/sample", inner, self._pick(0, 1)), self._group("data/secret", inner, 2))
        return TestGroup(path="data", config=config, tests=(), groups=groups)

    def _pick(self, *values: object) -> object:
        return self._random.choice(values)

    def _config(self, inherited: Mapping[str, object]) -> dict[str, object]:
        own: dict[str, object] = {
            "on_reject": self._pick("break", "continue"),
            "grader_flags": f"{self._pick('', *_AGGREGATIONS)} {self._pick('', *_ACCEPTING)}",
            "accept_score": self._pick(0, 1, 10, 25),
        }
        return {**inherited, **{name: value for name, value in own.items() if self._random.random() < 0.7}}

    def _leaf(self, path: str, inherited: Mapping[str, object], tests: object) -> TestGroup:
        names = tuple(f"{path.removeprefix('data/')}/{number}" for number in range(int(str(tests))))
        return TestGroup(path=path, config=self._config(inherited), tests=names, groups=())

    def _group(self, path: str, inherited: Mapping[str, object], depth: int) -> TestGroup:
        if depth == 0 or self._random.random() < 0.4:
            return self._leaf(path, inherited, self._pick(0, 1, 2))
        config = self._config(inherited)
        inner = tuple(
            self._group(f"{path}/{number}", config, depth - 1) for number in range(self._random.randint(1, 3))
        )
        return TestGroup(path=path, config=config, tests=(), groups=inner)


def different(root: TestGroup) -> Iterator[str]:
    """The submissions with different points, as sets of passed tests."""
    subtasks = scoring_subtasks(root, gives_scores=False, graded={})
    tests = root.all_tests
    for bits in itertools.product((False, True), repeat=len(tests)):
        passes = dict(zip(tests, bits, strict=True))
        points = sum(one.points for one in subtasks if all(passes[test] for test in one.tests))
        result = judged(root, passes)
        if abs(points - (result[1] if result else 0.0)) > 1e-9:
            yield f"{points} points, not {result}, for {passes} of {root}"


@pytest.mark.parametrize("seed", range(4))
def test_subtasks_give_the_points_of_the_groups(seed: int) -> None:
    """For every set of passed tests; or the package is refused."""
    packages, compared = Packages(seed), 0
    for _ in range(_PACKAGES):
        root = packages.root()
        if not root.groups[1].all_tests or len(root.all_tests) > _MAX_TESTS:
            continue
        try:
            assert list(different(root)) == []
        except UnsupportedError:
            continue
        compared += 1
    assert compared > _PACKAGES // 10


@pytest.mark.parametrize("seed", range(2))
def test_pass_fail_problems_accept_what_the_groups_accept(seed: int) -> None:
    """The only subtask with points has the deciding tests; or the package is refused."""
    packages, compared = Packages(seed), 0
    for _ in range(_PACKAGES):
        root = packages.root()
        tests = root.all_tests
        if not root.groups[1].all_tests or len(tests) > _MAX_TESTS:
            continue
        try:
            (subtask,) = (one for one in pass_fail_subtasks(root) if one.points)
        except UnsupportedError:
            continue
        for bits in itertools.product((False, True), repeat=len(tests)):
            passes = dict(zip(tests, bits, strict=True))
            result = judged(root, passes)
            assert result is not None
            assert result[0] == all(passes[test] for test in subtask.tests), (passes, root)
        compared += 1
    assert compared > _PACKAGES // 10
