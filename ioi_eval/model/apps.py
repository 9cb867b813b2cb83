"""Problems of APPS: many small tests, for a Python program or for one function.

A row of the data set that cannot be judged is still a problem. It has a `fault`: reports name it, and it counts neither
as 0 nor as passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
Lines: TypeAlias = "str | tuple[str, ...]"

DIFFICULTIES = ("introductory", "interview", "competition")
"""The data set's, from easy to hard."""

_PREFIX = "apps_"


def difficulty_order(name: str) -> tuple[int, str]:
    """The key by which difficulties are sorted: the data set's from easy to hard, then all others by name."""
    return (DIFFICULTIES.index(name) if name in DIFFICULTIES else len(DIFFICULTIES)), name


class RowFault(StrEnum):
    """Why a row cannot be judged."""

    NO_TESTS = "no-tests"  # nothing in `input_output`
    BROKEN_JSON = "broken-json"  # not valid JSON
    WRONG_SHAPE = "wrong-shape"  # JSON, but not an object with lists of inputs and outputs
    EMPTY = "empty"  # lists without a single test
    UNEQUAL = "unequal"  # more inputs than outputs, or fewer
    WRONG_TEST = "wrong-test"  # a test that is neither text nor lines nor arguments
    TOO_LARGE = "too-large"  # an integer or a nesting too large to be sent to the box
    INTERNAL = "internal-error"  # not the row's fault: ioi-eval failed in reading it


@dataclass(frozen=True, slots=True, kw_only=True)
class StdinTest:
    """A test of a program that reads standard input: input and official output as the row has them, a text, or lines
    without their ends. `number` is its place in the row, from 0."""

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
    """A test of a function, with arguments and official result as the row has them.

    `accepts` has the values that are right: `expected`; if the row may have wrapped its results in lists of one
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
        return f"{_PREFIX}{self.id}"


def without_prefix(problem: str) -> str:
    """The id of a problem that is named by its id, or in mcpbr's spelling."""
    return problem.removeprefix(_PREFIX)


def joined(lines: Lines) -> str:
    """Lines as one text, as every grader of APPS joins them."""
    return lines if isinstance(lines, str) else "\n".join(lines)
