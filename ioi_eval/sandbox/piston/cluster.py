"""A cluster of Piston servers as one sandbox: sends each job to the endpoint that `pool.py` chooses.

    job ── pool: wait for a slot ── stored_files: leave out what the worker has ── wire: segments
                ▲                                                                       │
                │                                                               http_client: send
                │                                                                       │
                └──── retry, on another endpoint ◄─── no whole answer ── answer: read ──┴──► Execution

Sends a job again if a worker gave no usable answer (`retries.py` says how often). `http_client.py` also sends it once
more if an idle connection was just closed; this does not count as a retry. There are three deadlines:

- A job waits for a slot as long as an endpoint is in service, and for `patience_s` when none is.
- A connection must be made within seconds.
- Then the job's own limits apply, plus the time that it may wait on the server behind jobs of other clients
  (`wire.SERVER_QUEUE_S`). There is no read timeout: servers send nothing until a job ends.

Servers cannot cancel: a job that the client gave up still runs there. So deadlines are long, and an endpoint that
misses one gets no jobs until it answers a check.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import TracebackType
from typing import Self

from ioi_eval.config import PATIENCE_S
from ioi_eval.errors import (
    ExhaustedError,
    InputError,
    IsolationError,
    OversizedError,
    SandboxError,
    SetupError,
    TargetLostError,
    TransientError,
    UnavailableError,
    UnknownRuntimeError,
    UnservedError,
)
from ioi_eval.events import Events
from ioi_eval.model import Execution, Job, Retries
from ioi_eval.sandbox import Target
from ioi_eval.sandbox.piston import answer, two_stages
from ioi_eval.sandbox.piston.discovery import Prober, Worker
from ioi_eval.sandbox.piston.endpoint_state import SlotRequest
from ioi_eval.sandbox.piston.endpoints import EndpointSource, endpoint_source
from ioi_eval.sandbox.piston.garbage_collection import rarer_garbage_collection
from ioi_eval.sandbox.piston.http_client import HttpClient, Reply, Sending, job_url
from ioi_eval.sandbox.piston.job_end import JobEnd, end_of
from ioi_eval.sandbox.piston.pool import TICK_S, Pool
from ioi_eval.sandbox.piston.retries import backoff_s, exhausted
from ioi_eval.sandbox.piston.spool import RequestSpool
from ioi_eval.sandbox.piston.stored_files import StoredFiles
from ioi_eval.sandbox.piston.wire import Body, Starter
from ioi_eval.sandbox.piston.workers import WorkerGroup, WorkerGroups, WorkerList

_SLACK_S = 10.0  # making and clearing the box, on a loaded server
_BYTES_PER_S = 1_000_000  # the slowest upload that does not miss the deadline
_NOT_ENTERED = "the cluster is not entered: use `async with PistonCluster(…) as cluster`"
_LARGE_ANSWER = 1 << 20  # above this, an answer is read in a thread
_MAX_REFUSALS = 3
"""A job is given up after so many refusals. Not counted are those of a server that lacks the package or cannot isolate,
because it gets no more such jobs, and the first one of a server whose limits have changed."""


@dataclass(slots=True, kw_only=True)
class _SentJob:
    """A job, where it may run, and what became of its attempts: the last one's error (`last`), how many were sent again
    (`retried`), which servers refused it (`refused`), and how many refusals are counted (`refusals`)."""

    job: Job
    target: Target
    group: WorkerGroup
    retries: Retries
    request: SlotRequest
    last: SandboxError | None = None
    retried: int = 0
    refusals: int = 0
    refused: set[str] = field(default_factory=set)


class PistonCluster:
    """Executes jobs on Piston servers. An async context manager.

    Args:
        endpoints: the servers' URLs (`http://host:2000`, with or without `/api/v2`); a function that returns them; or a
            text, as in `PISTON_ENDPOINTS` (one URL, several with commas, `file:PATH`, `slurm`).
        max_requests_per_endpoint: how many of our jobs a worker has at once.
        profile: `bundled` or `classic`; `None` for `classic` on workers that have only `cms_ioi`, else `bundled`.
        headers: sent with every request.
        patience_s: how long jobs wait while no worker is available, in seconds.
        events: get an event for each worker that comes or goes, and each job that is overdue or sent again.

    Raises:
        InputError: an endpoint is not a URL, a number is too small, or a profile or header is not valid.
        SetupError: on entering: no endpoint can be used; with the reason for the first ones.
        UnavailableError: on entering: no endpoint answers.
    """

    def __init__(
        self,
        endpoints: EndpointSource | str,
        *,
        max_requests_per_endpoint: int = 1,
        profile: str | None = None,
        headers: Mapping[str, str] | None = None,
        patience_s: float = PATIENCE_S,
        events: Events | None = None,
    ) -> None:
        self._events = events or Events()
        if max_requests_per_endpoint < 1:
            raise InputError(f"max_requests_per_endpoint is {max_requests_per_endpoint}; it must be at least 1")
        if not patience_s >= 0:
            raise InputError(f"patience_s is {patience_s}; it must be 0 or more seconds")
        self._source = endpoint_source(endpoints) if isinstance(endpoints, str) else endpoints
        self._profile = profile
        self._headers = headers
        self._slots = max_requests_per_endpoint
        self._patience_s = patience_s
        self._rng = random.Random()
        self._tasks: set[asyncio.Task[None]] = set()
        self._forget()

    def _forget(self) -> None:
        """Forget an earlier entry: nothing is known of its workers now, and its pool and spool used the clock and the
        locks of another event loop."""
        emit = self._events.emit
        self._client = HttpClient(self._headers)
        self._groups = WorkerGroups(self._slots)
        self._pool = Pool(
            patience_s=self._patience_s,
            rng=self._rng,
            changed=lambda url, joins: emit("worker_joined" if joins else "worker_lost", endpoint=url),
        )
        self._list = WorkerList(
            self._source,
            Prober(self._client, self._profile),
            self._groups,
            self._pool,
            time=self._client.time,
            start=self._start,
            list_failed=lambda reason: emit("endpoints_unreadable", message=reason),
        )
        self._spool, self._stored = RequestSpool(), StoredFiles()
        self._last_failure: SandboxError | None = None  # of any job: workers may be out of service because of it

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._forget()
        opened = self._opened = contextlib.AsyncExitStack()
        try:
            opened.callback(self._spool.close)
            await opened.enter_async_context(self._client)
            self._task_group = await opened.enter_async_context(asyncio.TaskGroup())
            opened.callback(self._end_tasks)
            await self._list.refresh()
            await self._list.wait_for_workers()
            self._list.require_any()
        except BaseException:
            await opened.aclose()
            raise
        self._start(self._list.keep_refreshing())
        self._start(self._run_ticks())
        opened.enter_context(rarer_garbage_collection())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # if one of our tasks fails, the task group cancels the caller, and raises that task's error on leaving
        cancelled = kind is not None and issubclass(kind, asyncio.CancelledError)
        await self._opened.__aexit__(*((kind, error, trace) if cancelled else (None, None, None)))

    def targets(self) -> Sequence[Target]:
        """One target for each kind of workers, the largest first; slots are those of workers in service."""
        served = self._groups.targets()
        if not served:
            raise SetupError(_NOT_ENTERED)
        return [replace(target, slots=self._pool.in_service(target.name) * self._slots) for target in served]

    def busy(self) -> tuple[int, int]:
        """How many jobs run now, and how many may run at once."""
        return self._pool.running(), sum(target.slots for target in self.targets())

    @property
    def workers(self) -> Sequence[Worker]:
        """The workers that are used now, or were used until they went out of service."""
        return tuple(used.worker for used in self._groups.used.values())

    @property
    def unusable(self) -> Mapping[str, str]:
        """The endpoints that are not used now, and why."""
        return {endpoint: str(error) for endpoint, error in self._list.unusable.items()}

    @property
    def silent(self) -> Sequence[str]:
        """The endpoints that have not answered yet. They are used as soon as they do."""
        return self._list.silent

    @property
    def package_faults(self) -> Sequence[str]:
        """What was wrong with problems' packages, one sentence for each worker and package; no job was judged with such
        files."""
        return self._stored.faults

    async def execute(self, job: Job, target: Target) -> Execution:
        """Run one job on a worker of this kind; see `Sandbox.execute`.

        Raises:
            TargetLostError: other targets have workers, and none of this one's is left, or can isolate programs, or
                accepts a job as large as this. (Perhaps this job's own failure put the last worker out of service.)
            IsolationError: no worker of any kind can isolate programs.
            UnavailableError: no worker was available for as long as jobs may wait.
            ExhaustedError: all allowed attempts of the job got no usable answer.
            RejectedError: a server will always refuse the job, also on other targets if it is too large here.
            SetupError: the cluster is not entered, or entered in another event loop than the caller's; or this
                machine has no descriptor or disk space left for the job, or cannot read a part of it.
            SandboxError: any other failure that another attempt cannot help.
            InputError: the target is not one of this cluster's.
        """
        self._require_entered_here()
        group = self._groups.groups.get(target.name)
        if group is None:
            raise InputError(f"{target.name!r} is not a target of this cluster")
        if group.installed.starter is Starter.BASH and two_stages.has_two_stages(job):
            job = two_stages.as_one_stage(job)
        pool, retries = self._pool, job.retries or Retries()
        while retries.useless:
            pool.pause(retries.useless.pop(), self._client.time())
        request = pool.request(
            target.name,
            self._client.time(),
            is_alone=job.alone,
            is_only=target.is_only,
            last_endpoint=retries.tried[-1] if retries.tried else None,
        )
        sent = _SentJob(job=job, target=target, group=group, retries=retries, request=request)
        while True:
            end = JobEnd.CANCELLED
            try:
                endpoint = await self._wait_for_slot(sent)
                retries.tried.append(endpoint)
                result = await self._attempt(endpoint, sent)
                end = end_of(result, job)
            finally:
                pool.release(request, end, self._client.time())
            if isinstance(result, Execution):
                return result
            sent.last = self._last_failure = result
            may_be_served = isinstance(result, UnservedError) and self._may_be_served(endpoint, sent, result)
            if not may_be_served and not isinstance(result, TransientError):
                raise self._final(result, target)
            if end.may_have_started:
                await self._wait_for_retry(endpoint, sent, result)
            self._require_entered_here()  # else nothing would end the wait
            pool.retry(request, self._client.time(), may_have_started=end.may_have_started)

    def _may_be_served(self, endpoint: str, sent: _SentJob, error: UnservedError) -> bool:
        """Whether to try another server after this one refused. Raises if no server can isolate programs."""
        has_new_limits = self._groups.has_changed(endpoint) and endpoint not in sent.refused
        sent.refused.add(endpoint)
        sent.refusals += not (has_new_limits or self._groups.is_lost_for(endpoint, error))
        members = sent.group.members
        if members and self._groups.are_unconfined(members):
            if self._groups.are_unconfined(self._groups.used):
                raise IsolationError(str(error))
            raise TargetLostError(f"no worker of {sent.target.name!r} can isolate programs; {error}")
        return sent.refusals < _MAX_REFUSALS

    async def _wait_for_retry(self, endpoint: str, sent: _SentJob, error: SandboxError) -> None:
        """Wait before the job is sent again; raise if it must not be."""
        sent.retried += 1
        if not sent.retries.take():
            raise self._final(exhausted(sent.retries, error), sent.target)
        self._events.emit("job_retried", endpoint=endpoint, attempt=len(sent.retries.tried), message=str(error))
        await asyncio.sleep(backoff_s(sent.retried, self._rng))

    def _final(self, error: SandboxError, target: Target) -> SandboxError:
        """The error of a job that is not sent again. It becomes a TargetLostError if none of the target's workers is in
        service, or if the job is too large for them and workers of another target accept larger ones."""
        accepted = [each.max_body_bytes or 0 for each in self.targets() if each.slots or each.name == target.name]
        is_too_large = isinstance(error, OversizedError) and max(accepted) > (target.max_body_bytes or 0)
        is_lost = not target.is_only and (is_too_large or self._pool.is_lost(target.name))
        return TargetLostError(str(error)) if is_lost else error

    def _require_entered_here(self) -> None:
        """Refuse other threads and forked processes: in another event loop the connections and timers never end."""
        if not self._client.is_open:
            raise SetupError(_NOT_ENTERED)
        if asyncio.get_running_loop() is not self._loop:
            raise SetupError(
                "this PistonCluster was entered in another event loop (of another thread, or before a fork): enter "
                "one in each, or score in the loop of this one with asyncio.run_coroutine_threadsafe"
            )

    # ------------------------------------------------------------------ one job

    async def _wait_for_slot(self, sent: _SentJob) -> str:
        """Wait for the slot, and return its endpoint's URL."""
        request, last = sent.request, sent.last
        if not request.holds_slot and request.failure is None:
            turn: asyncio.Future[None] = self._loop.create_future()
            request.wake = lambda: None if turn.done() else turn.set_result(None)
            try:
                await turn
            finally:
                request.wake = None
        if last is not None and isinstance(request.failure, ExhaustedError):
            raise exhausted(sent.retries, last, why=f"{request.failure}; ")
        if (failure := request.failure) is not None:
            # why a worker is out of service, if that is known
            reason = last or next(iter(self.unusable.values()), None) or self._last_failure
            is_known = reason is not None and isinstance(failure, UnavailableError)
            raise (type(failure)(f"{failure}; at last: {reason}") if is_known else failure) from last
        assert request.last_endpoint is not None, "every slot belongs to an endpoint"
        return request.last_endpoint

    async def _attempt(self, endpoint: str, sent: _SentJob) -> Execution | SandboxError:
        """Run the job once on a worker. An error is returned if it came from there; one of this machine is raised.

        Files that the worker has are not sent; if it turns out not to have one, that file is sent after all. From the
        second attempt on, all files are sent, unless the worker accepts no request of that size.
        """
        job, installed, target = sent.job, sent.group.installed, sent.group.target
        used = self._groups.used.get(endpoint)
        accepted = target.max_body_bytes or 0
        if len(sent.retries.tried) > 1 and (await self._spool.body(job, installed)).size <= accepted:
            used = None
        while True:
            variant = None if used is None else self._stored.variant(job, used.worker, target)
            reduced, package = (job, "") if variant is None else (variant.job, variant.package)
            body = await self._spool.body(reduced, installed, package=package)
            try:
                execution = await self._send(endpoint, sent.request, reduced, body)
                if variant is None or not self._stored.note_missing(endpoint, variant, job, execution):
                    with answer.naming(endpoint):
                        answer.require_runner(execution, job)
                    return execution
            except SandboxError as error:
                is_refused = isinstance(error, UnservedError) and not isinstance(error, UnknownRuntimeError)
                if isinstance(error, OversizedError) or (is_refused and not self._groups.has_changed(endpoint)):
                    return error  # with any package: it is too large, the worker cannot isolate, or access is denied
                if variant is None or not self._stored.note_missing(endpoint, variant, job, error):
                    return error

    async def _send(self, endpoint: str, request: SlotRequest, job: Job, body: Body) -> Execution:
        most = job.run_limits.output_bytes
        own_s = body.max_run_s + _SLACK_S + body.size / _BYTES_PER_S
        sending = Sending(body, body.max_wait_s + own_s, self._client)
        emit = partial(self._events.emit, "job_overdue", endpoint=endpoint, seconds=own_s)
        sending.call_if_overdue(own_s, emit)  # else a job whose answer a proxy swallowed looks like a long one
        request.abandon = sending.give_up
        try:
            reply = await self._client.post(job_url(endpoint), sending, max_bytes=4 * most + (1 << 20))
        finally:
            request.abandon = None
        request.asked_wait_s = reply.asked_wait_s
        with answer.naming(endpoint):
            self._groups.require_unchanged(endpoint, reply.status, reply.body, size=body.size)
            execution = await self._read(reply, job)
            self._groups.require_suitable(endpoint, execution, job.kind)
        return execution

    async def _read(self, reply: Reply, job: Job) -> Execution:
        most = job.run_limits.output_bytes
        if reply.is_cut:
            return answer.cut_execution(reply.status, reply.body)
        if len(reply.body) > _LARGE_ANSWER:
            execution = await asyncio.to_thread(answer.execution, reply.status, reply.body, output_bytes=most)
        else:
            execution = answer.execution(reply.status, reply.body, output_bytes=most)
        return two_stages.split_stages(execution) if two_stages.was_joined(job) else execution

    # ------------------------------------------------------------------ the workers

    async def _run_ticks(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            for endpoint in self._pool.tick(self._client.time()):
                self._start(self._list.check(endpoint))

    def _start(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = self._task_group.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _end_tasks(self) -> None:
        self._pool.close()
        for task in self._tasks:
            task.cancel()
