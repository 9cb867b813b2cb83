"""Problem packages in the Kattis format, as Kattis, DOMjudge and many contests use it: `problem.yaml`, `data/`, …

Pass-fail and scoring problems, the default output validator or one of the package's own, interactive ones too. The
format gives no time limit: Kattis derives it from the accepted submissions, DOMjudge reads `.timelimit` or
`domjudge-problem.ini`. Without these it has to be given.

Source: Kattis problem package format, version "legacy"; DOMjudge manual, "Problem format".
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.importers.kattis_graders import try_grader
from ioi_eval.importers.kattis_groups import (
    TestGroup,
    pass_fail_subtasks,
    read_groups,
    scoring_subtasks,
    test_columns,
)
from ioi_eval.importers.kattis_submissions import read_submissions
from ioi_eval.importers.package import Package, open_package
from ioi_eval.importers.task import ImportedTask, build_task

ROOT_FILE = "problem.yaml"
_MIB = 1024 * 1024
_MEMORY_MIB, _OUTPUT_MIB = 2048, 8  # Source: Kattis's and DOMjudge's defaults
_SOURCE_ENDINGS = (".cpp", ".cc", ".cxx", ".c++")
_HEADER_ENDINGS = (".h", ".hpp", ".hh")
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_VALIDATIONS = frozenset({"custom", "score", "interactive"})


def import_package(
    path: str | Path, *, year: int, day: str | None = None, time_limit_s: float | None = None
) -> ImportedTask:
    """Read a problem package.

    Args:
        path: a folder, a zip or a tar; the problem's id is its name, unless `domjudge-problem.ini` gives one.
        year: the contest's year; packages do not say.
        day: the contest day, as it shall stand in the rows.
        time_limit_s: instead of what the package says.

    Raises:
        InputError: the package is damaged, incomplete or contradicts itself, or nothing gives a time limit.
        UnsupportedError: it asks for something that is not supported.
    """
    where = Path(path)
    if not where.exists():
        raise InputError(f"there is no package {where}")
    with open_package(where, ROOT_FILE) as package:
        return _import(package, year, day, time_limit_s)


def _import(package: Package, year: int, day: str | None, time_limit_s: float | None) -> ImportedTask:
    where = package.where
    meta = package.yaml(ROOT_FILE)
    ini = _ini(package)
    validation = _validation(where, meta)
    kind = meta.get("type", "pass-fail")
    if kind not in ("pass-fail", "scoring"):
        raise UnsupportedError(f"{where}: type {kind!r} in {ROOT_FILE} is not supported; pass-fail and scoring are")
    if kind == "scoring" and str(meta.get("problem_format_version", "legacy")) not in ("legacy", "legacy-icpc"):
        raise UnsupportedError(
            f"{where}: scoring problems of version {meta['problem_format_version']} are not supported"
        )
    root = read_groups(package, _inherited(where, meta))
    custom = "score" in validation
    graded = try_grader(package, [group for group in root.walk() if _is_graded(group)]) if custom else {}
    subtasks = (
        pass_fail_subtasks(root) if kind == "pass-fail" else scoring_subtasks(where, root, custom=custom, graded=graded)
    )
    notes: list[str] = []
    interactive = "interactive" in validation
    limits = _mapping(where, meta, "limits")
    shared = {
        "year": year,
        "name": _title(package, meta, ini),
        "id": _identifier(package, ini),
        "day": day,
        "statement": "",
        "problem": "",
        "time_limit": _time_limit(package, limits, ini, time_limit_s),
        "memory_limit": round(_number(where, limits, "memory", _MEMORY_MIB) * _MIB),
        "output_limit": round(_number(where, limits, "output", _OUTPUT_MIB) * _MIB),
        "score_precision": 6,  # the format rounds nothing; this hides only what adding fractions leaves behind
        "task_type": "Interactive" if interactive else "Batch",
        "checker_protocol": "kattis" if validation else "tokens",
        "checker_args": str(meta.get("validator_flags") or "").split(),
        "cxx_std": "gnu++20",  # Source: Kattis and DOMjudge compile with it
        "starting_code": "",
    }
    tests = [test for group in root.walk() for test in group.tests]
    return build_task(
        package,
        shared,
        subtasks=subtasks,
        files=[*_validator(package, validation, interactive), *_included(package)],
        config={"code": shared["id"], "task_type": shared["task_type"]},
        tests={test: (f"data/{test}.in", f"data/{test}.ans") for test in tests},
        solutions=read_submissions(
            package,
            subtasks,
            groups=[group.name for one in root.groups if one.name == "secret" for group in one.groups],
            is_scoring=kind == "scoring",
            custom_score=custom,
            notes=notes,
        ),
        notes=notes,
        test_columns=test_columns(where, root, custom=custom and kind == "scoring", graded=graded),
    )


def _validation(where: Path, meta: Mapping[str, Any]) -> frozenset[str]:
    """The words of `validation` without `default`: nothing, or `custom` with what it can do."""
    words = frozenset(str(meta.get("validation") or "default").split())
    if words == {"default"}:
        return frozenset()
    if "custom" not in words or words - _VALIDATIONS:
        stated = meta["validation"]
        raise UnsupportedError(
            f"{where}: validation {stated!r} is not supported; default, and custom with score or interactive, are"
        )
    return words


def _is_graded(group: TestGroup) -> bool:
    """Whether a grader of the package's own decides what a group of secret tests is worth."""
    return bool(group.tests) and group.config["grading"] == "custom" and group.path.startswith("data/secret")


def _inherited(where: Path, meta: Mapping[str, Any]) -> dict[str, Any]:
    """What old packages state for all groups in `problem.yaml`."""
    grading = _mapping(where, meta, "grading")
    if grading.get("objective", "max") != "max":
        raise UnsupportedError(f"{where}: the objective {grading['objective']!r} is not supported; max is")
    if grading.get("custom_scoring"):
        raise UnsupportedError(f"{where}: custom_scoring is not supported")
    found = {name: grading[name] for name in ("accept_score", "reject_score") if grading.get(name) is not None}
    policy = {"first_error": "break", "worst_error": "continue", "grade": "continue"}.get(grading.get("on_reject", ""))
    return {**found, **({"on_reject": policy} if policy else {})}


def _mapping(where: Path, meta: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = meta.get(name) or {}
    if not isinstance(value, Mapping):
        raise InputError(f"{where}: {name} in {ROOT_FILE} is {value!r}, where named values are needed")
    return value


def _number(where: Path, values: Mapping[str, Any], name: str, default: float) -> float:
    value = values.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise InputError(f"{where}: {name} in {ROOT_FILE} is {value!r}, where a number above 0 is needed")
    return value


def _ini(package: Package) -> Mapping[str, str]:
    """DOMjudge's own settings: a file of `key = value` lines, the values often in quotes."""
    name = "domjudge-problem.ini"
    if not package.has(name):
        return {}
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(f"[problem]\n{package.text(name)}")
    except configparser.Error as error:
        raise InputError(f"{package.where}: {name} cannot be read: {error}") from error
    return {key: value.strip().strip("'\"") for key, value in parser["problem"].items()}


def _identifier(package: Package, ini: Mapping[str, str]) -> str:
    name = ini.get("short-name") or ini.get("externalid") or package.name
    if not _IDENTIFIER.fullmatch(name):
        raise InputError(
            f"{package.where}: {name!r} cannot be a problem's id; rename the package (letters, digits, - and _)"
        )
    return name


def _title(package: Package, meta: Mapping[str, Any], ini: Mapping[str, str]) -> str:
    name = meta.get("name")
    if isinstance(name, Mapping):
        name = name.get("en") or next(iter(name.values()), None)
    return str(name or ini.get("name") or _identifier(package, ini))


def _time_limit(package: Package, limits: Mapping[str, Any], ini: Mapping[str, str], given: float | None) -> float:
    """In seconds, by whoever has the last word: the caller, DOMjudge's files, the newer format's field."""
    stated: object = given
    if stated is None:
        stated = ini.get("timelimit")
    if stated is None and package.has(".timelimit"):
        stated = package.text(".timelimit").strip()
    if stated is None:
        stated = limits.get("time_limit")
    if stated is None:
        raise InputError(
            f"{package.where} states no time limit (Kattis derives it from the accepted submissions);"
            " give it in seconds with --time-limit"
        )
    try:
        seconds = float(str(stated))
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 86_400:
        raise InputError(f"{package.where}: the time limit {stated!r} is no number of seconds")
    return seconds


def _validator(package: Package, validation: frozenset[str], interactive: bool) -> list[tuple[str, str]]:
    """The output validator's files, where the rows have a checker's or an interactor's."""
    folders = [folder for folder in ("output_validators", "output_validator") if package.names(folder)]
    if not validation:
        return []
    if len(folders) != 1:
        raise InputError(
            f"{package.where}: validation is custom, but there is no output validator; get the complete package"
        )
    names = [name for name in package.names(folders[0]) if not name.endswith((".md", ".txt"))]
    if len({name.removeprefix(f"{folders[0]}/").partition("/")[0] for name in names}) > 1 and any(
        name.count("/") > 1 for name in names
    ):
        raise UnsupportedError(f"{package.where} has several output validators; one is supported")
    role = "interactor" if interactive else "checker"
    sources = [name for name in names if name.endswith((*_SOURCE_ENDINGS, ".py"))]
    headers = [name for name in names if name.endswith(_HEADER_ENDINGS)]
    if len(sources) != 1 or any(name.rpartition("/")[2] in ("build", "run") for name in names):
        raise UnsupportedError(
            f"{package.where}: the output validator is {', '.join(names)};"
            " one source in C++ or Python, with headers, is supported"
        )
    text = package.text(sources[0])
    if sources[0].endswith(".py"):
        text = text if text.startswith("#!") else f"#!/usr/bin/env python3\n{text}"
        return [(f"{role}/{role}.py", text)]
    return [(f"{role}/{role}.cpp", text), *((f"{role}/{_name(path)}", package.text(path)) for path in headers)]


def _included(package: Package) -> list[tuple[str, str]]:
    """What is compiled together with every C++ submission: `include/cpp/`, or `include/default/`."""
    folder = next((name for name in ("include/cpp", "include/default") if package.names(name)), None)
    if folder is None:
        return []
    names = package.names(folder)
    sources = [name for name in names if name.endswith(_SOURCE_ENDINGS)]
    if len(sources) > 1:
        raise UnsupportedError(f"{package.where}: {folder} holds {len(sources)} sources; one is supported")
    files = [(f"graders/{_name(path)}", package.text(path)) for path in names if path.endswith(_HEADER_ENDINGS)]
    return files + [("graders/grader.cpp", package.text(path)) for path in sources]


def _name(path: str) -> str:
    return path.rpartition("/")[2]
