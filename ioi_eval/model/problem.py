"""Problems and submissions. Points and scores are unrounded unless a name says otherwise."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from ioi_eval.errors import InputError
from ioi_eval.model.methods import JudgeProgram, RunMethod, SourceFile
from ioi_eval.model.terms import Language, ScoreType, StepRounding, TaskType


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """Bytes on disk, by reference. The file never changes while it is referred to. `sha256` is hexadecimal."""

    path: Path
    size: int
    sha256: str


Content = bytes | Blob


def size_of(content: Content) -> int:
    """How many bytes a content has."""
    return content.size if isinstance(content, Blob) else len(content)


DEFAULT_YEAR = 2024
"""The year of rows without one. Source: the reference, which takes a dump without years for IOI 2024."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCase:
    """One test.

    Args:
        name: its name in the subtasks.
        input: what the submission reads.
        answer: the official output; `None` if the package has none.
        checker_args: further arguments of the checker on this test, after the problem's.
        full_score: full marks, in the units in which a kattis or testlib checker or interactor reports its scores; 0 if
            reported scores do not count, so that an accepted output has full marks.
        score_table: pairs of a score and points, in the order of scores: a reported score is a whole number, and stands
            for the points of the first pair whose score is not below it, of `full_score`. Empty if scores are points.
        score_steps: a score is rounded to a multiple of 1 / `score_steps`; 0 for none.
        step_rounding: how it is rounded.
    """

    __test__ = False  # tells pytest that this is not a test class

    name: str
    input: Content
    answer: Content | None
    checker_args: tuple[str, ...] = ()
    full_score: int = 1
    score_table: tuple[tuple[int, int], ...] = ()
    score_steps: int = 0
    step_rounding: StepRounding = StepRounding.DOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtask:
    """A group of tests. Its score, computed from theirs by the problem's score type, is multiplied by `points`.

    `tests` is in listed order, never empty, without repetition. `threshold` is for GroupThreshold only.
    """

    name: str
    points: float
    tests: tuple[str, ...]
    threshold: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemKey:
    """Identifies a problem: ids are reused in other years."""

    year: int
    id: str

    def __str__(self) -> str:
        return f"{self.year}/{self.id}"

    def is_among(self, names: Collection[str]) -> bool:
        """Whether these names of problems, such as `nile` and `2024/nile`, include one of its own."""
        return self.id in names or str(self) in names


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRules:
    """How a submission is run on a test: the part of a problem that contest problems and rows of APPS share.

    Args:
        method: how a submission is run, and how its output is judged.
        time_limit_s: CPU seconds, all processes of a submission together. In TwoSteps each process has all of it, and
            with `passes` each run.
        memory_limit_bytes: peak resident bytes of each process.
        output_limit_bytes: how much the submission may print; `None` for the policy's limit.
    """

    method: RunMethod
    time_limit_s: float
    memory_limit_bytes: int
    output_limit_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Problem(RunRules):
    """A contest problem, ready to be judged. It has the fields of `RunRules` too.

    Args:
        key: year and id.
        name: its title.
        day: the contest day as the row gives it; `None` if unknown.
        time_scale: the factor by which the official limit was multiplied, for a slower or faster machine.
        code_limit_bytes: limit for the submission's source files together; `None` for the limit of the IOI's server,
            which holds for each file.
        score_type: how a subtask's score is computed from the scores of its tests.
        score_precision: decimals of a subtask's rounded points.
        subtasks: in the contest's order.
        tests: by name; includes every name that a subtask lists.
        linked: what a submission is linked with (grader or stub): a source for each language that the task allows. One
            in Python is the program that is started; it imports the submission.
        headers: what the submission may include.
        source_name: file name of a submission of one file, without its ending (a grader in Python imports it by this
            name); empty for the id in lower case.
        cxx_std: the C++ standard (`gnu++17`).
        notes: what was repaired or noticed when the row was read, for the results (`final newline added to 3 tests`).
    """

    key: ProblemKey
    name: str
    day: str | None = None
    time_scale: float = 1.0
    code_limit_bytes: int | None = None
    score_type: ScoreType = ScoreType.GROUP_MIN
    score_precision: int = 2
    subtasks: tuple[Subtask, ...]
    tests: Mapping[str, TestCase]
    linked: tuple[SourceFile, ...] = ()
    headers: tuple[SourceFile, ...] = ()
    source_name: str = ""
    cxx_std: str
    notes: tuple[str, ...] = ()

    @property
    def task_type(self) -> TaskType:
        """The name of the method."""
        return self.method.task_type

    @property
    def checker(self) -> JudgeProgram | None:
        """The program that judges an output, or what the manager wrote; `None` if there is none."""
        check = self.method.check
        return check if isinstance(check, JudgeProgram) else None

    def linked_with(self, language: Language) -> tuple[SourceFile, ...]:
        """The sources with which a submission in this language is linked."""
        return tuple(file for file in self.linked if file.name.endswith(language.endings))


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputFile:
    """An output that was submitted instead of a program, and its test."""

    test: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One program for one problem, or outputs for some of its tests, or both.

    Args:
        id: its name in the dump (the id column, as text).
        problem: which problem it is for.
        code: the program; `None` if none was found in the generation (verdict NC, unless there are outputs).
        sources: its files, if the program has several; `code` then holds their texts, one after the other.
        outputs: in the order of the problem's `output_tests`, at most one for each.
        language: what it is written in.
        extraction: which rule found the code (`fence:cpp`, `column:code`, `none`, …).
        fixes: what was changed in the code before compiling (`includes`), for the results.
        refused: the message if it is not compiled at all, because it is too large or has too many files; then `code`
            is `None` and the verdict CE.

    Raises:
        InputError: the code is no text, or the language no `Language`.
    """

    id: str
    problem: ProblemKey
    code: str | None
    sources: tuple[SourceFile, ...] = ()
    outputs: tuple[OutputFile, ...] = ()
    language: Language = Language.CPP
    extraction: str = "column:code"
    fixes: tuple[str, ...] = ()
    refused: str = ""

    def __post_init__(self) -> None:
        code: object = self.code  # callers without a type checker may give bytes, or "cpp" as the language
        language: object = self.language
        if not (code is None or isinstance(code, str)):
            raise InputError(f"the code of a Submission must be a str or None, not {type(code).__name__}")
        if not isinstance(language, Language):
            known = ", ".join(f"Language.{each.name}" for each in Language)
            raise InputError(f"the language of a Submission must be one of {known}, not {language!r}")

    def source_files(self, name: str = "") -> tuple[SourceFile, ...]:
        """The program's files; empty if there is no program.

        Args:
            name: the file's name without its ending, if there is only one; made of the problem's id if empty.
        """
        if self.sources or self.code is None:
            return self.sources
        path = f"{name or _stem_of(self.problem.id)}{self.language.endings[0]}"
        return (SourceFile(path=path, content=self.code.encode("utf-8", "replace")),)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to judge."""
        return self.code is None and not self.outputs

    @property
    def size(self) -> int:
        """The size of what is judged: characters of the program plus bytes of the outputs."""
        return len(self.code or "") + sum(len(output.content) for output in self.outputs)


_ODD = re.compile(r"[^\w.+-]")
_STEM_LENGTH = 50  # characters, each of at most 4 bytes. Source: Linux, NAME_MAX is 255 bytes


def _stem_of(problem: str) -> str:
    """The name of a submission's file without its ending: the last part of the problem's id, in lower case.

    It can be the name of a file and no option of a compiler, whatever the id is.
    """
    stem = _ODD.sub("_", problem.lower().rpartition("/")[2])[:_STEM_LENGTH]
    return stem if stem[:1].isalnum() else f"_{stem}"
