"""A cluster of Piston servers as one sandbox: the shell around `pool.py`.

    job ── wire: segments ── pool: whose turn, where ── http_client: send ── answer: read ──► Execution
                                   ▲                                              │
                                   └──── leave; again, elsewhere ◄── no answer ───┘

Three deadlines, each its own: a job waits for a slot as long as an endpoint is in service (and `PoolPolicy.patience_s`
when none is); a connection is made within seconds; from then on the job's own limits count, and what a server may
leave it waiting behind the jobs of others. There is no read timeout: servers send nothing until a job ends.

Servers cannot cancel: a job that is given up still runs there. So a deadline is generous, and one that passes puts the
endpoint out until it answers a check.
"""

from __future__ import annotations

import asyncio
import gc
import random
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ioi_eval.errors import (
    ExhaustedError,
    InputError,
    IsolationError,
    OverloadError,
    RejectedError,
    SandboxError,
    SetupError,
    TargetLostError,
    TransientError,
    UnavailableError,
    UnservedError,
)
from ioi_eval.model import Execution, Job, JobKind, Stage
from ioi_eval.sandbox import Target, answer, two_stages, wire
from ioi_eval.sandbox.circuit import End
from ioi_eval.sandbox.discovery import Scout, Worker
from ioi_eval.sandbox.endpoints import Source, endpoint_source
from ioi_eval.sandbox.fleet import Fleet, WorkerGroup
from ioi_eval.sandbox.membership import Membership
from ioi_eval.sandbox.pool import Pool
from ioi_eval.sandbox.pool_terms import Abort, Action, Check, Expire, Grant, PoolPolicy
from ioi_eval.sandbox.roster import Claim
from ioi_eval.sandbox.spool import RequestSpool
from ioi_eval.sandbox.wire import Body, Service, Starter

if TYPE_CHECKING:
    from ioi_eval.sandbox.http_client import HttpClient, Reply, Sending

_SLACK_S = 10.0  # making and clearing the box, on a loaded server
_BYTES_PER_S = 1_000_000  # the slowest upload that is waited for
_COLLECT = (20_000, 50, 100)
"""While a cluster is entered the garbage collector looks for cycles less often: with 1,500 connections it took a
quarter of the client's CPU at Python's defaults (700, 10, 10), and found next to nothing."""

_LARGE_ANSWER = 1 << 20  # above this, an answer is read in a thread
_END = {UnservedError: End.UNREACHED, OverloadError: End.OVERLOADED, RejectedError: End.ANSWERED}
"""What a refusal says of the endpoint; any other failure: that it is broken."""

_UNSERVED = 3  # a job that so many servers could not serve is given up


class PistonCluster:
    """Executes jobs on Piston servers. An async context manager.

    Args:
        endpoints: the servers' URLs (`http://host:2000`, with or without `/api/v2`); a function that tells them; or a
            text, as in `PISTON_ENDPOINTS` (one URL, several with commas, `file:PATH`, `slurm`).
        max_requests_per_endpoint: how many jobs of ours a server has at once.
        profile: `bundled` or `classic` to force one, `None` for the best that each worker can.
        headers: sent with every request.
        policy: the pool's numbers.
        server_queue_s: how long a server may leave a job waiting behind the jobs of others.
        rediscover_s: how often the endpoints are asked for again, and those that could not be used are looked at.
        spool_directory: where serialised test data is kept during the run.
        seed: for backoffs and rests.

    Raises:
        InputError: an endpoint is no URL, or a number makes no sense.
        SetupError: on entering: no endpoint can be used; with the reason of each.
        UnavailableError: on entering: none of them answers.
    """

    def __init__(
        self,
        endpoints: Source | str,
        *,
        max_requests_per_endpoint: int = 1,
        profile: str | None = None,
        headers: Mapping[str, str] | None = None,
        policy: PoolPolicy | None = None,
        server_queue_s: float = 60.0,
        rediscover_s: float = 30.0,
        spool_directory: Path | None = None,
        seed: int | None = None,
    ) -> None:
        if max_requests_per_endpoint < 1:
            raise InputError(f"max_requests_per_endpoint is {max_requests_per_endpoint}; it must be at least 1")
        self._source = endpoint_source(endpoints) if isinstance(endpoints, str) else endpoints
        self._profile = profile
        self._headers = headers
        self._policy = policy or PoolPolicy()
        self._server_queue_s = server_queue_s
        self._rediscover_s = rediscover_s
        self._fleet = Fleet(max_requests_per_endpoint)
        self._pool = Pool(self._policy, rng=random.Random(seed))
        self._spool = RequestSpool(spool_directory)
        self._members: Membership | None = None
        self._waiting: dict[Claim, asyncio.Future[Expire | None]] = {}
        self._running: dict[Claim, Sending] = {}
        self._alarm: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        from ioi_eval.sandbox.http_client import HttpClient

        self._loop = asyncio.get_running_loop()
        self._client: HttpClient = HttpClient(self._headers)
        scout = Scout(self._client, self._profile)  # may refuse the profile: before there is anything to close
        members = self._members = Membership(self._source, scout, self._fleet, self._pool, obey=self._obey)
        await self._client.__aenter__()
        self._task_group = await asyncio.TaskGroup().__aenter__()
        try:
            await members.look_around()
            members.require_any()
        except BaseException:
            await self._close(None, None, None)
            raise
        self._start(members.keep_looking(self._rediscover_s))
        self._collected = gc.get_threshold()
        if self._collected[0]:  # else it is switched off
            gc.set_threshold(*map(max, _COLLECT, self._collected))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # when a task of ours breaks, the group cancels the caller, and has the error to tell
        cancelled = kind is not None and issubclass(kind, asyncio.CancelledError)
        gc.set_threshold(*self._collected)
        await self._close(*((kind, error, trace) if cancelled else (None, None, None)))

    def targets(self) -> Sequence[Target]:
        """The kinds of workers, the largest first; with the slots of those that are in service."""
        found = self._fleet.targets()
        if not found:
            raise SetupError("the cluster is not entered: use `async with PistonCluster(…) as cluster`")
        slots = self._fleet.slots
        return [replace(target, slots=self._pool.in_service(target.name) * slots) for target in found]

    @property
    def workers(self) -> Sequence[Worker]:
        """What was found out of each endpoint that is used now, or was until it went out."""
        return tuple(self._fleet.workers.values())

    @property
    def unusable(self) -> Mapping[str, str]:
        """The endpoints that are not used now, and why."""
        return {name: str(error) for name, error in self._members.unusable.items()} if self._members else {}

    async def execute(self, job: Job, target: Target) -> Execution:
        """Run one job on a worker of this kind; see `Sandbox.execute`.

        Raises:
            TargetLostError: no such worker is left, or can isolate programs, and others are.
            IsolationError: no worker at all can isolate programs.
            UnavailableError: no worker was left for as long as jobs may wait.
            ExhaustedError: the job was sent as often as it may be, and never answered; all repetition is done here.
            RejectedError: a server refuses it for good.
            SetupError: the caller's event loop is another one than that in which the cluster was entered.
        """
        group = self._fleet.groups.get(target.name)
        if group is None:
            raise InputError(f"{target.name!r} is no target of this cluster")
        self._require_own_loop()
        service = group.service
        if service.starter is Starter.BASH and two_stages.has_both(job):
            job = two_stages.joined(job)
        body = await self._body(job, service)
        failures: list[SandboxError] = []
        tried: list[str] = []
        claim, actions = self._pool.claim(target.name, self._loop.time(), alone=job.alone, patient=target.is_only)
        while True:
            end = End.UNTRIED
            try:
                await self._turn_comes(claim, actions, failures, tried)
                end, result = await self._attempt(claim, job, body)
            finally:
                self._obey(self._pool.leave(claim, end, self._loop.time()))
            if isinstance(result, Execution):
                return result
            failures.append(result)
            tried.append(claim.endpoint.name if claim.endpoint is not None else "")
            if isinstance(result, UnservedError):
                self._see_whether_any_isolates(group, result)
            unserved = sum(isinstance(failure, UnservedError) for failure in failures)
            elsewhere = isinstance(result, UnservedError) and unserved < _UNSERVED
            if not elsewhere and not isinstance(result, TransientError):
                raise result
            following, actions = self._pool.again(claim, self._loop.time())
            if following is None:
                self._obey(actions)
                raise _exhausted(failures, tried)
            claim = following

    def _require_own_loop(self) -> None:
        """Refuse other threads and forked processes: connections and timers are of one loop, others wait for ever."""
        if asyncio.get_running_loop() is not self._loop:
            raise SetupError(
                "this PistonCluster was entered in another event loop (of another thread, or before a fork): enter "
                "one in each, or hand what is to be scored to its loop with asyncio.run_coroutine_threadsafe"
            )

    # ------------------------------------------------------------------ one job

    async def _body(self, job: Job, service: Service) -> Body:
        files = wire.sent_files(job, service.starter)
        literals = [await self._spool.literal(file.content) for file in files]
        return wire.body(job, service, files, literals)

    async def _turn_comes(
        self, claim: Claim, actions: list[Action], failures: list[SandboxError], tried: list[str]
    ) -> None:
        """Wait until the claim is granted. Actions that came with it are obeyed on the way."""
        if claim.endpoint is not None:
            self._obey(actions)
            return
        turn = self._waiting[claim] = self._loop.create_future()
        try:
            self._obey(actions)
            expired = await turn
        finally:
            del self._waiting[claim]
        if expired is None:
            return
        if failures and not expired.is_dark:
            raise _exhausted(failures, tried)
        cause = failures[-1] if failures else None
        if expired.is_light_elsewhere:
            raise TargetLostError(f"no worker of {claim.group.name!r} has been available for a while") from cause
        raise UnavailableError(
            f"no Piston endpoint has been available for {self._policy.patience_s:g} s; start the workers again"
            " and resume"
        ) from cause

    async def _attempt(self, claim: Claim, job: Job, body: Body) -> tuple[End, Execution | SandboxError]:
        """Send the job where it was granted: how that ended for the endpoint, and for the job."""
        from ioi_eval.sandbox.http_client import Lost, Sending, TooLong

        assert claim.endpoint is not None, "the claim is not granted"
        name = claim.endpoint.name
        url = self._fleet.execute_urls[name]
        most = job.run_limits.output_bytes
        within_s = self._server_queue_s + body.waiting_s + _SLACK_S + body.size / _BYTES_PER_S
        sending = self._running[claim] = Sending(body, within_s, self._client)
        try:
            reply = await self._client.post(url, sending, most_bytes=4 * most + (1 << 20))
        except Lost as lost:
            return lost.end, lost
        except TooLong:
            stage = Stage(stdout="", stderr="", code=None, signal="SIGKILL", status="OL", message="output too long")
            return End.ANSWERED, Execution(run=stage)
        finally:
            del self._running[claim]
        return await self._read(name, reply, job)

    async def _read(self, name: str, reply: Reply, job: Job) -> tuple[End, Execution | SandboxError]:
        most = job.run_limits.output_bytes
        try:
            if len(reply.body) > _LARGE_ANSWER:
                execution = await asyncio.to_thread(answer.execution, reply.status, reply.body, output_bytes=most)
            else:
                execution = answer.execution(reply.status, reply.body, output_bytes=most)
            if two_stages.is_joined(job):
                execution = two_stages.apart(execution)
            answer.check_tail(execution, job.kind)
            self._check_isolation(name, execution, job)
        except SandboxError as error:
            return _END.get(type(error), End.BROKEN), type(error)(f"{name}: {error}")
        return End.ANSWERED, execution

    def _check_isolation(self, name: str, execution: Execution, job: Job) -> None:
        """Put down which endpoints cannot isolate programs. They are out, as those that cannot be reached."""
        words = answer.isolation_fault(execution, job.kind)
        if words is not None:
            self._fleet.unconfined.add(name)
            raise UnservedError(f"the runner cannot isolate programs there: {words}")
        if job.kind is JobKind.RUNNER:
            self._fleet.unconfined.discard(name)

    def _see_whether_any_isolates(self, group: WorkerGroup, refusal: SandboxError) -> None:
        """End what no other worker could do either, once all workers of a group, or of all groups, have refused it."""
        if group.members and group.members <= self._fleet.unconfined:
            if self._fleet.workers.keys() <= self._fleet.unconfined:
                raise IsolationError(str(refusal))
            raise TargetLostError(f"no worker of {group.target.name!r} can isolate programs; {refusal}")

    # ------------------------------------------------------------------ the pool's wishes

    def _obey(self, actions: list[Action]) -> None:
        """Do what the pool says, and set the alarm for its next appointment."""
        for action in actions:
            match action:
                case Grant(claim):
                    if (turn := self._waiting.get(claim)) is not None and not turn.done():
                        turn.set_result(None)
                case Expire(claim):
                    if (turn := self._waiting.get(claim)) is not None and not turn.done():
                        turn.set_result(action)
                case Check(endpoint):
                    assert self._members is not None, "the cluster is not entered"
                    self._start(self._members.check(endpoint.name))
                case Abort(claim):
                    if (sending := self._running.get(claim)) is not None:
                        sending.give_up()
        due = self._pool.next_due()
        if due is not None and (self._alarm is None or due < self._alarm.when()):
            if self._alarm is not None:
                self._alarm.cancel()
            self._alarm = self._loop.call_at(due, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self._obey(self._pool.turn(self._loop.time()))

    # ------------------------------------------------------------------ the workers

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = self._task_group.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _close(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        for task in self._tasks:
            task.cancel()
        try:
            await self._task_group.__aexit__(kind, error, trace)
        finally:
            await self._client.__aexit__(None, None, None)
            self._spool.close()


def _exhausted(failures: Sequence[SandboxError], tried: Sequence[str]) -> SandboxError:
    """What to raise for a job that nobody has answered: how often it was sent, where, and what came of it at last."""
    last = failures[-1]
    if not isinstance(last, TransientError):
        return last
    where = ", ".join(name if n == 1 else f"{name} ({n} times)" for name, n in Counter(tried).items())
    error = ExhaustedError(f"the job was sent {_times(tried)} to {where}, and never answered; at last: {last}")
    error.__cause__ = last
    return error


def _times(tried: Sequence[str]) -> str:
    """`6 times`."""
    return "once" if len(tried) == 1 else f"{len(tried)} times"
