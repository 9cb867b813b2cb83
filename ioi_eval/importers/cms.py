"""CMS export packages, as the IOI publishes its tasks: `problem.json`, `subtasks/`, `tests/`, `graders/`, …

The package is read as by CMS's own loader of TPS exports; docs/formats.md ("From packages") has the differences.
`grader_config.json` is made from `problem.json`, with flat keys. A package has neither year nor day. Solutions are in
directories named by their label, which is the verdict that TPS states for the whole solution; its exceptions for
subtasks are not exported (see `expectations.py`).

Source: CMS, `cmscontrib/loaders/tps.py`; TPS, `scripts/exporters/CMS.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from ioi_eval.errors import InputError, UnsupportedError, listed
from ioi_eval.expectations import Expectation
from ioi_eval.importers.judge_programs import included_among
from ioi_eval.importers.name_patterns import select_tests
from ioi_eval.importers.output_sets import output_sets
from ioi_eval.importers.package import (
    ONLY_SUBTASK,
    ROOT_FILE,
    Package,
    check_nesting,
    number_in_text,
    open_package,
)
from ioi_eval.importers.score_parameters import score_type_without_parameters
from ioi_eval.importers.task import ImportedTask, PackageSolution, PackageTests, RowValues, build_task, language
from ioi_eval.model import ProblemKey, ScoreType, Subtask, TaskType
from ioi_eval.problems.grader_config import parse_task_type
from ioi_eval.problems.row import is_number
from ioi_eval.problems.task_parameters import Parameter, by_name, parameter_key, unread_names, with_own_names

UNLABELLED = "unknown_verdict"  # TPS's exporter writes it if no verdict is stated
_JUDGES = ("checker", "manager")
CHECKER = "checker/checker.cpp"
CMS_HEADERS = (".h", ".hpp")
_COMPILED = (".cpp", ".cc", ".c")
_CODE_ENDINGS = (*_COMPILED, ".py", ".sh", *CMS_HEADERS)
_OUTPUT_ENDINGS = (".out", ".ans")
_GET_ALL = "get the complete package"
_POINTS_OF_UOJ = re.compile(r"^[ \t]*(?:n_subtasks|point_score_\d+)\b", re.MULTILINE)
_TEST_LIKE = re.compile(
    r"(?:tests?|testcases|data|inputs?|outputs?|in|out)(?:/.*)?\.(?:zip|tar|t?gz|in|inp|out|a|ans|txt|dat)",
    re.IGNORECASE,
)


def import_package(path: str | Path, *, year: int, day: str | None = None) -> ImportedTask:
    """Read a CMS export package.

    Args:
        path: a zip, a tar or a directory.
        year: the contest's year; packages do not state it.
        day: the contest day, for the column `day` of the rows.

    Raises:
        InputError: the package is missing, damaged, incomplete or contradicts itself.
        UnsupportedError: its task type or score type is not supported.
    """
    with open_package(path, format="a CMS export package", model_example="one in solutions/model_solution/") as package:
        return _import(package, year, day)


def _import(package: Package, year: int, day: str | None) -> ImportedTask:
    meta = package.json(ROOT_FILE)
    if package.has("subtasks.json") and not package.names("subtasks"):
        raise InputError(f"{package.where} is a TPS task directory; use `ioi-eval import tps`")
    package.refuse_links("subtasks", "graders", *_JUDGES)
    code = _required(meta, "code", str)
    task_type = parse_task_type(_required(meta, "task_type", str), ROOT_FILE)
    score_type = score_type_without_parameters(meta)
    tests = all_tests(package, _GET_ALL)
    stated = _stated_subtasks(package)
    subtasks = _subtasks(package, stated, tuple(tests))
    if not subtasks:
        select_complete(package, {ONLY_SUBTASK: ""}, tuple(tests), _GET_ALL)
        score_type, subtasks = ScoreType.SUM, [Subtask(name=ONLY_SUBTASK, points=100, tests=tuple(tests))]
    elif score_type not in (None, ScoreType.GROUP_MIN):
        package.notes.append(
            f"subtasks are scored by {score_type}, as {ROOT_FILE} states; CMS's loader takes GroupMin in any case"
        )
    if "score_type_parameters" in meta:
        package.notes.append(f"score_type_parameters in {ROOT_FILE} is not read, as by CMS's loader")
    files = _code_files(package)
    files += _attached_header(package, code, files)
    if task_type is TaskType.COMMUNICATION and any(path.startswith("checker/") for path, _ in files):
        package.notes.append(
            "the checker judges what the manager prints; for CMS that is the score, and it uses no checker here"
        )
    limits = _limits(package, meta, task_type)
    config = _with_output_tests(stated, task_type, _config(package, meta, task_type, limits))
    return build_task(
        package,
        ProblemKey(year=year, id=code),
        columns={
            "name": meta.get("name") or code,
            "day": day,
            "starting_code": _attached(package, f"{code}.cpp"),
            **limits,
            "score_precision": meta.get("score_precision", 2),
            **({"score_type": score_type.value} if score_type else {}),
            "task_type": task_type.value,
        },
        subtasks=subtasks,
        files=files,
        config=config,
        tests=PackageTests(paths=tests),
        solutions=_solutions(package, task_type),
    )


def _attached(package: Package, wanted: str) -> str:
    """The text of a file for contestants, attached as a file or in a zip; "" for none."""
    for path in package.names("attachments"):
        if PurePosixPath(path).name == wanted:
            return package.text(path)
        if path.endswith(".zip") and (text := package.text_of_zip(path, wanted)) is not None:
            return text
    return ""


def _attached_header(package: Package, code: str, files: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The header that graders include, if it is only among the files for contestants."""
    name = f"{code}.h"
    includes = any(path.startswith("graders/") and f'"{name}"' in text for path, text in files)
    if package.has(f"graders/{name}") or not includes or not (header := _attached(package, name)):
        return []
    package.notes.append(f"graders/ has no {name}: that of attachments/ is used")
    return [(f"graders/{name}", header)]


def _required(meta: Mapping[str, Any], field: str, kind: type | tuple[type, ...]) -> Any:
    value = meta.get(field)
    if isinstance(value, bool) or not isinstance(value, kind) or value == "":
        stated = "is missing" if value is None else f"is {value!r}"
        raise InputError(f"{field} {stated} in {ROOT_FILE}; this is not a complete CMS export package")
    return value


def _limits(package: Package, meta: Mapping[str, Any], task_type: TaskType) -> RowValues:
    """The limits, as in CMS's loader: OutputOnly tasks have none, and bytes may be stated as 268435456.0."""
    if task_type is TaskType.OUTPUT_ONLY:
        return {}
    time_s, memory_bytes = (
        package.check_limit(number_in_text(_required(meta, field, (int, float, str))), field, ROOT_FILE)
        for field in ("time_limit", "memory_limit")
    )
    if memory_bytes < 1:  # as 0, it would be a limit that is not stated
        raise InputError(
            f"{package.where}: memory_limit is {memory_bytes} in {ROOT_FILE}; it must be a number of bytes"
        )
    return {"time_limit": time_s, "memory_limit": int(memory_bytes)}


def _with_output_tests(stated: Mapping[str, RowValues], task_type: TaskType, config: RowValues) -> RowValues:
    """The configuration of a task. That of a BatchAndOutput task names the tests for which outputs may be submitted.

    They are stated for all tests of a subtask. If no subtask states any, those of `task_type_params` count.
    """
    if task_type is not TaskType.BATCH_AND_OUTPUT:
        return config
    by_kind: dict[str, list[str]] = {"output_only": [], "output_optional": []}
    for meta in stated.values():
        kind = next((kind for kind in by_kind if meta.get(kind)), None)
        if kind and isinstance(meta.get("testcases"), list):
            by_kind[kind] += meta["testcases"]
    if not any(by_kind.values()) and config.get(parameter_key(task_type, Parameter.OUTPUT_ONLY_TESTS)):
        return config
    return config | {
        parameter_key(task_type, Parameter(f"{kind}_testcases")): list(dict.fromkeys(tests))
        for kind, tests in by_kind.items()
    }


def _config(package: Package, meta: Mapping[str, Any], task_type: TaskType, limits: RowValues) -> RowValues:
    """`grader_config.json` with flat keys, where the reference's scripts look for them."""
    where = f"task_type_params in {ROOT_FILE}"
    params = meta.get("task_type_params") or {}
    if isinstance(params, str):
        try:
            params = json.loads(params) or {}
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where} is not JSON: {error}") from error
        check_nesting(params, where)
    if isinstance(params, dict) and package.has(CHECKER):
        params = with_checker(package, params, task_type, where)
    if isinstance(params, list):  # CMS's own form, in packages of protocol version 2
        params = by_name(params, task_type, where)
    if not isinstance(params, dict):
        raise InputError(f"{where} is {params!r}; it must be named parameters or CMS's list of them")
    package.leave_out(f"as {task_type} has no such parameters ({where})", unread_names(params, task_type))
    names = {field: meta[field] for field in ("code", "name") if field in meta}
    return {"task_type": task_type.value, **names, **limits, **params}


def with_checker(package: Package, params: RowValues, task_type: TaskType, where: str) -> RowValues:
    """The named parameters of a task that has a checker: as by CMS's loader, it is used even if they name `diff`."""
    params = with_own_names(params, task_type)
    key = parameter_key(task_type, Parameter.OUTPUT_EVAL)
    if params.get(key) != "diff":
        return params
    package.notes.append(f"{where} says that no checker is used; as in CMS's loader, {CHECKER} is used all the same")
    return {**params, key: "comparator"}


def _code_files(package: Package) -> list[tuple[str, str]]:
    """The sources of grader, checker and manager, and what the last two include. Files without an ending count only if
    they are scripts.
    """
    names = [*package.names("graders"), *package.names("checker"), *package.names("manager")]
    files = [(name, package.text(name)) for name in names if name.endswith(_CODE_ENDINGS)]
    programs = [name for name in names if PurePosixPath(name).name in _JUDGES]
    scripts = [(name, package.text(name)) for name in programs if package.read(name).startswith(b"#!")]
    readable = {PurePosixPath(name).stem.lower() for name, _ in (*files, *scripts) if not name.endswith(CMS_HEADERS)}
    stems = {name: PurePosixPath(name.lower()).name.partition(".")[0] for name in names}
    unread = [name for name, stem in stems.items() if stem in _JUDGES and stem not in readable]
    if compiled := next((name for name in unread if name in programs), None):
        raise InputError(
            f"{compiled} is a compiled program, which may only run on the machine where it was made, and its source is"
            f" not in the package; put {compiled}.cpp beside it"
        )
    if other := next((name for name in unread if not name.endswith(CMS_HEADERS)), None):
        raise UnsupportedError(
            f"{other} is a checker or manager in a language that is not supported; put a source beside it that"
            " ends with .cpp, .cc, .c, .py or .sh"
        )
    return files + scripts + included_by_judges(package, {name for name, _ in files})


def included_by_judges(package: Package, taken: Collection[str]) -> list[tuple[str, str]]:
    """The other files that checker and manager include (`table.inc`): CMS's loader compiles them where they are."""
    found: set[str] = set()
    for judge in (path for path in map(PurePosixPath, taken) if path.stem in _JUDGES and path.suffix in _COMPILED):
        files = package.below(str(judge.parent))
        found |= {files[name] for name in included_among(package, files, judge.name)}
    return [(name, package.text(name)) for name in sorted(found.difference(taken))]


def all_tests(package: Package, advice: str, *, beside: Collection[str] = ()) -> dict[str, tuple[str, str]]:
    """The paths of input and output for each name of a test: `tests/*.in` and `tests/*.out` (or `.ans`).

    As in CMS, a missing output ends the import. A note names files in `tests/` that belong to no test.
    """
    package.refuse_links("tests")
    inputs = [name for name in package.names("tests") if name.endswith(".in") and name.count("/") == 1]
    if not inputs:
        raise InputError(f"{package.where} holds no tests/*.in: the tests are missing{_found(package)}; {advice}")
    tests: dict[str, tuple[str, str]] = {}
    for name in inputs:
        base = name.removesuffix(".in")
        output = next((base + end for end in _OUTPUT_ENDINGS if package.has(base + end)), base + _OUTPUT_ENDINGS[0])
        tests[base.removeprefix("tests/")] = (name, output)
    if missing := [output for _, output in tests.values() if not package.has(output)]:
        raise InputError(
            f"{len(missing)} of {len(inputs)} tests have no output ({missing[0]}, …){_found(package)}; {advice}"
        )
    known = {*beside, *(path for paths in tests.values() for path in paths)}
    package.leave_out("because they belong to no test", [name for name in package.names("tests") if name not in known])
    return tests


def select_complete(
    package: Package, patterns: Mapping[str, str], tests: Sequence[str], advice: str
) -> dict[str, tuple[str, ...]]:
    """The tests that the regular expression of each subtask selects.

    An output without its input shows that a test is missing. It ends the import if an expression selects that test.
    """
    known = frozenset(tests)
    paths = [PurePosixPath(name) for name in package.names("tests") if name.count("/") == 1]
    outputs = dict.fromkeys(path.stem for path in paths if path.suffix in _OUTPUT_ENDINGS)
    selected = select_tests(patterns, (*tests, *(name for name in outputs if name not in known)))
    for subtask, chosen in selected.items():
        if lacking := [name for name in chosen if name not in known]:
            raise InputError(
                f"the test {lacking[0]} of the subtask {subtask} has an output, but there is no tests/{lacking[0]}.in"
                f" ({len(lacking)} of {len(chosen)} are missing); {advice}"
            )
    return selected


def _found(package: Package) -> str:
    """Some files that look like tests with other names, for a message; "" if there are none."""
    like = [name for name in package.names() if _TEST_LIKE.fullmatch(name)]
    found = [name for name in like if name.count("/") > 1 or not name.endswith((".in", ".out"))]
    return f" (found instead: {listed(found)})" if found else ""


def _stated_subtasks(package: Package) -> dict[str, RowValues]:
    """What `subtasks/*.json` state, by the subtask's name."""
    found = [PurePosixPath(name) for name in package.names("subtasks") if name.endswith(".json")]
    directly = [file for file in found if len(file.parts) == 2]
    others = [str(file) for file in found if file not in directly]
    package.leave_out("because they are not directly in subtasks/", others)
    if not directly:
        for name in (name for name in package.names() if PurePosixPath(name).name == "problem.conf"):
            if _POINTS_OF_UOJ.search(package.text(name)):
                raise UnsupportedError(
                    f"{name} states the points in UOJ's format, which is not read; add subtasks/*.json"
                )
        package.notes.append(
            "there are no subtasks/*.json: as in CMS, each test is then worth an equal part of 100 points"
        )
    return {file.stem: package.json(str(file)) for file in directly}


def _subtasks(package: Package, stated: Mapping[str, RowValues], tests: tuple[str, ...]) -> list[Subtask]:
    """The subtasks; none if the package has none, so that the score is a sum over the tests."""
    points = {name: number_in_text(meta.get("score")) for name, meta in stated.items()}
    testcases = {name: meta.get("testcases", meta.get("regex")) for name, meta in stated.items()}
    patterns = {name: pattern for name, pattern in testcases.items() if isinstance(pattern, str)}
    testcases |= {name: [*matched] for name, matched in select_complete(package, patterns, tests, _GET_ALL).items()}
    subtasks: list[Subtask] = []
    for name in stated:
        if points[name] == 0 and testcases[name] == [] and any(testcases.values()):
            package.notes.append(f"the subtask {name}, worth nothing, has no tests and is left out")
        else:
            subtasks.append(_subtask(name, points[name], testcases[name], tests))
    package.notes += [note for subtask in subtasks for note in _notes_on_differences(subtask, tests)]
    return subtasks


def _notes_on_differences(subtask: Subtask, tests: tuple[str, ...]) -> Iterator[str]:
    """Notes where CMS's loader reads a subtask in another way than it is written."""
    if not float(subtask.points).is_integer():
        yield f"subtask {subtask.name} is worth {subtask.points:g} points here; CMS's loader rounds that down"
    own_tests = frozenset(subtask.tests)
    more = [test for test in tests if test not in own_tests and test.startswith(subtask.tests)]
    if more:
        yield (
            f"CMS's loader would also put {listed(more)} in the subtask {subtask.name}, as their names begin"
            " with that of a listed test; here only listed tests count"
        )


def _subtask(name: str, points: object, testcases: object, tests: tuple[str, ...]) -> Subtask:
    where = f"subtasks/{name}.json"
    if not is_number(points):
        raise InputError(f"{where}: score is {points!r}; it must be a number of points")
    if not isinstance(testcases, list) or not all(isinstance(test, str) for test in testcases):
        raise InputError(f"{where}: testcases is {testcases!r}; it must be a list of tests")
    if not testcases:
        raise InputError(f"{where}: the subtask has no tests")
    if absent := [test for test in testcases if test not in tests]:
        raise InputError(
            f"{where} names the test {absent[0]}, but there is no tests/{absent[0]}.in"
            f" ({len(absent)} of {len(testcases)} are missing); {_GET_ALL}"
        )
    # a test is named twice if a subtask includes it in two ways. Source: TPS, `tests/mapping`
    return Subtask(name=name, points=points, tests=tuple(dict.fromkeys(testcases)))


def _solutions(package: Package, task_type: TaskType) -> list[PackageSolution]:
    names = package.names("solutions")
    labels = dict.fromkeys(path.split("/")[1] for path in names) if task_type.takes_outputs else ()
    sets = [(label, each) for label in labels for each in output_sets(package, f"solutions/{label}")]
    solutions = [
        PackageSolution(
            path=None if task_type is TaskType.OUTPUT_ONLY else output_set.source,
            label=f"{label}/{output_set.name}".rstrip("/"),
            expected=_expected_verdict(package, label),
            outputs=output_set.outputs,
        )
        for label, output_set in sets
    ]
    used = {path for _, output_set in sets for path in output_set.paths}
    for path in (path for path in names if path not in used):
        label, _, file = path.removeprefix("solutions/").partition("/")
        if language(path) is None:
            package.notes.append(f"{path} is left out: it is not a source of a solution")
            continue
        if task_type is TaskType.OUTPUT_ONLY:
            package.notes.append(f"{path} is left out: the task takes outputs only")
            continue
        expected = _expected_verdict(package, label) if file else None
        solutions.append(PackageSolution(path=path, label=path.removeprefix("solutions/"), expected=expected))
    return solutions


def _expected_verdict(package: Package, label: str) -> str | None:
    """The verdict that the name of a solution's directory states; `None`, with a note, if it is no known label."""
    if label == UNLABELLED:
        return None
    try:
        Expectation.parse(label)
    except InputError as error:
        note = f"solutions/{label} states no verdict: the directory is the label, and {error}"
        if note not in package.notes:
            package.notes.append(note)
        return None
    return label
