"""The pool's books: endpoints, their groups and machines, and who holds which slot. Pure.

What is kept true here, after every call:

- a seat lies in a bucket of its group exactly if it may be given one more job;
- the bucket's number is how many of its slots are busy, and within a bucket the longest untouched comes first;
- `Group.in_service` and `Group.open` count its seats in service, and those of them on machines nobody reserved.

Every change is O(1); only a reservation, which is rare, looks at all machines.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from ioi_eval.sandbox.circuit import Circuit, End, Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One server, as the pool sees it.

    Args:
        name: its URL.
        machine: what it shares processors with; endpoints of one machine have the same. It follows from the name.
        group: endpoints that run jobs alike have the same.
        slots: how many jobs of ours it may have at once.
    """

    name: str
    machine: str
    group: str
    slots: int = 1


class ClaimState(Enum):
    """Where a claim stands."""

    DELAYED = auto()  # its backoff is not over
    WAITING = auto()  # for a free slot
    PARKED = auto()  # for the retry budget
    RESERVING = auto()  # for the last job on the machine it reserved
    HELD = auto()  # it holds its slot, or its machine
    LEFT = auto()


class Claim:
    """A job's claim to a slot, for one attempt. Made and changed by the pool only.

    Attributes:
        group: where it may run.
        alone: whether it needs a machine to itself.
        patient: whether no other group would do.
        order: the job's place in the queue, the same for every attempt.
        attempt: how many times the job has been sent, with this attempt.
        retry: whether a server had work from this job before.
        avoid: the endpoint that failed it last.
        end: how it ended, once it was left.
        granted_at: when it got its slot.
    """

    __slots__ = (
        "alone", "attempt", "avoid", "end", "granted_at", "group", "machine", "order", "patient", "retry", "seat",
        "state",
    )  # fmt: skip

    def __init__(self, group: EndpointGroup, order: int, *, alone: bool, patient: bool) -> None:
        self.group = group
        self.alone = alone
        self.patient = patient
        self.order = order
        self.attempt = 1
        self.retry = False
        self.avoid: str | None = None
        self.end = End.UNTRIED
        self.granted_at = 0.0
        self.state = ClaimState.WAITING
        self.seat: Seat | None = None
        self.machine: Machine | None = None

    @property
    def endpoint(self) -> Endpoint | None:
        """Where the job runs; `None` before the grant."""
        return self.seat.endpoint if self.seat is not None else None


class Machine:
    """What several endpoints may share."""

    __slots__ = ("busy", "holder", "name", "seats")

    def __init__(self, name: str) -> None:
        self.name = name
        self.seats: dict[Seat, None] = {}  # in order: what the pool does must not depend on addresses
        self.busy = 0
        self.holder: Claim | None = None  # a claim that reserved it, or has it


class EndpointGroup:
    """Endpoints that run jobs alike, and the claims to them."""

    __slots__ = (
        "_buckets", "dark_since", "dark_timer", "in_service", "is_looking", "name", "open", "parked", "waiting",
    )  # fmt: skip

    def __init__(self, name: str, now: float) -> None:
        self.name = name
        self.waiting: list[tuple[int, int, Claim]] = []  # a heap by the job's place
        self.parked: deque[Claim] = deque()
        self.in_service = 0
        self.open = 0
        self.dark_since: float | None = now
        self.dark_timer: float | None = None
        self.is_looking = False
        self._buckets: list[OrderedDict[Seat, None]] = []

    def put(self, seat: Seat) -> None:
        """Lay a free seat into its bucket, last in line."""
        number = seat.bucket = len(seat.busy)
        while len(self._buckets) <= number:
            self._buckets.append(OrderedDict())
        self._buckets[number][seat] = None

    def take_out(self, seat: Seat) -> None:
        """Take a seat out of its bucket, if it lies in one."""
        if seat.bucket is not None:
            del self._buckets[seat.bucket][seat]
            seat.bucket = None

    def give_up(self, *, patient_too: bool) -> list[Claim]:
        """Take out the claims that have waited in vain, in their order; patient ones stay, unless they go too."""
        waiting = sorted(self.waiting)
        claims = dict.fromkeys([claim for _, _, claim in waiting if claim.state is ClaimState.WAITING])
        claims |= dict.fromkeys(claim for claim in self.parked if claim.state is ClaimState.PARKED)
        in_vain = [claim for claim in claims if patient_too or not claim.patient]
        for claim in in_vain:
            claim.state = ClaimState.LEFT
        self.waiting = [entry for entry in waiting if entry[2].state is ClaimState.WAITING]
        self.parked = deque(claim for claim in self.parked if claim.state is ClaimState.PARKED)
        return in_vain

    def pick(self, avoid: str | None) -> Seat | None:
        """The least busy free seat; another than `avoid` if there is one."""
        second_choice = None
        for bucket in self._buckets:
            for seat in bucket:
                if seat.endpoint.name != avoid:
                    return seat
                second_choice = seat
        return second_choice


class Seat:
    """An endpoint with what is known of it.

    Attributes:
        busy: the claims that hold one of its slots.
        heard: when it last answered anything, or was given a job while idle.
        quiet_s: after how long without an answer it is checked in passing.
        is_watched: whether a timer for that is set.
        is_checked: whether a check in passing is under way.
        failing_since: the first of the checks that failed since the last that did not.
        is_leaving: it gets no more jobs, and is forgotten with its last one.
        bucket: its bucket in its group; `None` while it may not be given a job.
    """

    __slots__ = (
        "bucket", "busy", "circuit", "endpoint", "failing_since", "group", "heard", "is_checked", "is_counted",
        "is_leaving", "is_open", "is_watched", "machine", "quiet_s", "rest_timer",
    )  # fmt: skip

    def __init__(
        self, endpoint: Endpoint, group: EndpointGroup, machine: Machine, circuit: Circuit, quiet_s: float
    ) -> None:
        self.endpoint = endpoint
        self.group = group
        self.machine = machine
        self.circuit = circuit
        self.rest_timer: float | None = None
        self.busy: set[Claim] = set()
        self.heard = 0.0
        self.quiet_s = quiet_s
        self.is_watched = False
        self.is_checked = False
        self.failing_since: float | None = None
        self.is_leaving = False
        self.bucket: int | None = None
        self.is_counted = False
        self.is_open = False

    @property
    def may_serve(self) -> bool:
        """Whether it is in service and stays."""
        standing = self.circuit.standing
        return (standing is Standing.IN or standing is Standing.TRIAL) and not self.is_leaving

    @property
    def has_room(self) -> bool:
        """Whether one of its slots is free; on trial it has but one."""
        return len(self.busy) < (1 if self.circuit.standing is Standing.TRIAL else self.endpoint.slots)

    @property
    def may_take_one(self) -> bool:
        """Whether it may be given one more job."""
        return self.may_serve and self.machine.holder is None and self.has_room


class Roster:
    """All endpoints, by name, group and machine."""

    def __init__(self) -> None:
        self.seats: dict[str, Seat] = {}
        self.groups: dict[str, EndpointGroup] = {}
        self._machines: dict[str, Machine] = {}

    def group(self, name: str, now: float) -> EndpointGroup:
        """The group of this name; a new one is dark."""
        found = self.groups.get(name)
        if found is None:
            found = self.groups[name] = EndpointGroup(name, now)
        return found

    def dark_groups(self) -> Iterator[EndpointGroup]:
        """The groups with claims, and without an endpoint in service."""
        groups = self.groups.values()
        return (group for group in groups if group.dark_since is not None and (group.waiting or group.parked))

    def enter(self, endpoint: Endpoint, circuit: Circuit, quiet_s: float, now: float) -> Seat:
        """A seat for a new endpoint. It is filed with `refile`."""
        machine = self._machines.get(endpoint.machine)
        if machine is None:
            machine = self._machines[endpoint.machine] = Machine(endpoint.machine)
        seat = Seat(endpoint, self.group(endpoint.group, now), machine, circuit, quiet_s)
        machine.seats[seat] = None
        self.seats[endpoint.name] = seat
        return seat

    def forget(self, seat: Seat) -> None:
        """Strike off a seat that left and has no job any more."""
        if self.seats.get(seat.endpoint.name) is seat:
            del self.seats[seat.endpoint.name]
        seat.machine.seats.pop(seat, None)
        if not seat.machine.seats and seat.machine.holder is None:
            self._machines.pop(seat.machine.name, None)

    def refile(self, seat: Seat) -> None:
        """Put a seat where it now belongs: after every change of its jobs, its standing or its machine's holder."""
        group = seat.group
        group.take_out(seat)
        serves = seat.may_serve
        is_open = serves and seat.machine.holder is None
        if is_open and seat.has_room:
            group.put(seat)
        if serves is not seat.is_counted:
            group.in_service += 1 if serves else -1
            seat.is_counted = serves
        if is_open is not seat.is_open:
            group.open += 1 if is_open else -1
            seat.is_open = is_open

    def seat_claim(self, claim: Claim, seat: Seat) -> None:
        """Give a claim a slot of a seat."""
        claim.seat = seat
        claim.state = ClaimState.HELD
        seat.busy.add(claim)
        seat.machine.busy += 1

    def unseat(self, claim: Claim, seat: Seat) -> None:
        """Take it back."""
        seat.busy.discard(claim)
        seat.machine.busy -= 1

    def least_busy_machine(self, group: EndpointGroup) -> Machine | None:
        """The machine that nobody reserved, with a seat of this group in service, that has the fewest jobs."""
        if not group.open:
            return None
        return min(self._open_machines(group), key=lambda machine: machine.busy)

    def _open_machines(self, group: EndpointGroup) -> Iterator[Machine]:
        for machine in self._machines.values():
            if machine.holder is None and any(seat.group is group and seat.may_serve for seat in machine.seats):
                yield machine
