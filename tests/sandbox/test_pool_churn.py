"""How busy a cluster is kept whose workers die and return: in virtual time, so that no machine's load matters."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from functools import partial
from itertools import count

import pytest

from ioi_eval.sandbox.circuit import End
from ioi_eval.sandbox.pool import Pool
from ioi_eval.sandbox.pool_terms import Abort, Action, Check, Expire, Grant, PoolPolicy
from ioi_eval.sandbox.roster import Claim, Endpoint

CONNECT_S = 3.0  # how long a machine that is silent is tried (`http_client.CONNECT_S`)
CHECK_S = 3.0  # `discovery.CHECK_S`
PROBE_S = 10.0  # after so much silence the kernels ask each other (`http_client._PROBES`), and every 5 s from then on
ROUND_TRIP_S = 0.001


class Churn:
    """A cluster in virtual time: jobs without end, endpoints that die and return.

    Args:
        endpoints: how many, with a slot each.
        job_s: how long a job takes.
        deaths_per_minute: spread evenly.
        down_s: how long a dead endpoint stays away.
        silent: the dead do not answer at all (a machine that lost its power), else they refuse and reset.
        seed: for who dies.
    """

    def __init__(
        self, *, endpoints: int, job_s: float, deaths_per_minute: float, down_s: float, silent: bool, seed: int
    ) -> None:
        self.now = 0.0
        self.job_s, self.down_s, self.silent = job_s, down_s, silent
        self.pool = Pool(PoolPolicy(), rng=random.Random(seed))
        self.rng = random.Random(seed)
        self.order = count()
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.alive = {f"w{number}" for number in range(endpoints)}
        self.running: dict[Claim, str] = {}
        self.taken: set[str] = set()  # the endpoints that these run on
        self.working: set[Claim] = set()  # those of them that will be answered
        self.cut_off: set[Claim] = set()  # jobs whose answer will never come
        self.busy_s = self.alive_s = 0.0
        self.lost = self.done = self.expired = 0
        for name in sorted(self.alive):
            self.obey(self.pool.add(Endpoint(name=name, machine=name, group="g", slots=1), self.now))
        self.pause_s = 60.0 / deaths_per_minute
        self.after(self.pause_s, self.kill_one)
        for _ in range(endpoints + endpoints // 5):  # more callers than slots: somebody always waits
            self.arrive()

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Let something happen later."""
        heapq.heappush(self.events, (self.now + seconds, next(self.order), action))

    def run(self, until: float) -> None:
        """Let time go by; the share of living slots that are busy is counted."""
        while self.now < until:
            due = self.pool.next_due()
            event = self.events[0][0]
            later = min(until, event, event if due is None else max(due, self.now))
            self.busy_s += (later - self.now) * len(self.working)
            self.alive_s += (later - self.now) * len(self.alive)
            self.now = later
            if due is not None and due <= self.now:
                self.obey(self.pool.turn(self.now))
            while self.events and self.events[0][0] <= self.now:
                heapq.heappop(self.events)[2]()

    # ------------------------------------------------------------------ jobs

    def arrive(self) -> None:
        """A caller has a job."""
        self.obey(self.pool.claim("g", self.now)[1])

    def obey(self, actions: list[Action]) -> None:
        """Do what the pool says."""
        for action in actions:
            match action:
                case Grant(claim):
                    self.send(claim)
                case Check(endpoint):
                    self.check(endpoint.name)
                case Abort(claim):
                    self.end(claim, End.SILENT)
                case Expire():
                    self.expired += 1

    def send(self, claim: Claim) -> None:
        """A job goes to its endpoint, which may be dead."""
        assert claim.endpoint is not None
        name = claim.endpoint.name
        assert name not in self.taken, "more jobs than slots"
        self.taken.add(name)
        self.running[claim] = name
        if name in self.alive:
            self.working.add(claim)
            self.after(self.job_s, lambda: self.answer(claim))
        else:
            self.after(CONNECT_S if self.silent else ROUND_TRIP_S, lambda: self.end(claim, End.UNREACHED))

    def answer(self, claim: Claim) -> None:
        """A job is done, if its endpoint still lived."""
        if claim not in self.cut_off:
            self.end(claim, End.ANSWERED)

    def end(self, claim: Claim, end: End) -> None:
        """A job ends; its caller has it repeated, or brings the next one."""
        name = self.running.pop(claim, None)
        if name is None:
            return  # it has ended otherwise
        self.taken.remove(name)
        self.working.discard(claim)
        self.obey(self.pool.leave(claim, end, self.now))
        if end is End.ANSWERED:
            self.done += 1
            self.arrive()
        else:
            following, actions = self.pool.again(claim, self.now)
            self.obey(actions)
            if following is None:
                self.lost += 1
                self.arrive()

    def check(self, name: str) -> None:
        """An endpoint is asked for its runtimes."""
        is_alive = name in self.alive
        wait = ROUND_TRIP_S if is_alive or not self.silent else CHECK_S
        self.after(wait, lambda: self.obey(self.pool.checked(name, is_alive, self.now)))

    # ------------------------------------------------------------------ deaths

    def kill_one(self) -> None:
        """A living endpoint dies, with its job: it resets the connection, or says nothing more."""
        victim = self.rng.choice(sorted(self.alive))
        self.alive.remove(victim)
        for claim in [claim for claim, name in self.running.items() if name == victim]:
            self.cut_off.add(claim)
            self.working.discard(claim)
            if self.silent:  # when it is back its kernel knows nothing of the connection, and says so
                self.after(max(PROBE_S, self.down_s) + 5.0, partial(self.end, claim, End.BROKEN))
            else:
                self.end(claim, End.BROKEN)
        self.after(self.down_s, lambda: self.alive.add(victim))
        self.after(self.pause_s, self.kill_one)


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("down_s", [5.0, 30.0])
def test_slots_are_busy_while_workers_die_and_return(silent: bool, down_s: float) -> None:
    """500 endpoints of which 5 % die each minute: those that live are busy for 95 % of the time, no job is lost."""
    churn = Churn(endpoints=500, job_s=2.0, deaths_per_minute=25, down_s=down_s, silent=silent, seed=1)
    churn.run(120.0)
    assert churn.busy_s / churn.alive_s >= 0.95
    assert churn.lost == churn.expired == 0
    assert churn.done > 0.9 * 500 * 120 / 2.0


def test_a_storm_of_deaths() -> None:
    """A fifth of 100 endpoints dies each minute, and long jobs with them: nothing is lost, and what lives is used."""
    churn = Churn(endpoints=100, job_s=8.0, deaths_per_minute=20, down_s=20.0, silent=False, seed=2)
    churn.run(600.0)
    assert churn.busy_s / churn.alive_s >= 0.90
    assert churn.lost == churn.expired == 0
