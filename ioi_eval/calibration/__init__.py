"""How fast this machine is, and what that makes of time limits.

Limits are made for the machines of a contest. On a slower one right programs would be too slow, on a faster one slow
programs right. A **time scale** multiplies the limits: it is what a fixed workload takes here, as a multiple of what it
takes on a stated reference (`workload.py`). The workload is judged like any submission, in the same box and by the
same clock, so that whatever makes programs slow here makes it slow too.

A figure that was taken while something else ran would loosen every limit from then on. So a busy machine is refused,
by three signs: others keep processors busy; the program waits for a processor; the same work takes now longer, now
shorter. What is kept (`kept.py`) names the machine and the compiler that it was taken with, and is good for no other.
"""

from __future__ import annotations

import asyncio
import math
import statistics
from dataclasses import dataclass

from ioi_eval.calibration import workload
from ioi_eval.calibration.occupancy import OccupancyReading
from ioi_eval.errors import SetupError
from ioi_eval.scorer import Scorer


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """From when on a machine is called busy.

    Args:
        others: share of all processors that others keep busy; an idle desktop or server is below it by itself.
        waiting: wall clock by CPU time: a program that only computes has waited for a processor.
        spread: how much longer than the fastest the median of a part takes. On a busy machine 0.3 was seen.
    """

    others: float = 0.1
    waiting: float = 1.25
    spread: float = 0.05


STRICT = Tolerance()


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """What the workload took.

    Args:
        parts: CPU time as a multiple of the reference's, by part.
        spread: the largest over the parts of (median − fastest) / fastest.
        crowded: how many times as long everything takes with a program in every slot.
    """

    parts: dict[str, float]
    spread: float
    crowded: float

    @property
    def time_scale(self) -> float:
        """What limits are multiplied with: the geometric mean of the parts, to two decimals."""
        return round(math.exp(statistics.fmean(math.log(ratio) for ratio in self.parts.values())), 2)


async def measure(
    scorer: Scorer, *, slots: int, processors: int, rounds: int = workload.ROUNDS, tolerance: Tolerance = STRICT
) -> Speed:
    """Measure this machine.

    Args:
        scorer: judges on this machine, without `spread`: what runs alone must be alone; nothing else may use it
            meanwhile.
        slots: how many programs it runs at once.
        processors: how many this machine has.
        rounds: how often each part is measured.
        tolerance: from when on it is busy.

    Raises:
        SetupError: the machine is busy, or the workload could not be run.
    """
    before = OccupancyReading.now()
    await asyncio.sleep(1.0)
    require_idle(OccupancyReading.now().others_since(before), processors, "just now", tolerance)
    _require_whole(await _run(scorer, rounds=1))  # compiles what has to be compiled, and wakes the processor up
    before = OccupancyReading.now()
    alone = _require_whole(await _run(scorer, rounds=rounds))
    require_idle(OccupancyReading.now().others_since(before), processors, "meanwhile", tolerance)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_run(scorer, rounds=2)) for _ in range(slots)]
    return speed_of(alone, [_require_whole(task.result()) for task in tasks], tolerance)


def require_idle(others: float | None, processors: int, when: str, tolerance: Tolerance = STRICT) -> None:
    """Refuse a machine on which others work.

    Args:
        others: how many processors they kept busy; `None` if unknown.
        processors: how many there are.
        when: for the message.
        tolerance: how many are too many.

    Raises:
        SetupError: they were too many.
    """
    if others is not None and others > tolerance.others * processors:
        raise SetupError(
            f"this machine is busy: something else kept {others:.1f} of its {processors} processors busy {when}, and "
            "would be taken for slowness; calibrate when nothing else runs"
        )


def speed_of(alone: workload.Times, crowded: list[workload.Times], tolerance: Tolerance = STRICT) -> Speed:
    """What the times come to.

    Raises:
        SetupError: they say that something else ran.
    """
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
    logs = [
        math.log(time_ms / medians[part]) for times in crowded for part in medians for time_ms in times.cpu_ms[part]
    ]
    return Speed(
        parts={part: round(medians[part] / workload.PARTS[part].reference_ms, 3) for part in medians},
        spread=round(spreads[worst], 4),
        crowded=round(math.exp(statistics.fmean(logs)), 3) if logs else 1.0,
    )


async def _run(scorer: Scorer, *, rounds: int) -> workload.Times:
    problem = workload.problem(rounds=rounds)
    return workload.Times.of(await scorer.score(problem, workload.submission(), exhaustive=True))


def _require_whole(times: workload.Times) -> workload.Times:
    if times.failure:
        raise SetupError(f"the workload could not be measured: {times.failure}")
    return times
