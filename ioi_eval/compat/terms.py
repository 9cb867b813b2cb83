"""What all graders here share: how a run ended, a grader's codes, the description of a grader, and comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import zip_longest
from typing import Any, TypeAlias

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
    """A run of one test, in the way that a grader demands.

    Args:
        output: the printed output; for a call the encoded result.
        exit_code: the exit code of the process; `None` if a signal ended it.
        wall_s: the wall clock, because graders limit wall clock.
        error, traceback: the error, as the harness reported it; without one, what stopped the program.
    """

    ending: Ending
    output: bytes = b""
    exit_code: int | None = 0
    wall_s: float = 0.0
    error: str = ""
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

    Args:
        codes: its codes in order. They are fewer than the tests if it stopped early.
        rules: for each code the reason: the comparison rule, or what happened.
        metadata: Eval Protocol's metadata, usually one dictionary in the form of the source: with `error` and
            `traceback`; with `output`, `expected`, `inputs` and `error_message`; or empty. None for other graders.
        crash: the message, if the grader itself fails on this row or run and gives no result.
    """

    codes: tuple[Code, ...] = ()
    rules: tuple[str, ...] = ()
    metadata: tuple[Mapping[str, Any], ...] = ()
    crash: str = ""

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


def different(expected: Sequence[str], printed: Sequence[str]) -> Match:
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


class Calls(StrEnum):
    """What a grader does with a row that asks for a function."""

    CALL = "call"  # calls it
    STDIN = "stdin"  # runs a program with the arguments as text on stdin
    LOAD = "load"  # fails after loading the program
    NEVER = "never"  # fails


@dataclass(frozen=True, slots=True, kw_only=True)
class CompatGrader:
    """A grader, as far as its results depend on it.

    Args:
        name: `hendrycks`, ….
        harness_grader: its name in the harness, which runs programs in its way; `None` for the plain interpreter.
        script: whether the harness runs each test as a script after its prelude, so that the exit code shows how it
            ended; without `harness_grader` it has no effect.
        calls: what it does with functions.
        per_test_s: the wall-clock limit of one test.
        whole_s: a function from the number of tests, and the limit of one, to the wall-clock limit of all together;
            `None` if there is no such limit.
        stops: whether it stops at the first failure.
        encode_input: a function from a test to the program's standard input, or to the encoded arguments of a call.
        grade_runs: a function from the runs, and the limit of all tests together in seconds, to the results.
        numpy: whether it needs numpy.
        least_python: the oldest Python with the features that it needs.
    """

    name: str
    harness_grader: str | None
    calls: Calls
    per_test_s: float
    whole_s: Callable[[int, float], float] | None
    stops: bool
    encode_input: Callable[[AppsTest], bytes]
    grade_runs: Callable[[AppsProblem, Sequence[TestRun], float], Graded]
    script: bool = False
    numpy: bool = False
    least_python: tuple[int, int] = (3, 8)

    def grade(self, problem: AppsProblem, runs: Sequence[TestRun], *, test_s: float | None = None) -> Graded:
        """Its results for a program.

        Args:
            runs: in the tests' order; those after the one at which it stops may be missing.
            test_s: its limit of one test, if a user has changed that.
        """
        return self.grade_runs(problem, runs, self._all_s(problem, test_s))

    def only_loads(self, problem: AppsProblem) -> bool:
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
        if self.only_loads(problem):
            return not runs
        if len(runs) >= len(problem.tests) or too_long(runs, self._all_s(problem, test_s)):
            return False
        end = runs[-1].ending if runs else None
        if end is Ending.LOAD_FAILED or (end is Ending.DIED and not self.script):  # that ends the grader's process
            return False
        if not (self.stops and runs):
            return True
        newest = replace(problem, tests=problem.tests[len(runs) - 1 : len(runs)], inputs=1, outputs=1)
        return self.grade_runs(newest, runs[-1:], math.inf).all_passed

    def _all_s(self, problem: AppsProblem, test_s: float | None) -> float:
        """Its limit of all tests together."""
        if self.whole_s is None:
            return math.inf
        return self.whole_s(problem.inputs, self.per_test_s if test_s is None else test_s)


def can_grade(problem: AppsProblem) -> bool:
    """Whether graders give results for such a row: valid rows, and those without tests or with unequal numbers."""
    return problem.fault in (None, RowFault.EMPTY, RowFault.UNEQUAL)


def too_long(runs: Sequence[TestRun], whole_s: float) -> bool:
    """Whether the runs together took longer than a grader waits."""
    return sum(run.wall_s for run in runs) > whole_s


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
