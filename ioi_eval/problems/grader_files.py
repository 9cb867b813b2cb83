"""Sorts a problem's files by their use: linked with the submission, included by it, checker, manager.

The paths are those of `open-r1/ioi` and of CMS export packages: `graders/` has the files with which a submission is
compiled (and the manager), `checker/` those of the checker. The submission sees only headers below `graders/`:
not `testlib.h`, which is the manager's, and no source of the grader, the checker or the manager.
Source: CMS, `cmscontrib/loaders/tps.py`; the reference's `compile` script.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from posixpath import dirname, join, normpath

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.languages import rules_of
from ioi_eval.model import CheckerProtocol, JudgeProgram, Language, SourceFile, TaskType
from ioi_eval.problems import grader_config
from ioi_eval.problems.judge_sources import BUILD_SCRIPT, is_compiled, needs_python

_HEADER_ENDINGS = (".h", ".hpp", ".hh", ".hxx")
_SOURCE_ENDINGS = (*_HEADER_ENDINGS, ".cpp", ".cc", ".cxx", ".c", ".inc", ".inl", ".ipp", ".tpp")
_FIRST_LINES = {"": "#!/bin/sh", ".py": "#!/usr/bin/env python3", ".sh": "#!/bin/sh"}
"""The endings of judge programs that are scripts, each with a first line to suggest."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_LITERAL_OR_COMMENT = re.compile(
    # without `$` and `\Z`: quadratic time
    r"""("(?:\\.|[^"\\\n])*(?:"|$|\\?\Z)|'(?:\\.|[^'\\\n])')|//[^\n]*|/\*.*?(?:\*/|\Z)""",
    re.DOTALL | re.MULTILINE,
)
_STARTS_PROGRAMS = re.compile(  # calls in C++ and Python, but none of a class's own functions
    r"(?:\bos\.|(?<![\w.])(?<!->))(v?fork(?=[ \t]*\([ \t]*\))|popen|f?exec(?:[lv]p?e?|veat))[ \t]*\("
)
_JUDGE_DIRECTORIES = {
    "checker": ("checker", "graders", ""),
    "manager": ("graders", "manager", ""),
    "interactor": ("interactor", "graders", ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderFiles:
    """A problem's files by their use."""

    linked: tuple[SourceFile, ...]
    headers: tuple[SourceFile, ...]
    checker: SourceFile | None
    checker_files: tuple[SourceFile, ...]
    manager: SourceFile | None
    manager_files: tuple[SourceFile, ...]


def read_pairs(pairs: Iterable[tuple[str, str | None]]) -> tuple[SourceFile, ...]:
    """The files of `grader_files`, without those that have no content (as the reference leaves them out).

    An empty header is kept, because a source may include it.
    """
    files: dict[str, SourceFile] = {}
    for path, content in pairs:
        if content is None or not (content or path.endswith(_HEADER_ENDINGS)):
            continue
        clean = PurePosixPath(path)
        if clean.is_absolute() or ".." in clean.parts or not clean.parts or "\0" in path:
            raise InputError(f"grader_files holds the path {path!r}; only paths inside the problem are allowed")
        file = SourceFile(path=str(clean), content=content.encode("utf-8", "replace"))
        if files.setdefault(file.path, file) != file:
            raise InputError(f"grader_files holds {file.path} twice, with different contents")
    return tuple(files.values())


def config_text(files: Sequence[SourceFile]) -> str:
    """The text of the problem's configuration; empty if there is none."""
    return next((file.content.decode() for file in files if file.path == grader_config.PATH), "")


def linked_sources(files: Sequence[SourceFile], task_type: TaskType) -> tuple[SourceFile, ...]:
    """The sources with which submissions are linked, found by name: one for each language.

    For a TwoSteps task it is the manager; in TPS it is a grader, for submissions of one file. Some packages call the
    stub of a Communication task `grader.cpp`, as CMS's loader allows.
    """
    names: tuple[str, ...] = ("stub", "grader") if task_type.has_manager else ("grader", "stub")
    if task_type is TaskType.TWO_STEPS:
        names = ("manager", "grader")
    by_path = {file.path: file for file in files}
    joined = [language for language in Language if rules_of(language).takes_graders]
    paths = {language: [f"graders/{name}{language.endings[0]}" for name in names] for language in joined}
    linked = (next((by_path[path] for path in paths[language] if path in by_path), None) for language in joined)
    return tuple(filter(None, linked))


def _headers_for(files: Sequence[SourceFile], linked: Sequence[SourceFile]) -> tuple[SourceFile, ...]:
    """The files that a submission may include: headers below `graders/`, and all that these and the grader include."""
    below = [file for file in files if file.path.startswith("graders/")]
    headers = [file for file in below if file.path.endswith(_HEADER_ENDINGS) and file.name != "testlib.h"]
    return _with_included(below, headers, linked, directory="graders/")


def _with_included(
    files: Iterable[SourceFile], chosen: Sequence[SourceFile], sources: Sequence[SourceFile], *, directory: str
) -> tuple[SourceFile, ...]:
    """Of the files below a directory, those that are chosen, and all that these and the sources include."""
    by_path = {file.path.removeprefix(directory): file for file in files}
    seen = {file.path.removeprefix(directory) for file in chosen}
    waiting = [*chosen, *sources]
    while waiting:
        including = waiting.pop()
        beside = dirname(including.path.removeprefix(directory))
        for path in (normpath(each) for name in includes(including) for each in (name, join(beside, name))):
            if path in by_path and path not in seen and by_path[path] not in sources:
                seen.add(path)
                waiting.append(by_path[path])
    return tuple(file for path, file in by_path.items() if path in seen)


def includes(file: SourceFile) -> tuple[str, ...]:
    """The paths that a source includes in quotes."""
    return tuple(_INCLUDE.findall(file.content.decode("utf-8", "replace")))


def without_comments(source: str) -> str:
    """A source in C++ or C without its comments."""
    return _LITERAL_OR_COMMENT.sub(lambda found: found[1] or " ", source)


def check_starts_nothing(files: Iterable[SourceFile]) -> None:
    """Refuse files that are compiled with submissions and start programs, which a submission cannot do.

    Source: *party* of APIO 2026, whose stub starts itself again by `execv` to forget what the submission knows.
    """
    for file in files:
        if found := _STARTS_PROGRAMS.search(without_comments(file.content.decode("utf-8", "replace"))):
            raise UnsupportedError(
                f"{file.path} starts a program ({found[1]}), which is not supported: correct submissions would fail"
            )


def _judge_program(
    files: Sequence[SourceFile], role: str, private: Collection[str]
) -> tuple[SourceFile | None, tuple[SourceFile, ...]]:
    """The checker or manager, and the files that its source may include; `private` are of the submission's side."""
    by_path = {file.path: file for file in files}
    if build := by_path.get(f"{role}/{BUILD_SCRIPT}"):
        return build, _beside(files, build, private)
    for directory in _JUDGE_DIRECTORIES[role]:
        base = f"{directory}/{role}" if directory else role
        for ending in (".cpp", ".cc", ".c", *_FIRST_LINES):
            program = by_path.get(base + ending)
            if program is not None:
                return program, _beside(files, program, private)
    return None, ()


def check_script(source: SourceFile) -> None:
    """Refuse a judge program that is neither compiled nor can be started: it would fail on every test."""
    if is_compiled(source):
        return
    first_line, newline, _ = source.content.partition(b"\n")
    if not first_line.startswith(b"#!"):
        raise InputError(
            f"{source.path} is neither C++ or C source (.cpp, .c) nor a script that begins with #!; for a script, "
            f"make its first line {_FIRST_LINES.get(PurePosixPath(source.path).suffix, _FIRST_LINES[''])}"
        )
    if newline and first_line.endswith(b"\r"):
        raise InputError(
            f"{source.path}: its first line ends with a carriage return, so it cannot be started; end its lines with "
            "line feeds only"
        )


def check_modules(program: JudgeProgram) -> None:
    """Refuse a script that imports a file beside it: a script runs as one file, so it would fail on every test."""
    if is_compiled(program.source) or not needs_python(program.source):
        return
    imported = _imports(program.source.content) - sys.stdlib_module_names
    for file in program.files:
        module = file.path.removeprefix(program.source.directory).partition("/")[0].removesuffix(".py")
        if file.path.endswith(".py") and module in imported:
            raise UnsupportedError(
                f"{program.source.path} imports {file.path}, which is not supported: a checker or manager that is a"
                " script is one file; put both in one"
            )


def _imports(script: bytes) -> set[str]:
    """The modules that a script in Python imports in any case: those in `try` or a function, it may do without."""
    try:
        statements = ast.parse(script).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names = [name.name for each in statements if isinstance(each, ast.Import) for name in each.names]
    names += [each.module for each in statements if isinstance(each, ast.ImportFrom) and each.module]
    return {name.partition(".")[0] for name in names}


def check_testlib(program: JudgeProgram) -> None:
    """Refuse to read the exit code of a judge program that prints its score: the exit code is always 0.

    Source: `testlib.h` of TPS and the IOI, since 2017. The original has no `registerChecker`.
    """
    if program.protocol is not CheckerProtocol.TESTLIB:
        return
    for file in program.files:
        if file.name == "testlib.h" and b"registerChecker(" in file.content:
            raise InputError(
                f"{file.path} is the variant of the IOI, which prints the score and ends with exit code 0; by "
                "checker_protocol testlib it would accept every output; set checker_protocol to cms"
            )


def _beside(files: Sequence[SourceFile], program: SourceFile, private: Collection[str]) -> tuple[SourceFile, ...]:
    beside = [
        file
        for file in files
        if file.path.startswith(program.directory) and file is not program and file.path not in private
    ]
    if not program.path.endswith(_SOURCE_ENDINGS):  # a script may use any file
        return tuple(beside)
    sources = [file for file in beside if file.path.endswith(_SOURCE_ENDINGS)]
    return _with_included(beside, sources, (program,), directory=program.directory)


def classify(files: Sequence[SourceFile], problem_id: str, task_type: TaskType, *, link: bool) -> GraderFiles:
    """Sort a problem's files by their use. A package may have a template of a submission, which is left out."""
    linked = linked_sources(files, task_type) if link else ()
    headers = _headers_for(files, linked)
    check_starts_nothing((*linked, *headers))
    private = {
        f"graders/{name}{language.endings[0]}"
        for name in (problem_id.lower(), "grader", "stub")
        for language in Language
    }
    checker, checker_files = _judge_program(files, "checker", private)
    role = "interactor" if task_type is TaskType.INTERACTIVE else "manager"
    manager, manager_files = _judge_program(files, role, private)
    return GraderFiles(
        linked=linked,
        headers=headers,
        checker=checker,
        checker_files=checker_files,
        manager=manager,
        manager_files=manager_files,
    )
