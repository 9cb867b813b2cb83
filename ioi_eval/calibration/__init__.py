"""Measures how fast this machine is, and by which factor time limits are multiplied.

Limits are made for the machines of a contest. On a slower machine correct programs would be too slow; on a faster one
slow programs would be accepted. The limits are multiplied by a **time scale**: the time of a fixed workload here,
divided by its time on a stated reference machine (`workload.py`). The workload is judged like any submission, in the
same box and by the same clock, so everything that slows down programs here slows it down too.

If other programs ran during the measurement, every later limit would be too loose. So a busy machine is refused, for
three reasons: other processes keep processors busy; the program waits for a processor; the times of the same work vary.
A stored calibration (`stored.py`) names its machine and compiler, and is not used with others.
"""

from __future__ import annotations

import asyncio
import math
import os
import resource
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from ioi_eval.calibration import workload
from ioi_eval.errors import SetupError
from ioi_eval.scorer import Scorer

_BUSY = (0, 1, 2, 5, 6, 7)  # user, nice, system, irq, softirq, steal; user includes guests


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """The limits above which a machine counts as busy.

    Args:
        others: the share of all processors that others keep busy; an idle desktop or server is below it.
        waiting: wall clock / CPU time: above it, a program that only computes has waited for a processor.
        spread: (median − fastest) / fastest of a part. On a busy machine 0.3 was seen.
    """

    others: float = 0.1
    waiting: float = 1.25
    spread: float = 0.05


STRICT = Tolerance()


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """The times of the workload: for each part CPU time / CPU time on the reference machine, and the largest over the
    parts of (median − fastest) / fastest (`spread`)."""

    parts: dict[str, float]
    spread: float

    @property
    def time_scale(self) -> float:
        """The factor for limits: the geometric mean of the parts, to two decimals."""
        return round(math.exp(statistics.fmean(math.log(ratio) for ratio in self.parts.values())), 2)


async def measure(
    scorer: Scorer, *, processors: int, rounds: int = workload.ROUNDS, tolerance: Tolerance = STRICT
) -> Speed:
    """Measure this machine; a `SetupError` if it is busy.

    The scorer judges on this machine, without `spread`, so that a job that runs alone is really alone. Nothing else may
    use it meanwhile.
    """
    before = OccupancyReading.now()
    await asyncio.sleep(1.0)
    require_idle(OccupancyReading.now().others_since(before), processors, "just now", tolerance)
    await _run(scorer, rounds=1)  # compiles the programs, and lets the processor raise its frequency
    before = OccupancyReading.now()
    alone = await _run(scorer, rounds=rounds)
    require_idle(OccupancyReading.now().others_since(before), processors, "meanwhile", tolerance)
    return speed_of(alone, tolerance)


def require_idle(others: float | None, processors: int, when: str, tolerance: Tolerance = STRICT) -> None:
    """Refuse a machine of whose processors other processes kept too many busy (`others`; `None` if unknown)."""
    if others is not None and others > tolerance.others * processors:
        raise SetupError(
            f"this machine is busy: something else kept {others:.1f} of its {processors} processors busy {when}, and "
            "would make it seem slow; calibrate when nothing else runs"
        )


def speed_of(alone: workload.Times, tolerance: Tolerance = STRICT) -> Speed:
    """The speed, from the times alone on the machine; a `SetupError` if they show that something else ran."""
    if alone.wall_ms > tolerance.waiting * alone.total_cpu_ms:
        raise SetupError(
            f"this machine is busy, or its processors are rationed: {alone.total_cpu_ms / 1000:.1f} s of computing "
            f"took {alone.wall_ms / 1000:.1f} s; calibrate when nothing else runs"
        )
    medians = {part: statistics.median(times) for part, times in alone.cpu_ms.items()}
    spreads = {part: medians[part] / min(times) - 1 for part, times in alone.cpu_ms.items()}
    worst = max(spreads, key=lambda part: spreads[part])
    if spreads[worst] > tolerance.spread:
        raise SetupError(
            f"this machine is busy, or changes its speed: the same work ({worst}) took "
            f"{min(alone.cpu_ms[worst]):.0f} ms once and {medians[worst]:.0f} ms mostly; "
            "calibrate when nothing else runs"
        )
    return Speed(
        parts={part: round(medians[part] / workload.PARTS[part].reference_ms, 3) for part in medians},
        spread=round(spreads[worst], 4),
    )


async def _run(scorer: Scorer, *, rounds: int) -> workload.Times:
    problem = workload.problem(rounds=rounds)
    return workload.Times.of(await scorer.score(problem, workload.submission(), exhaustive=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class OccupancyReading:
    """How long all processors were busy up to one moment: what others compute meanwhile makes the machine seem slow.

    Source: proc(5), `/proc/stat`: ticks by state since the start, for all processors together. Stolen ticks (a
    hypervisor gave our processor to another guest) count as busy too.

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
