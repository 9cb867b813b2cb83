"""How many processors other processes keep busy. They slow down the workload, so the machine would seem too slow.

Source: proc(5), `/proc/stat`: ticks by state since the start, for all processors together. Stolen ticks (a hypervisor
gave our processor to another guest) count as busy too.
"""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

_BUSY = (0, 1, 2, 5, 6, 7)  # user, nice, system, irq, softirq, steal; user includes guests


@dataclass(frozen=True, slots=True, kw_only=True)
class OccupancyReading:
    """The counters at one moment.

    Args:
        at_s: the monotonic clock.
        busy_s: the busy time of all processors; `None` if the system does not report it.
        own_s: the part of it used by this process and its children.
    """

    at_s: float
    busy_s: float | None
    own_s: float

    @classmethod
    def now(cls, stat: Path = Path("/proc/stat")) -> OccupancyReading:
        """Read the clocks."""
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return cls(
            at_s=time.monotonic(),
            busy_s=_busy_s(stat),
            own_s=sum(usage.ru_utime + usage.ru_stime for usage in used),
        )

    def others_since(self, before: OccupancyReading) -> float | None:
        """How many processors others kept busy on average; `None` if unknown."""
        if self.busy_s is None or before.busy_s is None or self.at_s <= before.at_s:
            return None
        busy_s = self.busy_s - before.busy_s - (self.own_s - before.own_s)
        return max(0.0, busy_s / (self.at_s - before.at_s))


def _busy_s(stat: Path) -> float | None:
    try:
        name, *ticks = stat.read_text(encoding="ascii").split("\n", 1)[0].split()
        return sum(int(ticks[state]) for state in _BUSY) / os.sysconf("SC_CLK_TCK") if name == "cpu" else None
    except (OSError, ValueError, IndexError):
        return None
