"""How often jobs are sent again, and when. Pure: time and randomness are arguments.

`cluster.py` sends a job again if a worker gave no usable answer. There are two limits:

- one job is sent again `model.job.RETRIES` times at most, over all layers that reject its answers (`Retries`);
- all jobs together are sent again within a budget (`RetryBudget`). A server that is too busy answers late or badly,
  which causes retries, which make it busier: unlimited retries turn a short overload into an outage. (Piston
  cannot cancel: a request that was given up still runs to its end.)

An attempt on which no server worked does not count as a retry: there was no connection, or the server cannot serve
such jobs.
"""

from __future__ import annotations

import random
from collections import Counter

from ioi_eval.errors import ExhaustedError, SandboxError, TransientError
from ioi_eval.model import Retries

SHARE = 0.1
WINDOW_S = 60
FLOOR = 5
"""Retries in a minute: a tenth of the first requests of that minute, and `FLOOR` in any case, as a tenth of a small
run is less than one. Source: "Site Reliability Engineering" (Google), chapter "Handling Overload": at most a tenth of a
client's requests are retries."""

FIRST_BACKOFF_S = 0.2
LONGEST_BACKOFF_S = 10.0
"""The wait before a retry, doubled each time. It is multiplied by a random 0.5 to 1, so that jobs which failed
together are not sent again together."""


def backoff_s(number: int, rng: random.Random) -> float:
    """How long to wait before the retry with this number (from 1)."""
    longest = min(FIRST_BACKOFF_S * 2.0 ** (number - 1), LONGEST_BACKOFF_S)
    return longest * rng.uniform(0.5, 1.0)


def exhausted(retries: Retries, last: SandboxError, why: str = "") -> SandboxError:
    """The error for a job that is not sent again: how often it was tried, where, and the last result."""
    if not isinstance(last, TransientError):
        return last
    count = Counter(retries.tried)
    where = ", ".join(name if n == 1 else f"{name} ({n} times)" for name, n in count.items())
    times = "once" if count.total() == 1 else f"{count.total()} times"
    error = ExhaustedError(
        f"the job was tried {times}, on {where}, without an answer that could be used; {why}at last: {last}"
    )
    error.__cause__ = last
    return error


class RetryBudget:
    """Counts first requests and retries for each second.

    No minute before a retry exceeds the limit: in the oldest second, which is only partly in the minute,
    retries count and first requests do not.
    """

    def __init__(self) -> None:
        self._seconds: dict[int, list[int]] = {}  # first requests and retries, by second

    def count(self, now: float, *, is_retry: bool) -> None:
        """Note that a request is sent."""
        self._seconds.setdefault(int(now), [0, 0])[is_retry] += 1
        while (oldest := next(iter(self._seconds))) < int(now) - WINDOW_S:
            del self._seconds[oldest]

    def take_back(self, when: float, *, is_retry: bool) -> None:
        """Note that the request counted at `when` was not sent, as there was no connection."""
        if int(when) in self._seconds:
            self._seconds[int(when)][is_retry] -= 1

    def allows_retry(self, now: float) -> bool:
        """Whether one more retry may be sent now."""
        begin = int(now) - WINDOW_S
        requests = sum(counts[0] for second, counts in self._seconds.items() if second > begin)
        retries = sum(counts[1] for second, counts in self._seconds.items() if second >= begin)
        return retries + 1 <= max(FLOOR, SHARE * requests)
