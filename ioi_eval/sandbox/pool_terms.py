"""The pool's numbers, and what it answers: the I/O that is to be done now."""

from __future__ import annotations

from dataclasses import dataclass, field

from ioi_eval.sandbox.circuit import CircuitPolicy
from ioi_eval.sandbox.roster import Claim, Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPolicy:
    """The pool's numbers.

    Args:
        patience_s: how long claims wait while no endpoint is in service.
        lost_after_s: the same while endpoints of other groups are, for those who can go there.
        attempts: so many times a job is sent at most.
        first_backoff_s: the wait before the first repetition; doubled each time, half of it left to chance.
        most_backoff_s: the longest wait.
        quiet_s: an endpoint with jobs that has not answered for so long is checked in passing.
        most_quiet_s: while it answers checks, they come half as often each time, down to this.
        checks_per_s: so many checks in passing, and so many of resting endpoints, are made at most.
        abandon_s: jobs of an endpoint that has failed all checks for so long are aborted.
        circuit: when an endpoint is left alone.
    """

    patience_s: float = 120.0
    lost_after_s: float = 15.0
    attempts: int = 6
    first_backoff_s: float = 0.2
    most_backoff_s: float = 10.0
    quiet_s: float = 2.0
    most_quiet_s: float = 30.0
    checks_per_s: int = 100
    abandon_s: float = 20.0
    circuit: CircuitPolicy = field(default_factory=CircuitPolicy)


@dataclass(frozen=True, slots=True)
class Grant:
    """This claim holds its slot now: send the job to `claim.endpoint`."""

    claim: Claim


@dataclass(frozen=True, slots=True)
class Check:
    """Ask this endpoint for its runtimes, and tell `Pool.checked`."""

    endpoint: Endpoint


@dataclass(frozen=True, slots=True)
class Expire:
    """This claim waited in vain. With `is_dark`, no endpoint of its group has been left for as long as claims may wait;
    with `is_light_elsewhere`, endpoints of other groups are."""

    claim: Claim
    is_dark: bool
    is_light_elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Abort:
    """This claim's endpoint does not even answer checks any more: give the job up there, and leave."""

    claim: Claim


Action = Grant | Check | Expire | Abort
