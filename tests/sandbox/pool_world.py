"""A pool of endpoints with a simulated clock."""

from __future__ import annotations

import random

from ioi_eval.sandbox.piston.endpoint_state import Endpoint, SlotRequest
from ioi_eval.sandbox.piston.job_end import JobEnd
from ioi_eval.sandbox.piston.pool import TICK_S, Pool

PATIENCE_S = 60.0


class World:
    """A pool, the simulated time, and endpoints, of which those in `dead` do not answer checks."""

    def __init__(self, endpoints: int = 0, *, slots: int = 1, machines: int | None = None) -> None:
        self.now = 0.0
        self.pool = Pool(patience_s=PATIENCE_S, rng=random.Random(7))
        self.dead: set[str] = set()
        self.requests: list[SlotRequest] = []
        self.abandoned: list[SlotRequest] = []
        self.checks: list[tuple[float, str]] = []
        for number in range(endpoints):
            machine = f"m{number % (machines or endpoints)}"
            self.pool.add(Endpoint(url=f"w{number}", machine=machine, group="g", slots=slots), self.now)

    @property
    def running(self) -> list[SlotRequest]:
        """The jobs that hold a slot, in the order of their arrival."""
        return [request for request in self.requests if request.holds_slot]

    @property
    def failed(self) -> list[SlotRequest]:
        """The jobs that failed because they got no slot."""
        return [request for request in self.requests if request.failure is not None]

    def request(self, group: str = "g", *, is_alone: bool = False, is_only: bool = False) -> SlotRequest:
        """A job arrives."""
        request = self.pool.request(group, self.now, is_alone=is_alone, is_only=is_only)
        request.abandon = lambda: self.abandoned.append(request)
        self.requests.append(request)
        return request

    def release(self, request: SlotRequest, end: JobEnd = JobEnd.ANSWERED) -> None:
        """A job ends."""
        self.pool.release(request, end, self.now)

    def retry(self, request: SlotRequest, end: JobEnd = JobEnd.BROKEN) -> None:
        """A job ends, and is retried."""
        self.release(request, end)
        self.pool.retry(request, self.now, may_have_started=end.may_have_started)

    def tick(self) -> list[str]:
        """Do what is due now. Returns the endpoints to check."""
        names = self.pool.tick(self.now)
        self.checks += [(self.now, name) for name in names]
        return names

    def until(self, when: float) -> None:
        """Advance the time. A check takes no time."""
        while self.now < when:
            self.now = min(self.now + TICK_S, when)
            for name in self.tick():
                self.pool.check_ended(name, name not in self.dead, self.now)


def names(requests: list[SlotRequest]) -> list[str | None]:
    """The endpoints on which these jobs run."""
    return [request.last_endpoint for request in requests]
