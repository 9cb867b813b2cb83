"""Problem packages of Polygon (polygon.codeforces.com): `problem.xml`, `tests/`, `files/`, `solutions/`.

Checkers and interactors are written with testlib, which the package contains. A grader is a resource that solutions are
compiled with. Polygon judges on Windows, where programs read `\\r\\n` as one line break; so it becomes `\\n` here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from posixpath import basename
from xml.etree.ElementTree import Element

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.expectations import MODEL_SOLUTION
from ioi_eval.importers.judge_programs import HEADERS, judge_files, judge_path
from ioi_eval.importers.package import ONLY_SUBTASK, Package, open_package
from ioi_eval.importers.polygon_groups import (
    ROOT_FILE,
    PolygonGroup,
    PolygonTest,
    has_points,
    read_group_list,
    refuse_unknown_full_marks,
    stated_points,
    test_columns,
)
from ioi_eval.importers.polygon_tests import MadeTests
from ioi_eval.importers.task import (
    ImportedTask,
    PackageSolution,
    PackageTests,
    RowValues,
    build_task,
    language,
    named_config,
)
from ioi_eval.model import ProblemKey, Subtask, TaskType
from ioi_eval.problems.grader_files import without_comments
from ioi_eval.problems.task_parameters import Parameter

_TESTS = "tests"
_CMS_SETTINGS = "files/cms_conf.py"  # Source: CMS, `cmscontrib/loaders/polygon.py`
_GIVES_POINTS = re.compile(r"\b(?:quitp|quitpi|_points)\b")
_PARTIAL = re.compile(r"\b(?:_pc|_partially)\b")
_PATTERN = re.compile(r"[^%]*%0?\d?d[^%]*")
_STANDARD = re.compile(r"\+\+(\d\d)\b")
_LEAST_STANDARD = 17
_MAX_TESTS = 10_000
_COUNT = re.compile(r"[0-9]{1,5}")
_WHOLE = re.compile(r"[0-9]{1,18}")
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


def import_package(path: str | Path, *, year: int, day: str | None = None) -> ImportedTask:
    """Read a package; arguments as of `cms.import_package`."""
    model = "one with the tag main or accepted"
    with open_package(path, ROOT_FILE, format="a package of Polygon", model_example=model) as package:
        return _import(package, year, day)


def _import(package: Package, year: int, day: str | None) -> ImportedTask:
    problem = package.xml(ROOT_FILE)
    judging, assets = problem.find("judging"), problem.find("assets")
    if judging is None or assets is None or judging.find("testset") is None:
        raise InputError(f"{ROOT_FILE} names no tests (judging, testset) or no programs (assets)")
    _refuse_unsupported(problem, judging, assets)
    if package.has(_CMS_SETTINGS):
        package.notes.append(f"{_CMS_SETTINGS}, from which CMS takes the score type and other settings, is not read")
    testset = _testset(package, judging)
    tests = _tests(testset)
    by_points = has_points(testset, tests)
    groups = read_group_list(testset, tests) if by_points else []
    subtasks = [subtask for group in groups for subtask in group.subtasks()]
    if not by_points:
        subtasks = [Subtask(name=ONLY_SUBTASK, points=1, tests=tuple(test.name for test in tests))]
    files, gives_points = _judge_files(package, assets)
    if gives_points and not by_points:
        refuse_unknown_full_marks(testset)
    resources = _submission_files(package, problem)
    graders = [path for path in resources if not path.endswith(HEADERS)]
    task_type = TaskType.BATCH if assets.find("interactor") is None else TaskType.INTERACTIVE
    code = problem.get("short-name") or package.name
    names = {name.get("language"): name.get("value", "") for name in problem.iterfind("names/name")}
    std = f"gnu++{_standard(assets)}"
    made = _made_tests(package, problem, tests, graders, std)
    columns: RowValues = {
        "name": names.get("english") or next(iter(names.values()), "") or code,
        "day": day,
        "time_limit": _limit(testset, "time-limit") / 1000,
        "memory_limit": _limit(testset, "memory-limit"),
        "score_precision": 6,  # Polygon does not round; this only removes the errors of adding fractions
        "task_type": task_type.value,
        "checker_protocol": "testlib",
        "cxx_std": std,
    }
    parameters = {
        Parameter.COMPILATION: "grader" if graders else "alone",
        Parameter.INPUT_FILE: judging.get("input-file", ""),
        Parameter.OUTPUT_FILE: judging.get("output-file", ""),
    }
    if task_type is TaskType.INTERACTIVE:
        columns["checker_after_manager"] = assets.find("checker") is not None
    return build_task(
        package,
        ProblemKey(year=year, id=code),
        columns=columns,
        subtasks=subtasks,
        files=[*files, *((f"graders/{name}", package.text(path)) for path, name in resources.items())],
        config=named_config(code, task_type, parameters),
        tests=PackageTests(
            paths={test.name: (test.input, test.answer) for test in tests},
            columns=test_columns(groups, judging) if gives_points else {},
            read=made.read,
        ),
        solutions=_solutions(package, assets, testset.get("name", _TESTS), subtasks, groups),
    )


def _refuse_unsupported(problem: Element, judging: Element, assets: Element) -> None:
    runs_twice = problem.find("tags/tag[@value='run-twice']") is not None  # how packages said it before `run-count`
    if (runs := judging.get("run-count", "2" if runs_twice else "1")) != "1":
        raise UnsupportedError(f"each submission is run {runs} times on a test (run-count); that is not supported")
    if assets.find("scorer") is not None:
        raise UnsupportedError("a program computes the points (scorer), which is not supported")
    if assets.find(".//solution-file") is not None:
        raise UnsupportedError("code is added to each submission (solution-file), which is not supported")
    names = [judging.get(name) for name in ("input-file", "output-file")]
    if any(names) and assets.find("interactor") is not None:
        raise UnsupportedError("the problem is interactive and names an input or output file; that is not supported")


def _testset(package: Package, judging: Element) -> Element:
    """The tests that are judged: those called `tests`, or the first."""
    testsets = judging.findall("testset")
    chosen = next((testset for testset in testsets if testset.get("name") == _TESTS), testsets[0])
    if others := [testset.get("name", "") for testset in testsets if testset is not chosen]:
        package.notes.append(f"left out, as {chosen.get('name')} is judged: the tests of {', '.join(others)}")
    return chosen


def _tests(testset: Element) -> list[PolygonTest]:
    patterns = [testset.findtext(f"{kind}-path-pattern", "") for kind in ("input", "answer")]
    wrong = next((pattern for pattern in patterns if not _PATTERN.fullmatch(pattern)), None)
    if wrong is not None:
        raise InputError(f"{wrong!r} in {ROOT_FILE} is not a pattern of paths such as tests/%02d")
    count = testset.findtext("test-count", "").strip()
    elements = testset.findall("tests/test") or [Element("test")] * (int(count) if _COUNT.fullmatch(count) else 0)
    if len(elements) > _MAX_TESTS:
        raise InputError(f"{ROOT_FILE} has {len(elements):,} tests, more than a package may ({_MAX_TESTS:,})")
    if not elements or str(len(elements)) != count:
        raise InputError(f"test-count is {count!r} in {ROOT_FILE}, which lists {len(elements)} tests")
    return [
        PolygonTest(
            name=f"{index:02}",
            input=patterns[0] % index,
            answer=patterns[1] % index,
            group=element.get("group"),
            points=stated_points(f"test {index}", element),
            command=element.get("cmd", ""),
            from_file=element.get("from-file", ""),
        )
        for index, element in enumerate(elements, 1)
    ]


def _made_tests(
    package: Package, problem: Element, tests: Sequence[PolygonTest], graders: Sequence[str], std: str
) -> MadeTests:
    judging = next(problem.iter("judging"))
    sources = [source.get("path", "") for source in problem.iterfind("files/executables/executable/source")]
    main = problem.find("assets/solutions/solution[@tag='main']/source")
    interactor = problem.find("assets/interactor/source")
    made = MadeTests(
        tests=tests,
        generators={basename(path).partition(".")[0]: path for path in sources},
        solution=() if main is None else (main.get("path", ""), *graders),
        interactor=None if interactor is None else interactor.get("path", ""),
        beside=tuple(path for path in package.names("files") if path.endswith(HEADERS) or language(path)),
        input_file=judging.get("input-file", ""),
        output_file=judging.get("output-file", ""),
        std=std,
    )
    made.check(package)
    return made


def _limit(testset: Element, name: str) -> int:
    stated = testset.findtext(name, "").strip()
    if not _WHOLE.fullmatch(stated) or not int(stated):
        raise InputError(f"{name} is {stated!r} in {ROOT_FILE}; it must be a whole number above 0")
    return int(stated)


def _standard(assets: Element) -> int:
    """The newest C++ standard of its programs; Polygon compiles each by its own."""
    types = (source.get("type", "") for source in assets.iter("source"))
    return max(
        [_LEAST_STANDARD, *(int(match[1]) for match in map(_STANDARD.search, types) if match and match[1] < "90")]
    )


def _judge_files(package: Package, assets: Element) -> tuple[list[tuple[str, str]], bool]:
    """Checker and interactor, each with the files beside it that it uses; whether one of them gives points."""
    files: list[tuple[str, str]] = []
    gives_points = False
    for role in ("checker", "interactor"):
        element = assets.find(f"{role}/source")
        if element is None:
            continue
        path = element.get("path", "")
        source, own_path = package.text(path), judge_path(path, role)
        if own_path is None:
            raise UnsupportedError(f"the {role} is {path}; {role}s in C++, C and Python are supported")
        code = without_comments(source)
        if _PARTIAL.search(code):
            raise UnsupportedError(
                f"{path} gives partial results by `_pc`, which have no exit code of their own; use `quitp` in a copy"
            )
        gives_points |= _GIVES_POINTS.search(code) is not None
        files += judge_files(package, path, own_path)
    if not files:
        raise InputError(f"{ROOT_FILE} names neither a checker nor an interactor; get the complete package")
    return files, gives_points


def _submission_files(package: Package, problem: Element) -> dict[str, str]:
    """The resources that solutions in C++ are compiled with, and their names beside a solution."""
    paths = [
        file.get("path", "")
        for file in problem.iterfind("files/resources/file")
        if any(asset.get("name", "").lower() == "solution" for asset in file.iter("asset"))
    ]
    headers = [path for path in paths if path.endswith(HEADERS)]
    sources = [path for path in paths if language(path) == "cpp"]
    if len(sources) > 1:
        raise UnsupportedError(f"solutions are compiled with {', '.join(sources)}; one source is supported")
    others = [path for path in paths if path not in headers and path not in sources]
    package.leave_out("as solutions in C++ do not need them", others)
    return {**{path: basename(path) for path in headers}, **dict.fromkeys(sources, "grader.cpp")}


def _solutions(
    package: Package, assets: Element, testset: str, subtasks: Sequence[Subtask], groups: Sequence[PolygonGroup]
) -> list[PackageSolution]:
    """The solutions in languages that have a name here, and what their tags state.

    A tag such as `wrong-answer` states that some tests fail so, and all others are passed. So one subtask must have
    that verdict. `accepted` and `main` pass all tests. A solution may have further tags for groups (`extra-tag`).
    """
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
