"""Calibration: how the figures are computed, and when they are refused; when a stored one is valid."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from ioi_eval import boxfiles
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.calibration import (
    NAME,
    PARTS,
    Calibration,
    OccupancyReading,
    Times,
    find,
    measure,
    require_idle,
    speed_of,
    store,
    times_of_workload,
    workload_digest,
    workload_problem,
)
from ioi_eval.cli.examining import describe
from ioi_eval.errors import SetupError
from ioi_eval.model import CompileOutcome, SubmissionResult, SubtaskResult, TestOutcome, Verdict
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from tests.busy_processes import busy_processes

ResultT = TypeVar("ResultT")


def times(factor: float = 1.0, *, rounds: int = 3, wall: float = 1.0, **disturbed: tuple[float, ...]) -> Times:
    """Each part takes the reference time multiplied by a factor; some parts have given times."""
    cpu_ms = {name: (part.reference_ms * factor,) * rounds for name, part in PARTS.items()} | disturbed
    return Times(cpu_ms=cpu_ms, wall_ms=wall * sum(map(sum, cpu_ms.values())))


def test_the_reference_machine_has_scale_one() -> None:
    """Times equal to the reference's do not change limits."""
    speed = speed_of(times())
    assert (speed.time_scale, speed.spread) == (1.0, 0.0)


def test_a_slower_machine_gets_longer_limits() -> None:
    """If every part takes twice as long, the scale is 2. If one of six parts does, it counts with its share."""
    assert speed_of(times(2.0)).time_scale == 2.0
    one: dict[str, Any] = {"table": (2 * PARTS["table"].reference_ms,) * 3}
    assert speed_of(times(1.0, **one)).time_scale == round(2 ** (1 / len(PARTS)), 2)


def test_one_disturbed_round_does_not_count() -> None:
    """The median is used, so a single slow round changes nothing."""
    normal = PARTS["walking"].reference_ms
    assert speed_of(times(walking=(normal, normal, 3 * normal))).time_scale == 1.0


def test_varying_times_are_refused() -> None:
    """They show that something else runs on the machine."""
    normal = PARTS["walking"].reference_ms
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
        problem=workload_problem(rounds=1).key,
        verdict=Verdict.WA,
        score=0.0,
        compile=CompileOutcome(verdict=None),
        subtasks=(subtask,),
    )
    with pytest.raises(SetupError, match="could not be measured: table-1: WA, 1 instead of 2"):
        Times.of(result)
    broken = replace(result, compile=CompileOutcome(verdict=Verdict.CE, message="no sqrt"))
    with pytest.raises(SetupError, match="could not be measured: it was not compiled: no sqrt"):
        Times.of(broken)


def test_another_comment_is_no_other_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stored calibration stays valid if only a comment of the workload is improved, and not if its work changes."""
    source, digest = boxfiles.read("calibrate.cpp"), workload_digest()
    monkeypatch.setattr(boxfiles, "read", lambda _: source + b"// another comment\n")
    assert workload_digest() == digest
    monkeypatch.setattr(boxfiles, "read", lambda _: source.replace(b"70000000", b"80000000"))
    assert workload_digest() != digest


@pytest.fixture
def busy() -> Iterator[None]:
    """One busy process for each processor."""
    with busy_processes(os.cpu_count() or 1):
        yield


async def _with_scorer(cache: Path, work: Callable[[Scorer], Awaitable[ResultT]]) -> ResultT:
    async with LocalSandbox(slots=1) as sandbox:
        return await work(Scorer(sandbox, artifacts=ArtifactStore(cache), spread=False))


def test_a_busy_machine_is_not_measured(busy: None, tmp_path: Path) -> None:
    """With real processes on every processor it is refused within seconds, before anything is compiled."""
    with pytest.raises(SetupError, match="this machine is busy"):
        asyncio.run(_with_scorer(tmp_path, measure))
    assert not list((tmp_path / "artifacts").iterdir())


def test_the_workload_is_measured_in_the_box(tmp_path: Path, cache: Path) -> None:
    """Every part gives the expected answer. The stored figures can be displayed."""
    alone = asyncio.run(_with_scorer(cache, lambda scorer: times_of_workload(scorer, rounds=1)))
    speed = speed_of(replace(alone, wall_ms=alone.total_cpu_ms))
    assert speed.parts.keys() == PARTS.keys()
    assert all(0.02 < ratio < 100 for ratio in speed.parts.values())
    calibration = Calibration(time_scale=speed.time_scale, compiler="g++ 12", taken="2026-01-01")
    words = describe(speed, store(calibration, tmp_path))
    assert f"multiplies time limits by {speed.time_scale:g} from now on" in words
    assert all(part in words for part in PARTS)
    assert find(tmp_path, compiler="g++ 12").time_scale == speed.time_scale


HERE = Calibration(time_scale=1.25, compiler="g++ 12", taken="2026-01-01T00:00:00+00:00")


def test_a_stored_calibration_is_found(tmp_path: Path) -> None:
    """A later calibration replaces an earlier one."""
    store(Calibration(time_scale=9.0, compiler="g++ 12", taken="2025"), tmp_path / "cache")
    assert store(HERE, tmp_path / "cache") == tmp_path / "cache" / NAME
    assert find(tmp_path / "cache", compiler="g++ 12") == HERE
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [NAME]


def test_a_missing_calibration_is_an_error(tmp_path: Path) -> None:
    """The message names the command. Limits are neither changed nor left unchanged silently."""
    with pytest.raises(SetupError, match=r"has not been calibrated.*doctor --calibrate"):
        find(tmp_path, compiler="g++ 12")


@pytest.mark.parametrize("what", ["machine", "compiler", "workload"])
def test_a_calibration_of_another_machine_is_not_used(tmp_path: Path, what: str) -> None:
    """For example with a cache on a shared disk, a new compiler, or a new version of this project."""
    path = store(HERE, tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), what: "another"}))
    with pytest.raises(SetupError, match=f"taken with another {what} \\(another, now .*doctor --calibrate"):
        find(tmp_path, compiler="g++ 12")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"time_scale": 1.0}', "\x00", "scale", "[" * 100_000])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    """For any content."""
    (tmp_path / NAME).write_text(text)
    with pytest.raises(SetupError, match=f"{NAME} cannot be read"):
        find(tmp_path, compiler="g++ 12")


@pytest.mark.parametrize("scale", [0.0, -1.0, 0.05, 1e9, None, "1", float("nan")])
def test_impossible_scales_are_refused(tmp_path: Path, scale: object) -> None:
    """The scale multiplies every limit. A user's own number must be in the same range."""
    path = store(HERE, tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "time_scale": scale}))
    with pytest.raises(SetupError, match="cannot be read"):
        find(tmp_path, compiler="g++ 12")


def test_a_directory_that_others_may_write_is_refused(tmp_path: Path) -> None:
    """Whoever can write there could increase every limit."""
    store(HERE, tmp_path)
    tmp_path.chmod(0o777)
    with pytest.raises(SetupError, match="others may write"):
        find(tmp_path, compiler="g++ 12")


def test_a_failed_write_leaves_no_file(tmp_path: Path) -> None:
    """No incomplete file stays in the cache."""
    cache = tmp_path / "cache"
    (cache / NAME).mkdir(parents=True)
    cache.chmod(0o755)
    with pytest.raises(SetupError, match=f"{NAME} cannot be written: Is a directory"):
        store(HERE, cache)
    assert [path.name for path in cache.iterdir()] == [NAME]
