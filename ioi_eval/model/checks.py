"""How an output is judged: by a judge program, by a comparison in the runner, or by our side after the run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, TypeAlias

from ioi_eval.errors import InputError
from ioi_eval.model.terms import CheckerProtocol


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A source file by its path: of a problem, as the row gives it (`graders/nile.h`), or of a submission."""

    path: str
    content: bytes

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rsplit("/", 1)[-1]


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


_TOLERANCE = re.compile(r"(?:\d{1,30}\.?\d{0,30}|\.\d{1,30})(?:[eE][+-]?\d{1,3})?", re.ASCII)


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
            raise InputError(f"there is no comparator {name!r}; there are: {', '.join(ComparatorKind)}")
        kind = ComparatorKind(name)
        if kind is ComparatorKind.CHECKER:
            program = text.partition(":")[2]
            if not program:
                raise InputError("the comparator checker needs a program: checker:path/to/checker.cpp")
            return cls(kind=kind, program=program)
        if kind is ComparatorKind.FLOAT:
            wanted = "float:ABS or float:ABS:REL with decimal numbers, as in float:1e-6"
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
