"""Measures how fast this machine is, and by which factor time limits are multiplied.

Limits are made for the machines of a contest. On a slower machine correct programs would be too slow; on a faster one
slow programs would be accepted. The limits are multiplied by a **time scale**: the time of a fixed workload here,
divided by its time on a stated reference machine. The workload is judged like any submission, in the same box and by
the same clock, so everything that slows down programs here slows it down too.

If other programs ran during the measurement, every later limit would be too loose. So a busy machine is refused, for
three reasons: other processes keep processors busy; the program waits for a processor; the times of the same work vary.

`doctor --calibrate` stores a calibration as `calibration.json` in the cache directory, `--time-scale auto` reads it. A
cache may be shared or copied, and a machine may get another processor. So the file names machine, compiler and
workload, and is refused if one of them differs.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import platform
import statistics
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ioi_eval import boxfiles
from ioi_eval.cache_directory import make_private_directory
from ioi_eval.errors import SetupError
from ioi_eval.fingerprint import cpp_meaning
from ioi_eval.model import Batch, Problem, ProblemKey, Submission, SubmissionResult, Subtask, TestCase, Verdict
from ioi_eval.new_files import new_file
from ioi_eval.problems.time_scale import LEAST_SCALE, MAX_SCALE
from ioi_eval.scorer import Scorer

NAME = "calibration.json"
_ADVICE = "run `ioi-eval doctor --calibrate` on an idle machine, or give --time-scale a number"
_BUSY = (0, 1, 2, 5, 6, 7)  # user, nice, system, irq, softirq, steal; user includes guests


# --------------------------------------------------------------------------- the workload

ROUNDS = 9
"""How often each part is measured alone: enough that one disturbance does not change the median; 15 s in all."""

REFERENCE = "AMD EPYC (Zen 4), a KVM guest with 2 processors, g++ 12.2"
"""The machine on which the verdicts of `docs/fidelity.md` were found, with unscaled limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPart:
    """One part of the workload: its output, and its CPU time on the reference machine (the fastest of about fifty runs
    there)."""

    answer: int
    reference_ms: float


PARTS: Mapping[str, WorkloadPart] = {
    "arithmetic": WorkloadPart(answer=34969993137489448, reference_ms=213),
    "sorting": WorkloadPart(answer=12508837808091750194, reference_ms=229),
    "walking": WorkloadPart(answer=1782899406212, reference_ms=213),
    "containers": WorkloadPart(answer=46476611441, reference_ms=250),
    "table": WorkloadPart(answer=9801, reference_ms=279),
    "floating": WorkloadPart(answer=291067758, reference_ms=226),
}


def workload_digest() -> str:
    """A digest of what this workload does: figures of different workloads are not comparable."""
    return hashlib.sha256(cpp_meaning(boxfiles.read("calibrate.cpp"))).hexdigest()[:16]


def workload_problem(*, rounds: int) -> Problem:
    """The workload as a problem: in each round one test for each part.

    So a disturbance of some seconds affects all parts in one round, and not one part in all rounds.
    """
    tests = [
        TestCase(name=f"{name}-{number}", input=f"{name}\n".encode(), answer=f"{part.answer}\n".encode())
        for number in range(1, rounds + 1)
        for name, part in PARTS.items()
    ]
    return Problem(
        key=ProblemKey(year=0, id="calibrate"),
        name="How fast this machine is",
        method=Batch(),
        time_limit_s=60.0,
        memory_limit_bytes=512 * 1024 * 1024,
        subtasks=(Subtask(name="parts", points=0, tests=tuple(test.name for test in tests)),),
        tests={test.name: test for test in tests},
        cxx_std="gnu++17",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The CPU times of some rounds by part, and the sum of wall clocks."""

    cpu_ms: Mapping[str, tuple[float, ...]]
    wall_ms: float

    @classmethod
    def of(cls, result: SubmissionResult) -> Times:
        """The times from a result; a `SetupError` if they cannot be used."""
        unusable = "the workload could not be measured"
        if result.compile.verdict is not None:
            raise SetupError(f"{unusable}: it was not compiled: {result.compile.message}")
        cpu_ms: dict[str, list[float]] = {part: [] for part in PARTS}
        wall_ms = 0.0
        for outcome in result.subtasks[0].tests:
            if outcome.verdict is not Verdict.AC or outcome.cpu_ms is None:
                raise SetupError(f"{unusable}: {outcome.test}: {outcome.verdict}, {outcome.message}")
            cpu_ms[outcome.test.rpartition("-")[0]].append(outcome.cpu_ms)
            wall_ms += outcome.wall_ms or 0.0
        return cls(cpu_ms={part: tuple(times) for part, times in cpu_ms.items()}, wall_ms=wall_ms)

    @property
    def total_cpu_ms(self) -> float:
        """The sum over all parts and rounds."""
        return sum(sum(times) for times in self.cpu_ms.values())


# --------------------------------------------------------------------------- measuring


MAX_OTHERS = 0.1
"""The share of all processors that others may keep busy; an idle desktop or server is below it."""
_MAX_WAITING = 1.25  # wall clock / CPU time: above it, a program that only computes has waited for a processor
_MAX_SPREAD = 0.05  # (median − fastest) / fastest of a part; on a busy machine 0.3 was seen


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


async def measure(scorer: Scorer) -> Speed:
    """Measure this machine; a `SetupError` if it is busy.

    The scorer judges on this machine, without `spread`, so that a job that runs alone is really alone. Nothing else may
    use it meanwhile.
    """
    processors = os.cpu_count() or 1
    before = OccupancyReading.now()
    await asyncio.sleep(1.0)
    require_idle(OccupancyReading.now().others_since(before), processors, "just now")
    await times_of_workload(scorer, rounds=1)  # compiles the programs, and lets the processor raise its frequency
    before = OccupancyReading.now()
    alone = await times_of_workload(scorer, rounds=ROUNDS)
    require_idle(OccupancyReading.now().others_since(before), processors, "meanwhile")
    return speed_of(alone)


def require_idle(others: float | None, processors: int, when: str) -> None:
    """Refuse a machine of whose processors other processes kept too many busy (`others`; `None` if unknown)."""
    if others is not None and others > MAX_OTHERS * processors:
        raise SetupError(
            f"this machine is busy: something else kept {others:.1f} of its {processors} processors busy {when}, and "
            "would make it seem slow; calibrate when nothing else runs"
        )


def speed_of(alone: Times) -> Speed:
    """The speed, from the times alone on the machine; a `SetupError` if they show that something else ran."""
    if alone.wall_ms > _MAX_WAITING * alone.total_cpu_ms:
        raise SetupError(
            f"this machine is busy, or its processors are rationed: {alone.total_cpu_ms / 1000:.1f} s of computing "
            f"took {alone.wall_ms / 1000:.1f} s; calibrate when nothing else runs"
        )
    medians = {part: statistics.median(times) for part, times in alone.cpu_ms.items()}
    spreads = {part: medians[part] / min(times) - 1 for part, times in alone.cpu_ms.items()}
    worst = max(spreads, key=lambda part: spreads[part])
    if spreads[worst] > _MAX_SPREAD:
        raise SetupError(
            f"this machine is busy, or changes its speed: the same work ({worst}) took "
            f"{min(alone.cpu_ms[worst]):.0f} ms once and {medians[worst]:.0f} ms mostly; "
            "calibrate when nothing else runs"
        )
    return Speed(
        parts={part: round(medians[part] / PARTS[part].reference_ms, 3) for part in medians},
        spread=round(spreads[worst], 4),
    )


async def times_of_workload(scorer: Scorer, *, rounds: int) -> Times:
    """Run the workload."""
    problem = workload_problem(rounds=rounds)
    program = Submission(id="calibrate", problem=problem.key, code=boxfiles.read("calibrate.cpp").decode())
    return Times.of(await scorer.score(problem, program, exhaustive=True))


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
        user_s, system_s, children_user_s, children_system_s, _ = os.times()
        own_s = user_s + system_s + children_user_s + children_system_s
        return cls(at_s=time.monotonic(), busy_s=_busy_s(stat), own_s=own_s)

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


# --------------------------------------------------------------------------- the stored calibration


def _this_machine() -> str:
    """The processors of this machine as text: `AMD EPYC, 2 processors, x86_64`."""
    models: list[str] = []
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        models = [line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "CPU part"))]
    except OSError:
        pass
    return f"{models[0] if models else 'unknown'}, {os.cpu_count()} processors, {platform.machine()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A measured time scale, and the conditions of the measurement; `taken` is in ISO 8601."""

    time_scale: float
    taken: str
    compiler: str
    machine: str = field(default_factory=_this_machine)
    workload: str = field(default_factory=workload_digest)


def store(calibration: Calibration, cache: Path) -> Path:
    """Store a calibration, replacing an earlier one."""
    make_private_directory(cache)
    path = cache / NAME
    try:
        with new_file(path, 0o600, durable=False) as file:
            file.write(f"{json.dumps(asdict(calibration), indent=2)}\n".encode())
    except OSError as error:
        raise SetupError(f"{path} cannot be written: {error.strerror}; free space, or set IOI_EVAL_CACHE") from error
    return path


def find(cache: Path, *, compiler: str) -> Calibration:
    """The calibration of this machine with this compiler; a `SetupError` if there is none."""
    make_private_directory(cache)  # otherwise other users could change every limit
    path = cache / NAME
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        stored = Calibration(**{name: values[name] for name in Calibration.__slots__})
        if not isinstance(stored.time_scale, float) or not LEAST_SCALE <= stored.time_scale <= MAX_SCALE:
            raise ValueError(f"time_scale is {stored.time_scale!r}; it must be {LEAST_SCALE:g} to {MAX_SCALE:g}")
    except FileNotFoundError:
        raise SetupError(f"--time-scale auto: this machine has not been calibrated ({path}); {_ADVICE}") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SetupError(f"--time-scale auto: {path} cannot be read ({error!r}); {_ADVICE}") from error
    here = Calibration(time_scale=stored.time_scale, taken=stored.taken, compiler=compiler)
    for what in ("machine", "compiler", "workload"):
        then, now = getattr(stored, what), getattr(here, what)
        if then != now:
            raise SetupError(f"--time-scale auto: {path} was taken with another {what} ({then}, now {now}); {_ADVICE}")
    return stored
