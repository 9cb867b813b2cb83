"""Run jobs, which programs of several submissions may share.

A box, a runner and a warm interpreter take 30 ms or more to start, a trivial test takes 3. While all slots are busy,
what may share a job waits here; a slot that comes free takes the first in the queue, and with it what is run and judged
alike. They share nothing else: each test is a process of its own, which is forked from an interpreter that has seen no
program, and after which nothing is left.

The request that waits first runs the job, and hands the others their parts of the answer. If it is cancelled, the
others go back to the queue. A job that failed is not repeated for all: each program is run by itself, as it may have
been one of them that broke it.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias
from weakref import WeakKeyDictionary

from ioi_eval.engine.packing import BUNDLE_S, Paces, Reach
from ioi_eval.errors import IoiEvalError, SandboxError, StoppedError, TransportError, UnavailableError
from ioi_eval.jobs.returned import RunAnswer, run_answer
from ioi_eval.jobs.run_job import BUNDLE_TESTS, GivenProgram, RunSetup, room, run_job, usual_wall_ms
from ioi_eval.model import Retries
from ioi_eval.sandbox import Sandbox, Target

MOST_TESTS = 2 * BUNDLE_TESTS
"""Most tests of a job that programs share: with two descriptors a test and one a program, few enough for the usual
limit of 1,024."""

_SHARED_ATTEMPTS = 3
"""So often a job is tried that several programs share. If it stays unanswered each of them is run by itself, as one of
them may have broken it, and has those attempts less that this took."""

_ENOUGH_S = BUNDLE_S  # after so much wall clock a job begins no other test
_MOST_BYTES = 64 * 1024 * 1024

Answer: TypeAlias = RunAnswer | SandboxError
"""What came of a program's tests, by their place in it; or why an answer that arrived cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What one program wants run.

    Args:
        problem: of which the tests are: those of one problem take about as long.
        program: what.
        setup: how.
        target: where.
        retries: how often its job may still be repeated.
        alone: with nothing else of ours on that machine.
        ready_bytes: of memory, that the machine is made to have before the first test.
    """

    problem: Hashable
    program: GivenProgram
    setup: RunSetup
    target: Target
    retries: Retries = field(default_factory=Retries)
    alone: bool = False
    ready_bytes: int = 0


@dataclass(slots=True, eq=False)
class _Waiting:
    """A request in the queue.

    Args:
        request: what is run.
        turn: the job that it is to run, its own request first; or what came of it in another's; or `None`, if that came
            to nothing.
    """

    request: RunRequest
    turn: asyncio.Future[Sequence[_Waiting] | Answer | None]


@dataclass(slots=True)
class _Queue:
    """What waits for a target in one event loop, and how many of its jobs run: turns are futures of that loop."""

    target: Target
    waiting: deque[_Waiting] = field(default_factory=deque)
    running: int = 0


class SharedJobs:
    """Runs programs, as many a job as make sense. Threads may share it, each with its own event loop.

    Args:
        sandbox: executes the jobs.
        paces: how long tests take.
        reach: how many of them an answer can hold.
        most_tests: of a job that programs share.
        jobs: how many of these run at once at most, on all targets; `None` for as many as these have slots.
    """

    def __init__(
        self, sandbox: Sandbox, paces: Paces, reach: Reach, *, most_tests: int = MOST_TESTS, jobs: int | None = None
    ) -> None:
        self._sandbox, self._paces, self._reach = sandbox, paces, reach
        self._most_tests, self._jobs = most_tests, jobs
        self._queues: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _Queue]] = WeakKeyDictionary()

    async def run(self, request: RunRequest, *, apart: bool = False) -> Answer:
        """What came of a program's tests.

        Args:
            request: what is run.
            apart: in a job of its own.

        Raises:
            SandboxError: the job could not be run: no answer arrived.
        """
        if apart or request.alone or not request.setup.shares:
            return await self._apart(request)
        waiting = _Waiting(request, asyncio.get_running_loop().create_future())
        queue = self._queue(request.target)
        queue.waiting.append(waiting)
        try:
            self._start_all()
            turn = await waiting.turn
        except BaseException:
            self._give_up(waiting, queue)
            raise
        if isinstance(turn, Sequence):
            turn = await self._lead(turn, queue)
        return await self._apart(request) if turn is None else turn

    async def _apart(self, request: RunRequest) -> Answer:
        (answer,) = await self._execute([request], request.retries)
        return _begun(answer)

    # ------------------------------------------------------------------ whose turn it is

    def _queue(self, target: Target) -> _Queue:
        """That of the running event loop."""
        queues = self._queues.setdefault(asyncio.get_running_loop(), {})
        return queues.setdefault(target.name, _Queue(target))

    def _start_all(self) -> None:
        """Start what may run now, on all targets: they share the bound on all jobs. A cluster's workers come and go."""
        queues = self._queues[asyncio.get_running_loop()].values()
        slots = {target.name: target.slots for target in self._sandbox.targets()}
        for queue in queues:
            now = slots.get(queue.target.name, queue.target.slots)
            most = max(1, now if self._jobs is None else min(now, self._jobs))
            while queue.running < most and (self._jobs is None or sum(one.running for one in queues) < self._jobs):
                if not (bundle := self._take(queue, most)):
                    break
                queue.running += 1
                bundle[0].turn.set_result(bundle)

    def _take(self, queue: _Queue, slots: int) -> list[_Waiting]:
        """The first that waits, and those behind it that share its job: not more than leaves the other slots theirs."""
        queue.waiting = deque(one for one in queue.waiting if not one.turn.done())
        share = math.ceil(sum(len(one.request.program.tests) for one in queue.waiting) / slots)
        bundle: list[_Waiting] = []
        for one in queue.waiting:
            if bundle and one.request.setup != bundle[0].request.setup:
                continue
            if bundle and not self._holds([*(each.request for each in bundle), one.request], share):
                break
            bundle.append(one)
        queue.waiting = deque(one for one in queue.waiting if one not in bundle)
        return bundle

    def _holds(self, requests: Sequence[RunRequest], share: int) -> bool:
        """Whether a job for all of them is over no limit; slow programs gain nothing by sharing one."""
        first = requests[0]
        bounds = room(first.target, first.setup)
        tests = sum(len(one.program.tests) for one in requests)
        expected_s = sum(self._paces.expected_s(one.problem, len(one.program.tests)) for one in requests)
        most_bytes = _MOST_BYTES if bounds.test_bytes is None else min(_MOST_BYTES, bounds.test_bytes)
        wall_ms = math.inf if bounds.wall_ms is None else bounds.wall_ms
        return (
            tests <= min(self._most_tests, share, bounds.tests, self._reach.tests(first.target.name))
            and expected_s <= BUNDLE_S
            and tests * usual_wall_ms(first.setup.time_limit_s) <= wall_ms
            and sum(one.program.size for one in requests) <= most_bytes
        )

    def _give_up(self, waiting: _Waiting, queue: _Queue) -> None:
        """One that does not wait any more: it may have been about to run a job."""
        turn = waiting.turn
        if not turn.done():
            turn.cancel()
        elif not turn.cancelled() and turn.exception() is None and isinstance(led := turn.result(), Sequence):
            self._release(led, queue)

    def _release(self, bundle: Sequence[_Waiting], queue: _Queue) -> None:
        """A job is over. Those whom it gave nothing wait again, in front."""
        queue.waiting.extendleft(one for one in reversed(bundle) if not one.turn.done())
        queue.running -= 1
        self._start_all()

    # ------------------------------------------------------------------ running

    async def _lead(self, bundle: Sequence[_Waiting], queue: _Queue) -> Answer | None:
        """Run a job for all of them. A program of whose tests none was begun, as others took long, waits again."""
        followers = bundle[1:]
        try:
            answers = await self._shared(bundle) if followers else [await self._apart(bundle[0].request)]
            for follower, answer in zip(followers, answers[1:], strict=True):
                unbegun = isinstance(answer, RunAnswer) and not answer.tests
                if not unbegun and not follower.turn.done():
                    follower.turn.set_result(answer)
            return None if answers[0] is None else _begun(answers[0])
        except IoiEvalError as error:
            for follower in followers:
                if not follower.turn.done():
                    follower.turn.set_exception(error)
            raise
        finally:
            self._release(bundle, queue)

    async def _shared(self, bundle: Sequence[_Waiting]) -> Sequence[Answer | None]:
        """What came of each program; `None` for all if the job came to nothing.

        Raises:
            UnavailableError: nobody is left to ask.
            SetupError: the runner cannot work there.
        """
        target, count = bundle[0].request.target.name, sum(len(one.request.program.tests) for one in bundle)
        retries = Retries(left=_SHARED_ATTEMPTS - 1)
        try:
            answers = await self._execute([one.request for one in bundle], retries)
        except UnavailableError:
            raise
        except SandboxError:
            for one in bundle:
                one.request.retries.left -= _SHARED_ATTEMPTS - max(0, retries.left)
            return [None] * len(bundle)
        if not isinstance(answers[0], SandboxError):
            held = sum(len(answer.tests) for answer in answers if isinstance(answer, RunAnswer))
            self._reach.observe(target, asked=count, granted=count, held=held)
            return answers
        if isinstance(answers[0], TransportError | StoppedError):
            self._reach.cut(target, count)
        return [None] * len(bundle)

    async def _execute(self, requests: Sequence[RunRequest], retries: Retries) -> list[Answer]:
        """One job; what came of each program.

        Raises:
            SandboxError: no answer arrived.
            SetupError: the runner cannot work there.
        """
        setup, target = requests[0].setup, requests[0].target
        alone, ready_bytes = requests[0].alone, requests[0].ready_bytes
        programs = [request.program for request in requests]
        nonce = secrets.token_hex(16)
        job = run_job(
            programs,
            setup,
            nonce=nonce,
            alone=alone,
            ready_bytes=ready_bytes,
            room_ms=room(target, setup).wall_ms,
            enough_s=None if alone else _ENOUGH_S,
        )
        execution = await self._sandbox.execute(replace(job, retries=retries), target)
        count = sum(len(program.tests) for program in programs)
        names = {number: str(number) for number in range(count)}
        try:
            answer = run_answer(execution.run, nonce, names=names, time_limit_s=setup.time_limit_s)
        except SandboxError as error:
            return [error] * len(programs)
        parts: list[Answer] = []
        first = 0
        for request in requests:
            places = range(len(request.program.tests))
            tests = {place: answer.tests[first + place] for place in places if first + place in answer.tests}
            parts.append(RunAnswer(tests=tests, isolation=answer.isolation))
            first += len(places)
            for outcome in tests.values():
                self._paces.observe(request.problem, outcome)
        return parts


def _begun(answer: Answer) -> Answer:
    """The answer to one program's job: the first test is needed, or it would not have been asked for."""
    if isinstance(answer, RunAnswer) and not answer.tests:
        return TransportError("the runner ran none of the tests that it was asked to run")
    return answer
