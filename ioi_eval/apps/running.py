"""Runs one program on tests, as many a job as make sense, and repeats what is in doubt.

What comes out is what happened, never what it is worth: `verdicts.py` says that.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ioi_eval.errors import TransientError, TransportError
from ioi_eval.jobs.bundled import BUNDLE_TESTS
from ioi_eval.jobs.harness import Interpreter
from ioi_eval.jobs.python_run import GivenTest, Judgement, RunLimits, most_tests, run_job
from ioi_eval.jobs.returned import Returned, ReturnedAnswer, returned_answer
from ioi_eval.model import Content, Isolation, Verdict
from ioi_eval.programs import ATTEMPTS
from ioi_eval.sandbox import Sandbox, Target

_GROWTH = 4
"""Where only our side can say that a program has failed, the first job has one test, and each further one four times as
many as the one before: a program that fails at once costs little, one that never does few jobs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program, and how it is run and judged: what is the same for all of its tests.

    Args:
        task: as the harness reads it.
        runner, interpreter: of the target.
        grader: whose way of running programs is used; `None` for the plain interpreter's.
        judgement: who judges.
        limits: of each test.
        isolation: the weakest that is accepted.
        stop: run nothing after the first failure.
        warm: fork each test from one interpreter.
        preload: what that loads for all of them.
    """

    task: bytes
    runner: Content
    interpreter: Interpreter
    grader: str | None
    judgement: Judgement
    limits: RunLimits
    isolation: Isolation
    stop: bool
    warm: bool
    preload: str

    @property
    def most_tests_first(self) -> int:
        """How many tests the first job has."""
        return 1 if self.stop and self.judgement.by_reader else BUNDLE_TESTS


class TestRuns:
    """Runs a program on one target.

    Args:
        sandbox: executes the jobs.
        target: where.
        program: what.
    """

    __test__ = False

    def __init__(self, sandbox: Sandbox, target: Target, program: Program) -> None:
        self._sandbox = sandbox
        self._target = target
        self._program = program
        self._size = program.most_tests_first
        self._most = min(BUNDLE_TESTS, most_tests(program.limits, target.max_output_bytes))
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
        bundle = pending[: min(self._size, self._most)]
        self._size *= _GROWTH
        answer = await self._execute([test for _, test in bundle])
        came = {}
        for number, (place, test) in enumerate(bundle):
            if number not in answer:
                break
            came[place] = await self._settled(answer[number], test)
        return came

    async def _settled(self, came: Returned, test: GivenTest) -> Returned:
        """What came of a test, after a repetition of what is in doubt."""
        if came.judged and came.outcome.verdict is Verdict.JE:
            return (await self._execute([test]))[0]
        if not _is_near_limit(came):
            return came
        again = (await self._execute([test], alone=True))[0]
        return _in_time(came, again)

    async def _execute(self, tests: Sequence[GivenTest], *, alone: bool = False) -> Mapping[int, Returned]:
        """What came of the tests, by their number; a lost answer is asked for again."""
        program = self._program
        names = {number: test.name for number, test in enumerate(tests)}
        for attempt in range(ATTEMPTS):
            nonce = secrets.token_hex(16)
            job = run_job(
                program.task,
                tests,
                runner=program.runner,
                interpreter=program.interpreter,
                grader=program.grader,
                judgement=program.judgement,
                limits=program.limits,
                least=program.isolation,
                stop=program.stop,
                warm=program.warm,
                preload=program.preload,
                nonce=nonce,
                alone=alone,
            )
            try:
                execution = await self._sandbox.execute(job, self._target)
                answer = returned_answer(execution.run, nonce, names=names, time_limit_s=program.limits.cpu_s)
                if 0 not in answer.tests:
                    raise TransportError("the runner ran none of the tests that it was asked to run")
            except TransientError:
                if attempt == ATTEMPTS - 1:
                    raise
            else:
                self._note(answer)
                return answer.tests
        raise AssertionError("unreachable")

    def _note(self, answer: ReturnedAnswer) -> None:
        if self.weakest is None or answer.isolation.rank < self.weakest.rank:
            self.weakest = answer.isolation


def _is_near_limit(came: Returned) -> bool:
    """Whether its time is measured once more: a TLE that would be worth something in time."""
    return came.judged and came.outcome.may_be_in_time


def _in_time(first: Returned, again: Returned) -> Returned:
    """The repetition, which decides about time only: a program does not get to guess twice."""
    if first.outcome.limit == "idle" or (again.judged and again.outcome.verdict in (Verdict.TLE, Verdict.JE)):
        return again
    if first.outcome.in_time_score is not None:
        worse = (again.outcome.score or 0.0) > first.outcome.in_time_score
        words = "an earlier run of the same test gave a worse output"
        outcome = replace(again.outcome, score=first.outcome.in_time_score, verdict=Verdict.PA, message=words)
        return replace(again, outcome=outcome) if worse else again
    return replace(again, output=first.output, output_bytes=first.output_bytes, report=first.report)
