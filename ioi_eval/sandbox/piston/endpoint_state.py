"""The state of the pool: requests for slots; each endpoint's jobs, and whether it may get more. Pure.

    from        to          when
    TRUSTED     PAUSED      a job was not served, got no answer or met an overload; three answers in a row were broken
    ON_TRIAL    PAUSED      the same, or one answer was broken
    either      PAUSED      a check failed, or the pool's caller has found its answers to be of no use
    PAUSED      ON_TRIAL    the pause is over, and a check was answered (if it fails, a longer pause follows)
    ON_TRIAL    TRUSTED     a job was answered

A check is `GET /runtimes`, the one request that costs a server nothing (`/packages` can crash it). An answer shows that
the process is alive, not that it can execute jobs. So an endpoint that comes back gets one job at a time until one is
answered. A server that answers checks but breaks jobs costs one job after each pause, and its pauses get longer.

An endpoint in service is checked too, if it has jobs and has not answered anything for a while; so is one that has left
the list of endpoints, until its last job ends.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import chain

from ioi_eval.errors import SandboxError
from ioi_eval.sandbox.piston.job_end import JobEnd

BROKEN_IN_A_ROW = 3
"""After this many broken answers in a row an endpoint is paused. If one answer in twenty is broken by chance, three in
a row happen once in 8,000 jobs."""

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
"""Pauses double from the first to the longest. Each is multiplied by a random 0.5 to 1, so that endpoints which failed
together are not checked together."""
_MANY_PAUSES = 30  # after so many in a row, each is the longest

LONGEST_ASKED_PAUSE_S = 60.0
"""A server that refuses a job may ask for a longer pause (`Retry-After`), up to this. It gets one job then, and may ask
again. A wrong clock or a careless setting of a proxy must not end its service for hours."""

CHECK_AFTER_S = 2.0
LONGEST_CHECK_AFTER_S = 30.0
"""An endpoint with jobs that has answered nothing for this long is checked. While checks are answered, the time between
them doubles up to the longest. With the 3 s that a check may take, a machine that loses its power is out of service
within about 5 s if it has just answered, and within about 35 s in the midst of long jobs. A job that is sent there
before gets no connection, which puts it out of service at once."""

ABANDON_AFTER_S = 20.0
"""The jobs of an endpoint that has failed all checks for this long are abandoned, when the next check fails: half a
minute to a minute after its machine has died. It is twenty times what a check takes on a server that unpacks a large
request."""


class Availability(Enum):
    """Whether an endpoint is given jobs."""

    TRUSTED = auto()
    ON_TRIAL = auto()  # one job at a time
    PAUSED = auto()  # none


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One server, as the pool sees it: the URL of its API, which identifies it; its machine (the same for endpoints
    that share processors) and group (for those that run jobs in the same way); how many jobs it may have at once."""

    url: str
    machine: str
    group: str
    slots: int = 1


@dataclass(slots=True, eq=False, kw_only=True)
class SlotRequest:
    """A job's request for a slot. Only the pool makes and changes it, except for the two callbacks and `asked_wait_s`.

    Args:
        order: its place among all jobs.
        is_alone: whether it needs a machine to itself.
        is_only: whether no other group may run the job.
        last_endpoint: the URL of the endpoint that has the job, or had it last; a retry prefers another. It is known
            from the start if the cluster's caller sends the job again.
        is_retry: whether a server may have had work from the job before.
        unconnected: how many attempts in a row no server began (no connection, or a refusal). The first of them ended
            at `unconnected_since`.
        is_waiting: whether it is in one of its group's queues.
        reserved: the machine that is reserved for this job, if it must run alone.
        state: the endpoint whose slot it holds, or held last.
        asked_wait_s: how long the server of its last attempt asks its clients to wait.
        held_back_since: since when the retry budget has held it back.
        failure: why it will get no slot.
        wake: called when it holds a slot or has failed.
        abandon: called when its endpoint has failed all checks for `ABANDON_AFTER_S`.
    """

    group: Group
    order: int
    is_alone: bool
    is_only: bool
    last_endpoint: str | None = None
    is_retry: bool = False
    unconnected: int = 0
    unconnected_since: float = 0.0
    is_waiting: bool = False
    holds_slot: bool = False
    granted_at: float = 0.0
    asked_wait_s: float = 0.0
    reserved: Machine | None = None
    state: EndpointState | None = None
    held_back_since: float | None = None
    failure: SandboxError | None = None
    wake: Callable[[], None] | None = None
    abandon: Callable[[], None] | None = None

    def __lt__(self, other: SlotRequest) -> bool:
        return self.order < other.order


@dataclass(slots=True, eq=False)
class Machine:
    """A machine, which endpoints may share.

    Args:
        running: how many jobs its endpoints run together.
        reserved_by: the request of a job that runs here alone, or waits until the last other job has ended.
    """

    endpoints: dict[EndpointState, None] = field(default_factory=dict)
    running: int = 0
    reserved_by: SlotRequest | None = None

    def serving(self, group: Group) -> list[EndpointState]:
        """Its endpoints of a group that are in service."""
        return [state for state in self.endpoints if state.group is group and state.in_service]


@dataclass(slots=True, eq=False)
class Group:
    """Endpoints that run jobs in the same way (on one target), and the requests for their slots.

    Args:
        unavailable_since: when the last endpoint went out of service; `None` while one is in service.
        waiting: requests of jobs that were not sent yet; a heap by order of arrival.
        retried: requests of jobs that must be sent again; likewise. They also wait for the retry budget.
        accepted_at: when the last job ended that an endpoint is known to have accepted.
    """

    name: str
    unavailable_since: float | None
    in_service: int = 0
    waiting: list[SlotRequest] = field(default_factory=list)
    retried: list[SlotRequest] = field(default_factory=list)
    accepted_at: float = 0.0
    # endpoints with a free slot, by how many jobs they run
    _by_load: list[OrderedDict[EndpointState, None]] = field(default_factory=list)

    def next_queue(self, allows_retry: Callable[[], bool]) -> list[SlotRequest] | None:
        """The queue whose first job is served next. Also drops requests at the front that no longer wait."""
        for queue in (self.waiting, self.retried):
            while queue and not queue[0].is_waiting:
                heapq.heappop(queue)
        if self.retried and not (self.waiting and self.waiting[0] < self.retried[0]) and allows_retry():
            return self.retried
        return self.waiting or None

    def in_order(self) -> list[SlotRequest]:
        """The requests that wait, in the order in which they arrived."""
        return sorted(request for request in (*self.waiting, *self.retried) if request.is_waiting)

    def update(self, state: EndpointState, now: float) -> bool:
        """Offer an endpoint exactly if it has a free slot, and keep count of those in service. Returns whether it has
        entered or left service. Of the endpoints that run equally many jobs, it is used last."""
        if state.offered_load is not None:
            del self._by_load[state.offered_load][state]
            state.offered_load = None
        if state.has_free_slot:
            load = state.offered_load = len(state.running)
            while len(self._by_load) <= load:
                self._by_load.append(OrderedDict())
            self._by_load[load][state] = None
        if state.in_service is state.is_counted:
            return False
        state.is_counted = state.in_service
        self.in_service += 1 if state.in_service else -1
        self.unavailable_since = None if self.in_service else now
        return True

    def free_endpoint(self, avoid: str | None) -> EndpointState | None:
        """The endpoint with a free slot that runs the fewest jobs; another than `avoid` if there is one."""
        second_choice = None
        for state in chain.from_iterable(self._by_load):
            if state.endpoint.url != avoid:
                return state
            second_choice = state
        return second_choice


class EndpointState:
    """An endpoint and its state.

    Attributes:
        running: the requests that hold one of its slots, in the order in which they got it.
        availability: whether it is given jobs.
        is_listed: whether it is on the list of endpoints. Else it gets no more jobs, and is forgotten after its last.
        is_checked: whether a check is under way.
        offered_load: the number of jobs under which its group offers it; `None` while it has no free slot.
        is_counted: whether it is counted in `Group.in_service`.
    """

    def __init__(self, endpoint: Endpoint, group: Group, machine: Machine, now: float) -> None:
        self.running: dict[SlotRequest, None] = {}
        self.machine = machine
        self.offered_load: int | None = None
        self.is_counted = False
        self.begin(endpoint, group, now)

    def begin(self, endpoint: Endpoint, group: Group, now: float) -> None:
        """Enter service with the endpoint's new properties. The result of a check that is under way does not count."""
        self.endpoint = endpoint
        self.group = group
        self.availability = Availability.TRUSTED
        self.is_listed = True
        self.is_checked = False
        self._heard_at = now
        self._check_after_s = CHECK_AFTER_S
        self._paused_until = 0.0
        self._failing_since: float | None = None
        self._broken = 0  # in a row
        self._pauses = 0  # in a row

    @property
    def in_service(self) -> bool:
        """Whether it is given jobs when it has free slots."""
        return self.availability is not Availability.PAUSED and self.is_listed

    @property
    def has_free_slot(self) -> bool:
        """Whether it may be given one more job now."""
        slots = 1 if self.availability is Availability.ON_TRIAL else self.endpoint.slots
        return self.in_service and self.machine.reserved_by is None and len(self.running) < slots

    @property
    def check_due(self) -> float:
        """When to check it; infinity if no check is needed."""
        if self.is_checked or not (self.is_listed or self.running):
            return math.inf
        if self.availability is Availability.PAUSED:
            return self._paused_until
        return self._heard_at + self._check_after_s if self.running else math.inf

    def job_begins(self, request: SlotRequest, now: float) -> None:
        """A job gets one of its slots. If it was idle, its silence counts from now."""
        if not self.running:
            self._heard_at = now
        self.running[request] = None
        self.machine.running += 1
        request.is_waiting, request.holds_slot = False, True
        request.granted_at, request.asked_wait_s, request.held_back_since = now, 0.0, None
        request.state, request.last_endpoint = self, self.endpoint.url

    def job_ended(self, end: JobEnd, now: float, rng: random.Random, *, asked_wait_s: float = 0.0) -> None:
        """One of its jobs ended. If it is paused already, only an answer, or a longer wait, changes anything."""
        if end is JobEnd.CANCELLED:
            return
        if end is JobEnd.ANSWERED:
            self._heard_at, self._check_after_s, self._failing_since = now, CHECK_AFTER_S, None
            self._broken = 0
            if self.availability is Availability.ON_TRIAL:
                self._pauses, self.availability = 0, Availability.TRUSTED
            return
        self._broken += 1
        is_trusted = self.availability is Availability.TRUSTED
        is_chance = end is JobEnd.BROKEN and is_trusted and self._broken < BROKEN_IN_A_ROW
        if self.availability is not Availability.PAUSED and not is_chance:
            self._pause(now, rng)
        if self.availability is Availability.PAUSED:
            self._paused_until = max(self._paused_until, now + min(asked_wait_s, LONGEST_ASKED_PAUSE_S))

    def check_ended(self, is_alive: bool, now: float, rng: random.Random) -> bool:
        """A check ended. Returns whether to abandon its jobs."""
        self.is_checked = False
        if is_alive:
            self._heard_at, self._failing_since = now, None
            self._check_after_s = min(self._check_after_s * 2, LONGEST_CHECK_AFTER_S)
            if self.availability is Availability.PAUSED:
                self.availability = Availability.ON_TRIAL
            return False
        self._pause(now, rng)
        self._failing_since = now if self._failing_since is None else self._failing_since
        return now - self._failing_since >= ABANDON_AFTER_S

    def pause_for_long(self, now: float, rng: random.Random) -> None:
        """Its answers are of no use, although it gives them at once: it would be given one job after the other."""
        self._pauses = _MANY_PAUSES
        self._pause(now, rng)

    def _pause(self, now: float, rng: random.Random) -> None:
        longest = min(FIRST_PAUSE_S * 2**self._pauses, LONGEST_PAUSE_S)
        self._pauses = min(self._pauses + 1, _MANY_PAUSES)
        self._paused_until = now + longest * rng.uniform(0.5, 1.0)
        self.availability = Availability.PAUSED
        self.is_checked = False  # the result of a check that is under way does not count
