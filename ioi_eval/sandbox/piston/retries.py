"""How often jobs are sent again, and when. Pure: time and randomness are arguments.

`cluster.py` sends a job again if a worker gave no usable answer. There are two limits:

- one job is sent again `model.job.RETRIES` times at most, over all layers that reject its answers (`Retries`);
- all jobs together are sent again within a budget (`RetryBudget`). A server that is too busy answers late or badly,
  which causes retries, which make it busier: unlimited retries turn a short overload into an outage. (Piston
  cannot cancel: a request that was given up still runs to its end.)

An attempt on which no server worked does not count as a retry: there was no connection, the server limits requests
(HTTP 429), or it cannot serve such jobs. Retries that were answered, or that the caller gave up, do not count in the
budget: if a network drops all connections at once and then works again, no job may be lost because so many must be sent
again.
"""

from __future__ import annotations

import random

from ioi_eval.errors import ExhaustedError, SandboxError, TransientError
from ioi_eval.model import Retries
from ioi_eval.sandbox.piston.job_end import JobEnd

SHARE = 0.1
WINDOW_S = 60
FLOOR = 5
"""The retries that run, or have failed in the last minute, may be a tenth of the first requests of that minute, and
`FLOOR` in any case, as a tenth of a small run is less than one. Source: "Site Reliability Engineering" (Google),
chapter "Handling Overload": at most a tenth of a client's requests are retries."""

_FAILED = frozenset({JobEnd.BROKEN, JobEnd.OVERLOADED, JobEnd.TIMED_OUT})

FIRST_BACKOFF_S = 0.2
"""The wait before a retry, doubled each time. It is multiplied by a random 0.5 to 1, so that jobs which failed
together are not sent again together."""


def backoff_s(number: int, rng: random.Random) -> float:
    """How long to wait before the retry with this number (from 1)."""
    return FIRST_BACKOFF_S * 2.0 ** (number - 1) * rng.uniform(0.5, 1.0)


def exhausted(retries: Retries, last: SandboxError, why: str = "") -> SandboxError:
    """The error for a job that is not sent again: how often it was tried, where, and the last result."""
    if not isinstance(last, TransientError):
        return last
    error = ExhaustedError(retries.failure_text(last, why))
    error.__cause__ = last
    return error


class RetryBudget:
    """Counts the first requests and the failed retries of each second, and the retries under way.

    The last minute begins within one of these seconds. Of that second all failed retries count, and no first requests.
    So the limit is kept in every minute, wherever it begins.
    """

    def __init__(self) -> None:
        self._seconds: dict[int, list[int]] = {}  # first requests and failed retries, by second
        self._under_way = 0

    def begin(self, now: float, *, is_retry: bool) -> None:
        """Note that a request is sent."""
        if is_retry:
            self._under_way += 1
        else:
            self._counts(now)[0] += 1

    def end(self, begun: float, now: float, end: JobEnd, *, is_retry: bool) -> None:
        """Note how a request that was sent at `begun` has ended."""
        if is_retry:
            self._under_way -= 1
            self._counts(now)[1] += end in _FAILED
        elif not end.may_have_started and int(begun) in self._seconds:
            self._seconds[int(begun)][0] -= 1

    def allows_retry(self, now: float) -> bool:
        """Whether one more retry may be sent now."""
        return self._under_way + 1 <= self._left(now)

    def is_used_up(self, now: float) -> bool:
        """Whether so many retries have failed that none may be sent, even if those under way are answered."""
        return self._left(now) < 1

    def _left(self, now: float) -> float:
        begin = int(now) - WINDOW_S
        requests = sum(counts[0] for second, counts in self._seconds.items() if second > begin)
        failed = sum(counts[1] for second, counts in self._seconds.items() if second >= begin)
        return max(FLOOR, SHARE * requests) - failed

    def _counts(self, now: float) -> list[int]:
        counts = self._seconds.setdefault(int(now), [0, 0])
        while (oldest := next(iter(self._seconds))) < int(now) - WINDOW_S:
            del self._seconds[oldest]
        return counts
