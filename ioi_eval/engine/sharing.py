"""Run jobs that programs share.

A box, a runner and a warm interpreter take 30 ms or more to start, a trivial test takes 3. While all slots are busy,
what is to be run waits here; a slot that comes free takes the first in the queue, and with it what may share its job:
programs that are run and judged alike. They share nothing else: each test is a process of its own, which is forked from
an interpreter that has seen no program, and after which nothing is left.

Whoever waits first runs the job, and hands the others their parts of the answer. Who is cancelled while others wait for
its job gives them back to the queue.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from ioi_eval.errors import ExhaustedError, IoiEvalError, TransientError, TransportError
from ioi_eval.jobs.bundled import size
from ioi_eval.jobs.python_run import GivenProgram, RunSetup, room, run_job, usual_wall_ms
from ioi_eval.jobs.returned import ReturnedAnswer, returned_answer
from ioi_eval.sandbox import Sandbox, Target

MOST_TESTS = 128
"""Most tests of a job that programs share: with two descriptors a test, few enough for the usual limit of 1,024."""

MOST_S = 2.0
"""How long a shared job is expected to take at most: slow programs gain nothing by sharing, and fill slots better one
by one."""

_MOST_BYTES = 64 * 1024 * 1024
_WEIGHT = 0.2  # of the last job, in the mean time of a test


@dataclass(slots=True, kw_only=True, eq=False)
class _Request:
    """What one program wants run.

    Args:
        program, setup: what, and how.
        turn: the requests of the job that it is to run, its own first; or what came of it in another's job.
    """

    program: GivenProgram
    setup: RunSetup
    turn: asyncio.Future[Sequence[_Request] | ReturnedAnswer]


@dataclass(slots=True)
class _Queue:
    """What waits in one event loop, and how many of its jobs run. Who shares a job is told by a future of its loop."""

    waiting: deque[_Request] = field(default_factory=deque)
    running: int = 0


class Bundles:
    """Runs programs on one target, as many a job as make sense. Threads may share it, each with its own event loop.

    Args:
        sandbox: executes the jobs.
        target: where.
        jobs: how many at once at most; `None` for as many as the target has slots.
    """

    def __init__(self, sandbox: Sandbox, target: Target, *, jobs: int | None = None) -> None:
        self._sandbox = sandbox
        self._target = target
        self._jobs = jobs
        self._queues: WeakKeyDictionary[asyncio.AbstractEventLoop, _Queue] = WeakKeyDictionary()
        self._mean_s: float | None = None

    async def run(self, program: GivenProgram, setup: RunSetup) -> ReturnedAnswer:
        """What came of a program's tests, by their place in it; in a job that others may share.

        Raises:
            SandboxError: the job could not be run. It may have been another program that broke it.
        """
        request = _Request(program=program, setup=setup, turn=asyncio.get_running_loop().create_future())
        self._queue.waiting.append(request)
        self._start()
        try:
            turn = await request.turn
        except asyncio.CancelledError:
            self._give_up(request)
            raise
        return turn if isinstance(turn, ReturnedAnswer) else await self._lead(turn)

    async def run_apart(self, program: GivenProgram, setup: RunSetup, *, alone: bool = False) -> ReturnedAnswer:
        """The same in a job of its own, and if it is to be `alone`, with nothing else of ours on that machine.

        Raises:
            SandboxError: the job could not be run.
        """
        (answer,) = await self._execute([program], setup, alone=alone)
        return _whole(answer)

    # ------------------------------------------------------------------ whose turn it is

    @property
    def _queue(self) -> _Queue:
        """That of the running event loop."""
        return self._queues.setdefault(asyncio.get_running_loop(), _Queue())

    @property
    def _slots(self) -> int:
        """How many jobs may run at once. A cluster's workers come and go."""
        now = next((one.slots for one in self._sandbox.targets() if one.name == self._target.name), self._target.slots)
        return max(1, now if self._jobs is None else min(now, self._jobs))

    def _start(self) -> None:
        slots, queue = self._slots, self._queue
        while queue.running < slots and (bundle := self._take(queue, slots)):
            queue.running += 1
            bundle[0].turn.set_result(bundle)

    def _take(self, queue: _Queue, slots: int) -> list[_Request]:
        """The first that waits, and those behind it that share its job: not more than leaves the other slots theirs."""
        waiting = [request for request in queue.waiting if not request.turn.done()]
        bundle: list[_Request] = []
        tests = taken_bytes = 0
        share = math.ceil(sum(len(request.program.tests) for request in waiting) / slots)
        for request in waiting:
            if bundle and request.setup != bundle[0].setup:
                continue
            tests += len(request.program.tests)
            taken_bytes += _bytes_of(request.program)
            if bundle and not self._holds(request.setup, tests, taken_bytes, share):
                break
            bundle.append(request)
        queue.waiting = deque(request for request in waiting if request not in bundle)
        return bundle

    def _holds(self, setup: RunSetup, tests: int, taken_bytes: int, share: int) -> bool:
        bounds = room(self._target, setup)
        wall_ms = math.inf if bounds.wall_ms is None else bounds.wall_ms
        return (
            tests <= min(MOST_TESTS, share, bounds.tests)
            and tests * (self._mean_s or 0.0) <= MOST_S
            and tests * usual_wall_ms(setup.limits) <= wall_ms
            and taken_bytes <= (_MOST_BYTES if bounds.test_bytes is None else min(_MOST_BYTES, bounds.test_bytes))
        )

    def _give_up(self, request: _Request) -> None:
        """One that does not wait any more: it may have been about to run a job."""
        turn = request.turn
        if not turn.cancelled() and turn.exception() is None and not isinstance(led := turn.result(), ReturnedAnswer):
            self._release(led)

    def _release(self, bundle: Sequence[_Request]) -> None:
        """A job is over. Those whom it gave nothing wait again, in front."""
        queue = self._queue
        queue.waiting.extendleft(request for request in reversed(bundle) if not request.turn.done())
        queue.running -= 1
        self._start()

    # ------------------------------------------------------------------ running

    async def _lead(self, bundle: Sequence[_Request]) -> ReturnedAnswer:
        followers = bundle[1:]
        try:
            answers = await self._execute([request.program for request in bundle], bundle[0].setup)
            for follower, answer in zip(followers, answers[1:], strict=True):
                _tell(follower, answer)
            return _whole(answers[0])
        except IoiEvalError as failure:
            error = failure
            if followers and isinstance(failure, ExhaustedError):
                error = TransientError(f"{failure} (several programs shared it: each is asked for by itself)")
            for follower in followers:
                if not follower.turn.done():
                    follower.turn.set_exception(error)
            raise error from failure
        finally:
            self._release(bundle)

    async def _execute(
        self, programs: Sequence[GivenProgram], setup: RunSetup, *, alone: bool = False
    ) -> list[ReturnedAnswer]:
        """One job; what came of each program."""
        nonce = secrets.token_hex(16)
        names = dict(enumerate(test.name for program in programs for test in program.tests))
        job = run_job(programs, setup, nonce=nonce, alone=alone, room_ms=room(self._target, setup).wall_ms)
        execution = await self._sandbox.execute(job, self._target)
        answer = returned_answer(execution.run, nonce, names=names, time_limit_s=setup.limits.cpu_s)
        self._observe(answer)
        parts = []
        first = 0
        for program in programs:
            places = range(len(program.tests))
            tests = {place: answer.tests[first + place] for place in places if first + place in answer.tests}
            parts.append(ReturnedAnswer(tests=tests, isolation=answer.isolation))
            first += len(program.tests)
        return parts

    def _observe(self, answer: ReturnedAnswer) -> None:
        spent_s = math.fsum((one.outcome.cpu_ms or 0.0) / 1000 + one.idle_s for one in answer.tests.values())
        mean_s = spent_s / max(1, len(answer.tests))
        self._mean_s = mean_s if self._mean_s is None else self._mean_s + _WEIGHT * (mean_s - self._mean_s)


def _bytes_of(program: GivenProgram) -> int:
    return len(program.task) + sum(
        size(test.stdin) + (0 if test.answer is None else size(test.answer)) for test in program.tests
    )


def _whole(answer: ReturnedAnswer) -> ReturnedAnswer:
    if 0 not in answer.tests:
        raise TransportError("the runner ran none of the tests that it was asked to run")
    return answer


def _tell(follower: _Request, answer: ReturnedAnswer) -> None:
    if follower.turn.done():
        return
    try:
        follower.turn.set_result(_whole(answer))
    except TransportError as error:
        follower.turn.set_exception(error)
