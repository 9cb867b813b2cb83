"""A pool of endpoints with a clock of its own."""

from __future__ import annotations

import random

from ioi_eval.sandbox.circuit import End
from ioi_eval.sandbox.pool import Pool
from ioi_eval.sandbox.pool_terms import Abort, Action, Check, Expire, Grant, PoolPolicy
from ioi_eval.sandbox.roster import Claim, Endpoint

POLICY = PoolPolicy(patience_s=60.0)


class World:
    """A pool, the time, and endpoints that answer checks or do not."""

    def __init__(self, endpoints: int = 0, *, slots: int = 1, machines: int | None = None) -> None:
        self.now = 0.0
        self.pool = Pool(POLICY, rng=random.Random(7))
        self.dead: set[str] = set()
        self.held: list[Claim] = []
        self.expired: list[Expire] = []
        self.aborted: list[Claim] = []
        self.checks: list[tuple[float, str]] = []
        for number in range(endpoints):
            machine = f"m{number % (machines or endpoints)}"
            self.obey(self.pool.add(Endpoint(name=f"w{number}", machine=machine, group="g", slots=slots), self.now))

    def obey(self, actions: list[Action]) -> None:
        """Do what the pool says; a check takes no time."""
        for action in actions:
            match action:
                case Grant(claim):
                    self.held.append(claim)
                case Check(endpoint):
                    self.checks.append((self.now, endpoint.name))
                    self.obey(self.pool.checked(endpoint.name, endpoint.name not in self.dead, self.now))
                case Expire():
                    self.expired.append(action)
                case Abort(claim):
                    self.aborted.append(claim)

    def claim(self, *, alone: bool = False) -> Claim:
        """A job arrives."""
        claim, actions = self.pool.claim("g", self.now, alone=alone)
        self.obey(actions)
        return claim

    def leave(self, claim: Claim, end: End = End.ANSWERED) -> None:
        """A job ends."""
        if claim in self.held:
            self.held.remove(claim)
        self.obey(self.pool.leave(claim, end, self.now))

    def again(self, claim: Claim) -> Claim | None:
        """A job is repeated."""
        following, actions = self.pool.again(claim, self.now)
        self.obey(actions)
        return following

    def until(self, when: float) -> None:
        """Let time go by."""
        while (due := self.pool.next_due()) is not None and due <= when:
            self.now = max(self.now, due)
            self.obey(self.pool.turn(self.now))
        self.now = when


def names(claims: list[Claim]) -> list[str]:
    """Where these jobs run."""
    return [claim.endpoint.name for claim in claims if claim.endpoint is not None]
