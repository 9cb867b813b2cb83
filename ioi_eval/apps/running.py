"""Runs one program on tests, as many a job as make sense, and repeats what is in doubt.

What comes out is what happened, never what it is worth: `verdicts.py` says that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ioi_eval.apps.bundles import Bundles
from ioi_eval.jobs.bundled import BUNDLE_TESTS, Room, size
from ioi_eval.jobs.python_run import GivenProgram, GivenTest, RunSetup, usual_wall_ms
from ioi_eval.jobs.returned import Returned, ReturnedAnswer
from ioi_eval.model import Isolation, Verdict
from ioi_eval.programs import repeated

_GROWTH = 4
"""Where only our side can say that a program has failed, the first job has one test, and each further one four times as
many as the one before: a program that fails at once costs little, one that never does few jobs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program, and how it is run and judged: what is the same for all of its tests.

    Args:
        task: as the harness reads it.
        stop: run nothing after the first failure.
        setup: what it has in common with other programs.
        room: how much one job holds.
    """

    task: bytes
    stop: bool
    setup: RunSetup
    room: Room

    @property
    def most_tests_first(self) -> int:
        """How many tests the first job has."""
        return 1 if self.stop and self.setup.judgement.by_reader else BUNDLE_TESTS


class TestRuns:
    """Runs a program.

    Args:
        bundles: runs it, maybe beside others.
        program: what.
    """

    __test__ = False

    def __init__(self, bundles: Bundles, program: Program) -> None:
        self._bundles = bundles
        self._program = program
        self._size = program.most_tests_first
        self.weakest: Isolation | None = None

    async def next(self, pending: Sequence[tuple[int, GivenTest]]) -> Mapping[int, Returned]:
        """Run the first of the tests that are pending, as many as make a job.

        Args:
            pending: tests by their place.

        Returns:
            By place: a run of consecutive ones from the first on, shorter than the job where the program failed and is
            to stop there.

        Raises:
            SandboxError: the job could not be run.
        """
        bundle = pending[: self._fitting(pending)]
        self._size *= _GROWTH
        answer = await self._execute([test for _, test in bundle])
        came = {}
        for number, (place, test) in enumerate(bundle):
            if number not in answer:
                break
            came[place] = await self._settled(answer[number], test)
        return came

    def _fitting(self, pending: Sequence[tuple[int, GivenTest]]) -> int:
        """How many of the first tests make a job; one that is too large by itself the sandbox will tell of."""
        room, setup = self._program.room, self._program.setup
        most = min(self._size, BUNDLE_TESTS, room.tests)
        if room.wall_ms is not None:
            most = min(most, room.wall_ms // usual_wall_ms(setup.limits))
        if room.test_bytes is not None:
            left = room.test_bytes - len(self._program.task)
            for number, (_, test) in enumerate(pending[:most]):
                left -= size(test.stdin) + (0 if test.answer is None else size(test.answer))
                if left < 0:
                    most = number
                    break
        return max(1, most)

    async def _settled(self, came: Returned, test: GivenTest) -> Returned:
        """What came of a test, after a repetition of what is in doubt: in which order, and how often, as `judging.py`.

        A judge that failed while the program was alone has measured nothing: the program gets to be alone once more.
        """
        late: list[Returned] = []
        was_alone = was_clean = False
        while True:
            if _is_near_limit(came) and not was_alone:
                late.append(came)
                again = (await self._execute([test], alone=True, ready_bytes=came.outcome.memory_bytes or 0))[0]
                was_alone = not _judge_failed(again)
            elif _judge_failed(came) and not was_clean:
                again = _repeated(came, (await self._execute([test], apart=True))[0])
                was_clean = True
            else:
                return came
            for first in reversed(late):
                again = _in_time(first, again)
            came = again

    async def _execute(
        self, tests: Sequence[GivenTest], *, apart: bool = False, alone: bool = False, ready_bytes: int = 0
    ) -> Mapping[int, Returned]:
        """What came of the tests, by their number. For one that runs alone memory is made ready.

        A lost answer is asked for again, then in a job of its own: one that shared the first may have broken it.
        """
        program = GivenProgram(task=self._program.task, tests=tests, stop=self._program.stop)
        setup = self._program.setup
        setup = replace(setup, limits=replace(setup.limits, ready_bytes=ready_bytes))
        together = not apart and not alone

        async def ask() -> ReturnedAnswer:
            nonlocal together
            if not together:
                return await self._bundles.run_apart(program, setup, alone=alone)
            together = False
            return await self._bundles.run(program, setup)

        answer = await repeated(ask)
        self._note(answer)
        return answer.tests

    def _note(self, answer: ReturnedAnswer) -> None:
        if self.weakest is None or answer.isolation.rank < self.weakest.rank:
            self.weakest = answer.isolation


def _is_near_limit(came: Returned) -> bool:
    """Whether its time is measured once more: a TLE that would be worth something in time."""
    return came.judged and came.outcome.may_be_in_time


def _judge_failed(came: Returned) -> bool:
    """Whether the checker, or the runner, failed on it."""
    return came.judged and came.outcome.verdict is Verdict.JE


def _repeated(first: Returned, again: Returned) -> Returned:
    """The repetition in a clean box, which decides. A checker that fails twice would fail for ever: that is final."""
    final = _judge_failed(again) and again.outcome.judge_program == first.outcome.judge_program == "checker"
    return replace(again, outcome=replace(again.outcome, final=final))


def _in_time(first: Returned, again: Returned) -> Returned:
    """The repetition, which decides about time only: a program does not get to guess twice."""
    if first.outcome.limit == "idle" or _judge_failed(again) or (again.judged and again.outcome.verdict is Verdict.TLE):
        return again
    if first.outcome.in_time_score is not None:
        worse = (again.outcome.score or 0.0) > first.outcome.in_time_score
        words = "an earlier run of the same test gave a worse output"
        outcome = replace(again.outcome, score=first.outcome.in_time_score, verdict=Verdict.PA, message=words)
        return replace(again, outcome=outcome) if worse else again
    return replace(again, output=first.output, output_bytes=first.output_bytes, report=first.report)
