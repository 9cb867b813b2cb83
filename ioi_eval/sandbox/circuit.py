"""Whether an endpoint is given jobs. Pure: time is an argument, chance is injected.

    IN ──── refused, silent, busy, or broken three times in a row ────► OUT ◄──┐
     ▲                                                                   │      │ the check failed:
     │ the job was answered                                    its rest  │      │ rest twice as long
     │                                                         is over   ▼      │
    TRIAL ◄──────────────────── the check was answered ──────────────  CHECK ───┘
     └── the job was not answered ──► OUT

A check is `GET /runtimes`, the one question that costs a server nothing (`/packages` can kill it). An answer to it
says that the process lives, not that it can execute: so an endpoint that comes back is given one job, and more only
after its answer. A server that answers checks and breaks jobs therefore costs one job each rest, and rests grow.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import Enum, auto


class Standing(Enum):
    """Where an endpoint stands."""

    IN = auto()  # in service
    TRIAL = auto()  # in service for one job at a time
    OUT = auto()  # resting
    CHECK = auto()  # being checked


class End(Enum):
    """How a job ended, as far as its endpoint is concerned."""

    ANSWERED = auto()  # with an answer of Piston's, whatever it said
    BROKEN = auto()  # reset, cut off, a failure of the server, or something that is no answer of Piston's
    UNREACHED = auto()  # no connection: the job never left
    OVERLOADED = auto()  # the server says that it is too busy
    SILENT = auto()  # no answer within the job's deadline
    LATE = auto()  # no connection in time, but it was this process that was late: nothing is known
    UNTRIED = auto()  # given up by us: nothing is known


NEVER_LEFT = frozenset({End.UNREACHED, End.LATE})
"""Ends of jobs that no server had work from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitPolicy:
    """When an endpoint is left alone, and for how long.

    Args:
        broken: so many broken answers in a row put it out. Under random faults of one in twenty, three in a row
            come once in 8,000 jobs.
        first_rest_s: the first rest; halved at most, by chance, so that endpoints are not checked in step.
        most_rest_s: the longest.
    """

    broken: int = 3
    first_rest_s: float = 0.5
    most_rest_s: float = 30.0


class Circuit:
    """One endpoint's standing.

    Args:
        policy: the numbers.
        rng: chance for the length of rests.
    """

    __slots__ = ("_broken", "_policy", "_rests", "_rng", "resting_until", "standing")

    def __init__(self, policy: CircuitPolicy, rng: random.Random) -> None:
        self.standing = Standing.IN
        self.resting_until = 0.0
        self._policy = policy
        self._rng = rng
        self._broken = 0
        self._rests = 0

    @property
    def is_in_service(self) -> bool:
        """Whether it may be given a job."""
        return self.standing is Standing.IN or self.standing is Standing.TRIAL

    def ended(self, end: End, now: float) -> None:
        """A job of this endpoint ended so. Jobs may end long after it went out; only good news counts then."""
        if end is End.UNTRIED or end is End.LATE:
            return
        if end is End.ANSWERED:
            self._broken = 0
            if self.standing is Standing.TRIAL:
                self._rests = 0
                self.standing = Standing.IN
            return
        self._broken += 1
        bearable = end is End.BROKEN and self.standing is Standing.IN and self._broken < self._policy.broken
        if self.is_in_service and not bearable:
            self._rest(now)

    def begin_check(self) -> None:
        """Its rest is over: it is being checked."""
        self.standing = Standing.CHECK

    def checked(self, alive: bool, now: float) -> None:
        """A check came back; also one that was made in passing, while the endpoint was in service."""
        if not alive:
            self._rest(now)
        elif self.standing is Standing.CHECK:
            self.standing = Standing.TRIAL

    def _rest(self, now: float) -> None:
        longest = min(self._policy.first_rest_s * 2**self._rests, self._policy.most_rest_s)
        self._rests = min(self._rests + 1, 30)
        self.resting_until = now + longest * self._rng.uniform(0.5, 1.0)
        self.standing = Standing.OUT
