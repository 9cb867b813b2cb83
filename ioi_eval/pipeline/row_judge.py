"""Judges one submission of a dump; a failure of ours becomes a result that has no score.

`StopRule` decides when a run ends because the sandbox, or our own code, fails every time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

from ioi_eval.errors import ODD_DATA, LostDataError, SandboxError, UnavailableError, internal_error_text
from ioi_eval.pipeline.family import ProblemFamily, ResultFacts, ResultT
from ioi_eval.pipeline.threads import in_thread
from ioi_eval.pipeline.window import CandidateT, Costs

MAX_FAILURES = 100
"""If the sandbox fails on so many submissions in a row, it is broken."""

MAX_FAILED_PROBLEMS = 50
"""If our own code fails on rows of so many problems in a row, the cause is not in the rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Generic[ResultT]):
    """A submission that was judged.

    Args:
        result: its result, or our failure.
        facts: about the result.
        seconds: how long judging it took.
        is_our_bug: whether a bug of ours prevented judging it.
        unavailable: why no other submission can be judged either; `None` if it can.
    """

    result: ResultT
    facts: ResultFacts
    seconds: float
    is_our_bug: bool = False
    unavailable: str | None = None


class RowJudge(Generic[CandidateT, ResultT]):
    """Judges the submissions of a dump.

    Args:
        family: the dump, and how it is judged.
        costs: gets the CPU time of each submission.
        restore: recreates test data that was deleted from the cache; called in a thread.
    """

    def __init__(
        self, family: ProblemFamily[CandidateT, ResultT], costs: Costs, restore: Callable[[], None] | None
    ) -> None:
        self._family, self._costs, self._restore = family, costs, restore
        self._restoring = asyncio.Lock()
        self._restored = 0

    async def judge(self, candidate: CandidateT) -> Judged[ResultT]:
        """Judge a submission."""
        begun = time.monotonic()
        is_our_bug, unavailable = False, None
        try:
            result = await self._judge_with_data(candidate)
        except SandboxError as error:
            result = self._family.our_failure(candidate, str(error))
            unavailable = str(error) if isinstance(error, UnavailableError) else None
        except ODD_DATA as error:
            result = self._family.our_failure(candidate, internal_error_text(error, "judging this row"))
            is_our_bug = True
        facts = self._family.facts(result)
        if facts.kind is not None:
            self._costs.observe(candidate.problem_key, facts.cpu.total)
        seconds = time.monotonic() - begun
        return Judged(result=result, facts=facts, seconds=seconds, is_our_bug=is_our_bug, unavailable=unavailable)

    async def _judge_with_data(self, candidate: CandidateT) -> ResultT:
        """Judge a submission; once more if the cache was deleted meanwhile.

        Raises:
            LostDataError: the cache was deleted again, or cannot be made again.
            SandboxError: any other failure of ours.
        """
        before = self._restored
        try:
            return await self._family.judge(candidate)
        except LostDataError:
            async with self._restoring:
                if self._restored == before:  # else another task has restored it meanwhile
                    if self._restore is not None:
                        await in_thread(self._restore)
                    self._restored += 1
        return await self._family.judge(candidate)


class StopRule:
    """Counts the failures since the last result that shows that submissions can be judged."""

    def __init__(self) -> None:
        self._failures = 0
        self._failed_problems: set[object] = set()

    def observe(self, facts: ResultFacts, *, bug_in_problem: object | None, was_in_sandbox: bool) -> str | None:
        """Include a result.

        Args:
            facts: about the result.
            bug_in_problem: the problem, if our own code failed on the row.
            was_in_sandbox: whether there was a program to run; otherwise the result does not show that anything works.

        Returns:
            Why the run must end; `None` if it goes on.
        """
        if bug_in_problem is not None:
            self._failed_problems.add(bug_in_problem)
        elif facts.is_sandbox_failure:
            self._failures += 1
        elif facts.kind is not None and was_in_sandbox:
            self._failures = 0
            self._failed_problems.clear()
        if len(self._failed_problems) >= MAX_FAILED_PROBLEMS:
            return f"rows of {MAX_FAILED_PROBLEMS} problems in a row could not be judged: ioi-eval failed"
        return f"{MAX_FAILURES} submissions in a row could not be judged" if self._failures >= MAX_FAILURES else None
