"""The test data of a Kattis package: the directories below `data/`, which are groups of tests, and their settings.

Source: Kattis problem package format (legacy), "Test Data Groups", and 2025-09, "Test Data".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ioi_eval.errors import InputError, listed
from ioi_eval.importers.package import Package

DATA = "data"
ARGUMENTS = "output_validator_args"
"""The setting with the flags of the output validator since version 2023-07; before, `output_validator_flags`."""

_IGNORED_KINDS = ("invalid_input", "invalid_answer", "invalid_output", "valid_output")
"""Directories of data that tests the package. BAPCtools used `bad` and the plurals before it took over 2025-09."""

_DEFAULTS = {"on_reject": "break", "grading": "default", "grader_flags": "", "output_validator_flags": ""}
SETTINGS = frozenset((
    *_DEFAULTS,
    *("accept_score", "reject_score", "range", "input_validator_flags"),
    *("max_score", "score_aggregation", "static_validation_score", "require_pass", "args", "full_feedback"),
    *(f"{program}_args" for program in ("output_validator", "input_validator", "static_validator")),
    *(f"{program}_args" for program in ("input_visualizer", "output_visualizer")),
))  # fmt: skip
"""The settings of a group that the format has, before version 2025 and since."""

_IGNORED_PATHS = (f"{DATA}/bad/", *(f"{DATA}/{kind}{end}/" for kind in _IGNORED_KINDS for end in ("", "s")))
_CONFIGURATIONS = ("testdata.yaml", "test_group.yaml")
"""The file with the settings of a directory, before version 2025 and since.

A directory without one has the settings of the directory that it is in. One with the first file has its own settings
and those of the outer directory. One with the second, a group since 2025, has its own, inherits those in `_DEFAULTS`,
and has the `output_validator_args` that the file of `data/` states. (The format has no such file in `data/`; BAPCtools,
which lets groups inherit all arguments, puts them there.)
"""

AGGREGATIONS = ("sum", "avg", "min", "max")
ACCEPTED_IN_PART = frozenset({"always_accept", "accept_if_any_accepted"})
VERDICT_FLAGS = ("worst_error", "no_errors", "first_error", "always_accept", "accept_if_any_accepted", "ignore_sample")


@dataclass(frozen=True, slots=True, kw_only=True)
class TestGroup:
    """A directory of test data."""

    __test__ = False

    path: str  # in the package (`data/secret/group1`)
    config: Mapping[str, Any]  # the settings of its configuration file, and inherited ones
    tests: tuple[str, ...]  # directly in it, in order: paths below `data/` without an ending
    groups: tuple[TestGroup, ...]  # the directories in it, in order
    configured: bool = False  # whether it has its own configuration file
    own: frozenset[str] = frozenset()  # the settings that this file states, and `problem.yaml` does not
    one_result: str = ""  # `min` or `max`: the package's own grader gets only this score of its tests

    @property
    def all_tests(self) -> tuple[str, ...]:
        """Its tests and those of all groups below, in the order of judging: by the names of files and directories."""
        tests = [test for group in self.walk() for test in group.tests]
        return tuple(sorted(tests, key=lambda test: f"{test}.in".split("/")))

    @property
    def secret(self) -> tuple[TestGroup, ...]:
        """Of the root: the directory with secret tests and all groups in it, in the order in which they are judged."""
        return tuple(inner for group in self.groups if group.name == "secret" for inner in group.walk())

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def flags(self) -> tuple[str, ...]:
        """The words of its `grader_flags`."""
        return tuple(str(self.config["grader_flags"] or "").split())

    @property
    def aggregations(self) -> tuple[str, ...]:
        """Those of its flags that say how scores are combined; for the default grader the last one counts."""
        return tuple(flag for flag in self.flags if flag in AGGREGATIONS)

    @property
    def range(self) -> tuple[float, float] | None:
        """The least and the most points that it states; `None` if it states none."""
        if "range" not in self.config:
            return None
        try:
            low, high = map(float, str(self.config["range"]).split())
        except ValueError:
            raise InputError(f"range of {self.path} is {self.config['range']!r}; it must be two numbers") from None
        return low, high

    def with_settings(self, **settings: object) -> TestGroup:
        """The group with some settings changed."""
        return replace(self, config={**self.config, **settings})

    def with_lowest_score(self) -> TestGroup:
        """The group with the aggregation `min` after those in its flags, so that it counts."""
        return self.with_settings(grader_flags=" ".join([*self.flags, "min"]))

    def with_each(self, change: Callable[[TestGroup], TestGroup]) -> TestGroup:
        """The group with this change of itself and of all groups below, the innermost first."""
        return change(replace(self, groups=tuple(inner.with_each(change) for inner in self.groups)))

    def walk(self) -> Iterator[TestGroup]:
        """This group and all below it, in the order in which they are judged."""
        yield self
        for group in self.groups:
            yield from group.walk()


def read_groups(package: Package, for_all: Mapping[str, Any]) -> TestGroup:
    """The tree of test data. Settings from `problem.yaml` hold for all groups, whatever these state."""
    package.refuse_links(DATA)
    stated, _ = _own_settings(package, DATA)
    for_newer = {name: value for name, value in stated.items() if name == ARGUMENTS}

    def read(path: str, inherited: Mapping[str, Any]) -> TestGroup:
        below = [name.removeprefix(f"{path}/") for name in judged_names(package, path)]
        inputs = _inputs(path, [name for name in below if "/" not in name])
        own, file = _own_settings(package, path)
        if file and file.endswith(f"/{_CONFIGURATIONS[1]}"):
            inherited = {**{name: value for name, value in inherited.items() if name in _DEFAULTS}, **for_newer}
        config = {**inherited, **own, **for_all}
        if (policy := config["on_reject"]) not in ("break", "continue"):
            raise InputError(f"on_reject of {path} is {policy!r}; it must be break or continue")
        directories = {name.partition("/")[0] for name in below if "/" in name}
        prefix = f"{path}/".removeprefix(f"{DATA}/")
        items = sorted([*inputs, *directories])  # in the order of judging: by name
        return TestGroup(
            path=path,
            config=config,
            tests=tuple(f"{prefix}{item.removesuffix('.in')}" for item in items if item not in directories),
            groups=tuple(read(f"{path}/{item}", config) for item in items if item in directories),
            configured=file is not None,
            own=frozenset(own.keys() - for_all.keys()),
        )

    root = read(DATA, _DEFAULTS)
    _note_arguments_that_end(package, root)
    if root.tests or not {group.name for group in root.groups} <= {"sample", "secret"}:
        other = [*root.tests, *(group.path for group in root.groups if group.name not in ("sample", "secret"))]
        raise InputError(f"{DATA}/ holds {other[0]}; only sample/ and secret/ belong there")
    if not any(group.tests for group in root.walk()):
        raise InputError(
            f"{package.where} holds no {DATA}/secret/*.in: the tests are missing; get the complete package"
        )
    return root


def judged_names(package: Package, path: str) -> list[str]:
    """The files below a directory of test data, without those that only test the package."""
    return [name for name in package.names(path) if not name.startswith(_IGNORED_PATHS)]


def _own_settings(package: Package, path: str) -> tuple[Mapping[str, Any], str | None]:
    """The settings that a directory states, and the file with them; none, and `None`, if there is no such file."""
    file = next((f"{path}/{name}" for name in _CONFIGURATIONS if package.has(f"{path}/{name}")), None)
    return (package.yaml(file) if file else {}), file


def _note_arguments_that_end(package: Package, root: TestGroup) -> None:
    """Note the directories whose `output_validator_args` do not apply in groups below, as in BAPCtools they would."""
    for outer in root.walk():
        arguments = outer.config.get(ARGUMENTS)
        without = [
            inner.path
            for inner in outer.groups
            if inner.configured and inner.config.get(ARGUMENTS) == root.config.get(ARGUMENTS) != arguments
        ]
        if arguments and without:
            package.notes.append(
                f"{ARGUMENTS} of {outer.path} does not apply to {listed(without)}, as a group with a"
                f" {_CONFIGURATIONS[1]} of its own inherits only that of {DATA}/"
            )


def _inputs(path: str, files: Sequence[str]) -> list[str]:
    """The names of the inputs among the files of one directory. Each needs an answer, and each answer an input."""
    inputs = {name.removesuffix(".in") for name in files if name.endswith(".in")}
    answers = {name.removesuffix(".ans") for name in files if name.endswith(".ans")}
    for missing, existing, ending in ((inputs - answers, "in", "ans"), (answers - inputs, "ans", "in")):
        if missing:
            name = f"{path}/{min(missing)}"
            raise InputError(f"{name}.{existing} has no {name}.{ending}; get the complete package")
    return [f"{name}.in" for name in inputs]
