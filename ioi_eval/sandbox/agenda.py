"""The pool's appointments: what is to be looked at, and when. Pure: time is an argument.

An appointment is never cancelled. What it was made for may have passed when it comes: whoever keeps it looks first.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from enum import Enum, auto
from itertools import count

from ioi_eval.sandbox.roster import Claim, EndpointGroup, Seat


class Purpose(Enum):
    """What an appointment is for."""

    BACKOFF = auto()  # a delayed claim may enter the queue
    PARKED = auto()  # a parked claim has waited for as long as it may
    BUDGET = auto()  # a group's parked claims may look again
    REST = auto()  # a resting endpoint may be checked
    QUIET = auto()  # a busy endpoint may have been quiet for too long
    DARK = auto()  # a dark group's claims have waited for as long as they may


class Agenda:
    """All appointments, the next one first; of two at the same time, the one that was made first."""

    def __init__(self) -> None:
        self._appointments: list[tuple[float, int, Purpose, Claim | Seat | EndpointGroup]] = []
        self._order = count()

    def put(self, when: float, purpose: Purpose, subject: Claim | Seat | EndpointGroup) -> None:
        """Make an appointment."""
        heapq.heappush(self._appointments, (when, next(self._order), purpose, subject))

    def take_due(self, now: float) -> Iterator[tuple[Purpose, Claim | Seat | EndpointGroup]]:
        """Those whose time has come, one by one; others may be made meanwhile."""
        while self._appointments and self._appointments[0][0] <= now:
            _, _, purpose, subject = heapq.heappop(self._appointments)
            yield purpose, subject

    def next_due(self) -> float | None:
        """When the next one is; `None` if there is none."""
        return self._appointments[0][0] if self._appointments else None
