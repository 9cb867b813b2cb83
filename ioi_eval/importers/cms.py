"""CMS export packages, as the IOI publishes its tasks: `problem.json`, `subtasks/`, `tests/`, `graders/`, …

The package is read as CMS's own loader of TPS exports reads it; `grader_config.json` is made from `problem.json`, with
flat keys. A package carries neither year nor day. Solutions lie in folders named by their label, which is what TPS
states of the whole solution; its exceptions per subtask are not exported (see `expectations.py`).

Source: CMS, `cmscontrib/loaders/tps.py`; TPS, `scripts/exporters/CMS.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.expectations import Expectation
from ioi_eval.importers.package import ROOT_FILE, Package, open_package
from ioi_eval.importers.task import (
    ImportedTask,
    RowValues,
    Solution,
    SubtaskFile,
    build_task,
    language,
    select_tests,
)
from ioi_eval.problems.grader_config import parse_score_type, parse_task_type

_UNLABELLED = "unknown_verdict"  # TPS's exporter writes it where nothing is stated
_CODE_ENDINGS = (".cpp", ".cc", ".h", ".hpp", ".py", ".sh")


def import_package(path: str | Path, *, year: int, day: str | None = None) -> ImportedTask:
    """Read a CMS export package.

    Args:
        path: a zip, a tar or a folder.
        year: the contest's year; packages do not say.
        day: the contest day, as it shall stand in the rows.

    Raises:
        InputError: the package is damaged, incomplete or contradicts itself.
        UnsupportedError: its task type or score type is not supported.
    """
    where = Path(path)
    if not where.exists():
        raise InputError(f"there is no package {where}")
    with open_package(where) as package:
        return _import(package, year, day)


def _import(package: Package, year: int, day: str | None) -> ImportedTask:
    where = package.where
    meta = package.json(ROOT_FILE)
    if "task_type" not in meta and package.has("subtasks.json"):
        raise InputError(f"{where} is a TPS task folder; use `ioi-eval import tps`")
    code = _required(package, meta, "code", str)
    task_type = parse_task_type(_required(package, meta, "task_type", str), f"{where}: {ROOT_FILE}")
    score_type = parse_score_type(meta.get("score_type"), f"{where}: {ROOT_FILE}")
    notes: list[str] = []
    tests = _tests(package, notes)
    subtasks = _subtasks(package, tuple(tests), notes)
    shared = {
        "year": year,
        "name": meta.get("name") or code,
        "id": code,
        "day": day,
        "statement": "",
        "problem": "",
        "time_limit": _required(package, meta, "time_limit", (int, float)),
        "memory_limit": _required(package, meta, "memory_limit", int),
        "score_precision": meta.get("score_precision", 2),
        **({"score_type": score_type.value} if score_type else {}),
        "task_type": task_type.value,
        "starting_code": "",
    }
    return build_task(
        package,
        shared,
        subtasks=subtasks,
        files=_code_files(package),
        config=_config(package, meta, task_type.value),
        tests=tests,
        solutions=_solutions(package, notes),
        notes=notes,
    )


def _required(package: Package, meta: Mapping[str, Any], field: str, kind: type | tuple[type, ...]) -> Any:
    value = meta.get(field)
    if isinstance(value, bool) or not isinstance(value, kind) or value == "":
        stated = "is missing" if value is None else f"is {value!r}"
        raise InputError(f"{package.where}: {field} {stated} in {ROOT_FILE}; this is no complete CMS export package")
    return value


def _config(package: Package, meta: Mapping[str, Any], task_type: str) -> RowValues:
    """`grader_config.json` with flat keys, where the reference's scripts look for them."""
    params = meta.get("task_type_params") or {}
    if isinstance(params, str):
        try:
            params = json.loads(params)
        except ValueError as error:
            raise InputError(f"{package.where}: task_type_params in {ROOT_FILE} is not JSON: {error}") from error
    if not isinstance(params, dict):
        raise UnsupportedError(f"{package.where}: task_type_params in {ROOT_FILE} is no object of named parameters")
    fields = ("code", "name", "time_limit", "memory_limit")
    return {"task_type": task_type, **{field: meta[field] for field in fields if field in meta}, **params}


def _code_files(package: Package) -> list[tuple[str, str]]:
    """The sources of grader, checker and manager; of files without an ending only scripts, not what was compiled."""
    names = [*package.names("graders"), *package.names("checker"), *package.names("manager")]
    files = [(name, package.text(name)) for name in names if name.endswith(_CODE_ENDINGS)]
    programs = [name for name in names if PurePosixPath(name).name in ("checker", "manager")]
    return files + [(name, package.text(name)) for name in programs if package.read(name).startswith(b"#!")]


def _tests(package: Package, notes: list[str]) -> dict[str, tuple[str, str]]:
    """Each test's input and output, by its name. As CMS does, a missing output ends the import."""
    names = package.names("tests")
    inputs = [name for name in names if name.endswith(".in")]
    if not inputs:
        raise InputError(f"{package.where} holds no tests/*.in: the tests are missing; get the complete package")
    tests: dict[str, tuple[str, str]] = {}
    for given in inputs:
        test = given.removeprefix("tests/").removesuffix(".in")
        answer = f"tests/{test}.out"
        if not package.has(answer):
            raise InputError(f"{package.where}: {given} has no {answer}; get the complete package")
        tests[test] = (given, answer)
    known = {path for paths in tests.values() for path in paths}
    if others := [name for name in names if name not in known]:
        notes.append(f"left out, as they belong to no test: {', '.join(others[:5])}")
    return tests


def _subtasks(package: Package, tests: tuple[str, ...], notes: list[str]) -> list[SubtaskFile]:
    files = [name for name in package.names("subtasks") if name.endswith(".json")]
    if not files:
        notes.append("there are no subtasks/*.json: as CMS does then, each test is worth the same part of 100 points")
        return [SubtaskFile(name=test, points=100 / len(tests), tests=(test,)) for test in tests]
    return [_subtask(package, file, tests) for file in files]


def _subtask(package: Package, file: str, tests: tuple[str, ...]) -> SubtaskFile:
    meta = package.json(file)
    where = f"{package.where}: {file}"
    name = PurePosixPath(file).stem
    points, listed = meta.get("score"), meta.get("testcases", meta.get("regex"))
    if isinstance(points, bool) or not isinstance(points, int | float):
        raise InputError(f"{where}: score is {points!r}, where a number of points is needed")
    if isinstance(listed, str):
        listed = list(select_tests(package.where, name, listed, tests))
    if not isinstance(listed, list) or not all(isinstance(test, str) for test in listed):
        raise InputError(f"{where}: testcases is {listed!r}, where a list of tests is needed")
    if not listed:
        raise InputError(f"{where}: the subtask has no tests")
    if absent := [test for test in listed if test not in tests]:
        raise InputError(
            f"{where} names the test {absent[0]}, but there is no tests/{absent[0]}.in"
            f" ({len(absent)} of {len(listed)} are missing); get the complete package"
        )
    return SubtaskFile(name=name, points=points, tests=tuple(listed))


def _solutions(package: Package, notes: list[str]) -> list[Solution]:
    found: list[Solution] = []
    for path in package.names("solutions"):
        label, _, file = path.removeprefix("solutions/").partition("/")
        if language(path) is None or not file:
            notes.append(f"{path} is left out: it is no source of a solution")
            continue
        if label != _UNLABELLED:
            try:
                Expectation.parse(label)
            except InputError as error:
                raise InputError(f"{package.where}: {path}: the folder is the label, and {error}; rename it") from error
        expected = None if label == _UNLABELLED else label
        found.append(Solution(path=path, label=f"{label}/{file}", expected=expected, expected_subtasks={}))
    return found
