"""How a submission is run on a test, and how its output is judged.

`RunMethod` is a class for each task type, with its parameters:

    Batch, TwoSteps, OutputOnly, BatchAndOutput    `check` judges the output
    Communication, Interactive                     `manager` talks to the program and judges it, unless `check` judges
                                                   afterwards what the manager has written

The names are those of CMS's task types, except Interactive. A `match` over it ends with `assert_never`, so that mypy
names each place where a new class is missing. An `OutputCheck` is a judge program, a comparison in the runner, or our
side, after the run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, TypeAlias

from ioi_eval.errors import InputError, unknown
from ioi_eval.model.terms import CheckerProtocol, ProcessIO, TaskType


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A source file by its path: of a problem, as the row gives it (`graders/nile.h`), or of a submission."""

    path: str
    content: bytes

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rsplit("/", 1)[-1]

    @property
    def directory(self) -> str:
        """The path without its last part: empty, or with a slash at its end."""
        return self.path.removesuffix(self.name)


def by_include(files: Sequence[SourceFile], directory: str) -> dict[str, bytes]:
    """The contents of files by the names under which sources in a directory may include them.

    These are the paths below the directory, and the last parts of the paths, because a row may have headers elsewhere.
    """
    by_path = {file.path.removeprefix(directory): file.content for file in files}
    directories = {path.partition("/")[0] for path in by_path if "/" in path}
    return {file.name: file.content for file in files if file.name not in directories} | by_path


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeProgram:
    """A checker, manager or interactor.

    Args:
        source: the program.
        files: what it may include.
        protocol: how it is called and reports its score.
        args: further arguments: of a checker or interactor after its files (Kattis: `validator_flags`), of a manager
            after the FIFOs.
    """

    source: SourceFile
    files: tuple[SourceFile, ...] = ()
    protocol: CheckerProtocol = CheckerProtocol.CMS
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WhiteDiff:
    """The runner compares the output with the official one: runs of blanks are equal, trailing blank lines ignored."""

    protocol: ClassVar[CheckerProtocol] = CheckerProtocol.WHITE_DIFF
    args: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """The runner compares words, as the default validator of Kattis and DOMjudge does; `args` are its flags."""

    protocol: ClassVar[CheckerProtocol] = CheckerProtocol.TOKENS
    args: tuple[str, ...] = ()


class ComparatorKind(StrEnum):
    """The rules that decide whether an output is right. `docs/apps.md` defines each to the byte."""

    EXACT = "exact"
    LINES = "lines"
    TOKENS = "tokens"
    FLOAT = "float"
    CASE_INSENSITIVE = "case-insensitive"
    UNORDERED_LINES = "unordered-lines"
    CHECKER = "checker"


_TOLERANCE = re.compile(r"(?:\d{1,30}\.?\d{0,30}|\.\d{1,30})(?:[eE][+-]?(?:[0-3]?\d{1,2}|400))?", re.ASCII)
"""A tolerance that the runner can read: `kLargestExponent` in `graders/runner/decimal.h` is 400."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparator:
    """A rule with its parameters. The runner compares by it, unless it names a checker.

    Args:
        kind: the rule.
        absolute, relative: the tolerances of `float`, as decimal text: they are never rounded.
        program: the source file of `checker`.
    """

    args: ClassVar[tuple[str, ...]] = ()
    kind: ComparatorKind = ComparatorKind.LINES
    absolute: str = ""
    relative: str = ""
    program: str = ""

    def __str__(self) -> str:
        """The text that `parse` reads and that results show."""
        return ":".join(part for part in (self.kind.value, self.absolute, self.relative, self.program) if part)

    @classmethod
    def parse(cls, text: str) -> Comparator:
        """Read `lines`, `float:1e-6`, `float:1e-6:1e-9`, `checker:path/to/checker.cpp`, …

        Raises:
            InputError: there is no such rule, or its parameters are not right.
        """
        name, *parameters = text.split(":")
        if name not in set(ComparatorKind):
            raise InputError(unknown("comparator", name, ComparatorKind))
        kind = ComparatorKind(name)
        if kind is ComparatorKind.CHECKER:
            program = text.partition(":")[2]
            if not program:
                raise InputError("the comparator checker needs a program: checker:path/to/checker.cpp")
            return cls(kind=kind, program=program)
        if kind is ComparatorKind.FLOAT:
            wanted = "float:ABS or float:ABS:REL with decimal numbers (exponents from -400 to 400), as in float:1e-6"
            if not 1 <= len(parameters) <= 2 or not all(map(_TOLERANCE.fullmatch, parameters)):
                raise InputError(f"the comparator {text!r} is not of the form {wanted}")
            return cls(kind=kind, absolute=parameters[0], relative="".join(parameters[1:]))
        if parameters:
            raise InputError(f"the comparator {name} takes no parameters, but {text!r} has some")
        return cls(kind=kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedByClient:
    """The box returns the output, and our side judges it: a function's value, or by the rules of another grader."""

    args: ClassVar[tuple[str, ...]] = ()


WHITE_DIFF = WhiteDiff()

OutputCheck: TypeAlias = WhiteDiff | Tokens | Comparator | JudgedByClient | JudgeProgram


# --------------------------------------------------------------------------- how a submission is run


class _Method:
    """The values of task types that lack such a parameter."""

    __slots__ = ()

    task_type: ClassVar[TaskType]
    processes: int = 1
    passes: int = 1
    input_file: str = ""
    output_file: str = ""
    output_tests: tuple[str, ...] = ()

    @property
    def output_only_tests(self) -> tuple[str, ...]:
        """Those of `output_tests` for which no program is run."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _WithoutManager(_Method):
    """The program runs, then `check` judges its output."""

    manager = None
    check: OutputCheck = WHITE_DIFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(_WithoutManager):
    """The program runs once.

    Args:
        input_file, output_file: names of the files in its working directory; empty for stdin and stdout.
        passes: how often a kattis checker may let it run on one test, each time on an input that the checker wrote.
    """

    task_type = TaskType.BATCH

    input_file: str = ""
    output_file: str = ""
    passes: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAndOutput(_WithoutManager):
    """As Batch, but for some tests a submission may contain the output itself (`output_tests`)."""

    task_type = TaskType.BATCH_AND_OUTPUT

    input_file: str = ""
    output_file: str = ""
    output_tests: tuple[str, ...] = ()
    output_only_tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOnly(_WithoutManager):
    """No program runs: a submission is an output for each test."""

    task_type = TaskType.OUTPUT_ONLY

    output_tests: tuple[str, ...] = ()

    @property
    def output_only_tests(self) -> tuple[str, ...]:
        """All of them."""
        return self.output_tests


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoSteps(_WithoutManager):
    """The program runs as two processes, of which the second reads what the first sends."""

    task_type = TaskType.TWO_STEPS
    processes = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Communication(_Method):
    """The manager talks to the program's processes through FIFOs, and gives the score.

    Args:
        manager: the manager; its protocol is `cms`.
        processes: how many processes run at once.
        process_io: how they get their FIFOs.
        check: a checker that judges what the manager printed; `None` if the manager decides.
    """

    task_type = TaskType.COMMUNICATION

    manager: JudgeProgram
    processes: int = 1
    process_io: ProcessIO = ProcessIO.STD_IO
    check: JudgeProgram | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interactive(_Method):
    """The interactor is connected to the program's stdin and stdout, as in Kattis and testlib, and gives the score.

    Args:
        manager: the interactor; its protocol is `kattis` or `testlib`.
        check: a checker that judges the file that the interactor wrote; `None` if the interactor decides.
    """

    task_type = TaskType.INTERACTIVE
    process_io = ProcessIO.STD_IO

    manager: JudgeProgram
    check: JudgeProgram | None = None


RunMethod: TypeAlias = Batch | BatchAndOutput | OutputOnly | TwoSteps | Communication | Interactive
