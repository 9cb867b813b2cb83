"""Derives a time limit from the accepted solutions, as Kattis does, for a package that states none.

It is the longest time of such a solution on any test, times the package's multiplier, rounded up to its resolution. The
solutions are judged in the embedded sandbox and timed like submissions. Solutions in unsupported languages do not
count. If a scoring problem accepts solutions with points in one group (`accept_if_any_accepted`, `always_accept`), a
solution may fail in the others.

Source: Kattis problem package format, "Problem timing" (2025-09), `time_multiplier` (legacy); problemtools.
"""

from __future__ import annotations

import asyncio
import math
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.config import Environment
from ioi_eval.errors import DoubtfulDataWarning, InputError
from ioi_eval.expectations import Expectation
from ioi_eval.importers.rows_out import write_rows
from ioi_eval.importers.task import ImportedTask, Timing
from ioi_eval.languages import language_called
from ioi_eval.model import Problem, SubmissionResult, SubtaskResult, Verdict
from ioi_eval.problems.ioi import load_problems
from ioi_eval.problems.submissions import submission_from_row
from ioi_eval.report.texts import counted
from ioi_eval.rows import open_source
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer

_UNTIMED = frozenset({Verdict.TLE, Verdict.JE, Verdict.CE})
"""Verdicts of tests whose time does not show how long a solution takes."""


def with_measured_limit(task: ImportedTask) -> ImportedTask:
    """The task with a limit derived as its `timing` says, if it states none; else the task itself.

    Raises:
        InputError: it has no accepted solution that can be judged, or one of them is not accepted by us.
        SetupError: nothing can be judged here.
    """
    if task.timing is None:
        return task
    with tempfile.TemporaryDirectory() as directory:
        problem = _read_back(task, Path(directory))
        measured = _Measurement(task, task.timing, problem)
        asyncio.run(measured.run())
    rows = tuple({**row, "time_limit": measured.limit_s} for row in task.problem_rows)
    return replace(task, problem_rows=rows, notes=(*task.notes, measured.note()), timing=None)


def _read_back(task: ImportedTask, directory: Path) -> Problem:
    """The problem of a task, from rows in this directory, where its tests stay."""
    written = write_rows([task], directory / "rows")
    sources = open_source(written.problems), open_source(written.tests)
    with catch_warnings():
        simplefilter("ignore", DoubtfulDataWarning)  # about the limit of the measurement
        problems = load_problems(*sources, BlobStore(directory / "tests"))
    problem = problems.problems.get(task.key)
    if problem is None:
        raise InputError(f"{task.key}: {problems.unusable.get(task.key, 'it cannot be read back')}")
    return problem


class _Measurement:
    """Measures the longest time on a test of the solutions that count for the limit."""

    def __init__(self, task: ImportedTask, timing: Timing, problem: Problem) -> None:
        self._timing, self._problem = timing, problem
        counting = [row for row in task.solution_rows if row["label"] in timing.accepted | timing.in_time]
        known = [row for row in counting if language_called(row["language"] or "") is not None]
        solutions = [(row, submission_from_row(row, max_code_bytes=None)) for row in known]
        self._solutions = [(r, s) for r, s in solutions if not problem.linked or problem.linked_with(s.language)]
        self._seconds, self._slowest, self._judged = 0.0, "", 0
        self._in_part: list[str] = []  # solutions that are accepted, but not in all subtasks
        if not self._solutions:
            raise InputError(
                f"{task.key} has no accepted submission in a language that is judged, from which a time limit could be"
                " derived; give one with --time-limit"
            )

    async def run(self) -> None:
        """Judge the solutions in the embedded sandbox."""
        async with LocalSandbox(compiler=Environment.read().compiler) as sandbox:
            scorer = Scorer(sandbox, artifacts=ArtifactStore())
            for row, submission in self._solutions:
                result = await scorer.score(self._problem, submission, exhaustive=True)
                if not result.compile.all_unsuitable:
                    self._add(row, result)
        if not self._judged:
            raise InputError(
                f"{self._problem.key} has no accepted submission in a language that this machine has a compiler for,"
                " from which a time limit could be derived; install one, or give a limit with --time-limit"
            )

    def _add(self, row: dict[str, Any], result: SubmissionResult) -> None:
        """Add the times of a solution, from its row and its result."""
        self._judged += 1
        may_fail = row["label"] not in self._timing.accepted  # but it must end within the time limit
        if not self._is_accepted_in_all(row, result, may_fail=may_fail) and not may_fail:
            self._in_part.append(result.submission)
        for subtask in result.subtasks:
            for test in subtask.tests:
                seconds = (test.cpu_ms or 0.0) / 1000
                if seconds >= self._seconds:
                    self._seconds, self._slowest = seconds, f"{result.submission}, {seconds:.3g} s on {test.test}"

    def _is_accepted_in_all(self, row: dict[str, Any], result: SubmissionResult, *, may_fail: bool) -> bool:
        """Whether all subtasks that are worth points are accepted.

        A solution is refused that is not accepted although it must be, or whose time is not known: it is late on a
        test, or was not judged.
        """
        stated = row["expected_subtasks"] or {}
        worth = [item for item in result.subtasks if item.points > 0]
        accepted = [_is_accepted(item, stated.get(item.subtask)) for item in worth]
        is_enough = may_fail or (self._timing.any_group and any(accepted))
        for subtask, is_accepted in zip(worth, accepted, strict=True):
            verdicts = (subtask.verdict, *(test.verdict for test in subtask.tests))
            untimed = next((verdict for verdict in verdicts if verdict in _UNTIMED), None)
            if untimed is not None or not (is_accepted or is_enough):
                wanted = "in time" if may_fail else "accepted"
                failed = (f" ({item.test}: {item.message})" for item in subtask.tests if item.verdict is Verdict.JE)
                raise InputError(
                    f"{result.submission} should be {wanted}, but is {untimed or subtask.verdict} within"
                    f" {self._problem.time_limit_s:g} s in subtask {subtask.subtask}{next(failed, '')}; a time limit"
                    " cannot be derived from it: give one with --time-limit"
                )
        return all(accepted)

    @property
    def limit_s(self) -> float:
        """The time limit."""
        steps = math.ceil(self._seconds * self._timing.multiplier / self._timing.resolution_s - 1e-9)
        return max(1, steps) * self._timing.resolution_s

    def note(self) -> str:
        """How the limit was derived, for the user."""
        note = (
            f"the time limit is {self.limit_s:g} s: {self._timing.multiplier:g} times the slowest of "
            f"{counted(self._judged, 'submission')} ({self._slowest}), "
            f"rounded up to a multiple of {self._timing.resolution_s:g} s"
        )
        if missing := len(self._solutions) - self._judged:
            note += f"; {missing} more are in a language that this machine has no compiler for"
        if self._in_part:
            note += f"; accepted in some subtasks only: {', '.join(self._in_part)}"
        return note


def _is_accepted(result: SubtaskResult, stated: str | None) -> bool:
    """Whether a solution is accepted in a subtask. A validator may give an accepted output any score, also 0: then AC
    and this verdict are both among the expected ones.
    """
    if result.verdict in {Verdict.AC, Verdict.PA}:
        return True
    expected = Expectation.parse(stated).verdicts if stated else frozenset()
    return {Verdict.AC, result.verdict} <= expected
