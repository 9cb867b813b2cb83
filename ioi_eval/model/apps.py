"""Problems of APPS: many small tests, for a Python program or for one function.

A row of the data set that cannot be judged is still a problem. It has a `fault`: reports name it, and it counts neither
as 0 nor as passed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, TypeAlias

from ioi_eval.errors import InputError

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
Lines: TypeAlias = "str | tuple[str, ...]"


class RowFault(StrEnum):
    """Why a row cannot be judged."""

    NO_TESTS = "no-tests"  # nothing in `input_output`
    BROKEN_JSON = "broken-json"  # not valid JSON
    WRONG_SHAPE = "wrong-shape"  # JSON, but not an object with lists of inputs and outputs
    EMPTY = "empty"  # lists without a single test
    UNEQUAL = "unequal"  # more inputs than outputs, or fewer
    WRONG_TEST = "wrong-test"  # a test that is neither text nor lines nor arguments
    TOO_LARGE = "too-large"  # an integer or a nesting too large to be sent to the box


@dataclass(frozen=True, slots=True, kw_only=True)
class StdinTest:
    """A test of a program that reads standard input.

    Args:
        number: its place in the row, from 0.
        given: the input as the row has it: a text, or lines without their ends.
        expected: the official output, likewise.
    """

    number: int
    given: Lines
    expected: Lines

    @property
    def stdin(self) -> bytes:
        """What the program reads. The last line ends with a newline too: some programs cut off the last character."""
        text = joined(self.given)
        return (text if not text or text.endswith("\n") else text + "\n").encode("utf-8", "replace")

    @property
    def answer(self) -> bytes:
        """What a comparator gets as the official output."""
        return joined(self.expected).encode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTest:
    """A test of a function.

    Args:
        number: its place in the row, from 0.
        given: the arguments as the row has them.
        expected: the official result as the row has it.
        accepts: the values that are right: `expected`; if the row may have wrapped its results in lists of one
            element, also that element.
    """

    number: int
    given: tuple[JsonValue, ...]
    expected: JsonValue
    accepts: tuple[JsonValue, ...]


AppsTest: TypeAlias = StdinTest | CallTest


@dataclass(frozen=True, slots=True, kw_only=True)
class AppsProblem:
    """One row of APPS.

    Args:
        id: `problem_id`, else `id`, else `index`, as text.
        index: its place in the unfiltered split, from 0.
        difficulty: in lower case; empty if the row does not say.
        fn_name: the function or method that is called; `None` for programs that read standard input.
        tests: the inputs that have an output. If there is a `fault`, only other graders' rules use them.
        inputs, outputs: how many the row has.
        fault: why it cannot be judged; `None` if it can.
        reason: the same as a sentence, for people.
    """

    id: str
    index: int
    difficulty: str = ""
    fn_name: str | None = None
    tests: tuple[AppsTest, ...] = ()
    inputs: int = 0
    outputs: int = 0
    fault: RowFault | None = None
    reason: str = ""

    @property
    def instance_id(self) -> str:
        """The id in mcpbr's spelling (`apps_42`)."""
        return f"apps_{self.id}"


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

    protocol: ClassVar[str] = "compare"
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


def joined(lines: Lines) -> str:
    """Lines as one text, as every grader of APPS joins them."""
    return lines if isinstance(lines, str) else "\n".join(lines)
