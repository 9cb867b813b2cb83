"""The result of importing a package of any format, and the steps that all formats share.

An `ImportedTask` has rows as in `open-r1/ioi` and its companions, so a program that reads those can read an imported
package. Tests are read from the package only while they are written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from ioi_eval.errors import InputError, RowError, listed
from ioi_eval.expectations import MODEL_SOLUTION
from ioi_eval.importers.package import Package, open_package
from ioi_eval.importers.python_2 import is_python_2, refuse_python_2
from ioi_eval.model import Language, Problem, ProblemKey, Subtask, TaskType
from ioi_eval.problems.fifo_arguments import with_processes
from ioi_eval.problems.grader_config import PATH as CONFIG_PATH
from ioi_eval.problems.grader_files import without_comments
from ioi_eval.problems.ioi import draft_problem
from ioi_eval.problems.limits import long_limit_notes
from ioi_eval.problems.output_files import test_of
from ioi_eval.problems.row import Row
from ioi_eval.problems.task_parameters import Parameter, parameter_key

RowValues = dict[str, Any]
_ASKS_FOR_RESULT = b"readBothGraderResults"  # in a checker
_NO_ANSWER = ("SV", "PV", "WA", "FAIL")  # results of a grader with which a program failed
_LANGUAGES = {
    **{ending: member.value for member in Language for ending in member.endings},
    **{".py3": "python", ".java": "java", ".pas": "pascal", ".go": "go", ".cs": "csharp"},
}
_SYSTEM_HEADERS = frozenset(
    f"{name}.h"
    for name in (
        *("assert", "complex", "ctype", "errno", "fcntl", "fenv", "float", "inttypes", "iso646", "limits", "locale"),
        *("math", "memory", "pthread", "setjmp", "signal", "stdarg", "stdbool", "stddef", "stdint", "stdio", "stdlib"),
        *("string", "strings", "time", "unistd", "wchar", "wctype", "alloca", "getopt", "malloc", "sched", "stdalign"),
        *("stdatomic", "stdnoreturn", "tgmath", "threads", "uchar", "xmmintrin", "emmintrin", "pmmintrin", "tmmintrin"),
        *("smmintrin", "nmmintrin", "immintrin", "x86intrin"),
    )
)  # some authors include these in quotes
_TOP_INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:(include)[ \t]*"([^"\n]+)"|(if)|(endif))', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How a time limit is derived from solutions, if a package states none."""

    multiplier: float  # the factor for the CPU time of the slowest accepted solution
    resolution_s: float  # the limit is a multiple of this, in seconds
    accepted: frozenset[str]  # the labels of accepted solutions
    in_time: frozenset[str] = frozenset()  # the labels of solutions that count, accepted or not: they must not be late
    any_group: bool = False  # a solution is accepted if one group of tests is


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTask:
    """A package as rows."""

    key: ProblemKey
    problem_rows: tuple[RowValues, ...]  # one for each subtask, as in `open-r1/ioi`
    solution_rows: tuple[RowValues, ...]  # one for each: the columns of a dump, and what its authors state about it
    notes: tuple[str, ...]  # for the user: what is missing, was left out or was repaired
    tests: Callable[[], Iterator[RowValues]]
    """Reads the test rows, as in `open-r1/ioi-test-cases`, one at a time; may be called again. It raises `SetupError`
    if tests that the package lacks cannot be made on this machine."""

    timing: Timing | None = None  # how to derive its time limit; `None` if it is stated


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageSolution:
    """A solution as a package states it."""

    path: str | None  # the path of its source in the package; `None` if it has only outputs
    label: str  # its row's label (`correct/author.cpp`)
    expected: str | None  # the stated verdict; `None` for none
    expected_subtasks: Mapping[str, str] = field(default_factory=dict)  # by the subtask's name
    outputs: tuple[tuple[str, str], ...] = ()  # names and contents
    files: tuple[str, ...] = ()  # of a program of several files; in Python the first is started
    expected_total: float | tuple[float, float] | None = None  # the points, or the lowest and the highest
    text: str | None = None  # the program, if it differs from the file


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageTests:
    """The tests of a package, by their names."""

    paths: Mapping[str, tuple[str, str]]  # of input and output
    columns: Mapping[str, RowValues] = field(default_factory=dict)  # further columns of rows, of some tests
    read: Callable[[Package, str], bytes] = Package.read  # reads an input or output


def build_task(
    package: Package,
    key: ProblemKey,
    *,
    columns: RowValues,
    subtasks: Sequence[Subtask],
    files: Sequence[tuple[str, str]],
    config: RowValues | None = None,
    tests: PackageTests,
    solutions: Sequence[PackageSolution],
    timing: Timing | None = None,
) -> ImportedTask:
    """The task as rows, after checking that it can be judged.

    Args:
        columns: what all its rows have in common: `name`, `day`, how the problem is judged, and maybe `statement` and
            `starting_code`.
        subtasks: in the contest's order.
        files: the judge's files: paths as in `open-r1/ioi`, with their contents.
        config: the content of `graders/grader_config.json`, as the reference's scripts read it: all keys at its top. By
            default only the problem's id and task type.
        timing: how to derive the time limit, if that of `columns` is only the one with which it is derived.
    """
    config = config or {"code": key.id, "task_type": columns["task_type"]}
    rows = _problem_rows(key, columns, subtasks, files, with_processes(config, files, package.notes))
    problem = _problem_of(package, rows)
    models = [solution for solution in solutions if solution.expected == MODEL_SOLUTION]
    in_cpp = [model for model in models if model.path and language(model.path) == "cpp" and not model.files]
    _check_includes(package, problem, [(str(model.path), _text(package, model) or "") for model in in_cpp])
    package.notes += _python_2_notes(problem)
    if timing is None:
        package.notes += long_limit_notes(problem.time_limit_s, problem.task_type)
    if problem.checker is None and not problem.task_type.has_manager:
        package.notes += _empty_answer_notes(package, tests)
    unused = set(tests.paths).difference(*(subtask.tests for subtask in subtasks))
    if unused:
        package.notes.append(f"{len(unused)} tests are in no subtask and are left out: {listed(sorted(unused))}")
    if not models:
        example = package.model_example and f" (as {package.model_example} would be)"
        package.notes.append(f"no solution is stated to get full marks{example}: nothing shows that they are possible")
    return ImportedTask(
        key=key,
        problem_rows=rows,
        solution_rows=_solution_rows(package, key, solutions, unused),
        notes=tuple(package.notes),
        tests=partial(
            _test_rows,
            package,
            {"year": key.year, "day": columns["day"], "problem_name": columns["name"], "problem_id": key.id},
            replace(tests, paths={test: paths for test, paths in tests.paths.items() if test not in unused}),
            # by a function of CMS's testlib, the checker requires the grader's result in official outputs
            checked=problem.checker is not None and _ASKS_FOR_RESULT in problem.checker.source.content,
        ),
        timing=timing,
    )


def _problem_of(package: Package, rows: Sequence[RowValues]) -> Problem:
    """The problem that the rows describe, without tests: making it now finds errors before scoring."""
    try:
        numbered = enumerate(rows, 1)
        return draft_problem(Row(source=str(package.where), number=number, values=row) for number, row in numbered)
    except RowError as error:
        raise InputError(error.problem) from error  # without the row: the user of a package has none


def _problem_rows(
    key: ProblemKey,
    columns: RowValues,
    subtasks: Sequence[Subtask],
    files: Sequence[tuple[str, str]],
    config: RowValues,
) -> tuple[RowValues, ...]:
    stored_config = json.dumps(config, default=str, skipkeys=True)  # YAML has dates, also as keys
    grader_files = [[path, content] for path, content in (*files, (CONFIG_PATH, stored_config))]
    return tuple(
        {
            "year": key.year,
            "id": key.id,
            "statement": "",
            "starting_code": "",
            **columns,
            "problem": columns.get("statement", ""),
            "subtask": subtask.name,
            "score": subtask.points,
            **({} if subtask.threshold is None else {"threshold": subtask.threshold}),
            "test_names": list(subtask.tests),
            "grader_files": grader_files,
        }
        for subtask in subtasks
    )


def named_config(code: str, task_type: TaskType, parameters: Mapping[Parameter, Any]) -> RowValues:
    """`grader_config.json` with parameters of a task type. Those of Interactive are called like Communication's."""
    named_type = TaskType.COMMUNICATION if task_type is TaskType.INTERACTIVE else task_type
    named = {parameter_key(named_type, parameter): value for parameter, value in parameters.items()}
    return {"code": code, "task_type": task_type.value, **named}


def _empty_answer_notes(package: Package, tests: PackageTests) -> list[str]:
    """A note that names tests whose official output is an empty file, if outputs are compared without a checker."""
    empty = [test for test, (_, answer) in tests.paths.items() if package.has(answer) and package.size(answer) == 0]
    if not empty:
        return []
    return [
        f"tests with an empty official output: {listed(empty)}; without a checker only a program that prints nothing is"
        " right there, so generate these outputs again if programs should print something"
    ]


def _python_2_notes(problem: Problem) -> list[str]:
    """A note that names graders in Python 2, with which every submission in Python is JE.

    A checker or manager in Python 2 is refused.
    """
    for program in (problem.checker, problem.method.manager):
        if program is not None and program.source.path.endswith(".py"):
            refuse_python_2(program.source.path, program.source.content.decode("utf-8", "replace"))
    scripts = [file for file in problem.linked if file.path.endswith(".py")]
    old = [file.path for file in scripts if is_python_2(file.content.decode("utf-8", "replace"))]
    if not old:
        return []
    return [f"{listed(old)}: Python 2, so submissions in Python cannot be judged (JE); rewrite it in Python 3"]


def _check_includes(package: Package, problem: Problem, solutions: Sequence[tuple[str, str]]) -> None:
    """Check that the package has all files that its sources include.

    Only includes outside of `#if` count; many solutions include a grader if `EVAL` is not defined.
    """
    compiled = [(file.path, file.content.decode("utf-8", "replace"), problem.headers) for file in problem.linked]
    compiled += [(path, text, problem.headers) for path, text in solutions]
    for program in (problem.checker, problem.method.manager):
        if program is not None and language(program.source.path) in ("cpp", "c"):
            text = program.source.content.decode("utf-8", "replace")
            compiled.append((program.source.path, text, program.files))
    by_solution = {path for path, _ in solutions}
    for path, text, files in compiled:
        names = {file.name for file in files}
        for name in _top_includes(text):  # names such as "vector" and "bits/stdc++.h" belong to the compiler
            is_header = name.endswith(".h") and "/" not in name and name not in _SYSTEM_HEADERS
            if name not in names and (is_header or (name.startswith("../") and path not in by_solution)):
                if link := next((linked for linked in package.links if PurePosixPath(linked).name == name), None):
                    raise InputError(f"{package.absent(link)} ({path} includes it)")
                advice = "add it, or correct its name" if is_header else "put the file beside it, and change the line"
                raise InputError(
                    f"{path} includes {name}, which is not among the files that it may include"
                    f" ({', '.join(sorted(names)) or 'nothing'}); {advice}"
                )


def _top_includes(text: str) -> Iterator[str]:
    depth = 0
    for match in _TOP_INCLUDE.finditer(without_comments(text)):
        if match[3]:
            depth += 1
        elif match[4]:
            depth -= 1
        elif depth == 0:
            yield match[2]


def _solution_rows(
    package: Package, key: ProblemKey, solutions: Sequence[PackageSolution], unused: Collection[str]
) -> tuple[RowValues, ...]:
    """The solutions as rows of a dump, without outputs for unused tests, which CMS accepts too."""
    used = [{name: output for name, output in each.outputs if test_of(name) not in unused} for each in solutions]
    return tuple(
        {
            "uuid": f"{key}/{solution.label}",
            "year": key.year,
            "problem_id": key.id,
            "label": solution.label,
            "language": (language(solution.path) or "unknown") if solution.path else None,
            **_program(package, solution),
            **({"outputs": outputs} if outputs else {}),
            "expected": solution.expected,
            "expected_subtasks": dict(solution.expected_subtasks) or None,
            **({} if solution.expected_total is None else {"expected_total": solution.expected_total}),
        }
        for solution, outputs in zip(solutions, used, strict=True)
    )


def _program(package: Package, solution: PackageSolution) -> RowValues:
    """The columns with the program. An empty file is a source file: as `code` it would mean no program."""
    files = solution.files
    if not files:
        text = _text(package, solution)
        if text is None or text.strip():
            return {"code": text}
        files = (str(solution.path),)
    names = (PurePosixPath(path).name.replace(".py3", ".py") for path in files)
    return {"code": None, "source_files": dict(zip(names, map(package.text, files), strict=True))}


def _text(package: Package, solution: PackageSolution) -> str | None:
    """The program of one file; `None` if there are only outputs."""
    return package.text(solution.path) if solution.path and solution.text is None else solution.text


def language(path: str) -> str | None:
    """The language of a source by its ending; `None` for other files."""
    ending = PurePosixPath(path).suffix
    return "cpp" if ending == ".C" else _LANGUAGES.get(ending.lower())  # Source: for GCC `.C` is C++


def _test_rows(source: Package, named: RowValues, tests: PackageTests, *, checked: bool) -> Iterator[RowValues]:
    with open_package(source.where, source.root_file, format=source.format) as package:
        for name, (input_path, answer_path) in tests.paths.items():
            given = _test_text(input_path, tests.read(package, input_path))
            output = _test_text(answer_path, tests.read(package, answer_path))
            if checked:
                _check_answer(answer_path, output)
            yield {
                **named,
                "test_name": name,
                "test_input": given,
                "test_output": output,
                **({"as_is": True} if any(text and not text.endswith("\n") for text in (given, output)) else {}),
                **tests.columns.get(name, {}),
            }


def _test_text(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        advice = "" if b"\0" in content else ": import a copy in UTF-8 (`iconv`), if programs may read that instead"
        what = f"{name} is not text (byte {error.start + 1} is not UTF-8)"
        raise InputError(f"{what}; such tests cannot be rows{advice}") from error


def _check_answer(name: str, text: str) -> None:
    """Refuse an official output which shows that the model solution failed.

    Such an output begins with two lines: a secret and the grader's result. If the model solution failed while the tests
    were generated (a small stack is enough for that), the checker reports a failure of the judge for every solution.
    Source: testlib as it is changed for CMS, `readBothGraderResults`.
    """
    stated = text.split(maxsplit=2)[1:2]
    if stated and stated[0] not in _NO_ANSWER:
        return
    problem = f"says {stated[0]}, but the checker needs OK" if stated else "does not say how the grader ended"
    raise InputError(
        f"{name} {problem}: the model solution failed on this test; generate it again, with `ulimit -s unlimited`"
    )
