"""What all profiles share: how a run ended, the codes they give, and what a grader does, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from ioi_eval.extract.fences import encodable
from ioi_eval.model.apps import AppsProblem, AppsTest, RowFault

Code: TypeAlias = "bool | int"
"""`True` passed, `False` wrong, else a grader's own number."""

TRUNCATED = "...(truncated) ..."


class Ending(StrEnum):
    """How a program ended on one test, as the harness and the runner saw it."""

    FINISHED = "finished"  # by itself, or by an exit that the grader swallows
    RAISED = "raised"  # an error while it ran
    LOAD_FAILED = "load-failed"  # an error before it ran: syntax, an import, a missing function
    TIMED_OUT = "timed-out"  # over the grader's time for one test
    DIED = "died"  # a signal, or an exit that takes the grader's process with it


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRun:
    """One test run the way a profile wants it.

    Args:
        ending: how it ended.
        output: what was printed; for a call the result as it left the box.
        exit_code: of the process; `None` if a signal ended it.
        wall_s: how long it took: graders have wall clocks.
        error, traceback: of an error, as the harness reported them.
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
    """Whether a grader takes an output for right, and by which of its rules (or the last that failed)."""

    right: bool
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """What a grader makes of a program.

    Args:
        codes: its results in order, as many as it gives: fewer than there are tests where it stops.
        rules: for each code, why: the comparison rule, or what happened.
        metadata: what it says besides, as dictionaries of the source's shape.
        crash: the grader itself fails on this row or run, with these words; it gives no result.
    """

    codes: tuple[Code, ...] = ()
    rules: tuple[str, ...] = ()
    metadata: tuple[Mapping[str, Any], ...] = ()
    crash: str = ""

    @property
    def passed(self) -> int:
        """How many tests it counts as passed."""
        return sum(code is True for code in self.codes)

    @property
    def all_passed(self) -> bool:
        """Whether it counts the program as right. Without a test most do."""
        return not self.crash and self.passed == len(self.codes)

    @property
    def worst(self) -> Code:
        """One code for the whole: the lowest, as in published results. `True` without codes."""
        return min(self.codes, default=True)


class Calls(StrEnum):
    """What a grader does with a row that asks for a function."""

    CALL = "call"  # calls it
    STDIN = "stdin"  # gives the arguments as text to a program
    LOAD = "load"  # fails after loading the program
    NEVER = "never"  # fails


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A grader, as far as its results depend on it.

    Args:
        name: `hendrycks`, ….
        harness: its name for the harness, which runs programs its way; `None` for the plain interpreter.
        script: whether that runs each test as a script, in a process of its own whose exit code says how it ended.
        calls: what it does with functions.
        per_test_s: wall clock for one test.
        whole_s: wall clock for so many tests together; `None` for no bound.
        stops: whether it stops at the first failure.
        given: what a program gets for a test: standard input, or the encoded arguments of a call.
        grade: the results, from the runs that were made. Runs after the one where it stops may be missing.
        source: what was read.
        numpy: whether it puts numpy there.
        least_python: the oldest Python that can do what it does.
    """

    name: str
    harness: str | None
    calls: Calls
    per_test_s: float
    whole_s: Callable[[int], float] | None
    stops: bool
    given: Callable[[AppsTest], bytes]
    grade: Callable[[AppsProblem, Sequence[TestRun]], Graded]
    source: str
    script: bool = False
    numpy: bool = False
    least_python: tuple[int, int] = (3, 8)

    def wants_another(self, problem: AppsProblem, runs: Sequence[TestRun]) -> bool:
        """Whether another run could still change what it says.

        Where a program is only loaded, as the grader cannot call functions or there are no tests, one run is wanted.
        """
        if not judges(problem) or (problem.fn_name is not None and self.calls is Calls.NEVER):
            return False
        only_loads = not problem.tests or (problem.fn_name is not None and self.calls is Calls.LOAD)
        if self.harness is not None and only_loads:
            return not runs
        if len(runs) >= len(problem.tests) or (runs and self._ends(runs[-1])):
            return False
        if self.whole_s is not None and too_long(runs, self.whole_s(problem.inputs)):
            return False
        return not (self.stops and runs) or self.grade(problem, runs).all_passed

    def _ends(self, run: TestRun) -> bool:
        """Whether nothing is run after it: the program does not load, or has taken the grader's process with it."""
        return run.ending is Ending.LOAD_FAILED or (run.ending is Ending.DIED and not self.script)


def judges(problem: AppsProblem) -> bool:
    """Whether graders come to results on such a row: sound ones, those without a test, those of unequal numbers."""
    return problem.fault in (None, RowFault.EMPTY, RowFault.UNEQUAL)


def too_long(runs: Sequence[TestRun], whole_s: float) -> bool:
    """Whether the runs together took longer than a grader waits."""
    return sum(run.wall_s for run in runs) > whole_s


def truncated(text: str, length: int) -> str:
    """A text as the graders shorten it; what stands in a row as JSON may hold halves of characters."""
    text = encodable(text)
    if len(text) <= length:
        return text
    return text[: length // 2] + TRUNCATED + text[-length // 2 :]
