"""The tests, subtasks and points of a task in the Italian YAML format: from `task.yaml`, or else from `gen/GEN`.

Source: CMS, `cmscontrib/loaders/italy_yaml.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ioi_eval.errors import InputError, UnsupportedError, listed
from ioi_eval.importers.package import ONLY_SUBTASK, Package, number_in_text, number_of
from ioi_eval.importers.score_parameters import subtasks_of
from ioi_eval.model import ScoreType, Subtask
from ioi_eval.problems.grader_config import named_member
from ioi_eval.problems.row import is_whole

ROOT_FILE = "task.yaml"
GENERATOR_FILES = ("gen/GEN", "gen/cases.gen", "gen/gen.toml")
_DEPENDS = re.compile(r"[^#]*#[ \t]*STDEP:|[ \t]*:[ \t]*STDEP\b")  # in gen/GEN; in gen/cases.gen
WHOLE = re.compile(r"\d{1,18}")
_MAX_TESTS = 100_000


def read_tests(package: Package, count: int, *, managed: bool) -> dict[str, tuple[str, str]]:
    """The paths of input and output for each test's name.

    task-maker-rust makes no outputs for a task with a manager (`managed`). Their paths are empty then.
    """
    tests = {f"{n:03}": (f"input/input{n}.txt", f"output/output{n}.txt") for n in range(count)}
    if managed and not package.names("output"):
        package.notes.append("there is no output/: the official outputs are empty; the manager judges without them")
        tests = {name: (given, "") for name, (given, _) in tests.items()}
    files = [path for pair in tests.values() for path in pair if path]
    known = set(files)
    if absent := [path for path in files if not package.has(path)]:
        directory = absent[0].partition("/")[0]
        others = [name for name in package.names(directory) if name not in known]
        found = f"; {directory}/ holds {listed(others, most=3)}, which CMS does not read" if others else ""
        raise InputError(
            f"there is no {absent[0]}, though there should be {count} tests ({len(absent)} of"
            f" {len(files)} files are missing){found}; generate them first (`cmsMake` or"
            " `task-maker-rust` make them), or give the files these names"
        )
    package.leave_out("because they belong to no test", [name for name in package.names("input") if name not in known])
    return tests


def read_scoring(package: Package, meta: Mapping[str, Any]) -> tuple[ScoreType, list[Subtask], int]:
    """Score type, subtasks, and how many tests there are."""
    stated = [key for key in ("score_type", "score_type_parameters") if meta.get(key) not in (None, "")]
    if len(stated) == 2:
        return _stated_scoring(package, meta)
    if stated:
        package.notes.append(
            f"{stated[0]} in {ROOT_FILE} is ignored: CMS too needs both score_type and score_type_parameters"
        )
    _check_generators(package)
    groups, count = _groups_of_generator(package, meta)
    if not groups:
        if not count:
            raise InputError(f"{package.where} has no tests: neither gen/GEN nor n_input names any")
        total = number_of("total_value", number_in_text(meta.get("total_value", 100.0)))
        return ScoreType.SUM, [Subtask(name=ONLY_SUBTASK, points=total, tests=_names(count))], count
    if lacking := [points for points, tests in groups if points and not tests]:
        raise InputError(f"gen/GEN has a subtask that is worth {lacking[0]} points and has no tests; complete it")
    if any(not tests for _, tests in groups):
        package.notes.append("subtasks without tests in gen/GEN, which are worth nothing, are left out")
    if (total := sum(points for points, _ in groups)) != 100:
        raise InputError(f"the subtasks of gen/GEN are worth {total} points together, not 100; correct its #ST: lines")
    with_tests = [group for group in groups if group[1]]
    return ScoreType.GROUP_MIN, subtasks_of(ScoreType.GROUP_MIN, with_tests, _names(count)), count


def _stated_scoring(package: Package, meta: Mapping[str, Any]) -> tuple[ScoreType, list[Subtask], int]:
    """What `task.yaml` states, in place of the subtasks of gen/GEN.

    Source: CMS 1.4 and 1.5. task-maker-rust wrote `task.yaml` without `n_input` until October 2025, and then with it.
    """
    score_type = named_member(ScoreType, meta["score_type"], f"{ROOT_FILE}: score type")
    if "n_input" in meta:
        count = _count(meta["n_input"])
    else:
        count = _groups_of_generator(package, meta)[1]
        package.notes.append(
            f"the subtasks are those of score_type_parameters in {ROOT_FILE}, as in CMS 1.4 and 1.5; CMS's source since"
            " October 2025 (not released then) takes those of gen/GEN, unless n_input is stated too"
        )
    return score_type, subtasks_of(score_type, meta["score_type_parameters"], _names(count)), count


def _names(count: int) -> tuple[str, ...]:
    return tuple(f"{n:03}" for n in range(count))


def _check_generators(package: Package) -> None:
    """Refuse what task-maker understands and CMS does not: the subtasks would be others, or one for all tests.

    From `gen/cases.gen` task-maker makes a `gen/GEN` without dependencies. With dependencies it needs `task.yaml.orig`.
    Source: task-maker-rust, `task-maker-format/src/ioi/format/italian_yaml`.
    """
    for name in (name for name in GENERATOR_FILES[:2] if package.has(name)):
        for number, line in enumerate(package.lines(name), 1):
            if _DEPENDS.match(line):
                raise UnsupportedError(
                    f"{name}, line {number} lets a subtask depend on others, which is not supported; rename {ROOT_FILE}"
                    f" to {ROOT_FILE}.orig and run task-maker-rust, which then writes the subtasks to {ROOT_FILE}"
                )
    if package.has("gen/GEN"):
        return
    for name, what in (("gen/cases.gen", "makes gen/GEN from it"), ("gen/gen.toml", f"writes them to {ROOT_FILE}")):
        if package.has(name):
            raise UnsupportedError(
                f"{name} states the subtasks, which is not supported; run task-maker-rust on the task first, which"
                f" {what}"
            )


def _count(value: object) -> int:
    if isinstance(value, str) and WHOLE.fullmatch(value):
        value = int(value)
    if not is_whole(value) or not 1 <= value <= _MAX_TESTS:
        raise InputError(f"n_input is {value!r} in {ROOT_FILE}; it must be a whole number from 1 to {_MAX_TESTS:,}")
    return value


def _groups_of_generator(package: Package, meta: Mapping[str, Any]) -> tuple[list[list[int]], int]:
    """For each subtask its points and number of tests; the number of all tests. There are no subtasks for a sum."""
    if not package.has("gen/GEN"):
        if meta.get("n_input") is None:
            raise InputError(f"neither gen/GEN nor n_input in {ROOT_FILE} says how many tests there are; state n_input")
        return [], _count(meta["n_input"])
    groups: list[list[int]] = []
    count = 0
    for number, line in enumerate(package.lines("gen/GEN"), 1):
        where = f"gen/GEN, line {number}"
        command, _, comment = (part.strip() for part in line.partition("#"))
        is_test, opens = bool(command) or comment.startswith("COPY:"), comment.startswith("ST:")
        if (command and comment.startswith("COPY:")) or (is_test and opens):
            raise InputError(f"{where} has both a test and a command; give each a line of its own")
        if is_test:
            count += 1
            for group in groups[-1:]:
                group[1] += 1
        if not opens:
            continue
        if count and not groups:
            raise InputError(f"{where} begins the first subtask, but there are tests before it")
        stated = comment.removeprefix("ST:").strip()
        if not WHOLE.fullmatch(stated):
            raise InputError(f"{where}: the subtask is worth {stated!r}; it must be a whole number of points")
        groups.append([int(stated), 0])
    if "n_input" in meta and _count(meta["n_input"]) != count:
        raise InputError(
            f"gen/GEN has {count} tests, but n_input in {ROOT_FILE} is {meta['n_input']}; correct one of them"
        )
    return groups, count
