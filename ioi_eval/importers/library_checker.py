"""Problems in the layout of Library Checker: `info.toml`, `in/`, `out/`, a checker on testlib, `sol/`.

Its tests are generated (`generate.py`), and `hash.json` has their hashes. A problem is one subtask of all tests. For a
solution the problem states a status that must occur on some test, and others that may occur. Our verdict is that of
the first test that fails, so any of the stated statuses is expected. Older problems state `wrong = true` for a solution
that fails.

A solution includes a header beside it, `../acl.h`, or one of the repository's `common/`, and these include others. Rows
have one directory, so each header keeps only the last part of its path, and `#include` lines are changed accordingly.

Source: library-checker-problems, `docs/`, `generate.py`: sources are compiled with `-I common`, and `params.h` is made
from `[params]`.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.expectations import MODEL_SOLUTION
from ioi_eval.importers.package import ONLY_SUBTASK, Package, open_package
from ioi_eval.importers.package_files import read_beside
from ioi_eval.importers.task import ImportedTask, PackageSolution, PackageTests, build_task, language
from ioi_eval.model import ProblemKey, Subtask
from ioi_eval.problems.row import is_whole

ROOT_FILE = "info.toml"
_MEMORY_BYTES = 1024 * 1024 * 1024  # Source: stated for every problem on judge.yosupo.jp
_MAX_TESTS = 10_000
_HOW_TO_GENERATE = "generate them with its repository's ./generate.py"
_COMMON = "common:/"  # marks a path in `common/`, which is not in the package
_PARAMETERS = "params.h"
_INCLUDE = re.compile(r'^([ \t]*#[ \t]*include[ \t]*")([^"\n]+)"', re.MULTILINE)
_KEYS = frozenset({"name", "expect", "allow_wa", "allow_re", "allow_tle", "wrong", "function"})  # of a solution
_VERDICTS = {"AC": ("AC",), "WA": ("WA",), "TLE": ("TLE",), "RE": ("RE", "MLE", "SV")}


def import_package(
    path: str | Path, *, year: int, day: str | None = None, time_limit_s: float | None = None
) -> ImportedTask:
    """Read a problem's directory with generated tests; arguments as of `cms.import_package`.

    Args:
        time_limit_s: replaces the problem's time limit.
    """
    what = "a problem in the layout of Library Checker"
    with open_package(path, ROOT_FILE, format=what, model_example="sol/correct.cpp") as package:
        return _import(package, year, day, time_limit_s)


def _import(package: Package, year: int, day: str | None, time_limit_s: float | None) -> ImportedTask:
    info = package.toml(ROOT_FILE)
    tests = _tests(package, info)
    _check_hashes(package, tests)
    parameters = info.get("params", {})
    if not isinstance(parameters, dict):
        raise InputError(f"params in {ROOT_FILE} is {parameters!r}; it must be a table")
    sources = _Sources(package, parameters)
    solutions = _solutions(package, info, sources)
    if time_limit_s is None:
        time_limit_s = package.check_limit(info.get("timelimit"), "timelimit", ROOT_FILE)
    return build_task(
        package,
        ProblemKey(year=year, id=package.name),
        columns={
            "name": str(info.get("title") or package.name),
            "day": day,
            "time_limit": time_limit_s,
            "memory_limit": _MEMORY_BYTES,
            "score_precision": 2,
            "task_type": "Batch",
            "checker_protocol": "testlib",
            "cxx_std": "gnu++17",  # Source: `generate.py`
        },
        subtasks=[Subtask(name=ONLY_SUBTASK, points=1, tests=tuple(tests))],
        files=_files(package, info, parameters, sources.headers),
        tests=PackageTests(paths=tests),
        solutions=solutions,
    )


def _tables(info: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    tables = info.get(name, [])
    if not isinstance(tables, list) or not all(
        isinstance(table, dict) and isinstance(table.get("name"), str) for table in tables
    ):
        raise InputError(f"[[{name}]] in {ROOT_FILE} is not a list of tables with a name")
    return tables


def _tests(package: Package, info: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """The tests that `info.toml` names, in its order: `random.cpp` × 3 are `random_00`, `random_01`, `random_02`."""
    tests: dict[str, tuple[str, str]] = {}
    for table in _tables(info, "tests"):
        number = table.get("number")
        if not is_whole(number) or not 0 <= number <= _MAX_TESTS:
            raise InputError(
                f"number of the tests {table['name']} in {ROOT_FILE} is {number!r}; it must be a "
                f"whole number from 0 to {_MAX_TESTS}"
            )
        for index in range(number):
            test = f"{PurePosixPath(table['name']).stem}_{index:02}"
            tests[test] = (f"in/{test}.in", f"out/{test}.out")
    if not tests:
        raise InputError(f"{ROOT_FILE} names no tests")
    missing = [path for paths in tests.values() for path in paths if not package.has(path)]
    if missing:
        raise InputError(
            f"there is no {missing[0]} ({len(missing)} of {2 * len(tests)} test files are missing); {_HOW_TO_GENERATE}"
        )
    return tests


def _check_hashes(package: Package, tests: Mapping[str, tuple[str, str]]) -> None:
    if not package.has("hash.json"):
        package.notes.append("there is no hash.json, so it is not checked whether the tests were generated correctly")
        return
    stated = package.json("hash.json")
    for path in (path for paths in tests.values() for path in paths):
        name = PurePosixPath(path).name
        if hashlib.sha256(package.read(path)).hexdigest() != stated.get(name):
            raise InputError(f"{path} is not what hash.json states; {_HOW_TO_GENERATE} once more")


def _files(
    package: Package, info: Mapping[str, Any], parameters: Mapping[str, Any], headers: Mapping[str, str]
) -> list[tuple[str, str]]:
    """The checker, the files that it includes, and the headers that the solutions include."""
    path = str(info.get("checker", "checker.cpp"))
    sources = _Sources(package, parameters)
    files = {"checker/checker.cpp": sources.flat(path)}
    files |= {f"checker/{name}": text for name, text in sources.headers.items()}
    files |= {f"graders/{name}": text for name, text in headers.items()}
    return [*files.items()]


def _solutions(package: Package, info: Mapping[str, Any], sources: _Sources) -> list[PackageSolution]:
    tables = {table["name"]: table for table in _tables(info, "solutions")}
    names = [*(["correct.cpp"] if "correct.cpp" not in tables else []), *tables]
    solutions: list[PackageSolution] = []
    for name in names:
        path, table = f"sol/{name}", tables.get(name, {})
        if not package.has(path):
            raise InputError(f"there is no {path}, which {ROOT_FILE} names")
        if language(path) is None or table.get("function"):
            kind = "a function for a grader" if table.get("function") else "not a source file"
            package.notes.append(f"{path} is left out: it is {kind}")
            continue
        if unknown := sorted(table.keys() - _KEYS):
            package.notes.append(f"not read, of the solution {name} in {ROOT_FILE}: {', '.join(unknown)}")
        verdicts = _expected(name, table)
        solutions.append(
            PackageSolution(
                path=path,
                text=sources.flat(path) if language(path) in ("cpp", "c") else None,
                label=name,
                expected=MODEL_SOLUTION if name == "correct.cpp" else None,
                expected_subtasks={ONLY_SUBTASK: ",".join(verdicts)},
            )
        )
    return solutions


def _expected(name: str, table: Mapping[str, Any]) -> tuple[str, ...]:
    expect = table.get("expect", "")
    if expect and expect not in tuple(_VERDICTS):  # it may be a list
        raise InputError(f"{name} expects {expect!r} in {ROOT_FILE}; known are {', '.join(_VERDICTS)}")
    if table.get("wrong") and not expect:  # Source: `generate.py` until June 2024
        return ("FAILED",)
    allowed = [status for status in ("WA", "RE", "TLE") if table.get(f"allow_{status.lower()}")]
    statuses = [expect or "AC", *allowed]
    return tuple(dict.fromkeys(verdict for status in statuses for verdict in _VERDICTS[status]))


class _Sources:
    """Sources of one problem that are compiled with the same headers."""

    def __init__(self, package: Package, parameters: Mapping[str, Any]) -> None:
        self._package = package
        self._parameters = parameters
        self._shared = [parent / "common" for parent in package.where.resolve().parents]
        self._seen: set[str] = set()
        self.headers: dict[str, str] = {}  # all that are included, by their new names

    def flat(self, path: str) -> str:
        """A source, changed so that all headers that it includes are in one directory."""
        return self._flat(path, self._package.text(path))

    def _flat(self, path: str, text: str) -> str:
        def renamed(include: re.Match[str]) -> str:
            resolved = self._resolved(path, include[2])
            if resolved is None:
                return include[0]
            inner_path, inner = resolved
            name = posixpath.basename(inner_path)
            if inner_path not in self._seen:
                self._seen.add(inner_path)
                flat = self._flat(inner_path, inner)
                if self.headers.setdefault(name, flat) != flat:
                    raise UnsupportedError(
                        f"{path} includes {inner_path}, and another header is called {name}; all"
                        " must have different names"
                    )
            return f'{include[1]}{name}"'

        return _INCLUDE.sub(renamed, text)

    def _resolved(self, path: str, name: str) -> tuple[str, str] | None:
        """Path and text of an included file: beside the including file, in the problem's directory, or in `common/`."""
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        for candidate in (beside, posixpath.normpath(name), _COMMON + posixpath.normpath(name)):
            if candidate.startswith(_COMMON):
                for directory in self._shared:
                    if (content := read_beside(directory, candidate.removeprefix(_COMMON))) is not None:
                        return candidate, content.decode("utf-8", "replace")
            elif self._package.has(candidate):
                return candidate, self._package.text(candidate)
            elif candidate == _PARAMETERS:
                return candidate, "".join(map(self._definition, self._parameters.items()))
        return None

    def _definition(self, parameter: tuple[str, Any]) -> str:
        """A line of `params.h`. Source: `generate.py`."""
        name, value = parameter
        match value:
            case bool() | str():
                return f'#define {name} "{value}"\n'
            case int():
                return f"#define {name} (long long){value}\n"
            case float():
                return f"#define {name} {value}\n"
        raise UnsupportedError(f"the parameter {name} in {ROOT_FILE} is {value!r}, which no header can hold")
