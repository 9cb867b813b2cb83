"""Submissions of a Kattis problem package, and what is stated about them.

A directory's name is a verdict (`submissions/wrong_answer/`). DOMjudge's `@EXPECTED_RESULTS@:` in a source names one or
several verdicts, of which one is expected, and the directory then does not count. But if it names several, and the
directory's verdict is one of them, only the directory's is expected. `@EXPECTED_GRADES@` names a verdict for each test
group below `secret/`.

Python 2 is not judged; a note names such submissions.

Source: Kattis problem package format, "Example Submissions"; DOMjudge manual, "Problem package format"; problemtools.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from posixpath import basename

from ioi_eval.errors import InputError, UnsupportedError, listed
from ioi_eval.expectations import MODEL_SOLUTION
from ioi_eval.importers.kattis_expectations import CRASHES, Expectations, Stated
from ioi_eval.importers.kattis_programs import included, included_python
from ioi_eval.importers.kattis_scoring import STATED_TOTAL, KattisData
from ioi_eval.importers.package import ONLY_SUBTASK, Package
from ioi_eval.importers.python_2 import is_python_2
from ioi_eval.importers.task import PackageSolution, language
from ioi_eval.model import Language, Subtask

_DIRECTORY = "submissions"
_VERDICTS = {
    **dict.fromkeys(("CORRECT", "ACCEPTED", "AC"), ("AC",)),
    **dict.fromkeys(("WRONG_ANSWER", "NO_OUTPUT", "WA", "PE"), ("WA",)),
    **dict.fromkeys(("TIMELIMIT", "TIME_LIMIT_EXCEEDED", "TLE"), ("TLE",)),
    **dict.fromkeys(("RUN_ERROR", "RUN_TIME_ERROR", "RTE"), CRASHES),
    **dict.fromkeys(("MEMORY_LIMIT", "MEMORY_LIMIT_EXCEEDED", "MLE"), ("MLE",)),
    **dict.fromkeys(("OUTPUT_LIMIT", "OUTPUT_LIMIT_EXCEEDED", "OLE"), ("OLE",)),
    **dict.fromkeys(("COMPILER_ERROR", "COMPILE_ERROR", "CE"), ("CE",)),
}
_DIRECTORIES = {
    "REJECTED": ("WA", "TLE", *CRASHES, "OLE"),
    "BRUTE_FORCE": ("TLE", *CRASHES),
}
"""Directories whose names are not verdicts. Source: Kattis problem package format 2025-09, "Default directories"."""

_WORST_FIRST = (*CRASHES, "TLE", "OLE", "WA")
"""Source: problemtools, `worst_error` of its default grader."""

_LEAST_POINTS = 1e-6  # the fewest points above 0, at the precision of the rows
_RESULTS = re.compile(r"@EXPECTED_(?:RESULTS|SCORE)@:([^\n]*)", re.IGNORECASE)
_GRADES = re.compile(r"@EXPECTED_GRADES@:?((?:[ \t]+[A-Z]+)+)")
_JUDGED = frozenset(one.value for one in Language)
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]*")


class _UnknownVerdictError(InputError):
    """A source states something that is no verdict."""


class KattisSubmissions:
    """The submissions of a package in supported languages, with what is stated about them.

    `has_linked_source`: whether submissions in C++ are compiled with a source of the package.
    """

    def __init__(
        self, package: Package, data: KattisData, subtasks: Sequence[Subtask], *, has_linked_source: bool
    ) -> None:
        self.package, self.subtasks, self.kind, self.worst_counts = package, subtasks, data.kind, data.worst_counts
        below_secret = data.root.secret[0].groups if data.root.secret else ()
        self.groups = {group.path.removeprefix("data/"): group for group in below_secret}
        self.has_linked_source = has_linked_source
        self.beside_python = () if has_linked_source else included_python(package)
        self.expectations = None if data.kind.legacy else Expectations(package, [*self.groups])
        self.full_marks = sum(subtask.points for subtask in subtasks)
        self.least_accepted = 0.0 if data.accepted_without_points else _LEAST_POINTS
        one_group_suffices = data.one_group_suffices(subtasks)
        # `accepted` may then have submissions that get points in one group only
        self.accepted_in_part = one_group_suffices and not package.names(f"{_DIRECTORY}/partially_accepted")
        if self.accepted_in_part:
            package.model_example = f"one in {_DIRECTORY}/accepted/ with @EXPECTED_GRADES@"

    def solutions(self) -> list[PackageSolution]:
        """All of them; notes of the package name those that are left out."""
        solutions: list[PackageSolution | None] = []
        for path, files in _programs(self.package):
            try:
                solutions.append(self._solution(path, files))
            except _UnknownVerdictError as error:
                self.package.notes.append(f"left out: {error}")
        return [solution for solution in solutions if solution is not None]

    def _solution(self, path: str, files: tuple[str, ...]) -> PackageSolution | None:
        """A submission with what is stated about it; `None` (and a note) if it is left out."""
        program = (path.rpartition("/")[0] if files else path).removeprefix(f"{_DIRECTORY}/")
        directory, _, file = program.partition("/")
        text = _with_statement([self.package.text(name) for name in sorted(files or (path,))])
        if why := self._why_left_out(path, "\n".join(map(self.package.text, files or (path,)))):
            self.package.notes.append(f"{path} is left out: {why}")
            return None
        stated = self._statement(path, program, text)
        if stated.is_python_2:
            self.package.notes.append(f"{path} is left out: submissions.yaml says that it is Python 2")
            return None
        if files and stated.entry_point is not None:
            path, files = self._entry_point_first(files, program, stated.entry_point)
        total = stated.score
        if total is None and self.kind.scoring and directory == "partially_accepted":
            total = (self.least_accepted, self.full_marks - _LEAST_POINTS)
        expected, by_subtask = self._expected_verdicts(path, text, stated, is_accepted=directory == "accepted")
        if total is None and self.accepted_in_part and expected == MODEL_SOLUTION and not _GRADES.search(text):
            expected, by_subtask, total = None, {}, (self.least_accepted, self.full_marks)
        return PackageSolution(
            path=path,
            label=f"{directory}/{file}",
            expected=expected,
            expected_subtasks=by_subtask,
            files=self._with_files_beside(path, files),
            expected_total=total,
        )

    def _why_left_out(self, path: str, text: str) -> str:
        if language(path) != "python":
            return ""
        if is_python_2(text):
            return "it is Python 2"
        return "the package has a grader in C++, and none for Python is supported" if self.has_linked_source else ""

    def _with_files_beside(self, path: str, files: tuple[str, ...]) -> tuple[str, ...]:
        """The files of a program, with those of the package that are put beside every program in Python."""
        if language(path) != "python" or not self.beside_python:
            return files
        main = tuple(filter(_is_main, self.beside_python))
        return (*main, *(files or (path,)), *(file for file in self.beside_python if file not in main))

    def _statement(self, path: str, program: str, text: str) -> Stated:
        """The statement in the source, else in `submissions.yaml` if the format has it, else that of the directory."""
        total = _total(text) if self.kind.scoring else None
        if len(_tags(text)) > 1 or _is_of_several(path, text, program.partition("/")[0]):
            text = ""  # as in DOMjudge, also if one file has several tags
        if self.expectations is None or _RESULTS.search(text):
            verdicts = _stated(path, text, program.partition("/")[0])
            is_worst = self.worst_counts and not _RESULTS.search(text)
            return Stated(verdicts=_or_milder(verdicts) if is_worst else verdicts, score=total)
        own = self.expectations.of(program)
        is_total = self.kind.scoring and own.score is not None
        return replace(own, score=own.score if is_total else total)

    def _entry_point_first(self, files: tuple[str, ...], program: str, entry_point: str) -> tuple[str, tuple[str, ...]]:
        """The file that is started, and all files with that one first. In C and C++ the function `main` is started."""
        where = f"submissions.yaml names {entry_point} as the entry point of {program}"
        if language(files[0]) in ("c", "cpp"):
            return files[0], files
        main = f"{_DIRECTORY}/{program}/{entry_point}"
        if main not in files:
            raise InputError(f"{where}, which has no such file; its files are {', '.join(map(basename, files))}")
        if language(main) == "rust" and any(basename(file) == "main.rs" != entry_point for file in files):
            raise UnsupportedError(f"{where}, which is not supported beside a main.rs; rename the files")
        return main, (main, *(file for file in files if file != main))

    def _expected_verdicts(
        self, path: str, text: str, stated: Stated, *, is_accepted: bool
    ) -> tuple[str | None, Mapping[str, str]]:
        """What is expected of the whole submission, and by subtask. In a scoring problem only AC holds for each."""
        verdicts, by_group = stated.verdicts, self._by_group(path, stated)
        expected = MODEL_SOLUTION if is_accepted and verdicts == ("AC",) else None
        if self.kind.scoring and (grades := _GRADES.search(text)):
            return expected, self._by_grades(path, grades[1].split()) or by_group
        if verdicts and not self.kind.scoring:
            return expected, {ONLY_SUBTASK: ",".join(verdicts)}
        if verdicts == ("AC",):
            worth = [subtask.name for subtask in self.subtasks if subtask.points > 0]
            return expected, dict.fromkeys(worth, _accepted(self.kind.custom_score))
        return ",".join(verdicts) or expected, by_group

    def _by_group(self, path: str, stated: Stated) -> dict[str, str]:
        """The verdicts stated for groups with the same tests as a subtask; a note names what cannot be compared."""
        not_compared = list(stated.not_compared)
        expected: dict[str, str] = {}
        for group, verdicts in stated.groups.items():
            tests = set(self.groups[group].all_tests)
            subtasks = self.subtasks if self.kind.scoring else ()
            alike = [subtask.name for subtask in subtasks if set(subtask.tests) == tests]
            if verdicts and alike:
                expected |= dict.fromkeys(alike, ",".join(verdicts))
            elif verdicts:
                not_compared.append(group)
        if not_compared:
            self.package.notes.append(f"{path}: what submissions.yaml states of {listed(not_compared)} is not compared")
        return expected

    def _by_grades(self, path: str, grades: Sequence[str]) -> Mapping[str, str]:
        """The verdict of each test group that is a subtask; empty if their number is not that of the groups."""
        if len(grades) != len(self.groups):
            self.package.notes.append(
                f"{path} states {len(grades)} grades for {len(self.groups)} test groups: they are not compared"
            )
            return {}
        known = {subtask.name for subtask in self.subtasks}
        stated: dict[str, str] = {}
        for group, grade in zip(self.groups.values(), grades, strict=True):
            verdicts = _VERDICTS.get(grade)
            if verdicts is None:
                raise _UnknownVerdictError(f"{path} expects {grade!r}, which is not a verdict")
            if group.name in known:
                stated[group.name] = _accepted(self.kind.custom_score) if verdicts == ("AC",) else ",".join(verdicts)
        return stated


def _with_statement(texts: Sequence[str]) -> str:
    """The text of the first file of a submission that states something; empty if none does.

    Source: DOMjudge, `ImportProblemService`.
    """
    return next((text for text in texts if _RESULTS.search(text) or _GRADES.search(text)), "")


def _is_main(path: str) -> bool:
    """Whether Python starts this file of several. Source: DOMjudge."""
    return PurePosixPath(path).stem in ("main", "__main__")


def _total(text: str) -> int | None:
    """Points if one whole number is stated; `None` otherwise, because fractions were rounded by hand."""
    stated = STATED_TOTAL.findall(text)
    return int(stated[0][0]) if len(stated) == 1 and not stated[0][1] else None


def _accepted(custom_score: bool) -> str:
    """The verdicts of an accepted output. If the validator gives scores it may get any score, also 0."""
    return "AC,PA,WA" if custom_score else "AC"


def _programs(package: Package) -> Iterable[tuple[str, tuple[str, ...]]]:
    """The main source of each submission, and all its files if it is a directory of several files."""
    unknown: list[str] = []
    for program, files in _files_by_program(package).items():
        own = [name for name in files if not _is_replaced(package, name)]
        sources = [name for name in own if language(name) is not None or name.endswith((".h", ".hpp"))]
        languages = {language(name) for name in sources} - {None}
        if len(sources) == 1 and languages:
            yield sources[0], ()
        elif len(languages) == 1 and languages <= _JUDGED and all(name.count("/") == 3 for name in sources):
            main = next(filter(_is_main, sources), sources[0])
            yield main, (main, *(name for name in sources if name != main))
        elif sources:
            package.notes.append(f"{program} is left out: it is {'several files' if languages else 'a header alone'}")
        else:
            unknown.append(program.removeprefix(f"{_DIRECTORY}/"))
    package.leave_out("as they are in other languages", unknown)
    outside = [name for name in package.names(_DIRECTORY) if name.count("/") == 1 and language(name) is not None]
    package.leave_out(f"as they are in no directory of {_DIRECTORY}/", outside)


def _files_by_program(package: Package) -> dict[str, list[str]]:
    """The files of each submission, by the path of its only file or of its directory."""
    programs: dict[str, list[str]] = {}
    for name in package.names(_DIRECTORY):
        parts = PurePosixPath(name).parts
        if len(parts) >= 3 and not any(part.startswith(".") for part in parts):  # submissions/<verdict>/<program>
            programs.setdefault("/".join(parts[:3]), []).append(name)
    return programs


def _is_replaced(package: Package, path: str) -> bool:
    """Whether an included file takes the place of a file in a submission's directory, as it has the same name."""
    return path.count("/") > 2 and basename(path) in included(package, language(path) or "")


def _or_milder(verdicts: tuple[str, ...]) -> tuple[str, ...]:
    """The verdicts that the first rejected test may have, if these are the worst of all tests."""
    ranks = [_WORST_FIRST.index(verdict) for verdict in verdicts if verdict in _WORST_FIRST]
    return tuple(dict.fromkeys((*verdicts, *_WORST_FIRST[min(ranks) :]))) if ranks else verdicts


def _is_of_several(path: str, text: str, directory: str) -> bool:
    """Whether a source states several verdicts, and its directory one of these, which then counts alone.

    Source: DOMjudge, `ImportProblemService`.
    """
    named = _named(directory)
    return named is not None and set(named) < set(_stated(path, text, directory))


def _tags(text: str) -> list[str]:
    """What follows each tag that names verdicts, and not points."""
    return _RESULTS.findall(STATED_TOTAL.sub("", text))


def _named(word: str) -> tuple[str, ...] | None:
    return _VERDICTS.get(word.upper().replace("-", "_"))


def _stated(path: str, text: str, directory: str) -> tuple[str, ...]:
    """The verdicts of which one is expected; empty if nothing is stated that can be checked."""
    tags = _tags(text)
    words = _WORD.findall(tags[0]) if tags else [directory]
    stated: dict[str, None] = {}
    for word in words:
        verdicts = _named(word)
        if verdicts is None and not tags:
            verdicts = _DIRECTORIES.get(word.upper())
        if verdicts is None:
            if tags and not word.upper().startswith(("CHECK", "NONE")):
                raise _UnknownVerdictError(f"{path} expects {word!r}, which is not a verdict")
            return ()
        stated.update(dict.fromkeys(verdicts))
    return tuple(stated)
