"""Calibration: how the figures are computed, and when they are refused."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import boxfiles
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.calibration import OccupancyReading, Speed, Tolerance, measure, require_idle, speed_of, workload
from ioi_eval.calibration.stored import calibration_of_this_machine, find, store
from ioi_eval.cli.doctor import describe
from ioi_eval.errors import SetupError
from ioi_eval.model import CompileOutcome, SubmissionResult, SubtaskResult, TestOutcome, Verdict
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from tests.busy_processes import busy_processes


def times(factor: float = 1.0, *, rounds: int = 3, wall: float = 1.0, **disturbed: tuple[float, ...]) -> workload.Times:
    """Each part takes the reference time multiplied by a factor; some parts have given times."""
    cpu_ms = {name: (part.reference_ms * factor,) * rounds for name, part in workload.PARTS.items()} | disturbed
    return workload.Times(cpu_ms=cpu_ms, wall_ms=wall * sum(map(sum, cpu_ms.values())))


def test_the_reference_machine_has_scale_one() -> None:
    """Times equal to the reference's do not change limits."""
    speed = speed_of(times())
    assert (speed.time_scale, speed.spread) == (1.0, 0.0)


def test_a_slower_machine_gets_longer_limits() -> None:
    """If every part takes twice as long, the scale is 2. If one of six parts does, it counts with its share."""
    assert speed_of(times(2.0)).time_scale == 2.0
    one: dict[str, Any] = {"table": (2 * workload.PARTS["table"].reference_ms,) * 3}
    assert speed_of(times(1.0, **one)).time_scale == round(2 ** (1 / len(workload.PARTS)), 2)


def test_one_disturbed_round_does_not_count() -> None:
    """The median is used, so a single slow round changes nothing."""
    normal = workload.PARTS["walking"].reference_ms
    assert speed_of(times(walking=(normal, normal, 3 * normal))).time_scale == 1.0


def test_varying_times_are_refused() -> None:
    """They show that something else runs on the machine."""
    normal = workload.PARTS["walking"].reference_ms
    with pytest.raises(SetupError, match=r"busy.*walking"):
        speed_of(times(walking=(normal, 1.1 * normal, 1.2 * normal)))


def test_waiting_for_a_processor_is_refused() -> None:
    """If wall clock is far above CPU time, another program had the processor, or a CPU quota was reached."""
    with pytest.raises(SetupError, match=r"rationed.*took"):
        speed_of(times(wall=1.5))


@pytest.mark.parametrize(
    ("others", "processors", "idle"), [(None, 2, True), (0.15, 2, True), (0.3, 2, False), (3.0, 64, True)]
)
def test_other_programs_may_use_a_tenth_of_the_machine(others: float | None, processors: int, idle: bool) -> None:
    """Above that it is a busy machine, and the message says so."""
    if idle:
        require_idle(others, processors, "just now")
    else:
        with pytest.raises(
            SetupError, match=r"this machine is busy: something else kept 0\.3 of its 2 processors busy"
        ):
            require_idle(others, processors, "just now")


def test_cpu_time_of_other_programs(tmp_path: Path) -> None:
    """All states except idle and iowait count, also stolen time, minus our own time. A guest's time is contained in
    user time.
    """
    stat = tmp_path / "stat"
    ticks = os.sysconf("SC_CLK_TCK")
    stat.write_text(f"cpu  {ticks} {ticks} {ticks} 99999 99999 {ticks} {ticks} {ticks} {ticks} 0\ncpu0 1 1\n")
    before = replace(OccupancyReading.now(stat), at_s=10.0, own_s=0.0)
    assert before.busy_s == 6.0
    after = OccupancyReading(at_s=14.0, busy_s=16.0, own_s=2.0)
    assert after.others_since(before) == 2.0
    assert replace(after, own_s=50.0).others_since(before) == 0.0


@pytest.mark.parametrize("content", [None, "", "intr 5\n", "cpu 1 2\n", "cpu a b c d e f g h\n"])
def test_a_system_without_these_counters_is_no_error(tmp_path: Path, content: str | None) -> None:
    """Only the other signs are used."""
    stat = tmp_path / "stat"
    if content is not None:
        stat.write_text(content)
    reading = OccupancyReading.now(stat)
    assert reading.busy_s is None
    assert reading.others_since(reading) is None


def test_a_wrong_answer_measures_nothing() -> None:
    """A program that did not do the work gives no valid time."""
    outcome = TestOutcome(test="table-1", verdict=Verdict.WA, score=0.0, message="1 instead of 2", cpu_ms=1.0)
    subtask = SubtaskResult(
        subtask="parts", verdict=Verdict.WA, score=0.0, points=0, weighted_score=0.0, tests=(outcome,)
    )
    result = SubmissionResult(
        submission="calibrate",
        problem=workload.problem(rounds=1).key,
        verdict=Verdict.WA,
        score=0.0,
        compile=CompileOutcome(verdict=None),
        subtasks=(subtask,),
    )
    with pytest.raises(SetupError, match="could not be measured: table-1: WA, 1 instead of 2"):
        workload.Times.of(result)
    broken = replace(result, compile=CompileOutcome(verdict=Verdict.CE, message="no sqrt"))
    with pytest.raises(SetupError, match="could not be measured: it was not compiled: no sqrt"):
        workload.Times.of(broken)


def test_another_comment_is_no_other_workload() -> None:
    """A stored calibration stays valid if only a comment of the workload is improved, and not if its work changes."""
    source = boxfiles.read("calibrate.cpp")
    assert workload.workload_digest(source + b"// another comment\n") == workload.workload_digest()
    assert workload.workload_digest(source.replace(b"70000000", b"80000000")) != workload.workload_digest()


@pytest.fixture
def busy() -> Iterator[None]:
    """One busy process for each processor."""
    with busy_processes(os.cpu_count() or 1):
        yield


async def _measure(cache: Path, tolerance: Tolerance) -> Speed:
    async with LocalSandbox(slots=1) as sandbox:
        scorer = Scorer(sandbox, artifacts=ArtifactStore(cache), spread=False)
        return await measure(scorer, processors=os.cpu_count() or 1, rounds=1, tolerance=tolerance)


def test_a_busy_machine_is_not_measured(busy: None, tmp_path: Path) -> None:
    """With real processes on every processor it is refused within seconds, before anything is compiled."""
    with pytest.raises(SetupError, match="this machine is busy"):
        asyncio.run(_measure(tmp_path, Tolerance()))
    assert not list((tmp_path / "artifacts").iterdir())


def test_the_workload_is_measured_in_the_box(tmp_path: Path, cache: Path) -> None:
    """Every part gives the expected answer. The stored figures can be displayed."""
    speed = asyncio.run(_measure(cache, Tolerance(others=math.inf, waiting=math.inf, spread=math.inf)))
    assert speed.parts.keys() == workload.PARTS.keys()
    assert all(0.02 < ratio < 100 for ratio in speed.parts.values())
    calibration = calibration_of_this_machine(speed.time_scale, compiler="g++ 12", taken="2026-01-01")
    words = describe(speed, calibration, store(calibration, tmp_path))
    assert f"multiplies time limits by {speed.time_scale:g} from now on" in words
    assert all(part in words for part in workload.PARTS)
    assert find(tmp_path, compiler="g++ 12").time_scale == speed.time_scale
