"""Runs one program on the tests of a row, and records the valid outcome of each, and whether it passes.

Outcomes say what happened; `verdicts.py` makes results from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ioi_eval.engine.judging import Judging
from ioi_eval.engine.scheduling import Program, ProgramScheduler
from ioi_eval.jobs import rules
from ioi_eval.jobs.run_job import JobTest, RunSetup
from ioi_eval.model import Isolation, ScoreType, Subtask, TestOutcome, Verdict
from ioi_eval.sandbox import Target


class ProgramRun:
    """The runs of a program: the valid outcomes of the tests that were run (`outcomes`, `passed`), by their places.

    Args:
        problem: the row's id.
        content: the program as the harness reads it.
        setup: how it is run.
        given: its tests, in order.
        is_right: whether the outcome of the test at a place passes; called if the runner does not decide it. Also
            called for late runs: a late run that is wrong is not repeated.
        near_limit_repeats: how many runs alone on the machine may measure the time of a late test.
        one_by_one: see `Program`.
    """

    __test__ = False

    def __init__(
        self,
        problem: str,
        content: bytes,
        setup: RunSetup,
        given: Sequence[JobTest],
        *,
        is_right: Callable[[int, TestOutcome], bool],
        near_limit_repeats: int = 1,
        one_by_one: bool = False,
    ) -> None:
        names = tuple(map(str, range(len(given))))
        tests = dict(zip(names, given, strict=True))
        self._program = Program(problem=problem, content=content, tests=tests, setup=setup, one_by_one=one_by_one)
        self._is_right = is_right
        # one subtask: each test counts, or the first zero ends it
        subtask = Subtask(name="", points=1.0, tests=names)
        score_type = ScoreType.GROUP_MIN if setup.needed_only else ScoreType.SUM
        self._judging = Judging([subtask], score_type, near_limit_repeats=near_limit_repeats)
        self.outcomes: dict[int, TestOutcome] = {}
        self.passed: dict[int, bool] = {}
        self.weakest: Isolation | None = None

    async def run(
        self, scheduler: ProgramScheduler, target: Target, *, wanted: Callable[[], bool] = lambda: True
    ) -> None:
        """Run the tests that matter, and repeat doubtful ones.

        Args:
            scheduler: runs them.
            target: where they run.
            wanted: whether to run another test for the first time.

        Raises:
            UnavailableError: no endpoint is left to run on.
        """
        self.weakest = await scheduler.run(self._program, self._judging, target, self._record, wanted=wanted)

    def _record(self, outcome: TestOutcome) -> None:
        index = int(outcome.test)
        if (settled := self._judging.record(self._assessed(index, outcome))) is not None:
            self.outcomes[index] = replace(outcome, reran=settled.reran, final=settled.final)
            self.passed[index] = settled.score == 1.0

    def _assessed(self, index: int, outcome: TestOutcome) -> TestOutcome:
        """The outcome for `Judging`. A test passes with the full score only; any other score is a zero."""
        if outcome.verdict is Verdict.TLE:
            if outcome.in_time_score is None and self._ended(outcome) and self._program.setup.judged_by_client:
                return replace(outcome, in_time_score=float(self._is_right(index, outcome)))
            return replace(outcome, in_time_score=_whole(outcome.in_time_score))
        if not outcome.returned.judged:
            outcome = replace(outcome, failed_program=None, score=float(self._is_right(index, outcome)))
        if outcome.score is None:
            return outcome
        passes = outcome.score == 1.0
        return replace(outcome, score=float(passes), verdict=_verdict(outcome.verdict, passes=passes))

    def _ended(self, outcome: TestOutcome) -> bool:
        """Whether a late program ended by itself, and was not stopped because it slept or was much too late."""
        stopped_ms = rules.cpu_stop_ms(self._program.setup.time_limit_s)
        return outcome.limit != "idle" and (outcome.cpu_ms or 0.0) < stopped_ms


def _whole(score: float | None) -> float | None:
    return None if score is None else float(score == 1.0)


def _verdict(verdict: Verdict, *, passes: bool) -> Verdict:
    """The verdict: AC or WA if the test was not judged yet (JE) or has a part of the score (PA), else unchanged."""
    if verdict in (Verdict.JE, Verdict.PA):
        return Verdict.AC if passes else Verdict.WA
    return verdict
