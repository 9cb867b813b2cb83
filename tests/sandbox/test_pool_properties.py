"""What holds in the pool whatever happens in whatever order: a state machine against a simple model."""

from __future__ import annotations

import random
import sys
from collections import Counter

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ioi_eval.sandbox.budget import FLOOR, SHARE, WINDOW_S
from ioi_eval.sandbox.circuit import NEVER_LEFT, End
from ioi_eval.sandbox.pool import Pool
from ioi_eval.sandbox.pool_terms import Abort, Action, Check, Expire, Grant, PoolPolicy
from ioi_eval.sandbox.roster import Claim, Endpoint

NAMES = st.sampled_from([f"http://w{number}" for number in range(6)])
GROUPS = st.sampled_from(["g0", "g1"])
ENDS = st.sampled_from(list(End))
TIMES = st.one_of(st.just(0.0), st.floats(min_value=0.0, max_value=3.0), st.sampled_from([10.0, 59.5, 61.0, 130.0]))


class PoolMachine(RuleBasedStateMachine):
    """Claims, endings, deaths, returns, endpoints that come and go, time; and what the pool answers."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.endpoints: dict[str, Endpoint] = {}
        self.waiting: list[Claim] = []
        self.held: list[Claim] = []
        self.left: list[Claim] = []
        self.checks: list[str] = []
        self.sent: list[tuple[float, Claim]] = []  # requests that a server may have had work from
        self.served: dict[str, int] = {}

    @initialize(seed=st.integers(0, 99))
    def begin(self, seed: int) -> None:
        """A pool with its own chance."""
        self.pool = Pool(PoolPolicy(patience_s=20.0, attempts=3), rng=random.Random(seed))

    # ------------------------------------------------------------------ what can happen

    @rule(name=NAMES, group=GROUPS, slots=st.integers(1, 3))
    def add(self, name: str, group: str, slots: int) -> None:
        """An endpoint appears, or comes back with other properties. Two each share a machine."""
        machine = f"m{int(name[-1]) // 2}"
        self.endpoints[name] = Endpoint(name=name, machine=machine, group=group, slots=slots)
        self.obey(self.pool.add(self.endpoints[name], self.now))

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        """An endpoint is taken off the list."""
        self.endpoints.pop(name, None)
        self.obey(self.pool.remove(name, self.now))

    @rule(group=GROUPS, alone=st.booleans())
    def claim(self, group: str, alone: bool) -> None:
        """A job arrives."""
        claim, actions = self.pool.claim(group, self.now, alone=alone)
        self.waiting.append(claim)
        self.obey(actions)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), end=ENDS)
    def end(self, data: st.DataObject, end: End) -> None:
        """A job ends, in any way."""
        self.leave(data.draw(st.sampled_from(self.held)), end)

    @precondition(lambda self: self.waiting or self.left)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        """A caller is cancelled while it waits; or leaves a second time."""
        self.leave(data.draw(st.sampled_from(self.waiting + self.left)), End.UNTRIED)

    @precondition(lambda self: any(claim.end is not End.ANSWERED for claim in self.left))
    @rule(data=st.data())
    def again(self, data: st.DataObject) -> None:
        """A failed job is repeated."""
        failed = data.draw(st.sampled_from([claim for claim in self.left if claim.end is not End.ANSWERED]))
        self.left.remove(failed)
        claim, actions = self.pool.again(failed, self.now)
        if claim is not None:
            assert claim.attempt <= 3
            self.waiting.append(claim)
        self.obey(actions)

    @precondition(lambda self: self.checks)
    @rule(data=st.data(), alive=st.sampled_from([True, False, None]))
    def check(self, data: st.DataObject, alive: bool | None) -> None:
        """A check comes back."""
        name = data.draw(st.sampled_from(self.checks))
        self.checks.remove(name)
        self.obey(self.pool.checked(name, alive, self.now))

    @rule(seconds=TIMES)
    def wait(self, seconds: float) -> None:
        """Time goes by; the caller keeps the pool's appointments."""
        until = self.now + seconds
        while (due := self.pool.next_due()) is not None and due <= until:
            self.now = max(self.now, due)
            self.obey(self.pool.turn(self.now))
        self.now = until
        self.obey(self.pool.turn(self.now))

    # ------------------------------------------------------------------ what the pool answers

    def leave(self, claim: Claim, end: End) -> None:
        """Leave, and keep the model's books."""
        if claim in self.held:
            self.held.remove(claim)
            if end in NEVER_LEFT:
                self.sent = [(when, other) for when, other in self.sent if other is not claim]
        if claim in self.waiting:
            self.waiting.remove(claim)
        if claim not in self.left:
            self.left.append(claim)
        self.obey(self.pool.leave(claim, end, self.now))

    def obey(self, actions: list[Action]) -> None:
        """Check each answer against the model, then do it."""
        for action in actions:
            match action:
                case Grant(claim):
                    self.granted(claim)
                case Check(endpoint):
                    self.checks.append(endpoint.name)
                case Expire(claim):
                    self.waiting.remove(claim)
                    self.left.append(claim)
                case Abort(claim):
                    assert claim in self.held, "a job was aborted that is not running"

    def granted(self, claim: Claim) -> None:
        """A grant goes to a claim that waits, at an endpoint that exists, within its slots."""
        self.waiting.remove(claim)
        endpoint = claim.endpoint
        assert endpoint is not None
        assert self.endpoints[endpoint.name] == endpoint
        assert endpoint.group == claim.group.name
        beside = [other for other in self.held if other.endpoint and other.endpoint.machine == endpoint.machine]
        if claim.alone:
            assert not beside, "not alone"
        assert not any(other.alone for other in beside), "somebody else was to be alone"
        self.held.append(claim)
        here = sum(other.endpoint is not None and other.endpoint.name == endpoint.name for other in self.held)
        assert here <= endpoint.slots
        self.within_budget(claim)
        if not claim.alone and not claim.retry and claim.avoid is None:
            assert self.served.get(endpoint.group, -1) < claim.order, "a later job was served first"
            self.served[endpoint.group] = claim.order

    def within_budget(self, claim: Claim) -> None:
        """Repetitions are a tenth of the first requests of the minute before, or a few."""
        self.sent.append((self.now, claim))
        if claim.retry:
            recent = Counter(other.retry for when, other in self.sent if when > self.now - WINDOW_S)
            assert recent[True] <= max(FLOOR, SHARE * recent[False])

    # ------------------------------------------------------------------ what always holds

    @invariant()
    def no_claim_is_doubled(self) -> None:
        """A claim is in one place."""
        assert not set(self.waiting) & set(self.held)
        assert len(set(self.held)) == len(self.held)

    @invariant()
    def no_free_slot_beside_a_waiting_job(self) -> None:
        """First attempts wait only where nothing is free, or no machine idle (the pool's own books say what is)."""
        for claim in self.waiting:
            seats = [seat for seat in self.pool._roster.seats.values() if seat.group is claim.group]
            if not claim.retry:
                free = [seat for seat in seats if seat.may_take_one and not (claim.alone and seat.machine.busy)]
                assert not free, "a job waits beside a free slot"

    @invariant()
    def nobody_waits_for_nothing(self) -> None:
        """While a claim waits there is a job that may end, a check that may come back, or an appointment."""
        if self.waiting:
            assert self.held or self.checks or self.pool.next_due() is not None

    def teardown(self) -> None:
        """When all is over every slot is there again, once: as many jobs as slots are granted, and no more."""
        if not hasattr(self, "pool"):
            return
        for claim in [*self.held, *self.waiting]:
            self.leave(claim, End.UNTRIED)
        for _ in range(40):
            for name in [self.checks.pop() for _ in tuple(self.checks)]:
                self.obey(self.pool.checked(name, True, self.now))
            self.wait(31.0)
            for endpoint in self.endpoints.values():  # one answered job each brings it wholly back
                claim, actions = self.pool.claim(endpoint.group, self.now)
                self.waiting.append(claim)
                self.obey(actions)
            for claim in tuple(self.held):
                self.leave(claim, End.ANSWERED)
            for claim in tuple(self.waiting):
                self.leave(claim, End.UNTRIED)
        slots = Counter[str]()
        for endpoint in self.endpoints.values():
            slots[endpoint.group] += endpoint.slots
        for group in ("g0", "g1"):
            for _ in range(slots[group] + 3):
                claim, actions = self.pool.claim(group, self.now)
                self.waiting.append(claim)
                self.obey(actions)
        assert Counter(claim.group.name for claim in self.held) == slots


PoolMachine.TestCase.settings = settings(
    max_examples=1_000 if "--full" in sys.argv else 80,
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestPool = PoolMachine.TestCase
