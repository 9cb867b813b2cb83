"""Makes run jobs, which programs of several submissions may share, has a sandbox execute them, and reads their answers.

`scheduling.py` says what is done if there is no usable answer.

A box, a runner and a warm interpreter take 30 ms or more to start; a trivial test takes 3. While all slots are busy,
requests that may share a job wait in a queue. A slot that becomes free takes the first of them, and those behind it
that are run and judged in the same way. Their programs share nothing else: each test is a process of its own, forked
from an interpreter that has read no program, and leaves nothing behind.

The first of these requests runs the job, and gives the others their parts of the answer. If it is cancelled, the
others go back to the queue. The sandbox sends a shared job that got no answer up to `_SHARED_ATTEMPTS` times. If it
still failed, or its answer cannot be used, each program is run by itself, because one of them may be the cause.
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
"""Most tests of a shared job: with two descriptors per test and one per program below the usual limit of 1,024."""

_SHARED_ATTEMPTS = 3
"""Attempts of a shared job. Without a usable answer each program is run by itself, because one of them may have caused
the failure; the attempts that were made are subtracted from its own."""

_MAX_BYTES = 64 * 1024 * 1024

_ENOUGH_S = BUNDLE_S  # after this wall clock a job begins no other test

Answer: TypeAlias = RunAnswer | SandboxError
"""The outcomes of a program's tests, by their number in the program; or why an answer that arrived cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A request to run one program on some tests.

    Args:
        retries: how often the job may still be sent again.
        alone: run nothing else of ours on that machine.
        prefault_bytes: how much memory the machine is made to have before the first test.
    """

    planned: PlannedProgram
    target: Target
    retries: Retries
    alone: bool
    prefault_bytes: int


@dataclass(slots=True, eq=False)
class _Waiting:
    """A request in the queue.

    Args:
        assigned: the requests of the shared job that it is to run, of which it is the first; or its answer, which
            another request's job brought; or `None` if that job failed and it is to run by itself.
    """

    request: RunRequest
    assigned: asyncio.Future[list[_Waiting] | Answer | None]


@dataclass(slots=True)
class _Queue:
    """The requests for a target in one event loop, and how many jobs run. (`assigned` is a future of that loop.)"""

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

    async def run(self, request: RunRequest) -> Answer:
        """Run one program in a job of its own; raises as `run_together`."""
        (answer,) = await self.run_together([request], request.retries)
        return answer

    async def run_together(self, requests: Sequence[RunRequest], retries: Retries) -> list[Answer]:
        """Run several programs in one job; returns the answer for each.

        Args:
            requests: at least one; for several, their programs may share a job, and none is to run alone.
            retries: how often the job may be sent again. The requests' own are not used.

        Raises:
            SandboxError: no answer arrived.
            SetupError: the runner cannot work there.
        """
        first = requests[0]
        program, target = first.planned.program, first.target
        programs = [request.planned for request in requests]
        nonce = secrets.token_hex(16)
        job = run_job(
            programs,
            nonce=nonce,
            alone=first.alone,
            prefault_bytes=first.prefault_bytes,
            room_ms=bounds_of(target, program.setup, compiles=program.is_uncompiled).wall_ms,
            enough_s=None if first.alone else _ENOUGH_S,
        )
        execution = await self._sandbox.execute(replace(job, retries=retries), target)
        total, time_limit_s = sum(len(planned.tests) for planned in programs), program.setup.time_limit_s
        try:
            answer = run_answer(execution.run, nonce, execution.returned, tests=total, time_limit_s=time_limit_s)
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

    async def run_shared(self, request: RunRequest) -> Answer:
        """Run a program, which may share a job, on its tests; raises as `run_together`."""
        loop = asyncio.get_running_loop()
        waiting = _Waiting(request, loop.create_future())
        queue = self._queues.setdefault(loop, {}).setdefault(request.target.name, _Queue(request.target))
        queue.waiting.append(waiting)
        try:
            self._start_all()
            assigned = await waiting.assigned
        except BaseException:
            self._give_up(waiting, queue)
            raise
        answer = await self._run_for_all(assigned, queue) if isinstance(assigned, list) else assigned
        return await self.run(request) if answer is None else answer

    # ------------------------------------------------------------------ the queue

    def _start_all(self) -> None:
        """Start the jobs that may run now, on any target: targets share the bound on jobs, and their slots change."""
        queues = self._queues[asyncio.get_running_loop()].values()
        slots = {target.name: target.slots for target in self._sandbox.targets()}
        for queue in queues:
            now = slots.get(queue.target.name, queue.target.slots)
            most = max(1, now if self._max_jobs is None else min(now, self._max_jobs))
            while queue.running < most and (
                self._max_jobs is None or sum(other.running for other in queues) < self._max_jobs
            ):
                if not (requests := self._take(queue, most)):
                    break
                queue.running += 1
                requests[0].assigned.set_result(requests)

    def _take(self, queue: _Queue, slots: int) -> list[_Waiting]:
        """Take the first request and those that share its job out of the queue: at most one slot's share of tests."""
        queue.waiting = deque(waiting for waiting in queue.waiting if not waiting.assigned.done())
        share = math.ceil(sum(len(waiting.request.planned.tests) for waiting in queue.waiting) / slots)
        taken: list[_Waiting] = []
        for waiting in queue.waiting:
            if taken and waiting.request.planned.program.setup != taken[0].request.planned.program.setup:
                continue
            if taken and not self._fits([*(each.request for each in taken), waiting.request], share):
                break
            taken.append(waiting)
        queue.waiting = deque(waiting for waiting in queue.waiting if waiting not in taken)
        return taken

    def _fits(self, requests: Sequence[RunRequest], share: int) -> bool:
        """Whether a job for all of them is within all limits, also in time: slow programs gain nothing by sharing."""
        programs, setup = [request.planned for request in requests], requests[0].planned.program.setup
        tests, size = sum(len(planned.tests) for planned in programs), sum(planned.size for planned in programs)
        expected_s = sum(self.durations.expected_s(each.program.problem, len(each.tests)) for each in programs)
        if tests > min(self._max_shared_tests, share) or expected_s > BUNDLE_S or size > _MAX_BYTES:
            return False
        return bounds_of(requests[0].target, setup).allow(tests, size, usual_wall_ms(setup.time_limit_s))

    def _give_up(self, waiting: _Waiting, queue: _Queue) -> None:
        """Remove a request that was cancelled. If it was to run a job, the others go back to the queue."""
        assigned = waiting.assigned
        if not assigned.done():
            assigned.cancel()
            return
        failed = assigned.cancelled() or assigned.exception() is not None
        if not failed and isinstance(job := assigned.result(), list):
            self._release(job, queue)

    def _release(self, job: list[_Waiting], queue: _Queue) -> None:
        """End a job. Its requests that got no answer go back to the front of the queue."""
        queue.waiting.extendleft(waiting for waiting in reversed(job) if not waiting.assigned.done())
        queue.running -= 1
        self._start_all()

    # ------------------------------------------------------------------ running

    async def _run_for_all(self, job: list[_Waiting], queue: _Queue) -> Answer | None:
        """Run a job for all of them. If no test of a program was begun, because others took long, it waits again."""
        first, *followers = job
        try:
            answers = await self._run_shared(job) if followers else [await self.run(first.request)]
            for follower, answer in zip(followers, answers[1:], strict=True):
                unbegun = isinstance(answer, RunAnswer) and not answer.tests
                if not unbegun and not follower.assigned.done():
                    follower.assigned.set_result(answer)
            return answers[0]
        except IoiEvalError as error:
            for follower in followers:
                if not follower.assigned.done():
                    follower.assigned.set_exception(error)
            raise
        finally:
            self._release(job, queue)

    async def _run_shared(self, job: list[_Waiting]) -> Sequence[Answer | None]:
        """The answer for each program; `None` for all if the job failed, unless no endpoint is left to run on."""
        requests = [waiting.request for waiting in job]
        retries = Retries(left=_SHARED_ATTEMPTS - 1)
        try:
            answers = await self.run_together(requests, retries)
            if not isinstance(answers[0], SandboxError):
                for request, answer in zip(requests, answers, strict=True):
                    if isinstance(answer, RunAnswer) and answer.tests:
                        request.retries.tried += retries.tried
                return answers
        except UnavailableError:
            raise
        except SandboxError:
            pass  # no answer arrived
        for request in requests:
            request.retries.left = max(0, request.retries.left - (_SHARED_ATTEMPTS - retries.left))
        return [None] * len(requests)
