"""Which endpoint runs which job, and when. Pure: no socket, no clock; time is an argument, chance is injected.

Theory of operation
===================
The pool is told what happened and answers with what is to be done:

    claim  leave  again          ┌──────┐   Grant   this claim may use that endpoint now
    add  remove  checked   ────► │ Pool │ ──► Check   ask that endpoint for its runtimes
    turn (time went by)          └──────┘   Expire  this claim waited in vain
                                            Abort   this claim's endpoint has died under it

Every call takes `now` and returns the actions, in order. `next_due` says when to call `turn` if nothing happens.

**Claims.** A job asks for a slot by a claim. A claim is the only handle to a slot, and `leave` the only way to give
it back: it is right in every state (waiting, granted, both at once when a cancellation crosses a grant), and a second
`leave` does nothing. So the caller needs one `finally`, and nothing can be lost between two awaits.

**Groups.** Endpoints that run jobs alike form a group; a claim names one. In a group claims are served in the order in
which their jobs arrived: a repetition keeps its job's place.

**Choice.** Free endpoints lie in buckets by how many of their slots are busy; the least busy is taken, among these the
one that has rested longest. All of it is O(1), whatever the number of endpoints. A repetition avoids the endpoint
that failed it, while another one is free.

**Alone.** A job that must have a machine to itself reserves the one that is least busy: its endpoints, of all groups,
get no new jobs; when the last one ends, the claim is granted. A machine that is quiet goes to the next such claim, so
that no other has to become so.

**Health.** Each endpoint has a circuit (`circuit.py`). One that is out gets no new jobs; those it has go on: to be
out is a suspicion, and their own deadlines are the judge. Its rest over, it is checked. An endpoint that is in service,
has jobs and has not answered for a while is checked in passing; so a dead one is out after `quiet_s` and the time
that a check takes. If checks keep failing for `abandon_s`, its jobs are aborted. Checks in passing are rationed.

**Repetition.** `again` gives a claim for the next attempt, or none when there were enough. It waits for its backoff,
then for the budget (`budget.py`). An attempt that never left (connection refused) is no repetition: nobody had work
from it, and the circuit keeps its number small.

**Darkness.** While a group has no endpoint in service, its claims wait; after `patience_s` of that they expire, and new
ones expire at once, so that a run ends instead of failing job by job. While other groups have some, they wait only for
`lost_after_s`: what was bound to this group can be judged there. Patient claims, with nowhere to go, wait on.
"""

from __future__ import annotations

import heapq
import random
from itertools import count

from ioi_eval.sandbox.agenda import Agenda, Purpose
from ioi_eval.sandbox.budget import Ration, RetryBudget
from ioi_eval.sandbox.circuit import NEVER_LEFT, Circuit, End, Standing
from ioi_eval.sandbox.pool_terms import Abort, Action, Check, Expire, Grant, PoolPolicy
from ioi_eval.sandbox.roster import Claim, ClaimState, Endpoint, EndpointGroup, Machine, Roster, Seat


class Pool:
    """The state machine; the module's essay says how it works.

    Args:
        policy: the numbers.
        rng: chance, for rests and backoffs.
        budget: bounds repetitions.
    """

    def __init__(self, policy: PoolPolicy, *, rng: random.Random, budget: RetryBudget | None = None) -> None:
        self._policy = policy
        self._rng = rng
        self._budget = budget or RetryBudget()
        self._roster = Roster()
        self._order = count()
        self._serial = count()
        self._agenda = Agenda()
        self._unserved: dict[EndpointGroup, None] = {}
        self._unsettled: dict[Machine, None] = {}
        self._idle: dict[Machine, None] = {}
        self._reserving: dict[Claim, None] = {}
        self._checks = Ration(policy.checks_per_s)
        self._returns = Ration(policy.checks_per_s)

    # ------------------------------------------------------------------ endpoints

    def add(self, endpoint: Endpoint, now: float) -> list[Action]:
        """Take an endpoint into service, or change its group or slots; whatever it was doing goes on."""
        seat = self._roster.seats.get(endpoint.name)
        if seat is not None:
            self._retire(seat, now)
        circuit = Circuit(self._policy.circuit, self._rng)
        if seat is None or not seat.busy:
            seat = self._roster.enter(endpoint, circuit, self._policy.quiet_s, now)
        else:
            seat.endpoint, seat.group, seat.circuit = endpoint, self._roster.group(endpoint.group, now), circuit
            seat.is_leaving = seat.is_checked = False  # a check that is under way was of what it has been
            seat.heard, seat.failing_since = now, None
            self._watch(seat)
        self._file(seat, now)
        return self.turn(now)

    def remove(self, name: str, now: float) -> list[Action]:
        """Give an endpoint no more jobs. Those it has go on."""
        seat = self._roster.seats.get(name)
        if seat is not None:
            self._retire(seat, now)
        return self.turn(now)

    def checked(self, name: str, alive: bool | None, now: float) -> list[Action]:
        """A check of an endpoint came back; `None` if it failed for our own lateness, so that nothing is known."""
        seat = self._roster.seats.get(name)
        if seat is None or not (seat.is_checked or seat.circuit.standing is Standing.CHECK):
            return self.turn(now)
        seat.is_checked = False
        aborts: list[Action] = []
        if alive or (alive is None and seat.may_serve):
            seat.heard, seat.failing_since = now, None
            seat.quiet_s = min(seat.quiet_s * 2, self._policy.most_quiet_s)
            seat.circuit.checked(True, now)
            self._watch(seat)
        elif seat.circuit.standing is not Standing.OUT:  # else it went out meanwhile, and its rest is running
            seat.circuit.checked(False, now)
        if alive is False:
            seat.failing_since = now if seat.failing_since is None else seat.failing_since
            if now - seat.failing_since >= self._policy.abandon_s:
                aborts += [Abort(claim) for claim in sorted(seat.busy, key=lambda claim: claim.order)]
        self._file(seat, now)
        return aborts + self.turn(now)

    # ------------------------------------------------------------------ claims

    def claim(
        self, group: str, now: float, *, alone: bool = False, patient: bool = False
    ) -> tuple[Claim, list[Action]]:
        """A new job's claim to a slot in a group; a patient one has nowhere else to go."""
        claim = Claim(self._roster.group(group, now), next(self._order), alone=alone, patient=patient)
        self._queue(claim)
        return claim, self.turn(now)

    def leave(self, claim: Claim, end: End, now: float) -> list[Action]:
        """Give back what a claim holds, or its place in the queue. Right in every state, and more than once."""
        state, claim.state = claim.state, ClaimState.LEFT
        if state is ClaimState.LEFT:
            return []
        claim.end = end
        if state is ClaimState.RESERVING:
            self._open(claim, now)
        elif state is ClaimState.HELD and claim.seat is not None:
            seat = claim.seat
            self._roster.unseat(claim, seat)
            if claim.alone:
                self._pass_on(claim, now)
            if end in NEVER_LEFT:
                self._budget.take_back(claim.granted_at, retry=claim.retry)
            elif end is End.ANSWERED:
                seat.heard, seat.quiet_s, seat.failing_since = now, self._policy.quiet_s, None
            seat.circuit.ended(end, now)
            self._file(seat, now)
        return self.turn(now)

    def again(self, left: Claim, now: float) -> tuple[Claim | None, list[Action]]:
        """A claim for the next attempt of a job whose claim was left; `None` when it has been sent often enough."""
        reached = left.end not in NEVER_LEFT
        if reached and left.attempt >= self._policy.attempts:
            return None, self.turn(now)
        claim = Claim(left.group, left.order, alone=left.alone, patient=left.patient)
        claim.attempt = left.attempt + reached
        claim.retry = left.retry or reached
        claim.avoid = left.endpoint.name if left.endpoint is not None else left.avoid
        if reached:
            longest = min(self._policy.first_backoff_s * 2 ** (left.attempt - 1), self._policy.most_backoff_s)
            claim.state = ClaimState.DELAYED
            self._agenda.put(now + longest * self._rng.uniform(0.5, 1.0), Purpose.BACKOFF, claim)
        else:
            self._queue(claim)
        return claim, self.turn(now)

    # ------------------------------------------------------------------ time

    def turn(self, now: float) -> list[Action]:
        """What is to be done now."""
        actions: list[Action] = []
        for purpose, subject in self._agenda.take_due(now):
            self._keep(purpose, subject, now, actions)
        while self._unsettled or self._unserved or self._idle:
            if self._unsettled:
                self._settle(self._unsettled.popitem()[0], now, actions)
            elif self._unserved:
                self._serve(self._unserved.popitem()[0], now, actions)
            else:
                self._offer(self._idle.popitem()[0], now)
        return actions

    def next_due(self) -> float | None:
        """When `turn` is to be called at the latest; `None` if only an event can change anything."""
        return self._agenda.next_due()

    def in_service(self, group: str) -> int:
        """How many endpoints of a group are in service."""
        found = self._roster.groups.get(group)
        return 0 if found is None else found.in_service

    def _keep(self, purpose: Purpose, subject: Claim | Seat | EndpointGroup, now: float, actions: list[Action]) -> None:
        """Keep an appointment. What it was made for may have passed: then nothing happens."""
        match purpose, subject:
            case Purpose.BACKOFF, Claim(state=ClaimState.DELAYED):
                self._queue(subject)
            case Purpose.PARKED, Claim(state=ClaimState.PARKED):
                subject.state = ClaimState.LEFT
                actions.append(Expire(subject, is_dark=False))
            case Purpose.BUDGET, EndpointGroup():
                subject.is_looking = False
                self._unserved[subject] = None
            case Purpose.DARK, EndpointGroup():
                self._unserved[subject] = None
            case Purpose.REST, Seat() if subject.circuit.standing is Standing.OUT and not subject.is_leaving:
                if subject.circuit.resting_until > now:
                    return
                if not self._returns.take(now):
                    self._agenda.put(now + 1.0, purpose, subject)
                    return
                subject.circuit.begin_check()
                actions.append(Check(subject.endpoint))
            case Purpose.QUIET, Seat():
                subject.is_watched = False
                self._look_at(subject, now, actions)

    # ------------------------------------------------------------------ serving

    def _queue(self, claim: Claim) -> None:
        claim.state = ClaimState.WAITING
        heapq.heappush(claim.group.waiting, (claim.order, next(self._serial), claim))
        self._unserved[claim.group] = None

    def _serve(self, group: EndpointGroup, now: float, actions: list[Action]) -> None:
        """Grant what can be granted, in the order of arrival."""
        if group.dark_since is not None:
            self._serve_in_the_dark(group, group.dark_since, now, actions)
            return
        while (claim := self._first(group, now)) is not None:
            if not (self._reserve(claim, now) if claim.alone else self._grant_a_slot(claim, now, actions)):
                break
        if group.parked and not group.is_looking:
            group.is_looking = True
            self._agenda.put(now + 1.0, Purpose.BUDGET, group)

    def _first(self, group: EndpointGroup, now: float) -> Claim | None:
        """The claim that is served next. Entries of claims that have moved on are dropped on the way."""
        waiting, parked = group.waiting, group.parked
        while parked and parked[0].state is not ClaimState.PARKED:
            parked.popleft()
        while waiting:
            claim = waiting[0][2]
            if claim.state is ClaimState.WAITING and not (claim.retry and not self._budget.allows_retry(now)):
                break
            heapq.heappop(waiting)
            if claim.state is ClaimState.WAITING:
                self._park(claim, now)
        first = waiting[0][2] if waiting else None
        if parked and (first is None or parked[0].order < first.order) and self._budget.allows_retry(now):
            return parked[0]
        return first

    def _park(self, claim: Claim, now: float) -> None:
        claim.state = ClaimState.PARKED
        claim.group.parked.append(claim)
        self._agenda.put(now + self._policy.patience_s, Purpose.PARKED, claim)

    def _grant_a_slot(self, claim: Claim, now: float, actions: list[Action]) -> bool:
        seat = claim.group.pick(claim.avoid)
        if seat is not None:
            self._grant(claim, seat, now, actions)
        return seat is not None

    def _grant(self, claim: Claim, seat: Seat, now: float, actions: list[Action]) -> None:
        if not seat.busy:
            seat.heard = now
        self._roster.seat_claim(claim, seat)
        claim.granted_at = now
        self._budget.count(now, retry=claim.retry)
        self._watch(seat)
        self._file(seat, now)
        actions.append(Grant(claim))

    def _serve_in_the_dark(self, group: EndpointGroup, since: float, now: float, actions: list[Action]) -> None:
        elsewhere = any(other.in_service for other in self._roster.groups.values())
        first = since + (self._policy.lost_after_s if elsewhere else self._policy.patience_s)
        last = max(first, since + self._policy.patience_s)
        if now >= first:
            in_vain = group.give_up(patient_too=now >= last)
            actions += [Expire(claim, is_dark=True, is_light_elsewhere=elsewhere) for claim in in_vain]
        deadline = first if now < first else last
        if now < deadline and group.dark_timer != deadline:
            group.dark_timer = deadline
            self._agenda.put(deadline, Purpose.DARK, group)

    # ------------------------------------------------------------------ machines to oneself

    def _reserve(self, claim: Claim, now: float) -> bool:
        machine = self._roster.least_busy_machine(claim.group)
        if machine is None:
            return False
        self._hold(claim, machine, now)
        return True

    def _hold(self, claim: Claim, machine: Machine, now: float) -> None:
        claim.state = ClaimState.RESERVING
        self._reserving[claim] = None
        claim.machine, machine.holder = machine, claim
        self._file_all(machine, now)

    def _offer(self, machine: Machine, now: float) -> None:
        """A claim that waits for the last job on its machine takes an idle one instead."""
        groups = {seat.group for seat in machine.seats if seat.may_take_one}
        claim = next((claim for claim in self._reserving if claim.group in groups), None)
        if claim is not None and not machine.busy:
            self._open(claim, now)
            self._hold(claim, machine, now)

    def _pass_on(self, claim: Claim, now: float) -> None:
        """Give back the machine that a claim had to itself; one that waits for another to become quiet takes it."""
        machine = claim.machine
        self._open(claim, now)
        if machine is not None:
            self._offer(machine, now)

    def _open(self, claim: Claim, now: float) -> None:
        """Give back the machine that a claim reserved or has."""
        self._reserving.pop(claim, None)
        machine, claim.machine = claim.machine, None
        if machine is not None:
            machine.holder = None
            self._file_all(machine, now)

    def _settle(self, machine: Machine, now: float, actions: list[Action]) -> None:
        """Grant a reserved machine whose last job has ended, or reserve another where this one went out."""
        claim = machine.holder
        if claim is None or claim.state is not ClaimState.RESERVING:
            return
        seats = [seat for seat in machine.seats if seat.group is claim.group and seat.may_serve]
        if not seats or (claim.retry and not self._budget.allows_retry(now)):
            self._open(claim, now)
            self._queue(claim)
        elif not machine.busy:
            self._reserving.pop(claim, None)
            seats.sort(key=lambda seat: (seat.endpoint.name == claim.avoid, seat.endpoint.name))
            self._grant(claim, seats[0], now, actions)

    # ------------------------------------------------------------------ books and health

    def _file_all(self, machine: Machine, now: float) -> None:
        self._unsettled[machine] = None
        for seat in tuple(machine.seats):
            self._file(seat, now)

    def _file(self, seat: Seat, now: float) -> None:
        """After every change of a seat: its bucket, its group's light, its rest, its farewell."""
        self._roster.refile(seat)
        group = seat.group
        if (group.in_service == 0) != (group.dark_since is not None):
            group.dark_since = now if group.in_service == 0 else None
            self._unserved |= dict.fromkeys(self._roster.dark_groups())  # those have another patience now
            self._unserved[group] = None
        elif seat.bucket is not None and (group.waiting or group.parked):
            self._unserved[group] = None
        if seat.machine.holder is not None:
            self._unsettled[seat.machine] = None
        elif self._reserving and not seat.machine.busy:
            self._idle[seat.machine] = None
        circuit = seat.circuit
        if circuit.standing is Standing.OUT and seat.rest_timer != circuit.resting_until:
            seat.rest_timer = circuit.resting_until
            self._agenda.put(circuit.resting_until, Purpose.REST, seat)
        if seat.is_leaving and not seat.busy:
            self._roster.forget(seat)

    def _retire(self, seat: Seat, now: float) -> None:
        seat.is_leaving = True
        self._file(seat, now)

    def _watch(self, seat: Seat) -> None:
        if not seat.is_watched:
            seat.is_watched = True
            self._agenda.put(seat.heard + seat.quiet_s, Purpose.QUIET, seat)

    def _look_at(self, seat: Seat, now: float, actions: list[Action]) -> None:
        """Check a busy endpoint that has been quiet for too long, as the ration allows."""
        if not seat.busy or not seat.may_serve or seat.is_checked:
            return
        if seat.heard + seat.quiet_s > now:
            self._watch(seat)
        elif not self._checks.take(now):
            seat.is_watched = True
            self._agenda.put(now + 1.0, Purpose.QUIET, seat)
        else:
            seat.is_checked = True
            actions.append(Check(seat.endpoint))
