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
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from warnings import catch_warnings, simplefilter

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.config import Environment
from ioi_eval.errors import DoubtfulDataWarning, InputError
from ioi_eval.expectations import Expectation
from ioi_eval.importers.rows_out import write_rows
from ioi_eval.importers.task import ImportedTask, Timing
from ioi_eval.languages import language_called
from ioi_eval.model import Problem, Submission, SubmissionResult, SubtaskResult, Verdict
from ioi_eval.problems.ioi import load_problems
from ioi_eval.problems.limits import long_limit_notes
from ioi_eval.problems.submissions import submission_from_row
from ioi_eval.report.texts import counted
from ioi_eval.rows import open_source
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer

_UNTIMED = frozenset({Verdict.TLE, Verdict.JE, Verdict.CE})
"""Verdicts of tests whose time does not show how long a solution takes."""


@dataclass(slots=True, kw_only=True)
class _Measured:
    """The longest time of a solution on a test.

    Args:
        seconds, solution, test: of the slowest run.
        judged: how many solutions were judged.
        in_part: solutions that are accepted, but not in all subtasks.
    """

    seconds: float = 0.0
    solution: str = ""
    test: str = ""
    judged: int = 0
    in_part: list[str] = field(default_factory=list)


def with_measured_limit(task: ImportedTask) -> ImportedTask:
    """The task with a limit derived as its `timing` says, if it states none; else the task itself.

    Raises:
        InputError: it has no accepted solution that can be judged, or one of them is not accepted by us.
        SetupError: nothing can be judged here.
    """
    timing = task.timing
    if timing is None:
        return task
    with tempfile.TemporaryDirectory() as directory:
        problem = _read_back(task, Path(directory))
        submissions = _timed_submissions(task, timing, problem)
        may_fail = {f"{task.key}/{label}" for label in timing.in_time - timing.accepted}
        stated = {row["uuid"]: row["expected_subtasks"] or {} for row in task.solution_rows}
        measured = asyncio.run(_measure(problem, submissions, may_fail, stated, any_group=timing.any_group))
    steps = max(1, math.ceil(measured.seconds * timing.multiplier / timing.resolution_s - 1e-9))
    limit = steps * timing.resolution_s
    note = _note_on_limit(limit, timing, measured, len(submissions))
    rows = tuple({**row, "time_limit": limit} for row in task.problem_rows)
    about_other = long_limit_notes(problem.time_limit_s, problem.task_type)  # about the limit of the measurement
    notes = [other for other in task.notes if other not in about_other]
    return replace(task, problem_rows=rows, notes=(*notes, note), timing=None)


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


def _timed_submissions(task: ImportedTask, timing: Timing, problem: Problem) -> list[Submission]:
    """The submissions that count for the limit, in languages that can be judged; at least one."""
    submissions = [
        submission_from_row(row, max_code_bytes=None)
        for row in task.solution_rows
        if row["label"] in timing.accepted | timing.in_time and language_called(row["language"] or "") is not None
    ]
    linked = [each for each in submissions if not problem.linked or problem.linked_with(each.language)]
    if not linked:
        raise InputError(
            f"{task.key} has no accepted submission in a language that is judged, from which a time limit could be"
            " derived; give one with --time-limit"
        )
    return linked


def _note_on_limit(limit: float, timing: Timing, measured: _Measured, submissions: int) -> str:
    """How the limit was derived, for the user; `submissions` is the number of those that count."""
    note = (
        f"the time limit is {limit:g} s: {timing.multiplier:g} times the slowest of "
        f"{counted(measured.judged, 'submission')} ({measured.solution}, {measured.seconds:.3g} s on {measured.test}), "
        f"rounded up to a multiple of {timing.resolution_s:g} s"
    )
    if measured.judged < submissions:
        note += f"; {submissions - measured.judged} more are in a language that this machine has no compiler for"
    if measured.in_part:
        note += f"; accepted in some subtasks only: {', '.join(measured.in_part)}"
    return note


async def _measure(
    problem: Problem,
    submissions: Sequence[Submission],
    may_fail: Collection[str],
    stated: Mapping[str, Mapping[str, str]],
    *,
    any_group: bool,
) -> _Measured:
    """The longest time of these solutions.

    Args:
        may_fail: solutions that need not be accepted, but must end within the time limit.
        stated: for each solution the verdicts that are expected in each subtask.
        any_group: whether a solution is accepted if one subtask is.
    """
    measured = _Measured()
    async with LocalSandbox(compiler=Environment.read().compiler) as sandbox:
        scorer = Scorer(sandbox, artifacts=ArtifactStore())
        for submission in submissions:
            result = await scorer.score(problem, submission, exhaustive=True)
            if result.compile.all_unsuitable:
                continue
            measured.judged += 1
            this_may_fail = submission.id in may_fail
            in_all = _require_accepted(
                problem, submission, result, stated[submission.id], may_fail=this_may_fail, any_group=any_group
            )
            if not in_all and not this_may_fail:
                measured.in_part.append(submission.id)
            for subtask in result.subtasks:
                for test in subtask.tests:
                    seconds = (test.cpu_ms or 0.0) / 1000
                    if seconds >= measured.seconds:
                        measured.seconds, measured.solution, measured.test = seconds, submission.id, test.test
    if not measured.judged:
        raise InputError(
            f"{problem.key} has no accepted submission in a language that this machine has a compiler for, from which a"
            " time limit could be derived; install one, or give a limit with --time-limit"
        )
    return measured


def _require_accepted(
    problem: Problem,
    submission: Submission,
    result: SubmissionResult,
    stated: Mapping[str, str],
    *,
    may_fail: bool,
    any_group: bool,
) -> bool:
    """Refuse a solution that is not accepted although it must be, or whose time is not known: it is late on a test, or
    was not judged.

    Args:
        stated: the verdicts that are expected in each subtask.
        may_fail: whether it need not be accepted.
        any_group: whether it is accepted if one subtask is.

    Returns:
        Whether all subtasks that are worth points are accepted.
    """
    worth = [item for item in result.subtasks if item.points > 0]
    accepted = [_is_accepted(item, stated.get(item.subtask)) for item in worth]
    is_enough = may_fail or (any_group and any(accepted))
    for subtask, is_accepted in zip(worth, accepted, strict=True):
        verdicts = (subtask.verdict, *(test.verdict for test in subtask.tests))
        untimed = next((verdict for verdict in verdicts if verdict in _UNTIMED), None)
        if untimed is not None or not (is_accepted or is_enough):
            wanted = "in time" if may_fail else "accepted"
            reason = next(
                (f" ({item.test}: {item.message})" for item in subtask.tests if item.verdict is Verdict.JE), ""
            )
            raise InputError(
                f"{submission.id} should be {wanted}, but is {untimed or subtask.verdict} within"
                f" {problem.time_limit_s:g} s in subtask {subtask.subtask}{reason}; a time limit cannot be derived from"
                " it: give one with --time-limit"
            )
    return all(accepted)


def _is_accepted(result: SubtaskResult, stated: str | None) -> bool:
    """Whether a solution is accepted in a subtask. A validator may give an accepted output any score, also 0: then AC
    and this verdict are both among the expected ones.
    """
    if result.verdict in {Verdict.AC, Verdict.PA}:
        return True
    expected = Expectation.parse(stated).verdicts if stated else frozenset()
    return {Verdict.AC, result.verdict} <= expected
