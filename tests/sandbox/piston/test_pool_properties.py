"""Properties of the pool for all sequences of events: the pool is compared with a simple model."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ioi_eval.sandbox.piston.endpoint_state import Endpoint, SlotRequest
from ioi_eval.sandbox.piston.job_end import JobEnd
from ioi_eval.sandbox.piston.pool import TICK_S, Pool
from ioi_eval.sandbox.piston.retries import FLOOR, SHARE, WINDOW_S
from tests.selecting import is_full

NAMES = st.sampled_from([f"http://w{number}" for number in range(6)])
GROUPS = st.sampled_from(["g0", "g1"])
ENDS = st.sampled_from(list(JobEnd))
TIMES = st.one_of(st.just(0.0), st.floats(min_value=0.0, max_value=3.0), st.sampled_from([10.0, 59.5, 61.0, 130.0]))
PATIENCE_S = 20.0


class PoolMachine(RuleBasedStateMachine):
    """Random events (jobs arrive and end, endpoints fail, return and are removed, time passes), and a model."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.endpoints: dict[str, Endpoint] = {}
        self.waiting: list[SlotRequest] = []
        self.running: list[SlotRequest] = []
        self.ended: list[SlotRequest] = []
        self.retriable: dict[SlotRequest, JobEnd] = {}
        self.checks: list[str] = []
        self.sent: list[
            tuple[float, SlotRequest, bool]
        ] = []  # time, request, is it a retry: what a server may have started
        self.failed: list[float] = []  # when a retry failed
        self.served: dict[str, int] = {}
        self.entering: SlotRequest | None = None
        self.served_ever: set[SlotRequest] = set()

    @initialize(seed=st.integers(0, 99))
    def begin(self, seed: int) -> None:
        """Make a pool with a random seed."""
        self.pool = Pool(patience_s=PATIENCE_S, rng=random.Random(seed))

    # ------------------------------------------------------------------ what can happen

    @rule(name=NAMES, group=GROUPS, slots=st.integers(1, 3))
    def add(self, name: str, group: str, slots: int) -> None:
        """An endpoint appears, or comes back with other properties. Each machine has two endpoints."""
        machine = f"m{int(name[-1]) // 2}"
        self.endpoints[name] = Endpoint(url=name, machine=machine, group=group, slots=slots)
        self.pool.add(self.endpoints[name], self.now)

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        """An endpoint is removed from the list."""
        self.endpoints.pop(name, None)
        self.pool.remove(name, self.now)

    @rule(group=GROUPS, is_alone=st.booleans(), is_only=st.booleans())
    def arrive(self, group: str, is_alone: bool, is_only: bool) -> None:
        """A job arrives."""
        request = self.pool.request(group, self.now, is_alone=is_alone, is_only=is_only)
        request.wake = lambda: self.woken(request)
        request.abandon = lambda: self.abandoned(request)
        self.entered(request)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), end=ENDS)
    def end(self, data: st.DataObject, end: JobEnd) -> None:
        """A job ends in one of all ways."""
        request = data.draw(st.sampled_from(self.running))
        self.release(request, end)
        if end not in {JobEnd.ANSWERED, JobEnd.CANCELLED}:
            self.retriable[request] = end

    @precondition(lambda self: self.waiting or self.ended)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        """A caller is cancelled while it waits, or releases its slot a second time."""
        self.release(data.draw(st.sampled_from(self.waiting + self.ended)), JobEnd.CANCELLED)

    @precondition(lambda self: self.retriable)
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        """A failed job is retried."""
        request = data.draw(st.sampled_from(list(self.retriable)))
        self.ended.remove(request)
        self.entering = request
        self.pool.retry(request, self.now, may_have_started=self.retriable.pop(request).may_have_started)
        self.entering = None
        self.entered(request)

    @precondition(lambda self: self.checks)
    @rule(data=st.data(), is_alive=st.booleans())
    def check(self, data: st.DataObject, is_alive: bool) -> None:
        """A check ends."""
        name = data.draw(st.sampled_from(self.checks))
        self.checks.remove(name)
        self.pool.check_ended(name, is_alive, self.now)

    @rule(seconds=TIMES)
    def wait(self, seconds: float) -> None:
        """Time passes."""
        until = self.now + seconds
        while self.now < until:
            self.now = min(until, self.now + TICK_S)
            self.checks += self.pool.tick(self.now)

    # ------------------------------------------------------------------ what the pool does

    def entered(self, request: SlotRequest) -> None:
        """Update the model after a job has requested a slot: it has one, has failed, or waits."""
        self.waiting.append(request)
        if request.holds_slot or request.failure is not None:
            self.woken(request)

    def release(self, request: SlotRequest, end: JobEnd) -> None:
        """Release a slot, in the pool and in the model."""
        if request in self.running:
            self.running.remove(request)
            if not end.may_have_started:
                last = max(number for number, (_, other, _) in enumerate(self.sent) if other is request)
                del self.sent[last]
            elif request.is_retry and end is not JobEnd.ANSWERED:
                self.failed.append(self.now)
        if request in self.waiting:
            self.waiting.remove(request)
        if request not in self.ended:
            self.ended.append(request)
        self.pool.release(request, end, self.now)

    def abandoned(self, request: SlotRequest) -> None:
        """Check that an abandoned job was running."""
        assert request in self.running, "a job was abandoned that is not running"

    def woken(self, request: SlotRequest) -> None:
        """Check a waiting job that gets a slot or a failure: the slot is free, and its endpoint exists."""
        if request is self.entering:
            return  # `entered` handles it
        self.waiting.remove(request)
        if request.failure is not None:
            assert not request.holds_slot
            self.ended.append(request)
            return
        assert request.holds_slot
        assert request.state is not None
        endpoint = request.state.endpoint
        assert self.endpoints[endpoint.url] == endpoint
        assert endpoint.group == request.group.name
        others = [other for other in self.running if other.state and other.state.endpoint.machine == endpoint.machine]
        if request.is_alone:
            assert not others, "not alone"
        assert not any(other.is_alone for other in others), "another job must run alone on this machine"
        self.running.append(request)
        assert sum(other.last_endpoint == endpoint.url for other in self.running) <= endpoint.slots
        self.within_budget(request)
        if not request.is_alone and request not in self.served_ever:
            assert self.served.get(endpoint.group, -1) < request.order, "a later job was served first"
            self.served[endpoint.group] = request.order
        self.served_ever.add(request)

    def within_budget(self, request: SlotRequest) -> None:
        """Check the budget: retries that run, or failed in the last minute, are at most a tenth of that minute's first
        requests, or a fixed number.
        """
        self.sent.append((self.now, request, request.is_retry))
        if request.is_retry:
            begin = self.now - WINDOW_S
            requests = sum(when > begin and not is_retry for when, _, is_retry in self.sent)
            retries = sum(other.is_retry for other in self.running) + sum(when > begin for when in self.failed)
            assert retries <= max(FLOOR, SHARE * requests)

    # ------------------------------------------------------------------ what always holds

    @invariant()
    def no_slot_is_given_twice(self) -> None:
        """No slot has two jobs, and the counts of the pool agree with the model."""
        assert not set(self.waiting) & set(self.running)
        assert len(set(self.running)) == len(self.running)
        assert all(request.holds_slot for request in self.running)
        assert not any(request.holds_slot for request in self.waiting + self.ended)
        if hasattr(self, "pool"):
            held = [request for state in self.pool._endpoints.values() for request in state.running]
            assert sorted(request.order for request in held) == sorted(request.order for request in self.running)

    @invariant()
    def no_free_slot_beside_a_waiting_job(self) -> None:
        """First attempts wait only if the pool counts no slot as free, or (jobs that run alone) no machine as idle."""
        for request in self.waiting:
            states = [state for state in self.pool._endpoints.values() if state.group is request.group]
            if not request.is_retry:
                free = [s for s in states if s.has_free_slot and not (request.is_alone and s.machine.running)]
                assert not free, "a job waits beside a free slot"

    @invariant()
    def only_endpoints_in_service_are_offered(self) -> None:
        """An endpoint is offered if and only if it has a free slot, and counted if and only if it is in service."""
        if hasattr(self, "pool"):
            for state in self.pool._endpoints.values():
                assert (state.offered_load is not None) == state.has_free_slot
            for group in self.pool._groups.values():
                serving = [s for s in self.pool._endpoints.values() if s.group is group and s.in_service]
                assert group.in_service == len(serving)
                assert (group.unavailable_since is None) == bool(serving)

    def teardown(self) -> None:
        """At the end, each slot can be used again: exactly as many jobs as slots get one."""
        if not hasattr(self, "pool"):
            return
        self.no_job_waits_forever()
        for request in [*self.running, *self.waiting]:
            self.release(request, JobEnd.CANCELLED)
        for _ in range(40):
            for name in [self.checks.pop() for _ in tuple(self.checks)]:
                self.pool.check_ended(name, True, self.now)
            self.wait(31.0)
            for endpoint in self.endpoints.values():  # after one answered job, each has all its slots
                self.arrive(endpoint.group, False, False)
            for request in tuple(self.running):
                self.release(request, JobEnd.ANSWERED)
            for request in tuple(self.waiting):
                self.release(request, JobEnd.CANCELLED)
        slots = Counter[str]()
        for endpoint in self.endpoints.values():
            slots[endpoint.group] += endpoint.slots
        for group in ("g0", "g1"):
            for _ in range(slots[group] + 3):
                self.arrive(group, False, False)
        assert Counter(request.group.name for request in self.running) == slots

    def no_job_waits_forever(self) -> None:
        """If all endpoints fail and all running jobs end, all waiting jobs fail in a bounded time."""
        jobs = len(self.waiting)
        for _ in range(8 * (jobs + 1)):
            for request in tuple(self.running):
                self.release(request, JobEnd.NOT_SERVED)
            for name in [self.checks.pop() for _ in tuple(self.checks)]:
                self.pool.check_ended(name, False, self.now)
            self.wait(PATIENCE_S / 4)
        assert not self.waiting


PoolMachine.TestCase.settings = settings(
    max_examples=1_000 if is_full() else 80,
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestPool = PoolMachine.TestCase
