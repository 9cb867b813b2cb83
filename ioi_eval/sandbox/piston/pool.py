"""Decides which job runs on which endpoint, and when. Pure: no socket, no clock; time and randomness are arguments.

    job ── request ──► waiting, in its group ──► holds a slot of an endpoint ──► release
             ▲                   │ no endpoint is in service for too long           │
             │                   ▼                                                  │
             │               `failure`                                              │
             └────────────────────────── retry (another slot) ◄─────────────────────┘

A job asks for a slot with a `SlotRequest`. The caller is woken when the request holds a slot or has failed, and calls
`release` in a `finally`: this may be done in every state, and a second call does nothing. So no slot can be lost
between two awaits. Everything else happens in these calls, or in `tick`, which is called four times a second.

**Order.** Endpoints that run jobs in the same way are a group. In a group jobs are served in the order in which they
arrived. A job that is sent again keeps its place. A free slot goes to the first job immediately; a job goes to the
endpoint that runs the fewest jobs, and of several to the one that was idle longest. The endpoint that has just failed a
job gets it again only if there is no other. This costs the same for two endpoints and for two thousand.

**Alone.** A job that must run alone reserves the machine with the fewest jobs. That machine's endpoints, of all groups,
get no new jobs. When its last job has ended, the job that reserved it starts; if another machine is idle before that,
the job starts there. Afterwards the machine goes first to the next job that must run alone, as it is idle already.

**Health.** `endpoint_state.py` decides when an endpoint is given no jobs. Those that it runs continue: their own
deadlines apply. `tick` returns the endpoints to check: those whose pause is over, and those that run jobs and were
silent for a while. If checks fail for long, the jobs there are abandoned.

**Retries.** The caller decides how often one job is sent again (`retries.py`). While too many jobs of the cluster must
be sent again, the pool holds them back. A job fails if it is held back for `patience_s` because retries keep failing.

**No endpoint in service.** While no endpoint of a group is in service its jobs wait, and fail after `patience_s`. Later
jobs fail immediately, until an endpoint is back. While other groups are in service, jobs fail after `LOST_AFTER_S`
already, except those that only this group may run (`is_only`).

**No server begins a job.** An endpoint may answer checks and yet accept no job, so that it enters and leaves service
for ever. A job that no server began for `patience_s` (no connection, or a refusal) fails, if meanwhile no endpoint of
its group has accepted any job.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from itertools import count

from ioi_eval.errors import ExhaustedError, SandboxError, TargetLostError, UnavailableError
from ioi_eval.sandbox.piston.endpoint_state import Endpoint, EndpointState, Group, Machine, SlotRequest
from ioi_eval.sandbox.piston.job_end import JobEnd
from ioi_eval.sandbox.piston.retries import RetryBudget

TICK_S = 0.25
"""The interval at which to call `tick`. With 1,500 endpoints it takes 0.4 ms, that is 0.2 % of a processor."""

CHECKS_PER_S = 100
"""At most this many checks are made: a thousand at once would delay this process."""

LOST_AFTER_S = 15.0
"""How long jobs wait for their own group while another one could judge them. Chosen: a server's process restarts in
less; a submission that starts again elsewhere loses seconds of work, not minutes."""

LEAST_UNCONNECTED = 3
"""Fewer attempts in a row that no server began say nothing about a group of endpoints."""

_CLOSED = "the PistonCluster was closed while the job waited for a slot"
_TOO_MANY_RETRIED = (
    "for {seconds:g} s so many of the cluster's jobs failed again that this one was not sent; "
    "`ioi-eval doctor --endpoints …` tests the workers"
)


class Pool:
    """The slots of all endpoints; see the module. `rng` makes the length of pauses random; `changed` is called when an
    endpoint enters or leaves service, with its URL and whether it is in service now."""

    def __init__(
        self, *, patience_s: float, rng: random.Random, changed: Callable[[str, bool], None] = lambda _, __: None
    ) -> None:
        self._changed = changed
        self._patience_s = patience_s
        self._rng = rng
        self._budget = RetryBudget()
        self._endpoints: dict[str, EndpointState] = {}
        self._groups: dict[str, Group] = {}
        self._machines: dict[str, Machine] = {}
        self._reserving: dict[SlotRequest, None] = {}  # each has reserved a machine, and waits until that is idle
        self._order = count()
        self._is_closed = False

    # ------------------------------------------------------------------ endpoints

    def add(self, endpoint: Endpoint, now: float) -> None:
        """Take an endpoint into service, or update it. The jobs that it runs continue."""
        group = self._group(endpoint.group, now)
        state = self._endpoints.get(endpoint.url)
        if state is None:
            machine = self._machines.setdefault(endpoint.machine, Machine())
            state = self._endpoints[endpoint.url] = EndpointState(endpoint, group, machine, now)
            machine.endpoints[state] = None
        else:
            state.is_listed = False  # leave the old group first, so that its counts and queues are right
            self._after_change(state, now, forget=False)
            state.begin(endpoint, group, now)
        self._after_change(state, now)

    def remove(self, endpoint: str, now: float) -> None:
        """Give an endpoint no more jobs. Those that it runs continue."""
        state = self._endpoints.get(endpoint)
        if state is not None:
            state.is_listed = False
            self._after_change(state, now)

    def check_ended(self, endpoint: str, is_alive: bool, now: float) -> None:
        """A check of an endpoint ended."""
        state = self._endpoints.get(endpoint)
        if state is None or not state.is_checked:
            return
        if state.check_ended(is_alive, now, self._rng):
            for request in tuple(state.running):
                if request.abandon is not None:
                    request.abandon()
        self._after_change(state, now)

    def pause(self, endpoint: str, now: float) -> None:
        """Give an endpoint no jobs for up to `LONGEST_PAUSE_S`: it answers them, but its answers are of no use.

        If no other one of its group is in service, it keeps getting jobs, so that callers soon learn what is wrong.
        """
        state = self._endpoints.get(endpoint)
        if state is not None and state.group.in_service > state.in_service:
            state.pause_for_long(now, self._rng)
            self._after_change(state, now)

    def in_service(self, group: str) -> int:
        """How many endpoints of a group are in service."""
        known = self._groups.get(group)
        return 0 if known is None else known.in_service

    def is_lost(self, group: str) -> bool:
        """Whether none of a group's endpoints is in service, but one of another group."""
        return not self.in_service(group) and self._is_other_in_service(self._groups.get(group))

    def running(self) -> int:
        """How many jobs run on all endpoints together."""
        return sum(machine.running for machine in self._machines.values())

    # ------------------------------------------------------------------ requests

    def request(
        self,
        group: str,
        now: float,
        *,
        is_alone: bool = False,
        is_only: bool = False,
        last_endpoint: str | None = None,
    ) -> SlotRequest:
        """Ask for a slot for a new job; see `SlotRequest`. The request may already hold one when this returns."""
        request = SlotRequest(
            group=self._group(group, now),
            order=next(self._order),
            is_alone=is_alone,
            is_only=is_only,
            last_endpoint=last_endpoint,
        )
        self._enqueue(request, now)
        return request

    def retry(self, request: SlotRequest, now: float, *, may_have_started: bool) -> None:
        """Ask for a slot for the same job once more. If no server began the job (no connection, or a refusal), this
        does not count as a retry."""
        assert not request.holds_slot, "the slot was not released"
        assert request.state is not None, "the request never had a slot: there is nothing to retry"
        request.is_retry |= may_have_started
        if request.unconnected == 0:
            request.unconnected_since = now
        request.unconnected = 0 if may_have_started else request.unconnected + 1
        if request.unconnected >= LEAST_UNCONNECTED and self._accepts_no_job(request, now):
            checked = f"workers of {request.group.name!r} answer checks"
            message = f"{checked}, but have accepted no job for {self._patience_s:g} s"
            self._fail(request, self._lost_or_unavailable(request.group, message, f"{message}; start them again"))
        else:
            self._enqueue(request, now)

    def _accepts_no_job(self, request: SlotRequest, now: float) -> bool:
        """Whether its group has accepted neither this job nor another one for as long as jobs may wait."""
        group = request.group
        is_idle = now - max(request.unconnected_since, group.accepted_at) >= self._patience_s
        return is_idle and not any(state.running for state in self._endpoints.values() if state.group is group)

    def release(self, request: SlotRequest, end: JobEnd, now: float) -> None:
        """Release a request's slot, or its place in the queue. May be called in every state, and more than once."""
        request.is_waiting = False  # its entry in the queue is dropped when it comes to the front
        state, machine = request.state, request.reserved
        held, request.holds_slot = request.holds_slot, False
        if machine is not None:
            self._release_machine(request, machine, now)
        if held and state is not None:
            del state.running[request]
            state.machine.running -= 1
            if end.may_have_started and end is not JobEnd.CANCELLED:
                request.group.accepted_at = now
            self._budget.end(request.granted_at, now, end, is_retry=request.is_retry)
            state.job_ended(end, now, self._rng, asked_wait_s=request.asked_wait_s)
            self._after_change(state, now)
        if machine is not None:
            self._serve_machine(machine, now)

    def close(self) -> None:
        """Fail the jobs that still wait, and those that ask for a slot later: nothing would end their waiting."""
        self._is_closed = True
        waiting = [request for group in self._groups.values() for request in group.in_order()]
        for request in (*waiting, *self._reserving):
            self._fail(request, UnavailableError(_CLOSED))

    # ------------------------------------------------------------------ time

    def tick(self, now: float) -> list[str]:
        """Do what is due. Returns the endpoints to check now; call `check_ended` after each check."""
        for group in self._groups.values():
            self._fail_waiting(group, now)
            if group.retried:
                self._serve(group, now)  # the budget has grown
                self._fail_held_back(group, now)
        due = sorted((state.check_due, url) for url, state in self._endpoints.items() if state.check_due <= now)
        endpoints = [url for _, url in due[: int(CHECKS_PER_S * TICK_S)]]
        for each in endpoints:
            self._endpoints[each].is_checked = True
        return endpoints

    def _fail_held_back(self, group: Group, now: float) -> None:
        """Fail the retried jobs that the budget has held back for too long, because so many others failed again.

        Those that lack only a slot wait on, and those that only wait for retries under way.
        """
        is_used_up = self._budget.is_used_up(now)
        for request in sorted(group.retried):
            if not is_used_up:
                request.held_back_since = None
            elif request.held_back_since is None:
                request.held_back_since = now
            elif request.is_waiting and now - request.held_back_since >= self._patience_s:
                self._fail(request, ExhaustedError(_TOO_MANY_RETRIED.format(seconds=self._patience_s)))

    def _fail_waiting(self, group: Group, now: float) -> None:
        """Fail the jobs that have waited for as long as they may while no endpoint of their group was in service."""
        if group.unavailable_since is None or not (group.waiting or group.retried):
            return
        waited_s = now - group.unavailable_since
        elsewhere = self._is_other_in_service(group)
        if waited_s < (min(LOST_AFTER_S, self._patience_s) if elsewhere else self._patience_s):
            return
        lost = f"no worker of {group.name!r} has been available for {waited_s:.0f} s"
        none = f"no Piston endpoint has been available for {self._patience_s:g} s; start the workers again"
        for request in group.in_order():
            if not (request.is_only and waited_s < self._patience_s):
                self._fail(request, self._lost_or_unavailable(group, lost, none))
        for queue in (group.waiting, group.retried):
            queue[:] = sorted(request for request in queue if request.is_waiting)

    def _is_other_in_service(self, group: Group | None) -> bool:
        return any(other.in_service for other in self._groups.values() if other is not group)

    def _lost_or_unavailable(self, group: Group, lost: str, unavailable: str) -> UnavailableError:
        """The error if a group serves no jobs: which one depends on whether another group is in service."""
        is_lost = self._is_other_in_service(group)
        return TargetLostError(lost) if is_lost else UnavailableError(f"{unavailable} and resume")

    def _fail(self, request: SlotRequest, failure: SandboxError) -> None:
        request.is_waiting = False
        request.failure = failure
        if request.wake is not None:
            request.wake()

    # ------------------------------------------------------------------ which request is served next

    def _enqueue(self, request: SlotRequest, now: float) -> None:
        group = request.group
        if self._is_closed:
            self._fail(request, UnavailableError(_CLOSED))
            return
        request.is_waiting = True
        heapq.heappush(group.retried if request.is_retry else group.waiting, request)
        if group.unavailable_since is None:
            self._serve(group, now)
        else:
            self._fail_waiting(group, now)

    def _serve(self, group: Group, now: float) -> None:
        while (queue := group.next_queue(lambda: self._budget.allows_retry(now))) is not None:
            request = queue[0]
            if request.is_alone:
                free = [each for each in self._machines.values() if each.reserved_by is None and each.serving(group)]
                machine = min(free, key=lambda machine: machine.running, default=None)
                if machine is None:
                    return
                heapq.heappop(queue)
                request.is_waiting = False
                self._reserve(request, machine, now)
            else:
                state = group.free_endpoint(request.last_endpoint)
                if state is None:
                    return
                heapq.heappop(queue)
                self._grant(request, state, now)

    def _grant(self, request: SlotRequest, state: EndpointState, now: float) -> None:
        state.job_begins(request, now)
        self._budget.begin(now, is_retry=request.is_retry)
        self._offer_or_withdraw(state, now)
        if request.wake is not None:
            request.wake()

    # ------------------------------------------------------------------ jobs that run alone

    def _reserve(self, request: SlotRequest, machine: Machine, now: float) -> None:
        request.reserved, machine.reserved_by = machine, request
        self._reserving[request] = None
        for state in machine.endpoints:
            self._offer_or_withdraw(state, now)
        self._serve_machine(machine, now)

    def _release_machine(self, request: SlotRequest, machine: Machine, now: float) -> None:
        request.reserved = machine.reserved_by = None
        self._reserving.pop(request, None)
        for state in machine.endpoints:
            self._offer_or_withdraw(state, now)

    def _serve_machine(self, machine: Machine, now: float) -> None:
        """After a change on a machine: give it to a job that waits to run alone, else give its slots to other jobs."""
        request = machine.reserved_by
        if request is None and not machine.running:
            request = next((each for each in self._reserving if machine.serving(each.group)), None)
            if request is not None and (left := request.reserved) is not None:  # it waited for another machine
                self._release_machine(request, left, now)
                self._reserve(request, machine, now)
                self._serve_machine(left, now)
                return
        if request is None:
            for group in {state.group: None for state in machine.endpoints}:
                self._serve(group, now)
        elif request in self._reserving:
            self._start_alone(request, machine, now)

    def _start_alone(self, request: SlotRequest, machine: Machine, now: float) -> None:
        """Start a job on the machine that it has reserved, if that is idle now. The job waits again if the machine has
        no endpoint in service any more, or if the job must be held back."""
        serving = machine.serving(request.group)
        if not serving or (request.is_retry and not self._budget.allows_retry(now)):
            self._release_machine(request, machine, now)
            self._enqueue(request, now)
            self._serve_machine(machine, now)
        elif not machine.running:
            del self._reserving[request]
            self._grant(request, min(serving, key=lambda state: state.endpoint.url == request.last_endpoint), now)

    # ------------------------------------------------------------------ bookkeeping

    def _group(self, name: str, now: float) -> Group:
        return self._groups.get(name) or self._groups.setdefault(name, Group(name, now))

    def _after_change(self, state: EndpointState, now: float, *, forget: bool = True) -> None:
        """After every change of an endpoint: serve requests that can be served now, and forget it if it has left."""
        self._offer_or_withdraw(state, now)
        machine = state.machine
        if machine.reserved_by is not None or (self._reserving and not machine.running):
            self._serve_machine(machine, now)
        elif state.offered_load is not None and (state.group.waiting or state.group.retried):
            self._serve(state.group, now)
        if forget and not state.is_listed and not state.running:
            self._endpoints.pop(state.endpoint.url, None)
            machine.endpoints.pop(state, None)

    def _offer_or_withdraw(self, state: EndpointState, now: float) -> None:
        """Offer an endpoint in its group exactly if it has a free slot."""
        if state.group.update(state, now):
            self._changed(state.endpoint.url, state.in_service)
