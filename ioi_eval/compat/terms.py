"""What all graders here share: how a run ended, a grader's codes, the description of a grader, and comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import zip_longest
from typing import Any, TypeAlias

from ioi_eval.errors import ODD_DATA
from ioi_eval.extract.fences import encodable
from ioi_eval.model.apps import AppsProblem, AppsTest, RowFault, StdinTest, joined

Code: TypeAlias = "bool | int"
"""`True`: passed; `False`: wrong; else a number of the grader."""

TRUNCATED = "...(truncated) ..."
_SHOWN_CHARS = 60  # of a line that differs


class Ending(StrEnum):
    """How a program ended on one test, as the harness and the runner saw it."""

    FINISHED = "finished"  # it ended by itself, or by an exit that the grader ignores
    RAISED = "raised"  # an error while it ran
    LOAD_FAILED = "load-failed"  # an error before it ran: syntax, an import, a missing function
    TIMED_OUT = "timed-out"  # over the grader's time for one test
    DIED = "died"  # a signal, or an exit that ends the grader's process too


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRun:
    """A run of one test, in the way that a grader demands."""

    ending: Ending
    output: bytes = b""  # for a call the encoded result
    exit_code: int | None = 0  # `None` if a signal ended the process
    wall_s: float = 0.0  # CPU and idle time, in place of the wall clock that graders limit
    error: str = ""  # as the harness reported it, else what stopped the program
    traceback: str = ""

    @property
    def text(self) -> str:
        """The output as text."""
        return self.output.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Whether a grader accepts an output, and by which of its rules (or the last rule that failed)."""

    right: bool
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """The results of a grader for a program.

    `metadata` is that of Eval Protocol, usually one dictionary in the form of the source: with `error` and `traceback`;
    with `output`, `expected`, `inputs` and `error_message`; or empty. Other graders have none.
    """

    codes: tuple[Code, ...] = ()  # in order, fewer than the tests if it stopped early
    rules: tuple[str, ...] = ()  # for each code the reason: the comparison rule, or what happened
    metadata: tuple[Mapping[str, Any], ...] = ()
    crash: str = ""  # the message, if the grader itself fails on this row or run and gives no result

    @property
    def passed(self) -> int:
        """The number of tests that it counts as passed."""
        return sum(code is True for code in self.codes)

    @property
    def all_passed(self) -> bool:
        """Whether it counts the program as right. Without any test hendrycks and livecodebench do."""
        return not self.crash and self.passed == len(self.codes)

    @property
    def worst(self) -> Code:
        """One code for the whole: the lowest, as in published results. `True` without codes."""
        return min(self.codes, default=True)


def encode_text(test: AppsTest) -> bytes:
    """The input of graders that call no function: the row's text or its joined lines, unchanged."""
    return joined(test.given).encode("utf-8", "replace") if isinstance(test, StdinTest) else b""


def different(expected: Iterable[str], printed: Iterable[str]) -> Match:
    """The result for an output that no rule accepts: the first line that differs. There must be one."""
    lines = enumerate(zip_longest(expected, printed), 1)
    number, right, wrong = next((number, *pair) for number, pair in lines if pair[0] != pair[1])
    return Match(right=False, rule=f"different: line {number}: expected {_shown(right)}, found {_shown(wrong)}")


def match_text(expected: str, printed: str) -> Match:
    """Compare two texts without blanks at both ends."""
    expected, printed = expected.strip(), printed.strip()
    if printed == expected:
        return Match(right=True, rule="equal text")
    return different(expected.split("\n"), printed.split("\n"))


def _shown(line: str | None) -> str:
    return "no more lines" if line is None else repr(truncated(line, _SHOWN_CHARS))


def graded_all(
    problem: AppsProblem, runs: Sequence[TestRun], match: Callable[[AppsTest, TestRun], Match | None]
) -> Graded:
    """The results of a grader that compares every run. Without a match (`None`) the run failed, and the code is -1."""
    matches = [match(test, run) for test, run in zip(problem.tests, runs, strict=False)]
    return Graded(
        codes=tuple(-1 if found is None else found.right for found in matches),
        rules=tuple(
            (run.error or run.ending.value) if found is None else found.rule
            for found, run in zip(matches, runs, strict=False)
        ),
    )


class GraderFailedError(Exception):
    """A grader's rules fail with an error, the cause, on a row or output, as that grader itself does."""


@contextmanager
def _own_errors() -> Iterator[None]:
    """Mark the errors of a grader's rules; those of this machine's memory pass unchanged."""
    try:
        yield
    except MemoryError:
        raise
    except ODD_DATA as error:
        raise GraderFailedError from error


class Calls(StrEnum):
    """What a grader does with a row that asks for a function."""

    CALL = "call"  # calls it
    STDIN = "stdin"  # runs a program with the arguments as text on stdin
    LOAD = "load"  # fails after loading the program
    NEVER = "never"  # fails


@dataclass(frozen=True, slots=True, kw_only=True)
class CompatGrader:
    """A grader, as far as its results depend on it.

    If it is a `script`, the harness runs each test as a script after its prelude, so that the exit code shows how it
    ended; without `harness_grader` that has no effect.
    """

    name: str
    harness_grader: str | None  # its name in the harness, which runs programs in its way; `None` for plain Python
    calls: Calls
    per_test_s: float  # wall clock
    all_tests_s: Callable[[int, float], float] | None  # from the number of tests and the limit of one, to that of all
    stops: bool  # at the first failure
    encode_input: Callable[[AppsTest], bytes]  # standard input, or the encoded arguments of a call
    grade_runs: Callable[[AppsProblem, Sequence[TestRun], float], Graded]  # the number: limit of all tests in seconds
    script: bool = False
    numpy: bool = False  # whether it needs that
    least_python: tuple[int, int] = (3, 8)  # the oldest one with the features that it needs

    def grade(self, problem: AppsProblem, runs: Sequence[TestRun], *, test_s: float | None = None) -> Graded:
        """Its results for a program. The runs are in the tests' order; those after the one at which it stops may be
        missing. `test_s` is its limit of one test, if a user has changed that."""
        with _own_errors():
            return self.grade_runs(problem, runs, self._all_tests_s(problem, test_s))

    def inputs(self, problem: AppsProblem) -> list[bytes]:
        """The inputs of a program, one for each run. If it is only loaded, there is one run, without an input."""
        with _own_errors():
            return [b""] if self._only_loads(problem) else [self.encode_input(test) for test in problem.tests]

    def _only_loads(self, problem: AppsProblem) -> bool:
        """Whether it loads programs for this problem and runs no test: it cannot call functions, or there are no tests.

        The plain interpreter loads nothing without running it.
        """
        calls_nothing = problem.fn_name is not None and self.calls is Calls.LOAD
        return self.harness_grader is not None and (calls_nothing or not problem.tests)

    def wants_another(self, problem: AppsProblem, runs: Sequence[TestRun], *, test_s: float | None = None) -> bool:
        """Whether another run could still change its results; arguments as of `grade`.

        If a program is only loaded, one run is needed. Of a grader that stops, only the newest run is graded: it is not
        asked again after a failure.
        """
        if not can_grade(problem) or (problem.fn_name is not None and self.calls is Calls.NEVER):
            return False
        if self._only_loads(problem):
            return not runs
        if len(runs) >= len(problem.tests) or too_long(runs, self._all_tests_s(problem, test_s)):
            return False
        end = runs[-1].ending if runs else None
        if end is Ending.LOAD_FAILED or (end is Ending.DIED and not self.script):  # that ends the grader's process
            return False
        if not (self.stops and runs):
            return True
        newest = replace(problem, tests=problem.tests[len(runs) - 1 : len(runs)], inputs=1, outputs=1)
        with _own_errors():
            return self.grade_runs(newest, runs[-1:], math.inf).all_passed

    def _all_tests_s(self, problem: AppsProblem, test_s: float | None) -> float:
        """Its limit of all tests together."""
        if self.all_tests_s is None:
            return math.inf
        return self.all_tests_s(problem.inputs, self.per_test_s if test_s is None else test_s)


def can_grade(problem: AppsProblem) -> bool:
    """Whether graders give results for such a row: valid rows, and those without tests or with unequal numbers."""
    return problem.fault in (None, RowFault.EMPTY, RowFault.UNEQUAL)


def too_long(runs: Sequence[TestRun], all_tests_s: float) -> bool:
    """Whether the runs together took longer than a grader waits."""
    return sum(run.wall_s for run in runs) > all_tests_s


def truncated(text: str, length: int) -> str:
    """A text, shortened as by the graders. Texts from a row's JSON may contain lone surrogates."""
    text = encodable(text)
    if len(text) <= length:
        return text
    return text[: length // 2] + TRUNCATED + text[-length // 2 :]


def allclose(numbers: Sequence[float], expected: Sequence[float]) -> bool:
    """Whether all pairs are close: |a − b| ≤ 1e-8 + 1e-5 |b|. An infinity is close only to itself, NaN to nothing.

    Not symmetric. Both have the same length.

    Source: `numpy.allclose` with its defaults, on arrays of doubles.
    """
    return all(
        a == b or (math.isfinite(b) and abs(a - b) <= 1e-8 + 1e-5 * abs(b))
        for a, b in zip(numbers, expected, strict=True)
    )
