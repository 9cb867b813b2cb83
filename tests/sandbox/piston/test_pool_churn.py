"""How busy a cluster is while workers fail and return. The clock is simulated, so the machine's load has no effect."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from functools import partial
from itertools import count

import pytest

from ioi_eval.config import PATIENCE_S
from ioi_eval.model import Retries
from ioi_eval.sandbox.piston.endpoint_state import Endpoint, SlotRequest
from ioi_eval.sandbox.piston.job_end import JobEnd
from ioi_eval.sandbox.piston.pool import TICK_S, Pool
from ioi_eval.sandbox.piston.retries import backoff_s

CONNECT_S = 3.0  # timeout of a connection to a silent machine (`http_client.CONNECT_S`)
CHECK_S = 3.0  # `discovery.CHECK_S`
PROBE_S = 10.0  # TCP keepalive starts after this silence (`http_client._TCP_KEEPALIVE`), then every 5 s
ROUND_TRIP_S = 0.001


class Churn:
    """A cluster with a simulated clock: endless jobs, and endpoints that fail and return.

    Args:
        endpoints: the number of endpoints, with one slot each.
        job_s: how long a job takes.
        deaths_per_minute: how many endpoints fail each minute, at regular intervals.
        down_s: how long a failed endpoint stays away.
        silent: failed endpoints do not answer (machine without power). Otherwise they refuse and reset connections.
        seed: selects the endpoints that fail.
    """

    def __init__(
        self, *, endpoints: int, job_s: float, deaths_per_minute: float, down_s: float, silent: bool, seed: int
    ) -> None:
        self.now = 0.0
        self.job_s, self.down_s, self.silent = job_s, down_s, silent
        self.pool = Pool(patience_s=PATIENCE_S, rng=random.Random(seed))
        self.rng = random.Random(seed)
        self.order = count()
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.alive = {f"w{number}" for number in range(endpoints)}
        self.retries: dict[SlotRequest, Retries] = {}
        self.running: dict[SlotRequest, tuple[str, int]] = {}  # endpoint, and the number of the attempt
        self.taken: set[str] = set()  # the endpoints of `running`
        self.working: set[SlotRequest] = set()  # the requests of `running` that will be answered
        self.busy_s = self.alive_s = 0.0
        self.attempts = self.lost = self.done = self.failed = 0
        for name in sorted(self.alive):
            self.pool.add(Endpoint(url=name, machine=name, group="g", slots=1), self.now)
        self.pause_s = 60.0 / deaths_per_minute
        self.after(self.pause_s, self.kill_one)
        self.after(TICK_S, self.tick)
        for _ in range(endpoints + endpoints // 5):  # more callers than slots: a job always waits
            self.arrive()

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Schedule an action."""
        heapq.heappush(self.events, (self.now + seconds, next(self.order), action))

    def run(self, until: float) -> None:
        """Advance the time. Sums up the busy time and the total time of the endpoints in service."""
        while self.now < until:
            later = min(until, self.events[0][0])
            self.busy_s += (later - self.now) * len(self.working)
            self.alive_s += (later - self.now) * len(self.alive)
            self.now = later
            while self.events[0][0] <= self.now:
                heapq.heappop(self.events)[2]()

    def tick(self) -> None:
        """Do what is due."""
        for name in self.pool.tick(self.now):
            self.check(name)
        self.after(TICK_S, self.tick)

    # ------------------------------------------------------------------ jobs

    def arrive(self) -> None:
        """A new job arrives."""
        request = self.pool.request("g", self.now)
        self.retries[request] = Retries()
        request.wake = lambda: self.send(request)
        request.abandon = lambda: self.end(request, JobEnd.TIMED_OUT)
        if request.holds_slot:
            self.send(request)

    def send(self, request: SlotRequest) -> None:
        """Send a job to its endpoint, which may have failed."""
        if request.failure is not None:
            self.failed += 1
            return
        name = request.last_endpoint
        assert name is not None
        assert name not in self.taken, "more jobs than slots"
        self.attempts += 1
        attempt = self.attempts
        self.taken.add(name)
        self.running[request] = (name, attempt)
        if name in self.alive:
            self.working.add(request)
            self.after(self.job_s, lambda: self.end(request, JobEnd.ANSWERED, attempt))
        else:
            wait = CONNECT_S if self.silent else ROUND_TRIP_S
            self.after(wait, lambda: self.end(request, JobEnd.NOT_SERVED, attempt))

    def end(self, request: SlotRequest, end: JobEnd, attempt: int | None = None) -> None:
        """A job ends. Its caller retries it, or sends the next one."""
        name, number = self.running.get(request, ("", -1))
        if attempt not in {None, number} or (end is JobEnd.ANSWERED and request not in self.working):
            return  # that attempt has ended already, or ends later
        del self.running[request]
        self.taken.remove(name)
        self.working.discard(request)
        self.pool.release(request, end, self.now)
        if end is JobEnd.ANSWERED:
            self.done += 1
            del self.retries[request]
            self.arrive()
        elif not end.may_have_started:
            self.retry(request, may_have_started=False)
        elif self.retries[request].take():
            wait = backoff_s(5 - self.retries[request].left, self.rng)
            self.after(wait, lambda: self.retry(request, may_have_started=True))
        else:
            self.lost += 1
            self.arrive()

    def retry(self, request: SlotRequest, *, may_have_started: bool) -> None:
        """Send a job again. It gets a slot now or later."""
        self.pool.retry(request, self.now, may_have_started=may_have_started)

    def check(self, name: str) -> None:
        """Check an endpoint."""
        is_alive = name in self.alive
        wait = ROUND_TRIP_S if is_alive or not self.silent else CHECK_S
        self.after(wait, lambda: self.pool.check_ended(name, is_alive, self.now))

    # ------------------------------------------------------------------ deaths

    def kill_one(self) -> None:
        """An endpoint fails, with its job: it resets the connection, or does not answer any more."""
        victim = self.rng.choice(sorted(self.alive))
        self.alive.remove(victim)
        for request in [request for request, (name, _) in self.running.items() if name == victim]:
            self.working.discard(request)
            attempt = self.running[request][1]
            if self.silent:  # after its return, its kernel resets the old connection
                wait = max(PROBE_S, self.down_s) + 5.0
                self.after(wait, partial(self.end, request, JobEnd.BROKEN, attempt))
            else:
                self.end(request, JobEnd.BROKEN, attempt)
        self.after(self.down_s, lambda: self.alive.add(victim))
        self.after(self.pause_s, self.kill_one)


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("down_s", [5.0, 30.0])
def test_slots_are_busy_while_workers_fail_and_return(silent: bool, down_s: float) -> None:
    """Of 200 endpoints, 5 % fail each minute: the others are busy for at least 95 % of the time, no job is lost."""
    churn = Churn(endpoints=200, job_s=2.0, deaths_per_minute=10, down_s=down_s, silent=silent, seed=1)
    churn.run(300.0)
    assert churn.busy_s / churn.alive_s >= 0.95
    assert churn.lost == churn.failed == 0
    assert churn.done > 0.9 * 200 * 300 / 2.0


def test_many_failures() -> None:
    """A fifth of 100 endpoints fails each minute, with long jobs: no job is lost, and the others are 90 % busy."""
    churn = Churn(endpoints=100, job_s=8.0, deaths_per_minute=20, down_s=20.0, silent=False, seed=2)
    churn.run(600.0)
    assert churn.busy_s / churn.alive_s >= 0.90
    assert churn.lost == churn.failed == 0
