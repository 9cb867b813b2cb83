"""Makes run jobs, which programs of several submissions may share, has a sandbox execute them, and reads their answers.

`scheduling.py` says what is done if there is no usable answer.

A box, a runner and a warm interpreter take 30 ms or more to start; a trivial test takes 3. While all slots are busy,
programs that may share a job wait in a queue. A slot that becomes free takes the first of them, and those behind it
that are run and judged in the same way. They share nothing else: each test is a process of its own, forked from an
interpreter that has read no program, and leaves nothing behind.

The task of the first of these programs runs the job, and gives the others their parts of the answer. If it is
cancelled, the others go back to the queue. The sandbox sends a shared job that got no answer up to `_SHARED_ATTEMPTS`
times. If it still failed, or its answer cannot be used, each program is run by itself, because one of them may be the
cause.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias
from weakref import WeakKeyDictionary

from ioi_eval.engine.packing import BUNDLE_S, Durations
from ioi_eval.errors import GarbledError, IoiEvalError, SandboxError, UnavailableError
from ioi_eval.jobs.plan import usual_wall_ms
from ioi_eval.jobs.run_job import BUNDLE_TESTS, PlannedProgram, bounds_of, run_job
from ioi_eval.jobs.runner_answer import RunAnswer, run_answer
from ioi_eval.model import Retries
from ioi_eval.sandbox import Sandbox, Target

MAX_TESTS = 2 * BUNDLE_TESTS
"""The most tests of a shared job. It has two open files for each test and one for each program: fewer than 1,024, the
usual limit of descriptors."""

_SHARED_ATTEMPTS = 3
"""Attempts of a shared job. Without a usable answer each program is run by itself, because one of them may have caused
the failure; the attempts that were made are subtracted from its own."""

_MAX_BYTES = 64 * 1024 * 1024

_ENOUGH_S = BUNDLE_S  # after this wall clock a job begins no other test

Answer: TypeAlias = RunAnswer | SandboxError
"""The outcomes of a program's tests, by their number in the program; or why an answer that arrived cannot be used."""


@dataclass(slots=True, eq=False)
class _Waiting:
    """A program in the queue, until its turn has come (a future of its event loop).

    Args:
        job: the programs of the job that its task runs then, itself first; empty if another program's task has run it.
        answer: that job's answer for this program; `None` if the job failed, so that this program must run by itself.
    """

    planned: PlannedProgram
    target: Target
    retries: Retries
    turn: asyncio.Future[None]
    job: Sequence[_Waiting] = ()
    answer: Answer | None = None


@dataclass(slots=True)
class _Queue:
    """The programs that wait for a target in one event loop, and how many jobs run."""

    target: Target
    waiting: deque[_Waiting] = field(default_factory=deque)
    running: int = 0


class Engine:
    """Runs jobs on one sandbox, several programs in one where that saves time, and records how long their tests took.

    Safe to use from many tasks at once; threads may share it, each with its own event loop.

    Args:
        jobs_at_once: how many jobs of one program may run at once on a target now.
        max_tests: in one job.
        max_shared_jobs: how many shared jobs of one event loop run at once, on all targets; `None` for as many as these
            have slots.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        jobs_at_once: Callable[[Target], int],
        max_tests: int = BUNDLE_TESTS,
        max_shared_jobs: int | None = None,
    ) -> None:
        self._sandbox, self.durations = sandbox, Durations(max_tests)
        self.jobs_at_once, self.max_tests = jobs_at_once, max_tests
        self._max_shared_tests = min(MAX_TESTS, 2 * max_tests) if max_tests > 1 else 1
        self._max_jobs = max_shared_jobs
        self._queues: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _Queue]] = WeakKeyDictionary()

    async def run(
        self,
        programs: Sequence[PlannedProgram],
        target: Target,
        retries: Retries,
        *,
        alone: bool = False,
        prefault_bytes: int = 0,
    ) -> list[Answer]:
        """Run programs in one job; returns the answer for each.

        Args:
            programs: at least one; several only if they may share a job.
            retries: how often the job may be sent again.
            alone: run nothing else of ours on that machine.
            prefault_bytes: how much memory the runner uses and frees before the first test, so that no test waits until
                a virtual machine gets it from its host.

        Raises:
            SandboxError: no answer arrived.
            SetupError: the runner cannot work there.
        """
        program, nonce = programs[0].program, secrets.token_hex(16)
        enough_s = None if alone else _ENOUGH_S
        job = run_job(programs, target, nonce=nonce, alone=alone, prefault_bytes=prefault_bytes, enough_s=enough_s)
        execution = await self._sandbox.execute(replace(job, retries=retries), target)
        total, setup = sum(len(planned.tests) for planned in programs), program.setup
        try:
            answer = run_answer(
                execution.run,
                nonce,
                execution.returned,
                tests=total,
                time_limit_s=setup.time_limit_s,
                least=setup.least,
            )
            may_have_none = program.is_uncompiled and answer.compiled is not None
            # the first test of a job is needed, so it must have run
            if not may_have_none and answer.tests.keys().isdisjoint(range(len(programs[0].tests))):
                raise GarbledError("the runner ran none of the tests that it was asked to run")
        except SandboxError as error:
            return [error] * len(programs)
        parts: list[Answer] = []
        begin = 0
        for planned in programs:
            count = len(planned.tests)
            tests = {index: answer.tests[begin + index] for index in range(count) if begin + index in answer.tests}
            parts.append(replace(answer, tests=tests))
            begin += count
            for outcome in tests.values():
                self.durations.observe(planned.program.problem, outcome)
        return parts

    async def run_shared(self, planned: PlannedProgram, target: Target, retries: Retries) -> Answer:
        """Run a program, which may share a job, on its tests; raises as `run`."""
        loop = asyncio.get_running_loop()
        waiting = _Waiting(planned, target, retries, loop.create_future())
        queue = self._queues.setdefault(loop, {}).setdefault(target.name, _Queue(target))
        queue.waiting.append(waiting)
        try:
            self._start_all()
            await waiting.turn
        except BaseException:
            waiting.turn.cancel()
            if waiting.job:
                self._release(waiting.job, queue)
            raise
        answer = await self._run_for_all(waiting.job, queue) if waiting.job else waiting.answer
        return (await self.run([planned], target, retries))[0] if answer is None else answer

    # ------------------------------------------------------------------ the queue

    def _start_all(self) -> None:
        """Start the jobs that may run now, on any target: targets share the bound on jobs, and their slots change."""
        queues = self._queues[asyncio.get_running_loop()].values()
        slots = {target.name: target.slots for target in self._sandbox.targets()}
        for queue in queues:
            available = slots.get(queue.target.name, queue.target.slots)
            most = max(1, available if self._max_jobs is None else min(available, self._max_jobs))
            while queue.running < most and (
                self._max_jobs is None or sum(other.running for other in queues) < self._max_jobs
            ):
                if not (job := self._take(queue, most)):
                    break
                queue.running += 1
                job[0].job = job
                job[0].turn.set_result(None)

    def _take(self, queue: _Queue, slots: int) -> list[_Waiting]:
        """Take the first program and those that share its job out of the queue: at most one slot's share of tests."""
        queue.waiting = deque(waiting for waiting in queue.waiting if not waiting.turn.done())
        share = math.ceil(sum(len(waiting.planned.tests) for waiting in queue.waiting) / slots)
        taken: list[_Waiting] = []
        for waiting in queue.waiting:
            if taken and waiting.planned.program.setup != taken[0].planned.program.setup:
                continue
            if taken and not self._fits([each.planned for each in (*taken, waiting)], taken[0].target, share):
                break
            taken.append(waiting)
        queue.waiting = deque(waiting for waiting in queue.waiting if waiting not in taken)
        return taken

    def _fits(self, programs: Sequence[PlannedProgram], target: Target, share: int) -> bool:
        """Whether a job for all of them is within all limits, also in time: slow programs gain nothing by sharing."""
        setup = programs[0].program.setup
        tests, size = sum(len(planned.tests) for planned in programs), sum(planned.size for planned in programs)
        expected_s = sum(self.durations.expected_s(each.program.problem, len(each.tests)) for each in programs)
        if tests > min(self._max_shared_tests, share) or expected_s > BUNDLE_S or size > _MAX_BYTES:
            return False
        return bounds_of(target, setup).allow(tests, size, usual_wall_ms(setup.time_limit_s))

    def _release(self, job: Sequence[_Waiting], queue: _Queue) -> None:
        """End a job. Its programs that got no answer go back to the front of the queue."""
        job[0].job = ()  # which refers to itself: its tests would stay in memory until the garbage collector runs
        queue.waiting.extendleft(waiting for waiting in reversed(job) if not waiting.turn.done())
        queue.running -= 1
        self._start_all()

    # ------------------------------------------------------------------ running

    async def _run_for_all(self, job: Sequence[_Waiting], queue: _Queue) -> Answer | None:
        """Run a job for all of them. If no test of a program was begun, because others took long, it waits again."""
        followers = job[1:]
        try:
            answer, *others = await self._answers_to(job)
            for follower, other in zip(followers, others, strict=True):
                unbegun = isinstance(other, RunAnswer) and not other.tests
                if not unbegun and not follower.turn.done():
                    follower.answer = other
                    follower.turn.set_result(None)
            return answer
        except IoiEvalError as error:
            for follower in followers:
                if not follower.turn.done():
                    follower.turn.set_exception(error)
            raise
        finally:
            self._release(job, queue)

    async def _answers_to(self, job: Sequence[_Waiting]) -> Sequence[Answer | None]:
        """The answer for each program; `None` for all if a shared job failed, unless no endpoint is left to run on."""
        first, programs = job[0], [waiting.planned for waiting in job]
        if len(job) == 1:
            return await self.run(programs, first.target, first.retries)
        retries = Retries(left=_SHARED_ATTEMPTS - 1)
        try:
            answers = await self.run(programs, first.target, retries)
            if not isinstance(answers[0], SandboxError):
                for waiting, answer in zip(job, answers, strict=True):
                    if isinstance(answer, RunAnswer) and answer.tests:
                        waiting.retries.tried += retries.tried
                return answers
        except UnavailableError:
            raise
        except SandboxError:
            pass  # no answer arrived
        for waiting in job:
            waiting.retries.left = max(0, waiting.retries.left - (_SHARED_ATTEMPTS - retries.left))
        return [None] * len(job)
