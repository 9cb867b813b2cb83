"""The client's clock, which does not advance while this process is late. Pure.

An answer that was not read in time says nothing about its server if this process did not read anything: it was stopped
(Ctrl-Z, a paused virtual machine), or waited for a processor. So this clock measures how long a server is silent. The
event loop calls `sweep` regularly. From one such *sweep* to the next the clock advances by `SWEEP_S` at most, however
late the event loop is, and between two sweeps the event loop reads from each connection what has arrived.
"""

from __future__ import annotations

SWEEP_S = 0.1
"""The interval between sweeps. A new connection and the answer to a check take 6 turns of the event loop, or 11 if a
name must be resolved (counted with aiohttp 3.14). In the 3 s that they may take there are at least 30."""


class ClientClock:
    """The clock. `now` is the time of the event loop."""

    def __init__(self, now: float) -> None:
        self._time = 0.0
        self._swept_at = now

    def time(self, now: float) -> float:
        """The time on this clock, in seconds since it was made."""
        return self._time + min(now - self._swept_at, SWEEP_S)

    def sweep(self, now: float) -> float:
        """Advance. Returns the time of the sweep before: what had arrived by then has been read."""
        before = self._time
        self._time, self._swept_at = self.time(now), now
        return before
