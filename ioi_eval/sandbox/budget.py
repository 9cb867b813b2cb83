"""How many repetitions, and checks in passing, a cluster may be asked for. Pure: time is an argument.

A server that is too busy answers late or badly, which is repeated, which makes it busier: unbounded repetition turns
a hiccup into an outage. (Piston cannot cancel: a request that was given up still runs to its end.) So repetitions
are a share of the work: at most a tenth of the first requests of the minute before. A small run that has no tenth to
speak of may still repeat a few.
"""

from __future__ import annotations

from collections import deque

SHARE = 0.1
WINDOW_S = 60
FLOOR = 5
"""So many repetitions a minute are allowed however few requests there are: a tenth of a small run is less than one."""


class RetryBudget:
    """Counts first requests and repetitions by the second.

    The bound holds for the minute before every repetition, exactly: of the second that the minute begins in, the
    requests are not counted and the repetitions are.

    Args:
        share: repetitions for each first request.
        floor: repetitions in a window that are always allowed.
        window_s: the window, in whole seconds.
    """

    def __init__(self, *, share: float = SHARE, floor: int = FLOOR, window_s: int = WINDOW_S) -> None:
        self._share = share
        self._floor = floor
        self._window_s = window_s
        self._seconds: deque[list[int]] = deque()  # [second, first requests, repetitions]
        self._requests = 0
        self._retries = 0

    def count(self, now: float, *, retry: bool) -> None:
        """Note that a request is sent."""
        self._add(self._current(now), 1, retry)

    def take_back(self, when: float, *, retry: bool) -> None:
        """Note that the request of `when` never left: nobody had work from it."""
        for counts in self._seconds:
            if counts[0] == int(when):
                self._add(counts, -1, retry)

    def allows_retry(self, now: float) -> bool:
        """Whether one more repetition may be sent now."""
        self._current(now)
        oldest = self._seconds[0]
        requests = self._requests - (oldest[1] if oldest[0] == int(now) - self._window_s else 0)
        return self._retries + 1 <= max(self._floor, self._share * requests)

    def _add(self, counts: list[int], number: int, retry: bool) -> None:
        if retry:
            counts[2] += number
            self._retries += number
        else:
            counts[1] += number
            self._requests += number

    def _current(self, now: float) -> list[int]:
        """This second's counts. Those that have left the window are dropped."""
        second = int(now)
        seconds = self._seconds
        if not seconds or seconds[-1][0] < second:
            seconds.append([second, 0, 0])
            while seconds[0][0] < second - self._window_s:
                _, requests, retries = seconds.popleft()
                self._requests -= requests
                self._retries -= retries
        return seconds[-1]


class Ration:
    """So many of something a second.

    Args:
        per_second: how many.
    """

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._second = -1
        self._taken = 0

    def take(self, now: float) -> bool:
        """Take one, if there is one left in this second."""
        if int(now) != self._second:
            self._second, self._taken = int(now), 0
        self._taken += 1
        return self._taken <= self._per_second
