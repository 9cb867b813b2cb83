"""Whether the pipeline gives official solutions what their authors state.

Solutions are judged exhaustively, so that every subtask has been seen whole, and each statement is compared with
what was seen. What we failed to judge neither agrees nor disagrees: it is listed apart, and is no success either.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from ioi_eval.errors import UnavailableError
from ioi_eval.model import CompileOutcome, SubmissionResult, Verdict
from ioi_eval.pipeline import Judge
from ioi_eval.report.rows import Judged, result_row
from ioi_eval.scores import submission_result
from ioi_eval.validate.comparison import Disagreement, Evidence, NearLimit, Validation
from ioi_eval.validate.statements import Reading, Solution, read_solutions

__all__ = [
    "Disagreement",
    "Evidence",
    "NearLimit",
    "Reading",
    "Solution",
    "Validation",
    "read_solutions",
    "result_rows",
    "validate",
]


async def validate(
    reading: Reading, judge: Judge, *, workers: int, advance: Callable[[str], None] = lambda _: None
) -> Validation:
    """Judge solutions on every test and compare.

    When no endpoint is left, what was judged is compared nevertheless, and the rest is JE.

    Args:
        reading: the solutions, in the order in which they are reported.
        judge: judges one.
        workers: how many are judged at once.
        advance: is told each one's verdict.

    Raises:
        ExceptionGroup: of `SetupError` where nothing can be judged here.
    """
    results: list[SubmissionResult | None] = [None] * len(reading.solutions)
    waiting = iter(enumerate(reading.solutions))

    ended: list[str] = []

    async def judged_or_not(solution: Solution) -> SubmissionResult:
        if not ended:
            try:
                return await judge.score(solution.problem, solution.submission, exhaustive=True)
            except UnavailableError as error:
                ended.append(str(error))
        failure = CompileOutcome(verdict=Verdict.JE, message=ended[0])
        return submission_result(solution.problem, solution.submission, failure, {})

    async def work() -> None:
        for place, solution in waiting:
            result = results[place] = await judged_or_not(solution)
            advance(result.verdict)

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(work())
    validation = Validation.of(reading)
    for solution, result in zip(reading.solutions, results, strict=True):
        assert result is not None
        validation.add(solution, result)
        judged = Judged(
            problem=solution.problem,
            submission=solution.submission,
            fingerprint=result.fingerprint or judge.fingerprints(solution.problem, solution.submission)[0],
            result=result,
        )
        validation.judged.append((solution, judged))
    return validation


def result_rows(validation: Validation) -> Iterator[dict[str, Any]]:
    """The results as `score` writes them, with every test's: for a closer look, or another `validate --against`."""
    for solution, judged in validation.judged:
        key = solution.problem.key
        named = {"uuid": solution.submission.id, "year": key.year, "problem_id": key.id, "label": solution.name}
        yield result_row(named, judged, target_subtask=None)
