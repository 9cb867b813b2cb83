"""A time limit for a package that states none, derived from its accepted solutions as by Kattis.

It is the longest time of such a solution on any test, times the package's multiplier, rounded up to its resolution. The
solutions are judged in the embedded sandbox and timed like submissions. Unsupported languages do not count.

Source: Kattis problem package format, "Problem timing" (2025-09), `time_multiplier` (legacy); problemtools.
"""

from __future__ import annotations

import asyncio
import math
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.errors import InputError
from ioi_eval.importers.rows_out import write_rows
from ioi_eval.importers.task import ImportedTask
from ioi_eval.languages import language_called
from ioi_eval.model import Problem, Submission, SubmissionResult, Verdict
from ioi_eval.problems.ioi import load_problems
from ioi_eval.problems.submissions import submission_from_row
from ioi_eval.rows import open_source
from ioi_eval.sandbox.local import LocalSandbox
from ioi_eval.scorer import Scorer


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slowest:
    """The longest time of a solution on a test."""

    seconds: float
    solution: str
    test: str


def with_measured_limit(task: ImportedTask) -> ImportedTask:
    """The task with a derived time limit if it states none; else the task itself.

    Args:
        task: its `timing` says how to derive the limit.

    Raises:
        InputError: it has no accepted solution that can be judged, or one of them is not accepted here.
        SetupError: nothing can be judged here.
    """
    timing = task.timing
    if timing is None:
        return task
    with tempfile.TemporaryDirectory() as directory:
        written = write_rows([task], Path(directory) / "rows")
        found = load_problems(
            open_source(written.problems), open_source(written.tests), BlobStore(Path(directory) / "tests")
        )
        problem = found.problems.get(task.key)
        if problem is None:
            raise InputError(f"{task.key}: {found.unusable.get(task.key, 'it cannot be read back')}")
        counted = [
            submission_from_row(row, max_code_bytes=None)
            for row in task.solution_rows
            if row["label"] in timing.accepted | timing.in_time and language_called(row["language"] or "") is not None
        ]
        rejected = {f"{task.key}/{label}" for label in timing.in_time - timing.accepted}
        if not counted:
            raise InputError(
                f"{task.key} has no accepted submission in a language that is judged, from which a time limit could be"
                " derived; give one with --time-limit"
            )
        slowest, here = asyncio.run(_slowest(problem, counted, rejected))
    steps = max(1, math.ceil(slowest.seconds * timing.multiplier / timing.resolution_s - 1e-9))
    limit = steps * timing.resolution_s
    note = (
        f"the time limit is {limit:g} s: {timing.multiplier:g} times the slowest of {here} submissions"
        f" ({slowest.solution}, {slowest.seconds:.3g} s on {slowest.test}), rounded up to {timing.resolution_s:g} s"
    )
    if here < len(counted):
        note += f"; {len(counted) - here} more are in a language that this machine has no compiler for"
    rows = tuple({**row, "time_limit": limit} for row in task.problem_rows)
    return replace(task, problem_rows=rows, notes=(*task.notes, note), timing=None)


async def _slowest(problem: Problem, counted: Sequence[Submission], rejected: Collection[str]) -> tuple[_Slowest, int]:
    """The longest time, and the number of solutions that could be judged here."""
    here = 0
    async with LocalSandbox() as sandbox:
        scorer = Scorer(sandbox, artifacts=ArtifactStore())
        found = _Slowest(seconds=0.0, solution=counted[0].id, test="")
        for submission in counted:
            result = await scorer.score(problem, submission, exhaustive=True)
            if result.compile.unfit:
                continue
            here += 1
            _require_accepted(problem, submission, result, rejected=submission.id in rejected)
            for subtask in result.subtasks:
                for test in subtask.tests:
                    seconds = (test.cpu_ms or 0.0) / 1000
                    if seconds >= found.seconds:
                        found = _Slowest(seconds=seconds, solution=submission.id, test=test.test)
    if not here:
        raise InputError(
            f"{problem.key} has no accepted submission in a language that this machine has a compiler for, from which a"
            " time limit could be derived; install one, or give a limit with --time-limit"
        )
    return found, here


def _require_accepted(problem: Problem, submission: Submission, result: SubmissionResult, *, rejected: bool) -> None:
    """Refuse to use a solution whose result is not as expected: accepted or, if `rejected`, failed but not late."""
    fine = {Verdict.AC, Verdict.PA} if not rejected else set(Verdict) - {Verdict.TLE, Verdict.JE, Verdict.CE}
    wrong = next((one for one in result.subtasks if one.points > 0 and one.verdict not in fine), None)
    if wrong is None:
        return
    wanted = "rejected in time" if rejected else "accepted"
    raise InputError(
        f"{submission.id} should be {wanted}, but is {wrong.verdict} within {problem.time_limit_s:g} s in subtask"
        f" {wrong.subtask}; a time limit cannot be derived from it: give one with --time-limit"
    )
