"""Runs one program on tests, as many a job as make sense, and repeats what is in doubt: `judging.py` says what.

What comes out is what happened, never what it is worth: `verdicts.py` says that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ioi_eval.engine.judging import Judging
from ioi_eval.engine.sharing import Bundles
from ioi_eval.jobs.bundled import BUNDLE_TESTS, Room, size
from ioi_eval.jobs.python_run import GivenProgram, GivenTest, RunSetup, usual_wall_ms
from ioi_eval.jobs.returned import Returned, ReturnedAnswer
from ioi_eval.model import Isolation, ScoreType, Subtask, TestOutcome, Verdict
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
        alone_runs: how many runs alone on the machine may measure the time of a late test.
        setup: what it has in common with other programs.
        room: how much one job holds.
    """

    task: bytes
    stop: bool
    setup: RunSetup
    room: Room
    alone_runs: int = 1

    @property
    def most_tests_first(self) -> int:
        """How many tests the first job has."""
        return 1 if self.stop and self.setup.judgement.by_reader else BUNDLE_TESTS


_RUN_OUT, _RUN_OUT_MS = 1.25, 100.0
"""A program is stopped at so many times its limit and so many ms. Source: PROTOCOL.md, "Time"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A program's tests as judging sees them: one subtask, in which each counts, or the first zero ends it."""

    subtasks: tuple[Subtask, ...]
    score_type: ScoreType


class TestRuns:
    """Runs a program, one job after the other.

    Args:
        bundles: runs it, maybe beside others.
        program: what.
        given: its tests, in order.
        is_right: whether what came of a test, by its place, passes; asked where the runner leaves that to us. A program
            that was late is asked about as well: a late run that is wrong is not repeated.
    """

    __test__ = False

    def __init__(
        self,
        bundles: Bundles,
        program: Program,
        given: Sequence[GivenTest],
        *,
        is_right: Callable[[int, Returned], bool],
    ) -> None:
        self._bundles = bundles
        self._program = program
        self._given = given
        self._is_right = is_right
        self._size = program.most_tests_first
        self._returned: dict[int, Returned] = {}
        row = _Row(
            subtasks=(Subtask(name="", points=1.0, tests=tuple(str(place) for place in range(len(given)))),),
            score_type=ScoreType.GROUP_MIN if program.stop else ScoreType.SUM,
        )
        self._judging = Judging(row, alone_runs=program.alone_runs)
        self.passed: dict[int, bool] = {}
        self.weakest: Isolation | None = None

    @property
    def returned(self) -> Mapping[int, Returned]:
        """What stands of the tests that were run, by their places."""
        return self._returned

    @property
    def unsettled(self) -> frozenset[int]:
        """The places of the tests that are still to be run, for the first time or once more."""
        judging = self._judging
        open_ = (*judging.pending(), *judging.judge_fault_reruns(), *judging.near_limit_reruns())
        return frozenset(int(planned.test) for planned in open_)

    async def run_next(self) -> bool:
        """Run the next tests, as many as make a job.

        Returns:
            Whether there were any.

        Raises:
            SandboxError: the job could not be run.
        """
        pending = [int(planned.test) for planned in self._judging.pending()]
        bundle = pending[: self._fitting(pending)]
        self._size *= _GROWTH
        if bundle:
            await self._run(bundle)
        return bool(bundle)

    async def repeat_next(self) -> bool:
        """Repeat what is in doubt: one test in a clean box, or late ones with the machine to themselves.

        Returns:
            Whether there were any.

        Raises:
            SandboxError: the job could not be run.
        """
        faults = [int(planned.test) for planned in self._judging.judge_fault_reruns()]
        if faults:
            await self._run(faults[:1], apart=True)
            return True
        late = [int(planned.test) for planned in self._judging.near_limit_reruns()]
        bundle = late[: self._fitting(late)]
        if bundle:
            ready_bytes = max(self._returned[place].outcome.memory_bytes or 0 for place in bundle)
            await self._run(bundle, alone=True, ready_bytes=ready_bytes)
        return bool(bundle)

    def _fitting(self, places: Sequence[int]) -> int:
        """How many of the first tests make a job; one that is too large by itself the sandbox will tell of."""
        room, setup = self._program.room, self._program.setup
        most = min(self._size, BUNDLE_TESTS, room.tests)
        if room.wall_ms is not None:
            most = min(most, room.wall_ms // usual_wall_ms(setup.limits))
        if room.test_bytes is not None:
            left = room.test_bytes - len(self._program.task)
            for number, place in enumerate(places[:most]):
                test = self._given[place]
                left -= size(test.stdin) + (0 if test.answer is None else size(test.answer))
                if left < 0:
                    most = number
                    break
        return max(1, most)

    async def _run(
        self, places: Sequence[int], *, apart: bool = False, alone: bool = False, ready_bytes: int = 0
    ) -> None:
        """Run tests and take in what came of them. For those that run alone memory is made ready.

        A lost answer is asked for again, then in a job of its own: one that shared the first may have broken it.
        """
        tests = [self._given[place] for place in places]
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
        if self.weakest is None or answer.isolation.rank < self.weakest.rank:
            self.weakest = answer.isolation
        for number, returned in answer.tests.items():
            self._record(places[number], returned)

    def _record(self, place: int, returned: Returned) -> None:
        outcome = self._assessed(place, returned)
        if (standing := self._judging.record(outcome)) is not None:
            marked = replace(returned.outcome, reran=standing.reran, final=standing.final)
            self._returned[place] = replace(returned, outcome=marked)
            self.passed[place] = standing.score == 1.0

    def _assessed(self, place: int, returned: Returned) -> TestOutcome:
        """The outcome as judging sees it. Only full marks pass; whatever is less is a zero."""
        outcome = replace(returned.outcome, test=str(place))
        if outcome.verdict is Verdict.TLE:
            if outcome.in_time_score is None and self._ended(outcome) and self._program.setup.judgement.by_reader:
                return replace(outcome, in_time_score=float(self._is_right(place, returned)))
            return replace(outcome, in_time_score=_whole(outcome.in_time_score))
        if not returned.judged:
            outcome = replace(outcome, judge_program=None, score=float(self._is_right(place, returned)))
        if outcome.score is None:
            return outcome
        passes = outcome.score == 1.0
        return replace(outcome, score=float(passes), verdict=_verdict(outcome.verdict, passes=passes))

    def _ended(self, outcome: TestOutcome) -> bool:
        """Whether a late program ended by itself: nobody stopped it, for sleeping or as it was much too late."""
        stopped_ms = _RUN_OUT * self._program.setup.limits.cpu_s * 1000 + _RUN_OUT_MS
        return outcome.limit != "idle" and (outcome.cpu_ms or 0.0) < stopped_ms


def _whole(score: float | None) -> float | None:
    return None if score is None else float(score == 1.0)


def _verdict(verdict: Verdict, *, passes: bool) -> Verdict:
    """That of a test which nobody has judged yet, or which is worth a part."""
    if verdict in (Verdict.JE, Verdict.PA):
        return Verdict.AC if passes else Verdict.WA
    return verdict
