"""Whether the pipeline gives official solutions what their authors state.

Solutions are judged exhaustively, so that every subtask has been seen whole, and each statement is compared with
what was seen. What we failed to judge neither agrees nor disagrees: it is listed apart, and is no success either.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ioi_eval.model import SubmissionResult
from ioi_eval.pipeline import Judge
from ioi_eval.validate.comparison import Disagreement, Evidence, NearLimit, Validation
from ioi_eval.validate.statements import Reading, Solution, read_solutions

__all__ = ["Disagreement", "Evidence", "NearLimit", "Reading", "Solution", "Validation", "read_solutions", "validate"]


async def validate(
    reading: Reading, judge: Judge, *, workers: int, advance: Callable[[str], None] = lambda _: None
) -> Validation:
    """Judge solutions on every test and compare.

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

    async def work() -> None:
        for place, solution in waiting:
            result = await judge.score(solution.problem, solution.submission, exhaustive=True)
            results[place] = result
            advance(result.verdict)

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(work())
    validation = Validation.of(reading)
    for solution, result in zip(reading.solutions, results, strict=True):
        assert result is not None
        validation.add(solution, result)
    return validation
