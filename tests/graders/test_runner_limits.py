"""Time, memory and threads: which limits stop a program, and their names. No verdict depends on the machine's speed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.busy_processes import busy_processes
from tests.graders.runner_box import JUDGE, Box, in_each_kind_of_box, run_batch, run_game
from tests.one_processor import PEAK_ERROR_BYTES, one_processor

LIMIT_MS = 200


@in_each_kind_of_box
@pytest.mark.parametrize("mode", ["loop 1", "loop-threads 1", "loop-signals 1"])
def test_burning_cpu(box: Box, program: Callable[..., Path], mode: str) -> None:
    """CPU time of all threads counts. At 1.25 × limit + 0.1 s the program is stopped, even if it ignores signals."""
    entry = run_batch(box, program("contestant"), mode, cpu_ms=LIMIT_MS).only
    assert (entry["verdict"], entry["score"], entry["limit"]) == ("TLE", "0", "cpu")
    assert entry["cpu_us"] >= 1250 * LIMIT_MS + 100_000
    assert entry["signal"] == 9


def test_a_little_over_the_limit(plain_box: Box, program: Callable[..., Path]) -> None:
    """A program a little over the limit ends by itself and gets TLE, with its CPU time."""
    entry = run_batch(plain_box, program("contestant"), "burn 220", cpu_ms=LIMIT_MS, answer=b"221\n").only
    assert (entry["verdict"], entry["limit"], entry["signal"], entry["code"]) == ("TLE", "cpu", 0, 0)
    assert 220_000 <= entry["cpu_us"] < 350_000


@pytest.mark.parametrize(
    ("answer", "mode", "in_time"),
    [
        (b"221\n", "burn 220", "1"),
        (b"251\n", "burn 250", "1"),
        (b"7\n", "burn 220", "0"),
        (b"601\n", "burn 600", None),
    ],
)
def test_score_in_time_of_a_late_program(
    plain_box: Box, program: Callable[..., Path], answer: bytes, mode: str, in_time: str | None
) -> None:
    """The output of a late program that ended is judged (`in_time`): a repetition needs to measure only the time."""
    entry = run_batch(plain_box, program("contestant"), mode, cpu_ms=LIMIT_MS, answer=answer).only
    assert (entry["verdict"], entry["score"], entry["limit"], entry["message"]) == ("TLE", "0", "cpu", "")
    assert entry.get("in_time") == in_time


@pytest.mark.parametrize("mode", ["pause 1", "stop 1", "sleep 60000"])
def test_idle_programs(box: Box, program: Callable[..., Path], mode: str) -> None:
    """A program that neither runs nor waits for a processor is stopped at limit + 1 s of idle time."""
    entry = run_batch(box, program("contestant"), mode, cpu_ms=LIMIT_MS).only
    assert (entry["verdict"], entry["limit"]) == ("TLE", "idle")
    assert entry["cpu_us"] < 1000 * LIMIT_MS
    assert entry["idle_us"] >= 1000 * LIMIT_MS + 1_000_000


def test_short_sleep_is_allowed(plain_box: Box, program: Callable[..., Path]) -> None:
    """Idle time below its limit does not change the verdict, and is not CPU time."""
    entry = run_batch(plain_box, program("contestant"), "sleep 300", cpu_ms=LIMIT_MS, answer=b"301\n").only
    assert entry["verdict"] == "AC"
    assert entry["wall_us"] >= 300_000
    assert entry["idle_us"] >= 150_000


@in_each_kind_of_box
def test_programs_get_time_for_pages(box: Box, program: Callable[..., Path]) -> None:
    """A program whose pages took much system time is stopped later, but still gets TLE."""
    limits: dict[str, Any] = {"cpu_ms": LIMIT_MS, "memory_bytes": 256 << 20}
    stopped, ended = run_batch(box, program("contestant"), "burn 9000", "pages 400", answer=b"401\n", **limits).lines
    assert (stopped["verdict"], stopped["limit"], stopped["signal"]) == ("TLE", "cpu", 9)
    assert (ended["verdict"], ended["limit"], ended["signal"], ended["in_time"]) == ("TLE", "cpu", 0, "1")
    assert ended["cpu_us"] >= 400_000


@in_each_kind_of_box
def test_time_for_pages_is_limited_by_the_memory_limit(box: Box, program: Callable[..., Path]) -> None:
    """The extra time is 20 µs for each page that fits into the memory limit, also if pages are allocated repeatedly."""
    entry = run_batch(box, program("contestant"), "loop-pages 1", cpu_ms=LIMIT_MS, memory_bytes=64 << 20).only
    assert (entry["verdict"], entry["limit"], entry["signal"]) == ("TLE", "cpu", 9)
    stopped_us = 1250 * LIMIT_MS + 100_000 + (64 << 20) // 4096 * 20
    assert stopped_us <= entry["cpu_us"] < 2 * stopped_us


def test_time_for_pages_is_limited_for_all_processes_together(
    boxes: Callable[[str], Box], program: Callable[..., Path]
) -> None:
    """The extra time for pages is at most 8 × limit + 5 s for all processes together, not for each (10 s for two)."""
    limits: dict[str, Any] = {"cpu_ms": 1, "memory_bytes": 2 << 30, "processes": 2}
    patient = {**JUDGE, "wall_ms": 300_000}  # the manager must not be stopped before the processes
    box = boxes("fds-reduced-user")  # one box is enough: the program runs for five seconds
    entry = run_game(box, program, "play play", stub=['-DEARLY="pages"'], manager=patient, **limits).only
    assert (entry["verdict"], entry["limit"], entry["signal"]) == ("TLE", "cpu", 9)
    assert entry["cpu_us"] < 9_000_000  # on a busy machine it is stopped a little later


def test_a_late_program_is_tle_on_a_busy_machine(boxes: Callable[[str], Box], program: Callable[..., Path]) -> None:
    """A program with extra time for pages may run until the test is given up. It gets TLE then, not JE."""
    with one_processor(), busy_processes(4, sessions=True):
        limits: dict[str, Any] = {"cpu_ms": 1, "memory_bytes": 2 << 30}
        entry = run_batch(boxes("fds-reduced-user"), program("contestant"), "loop-kernel-pages 1", **limits).only
    assert entry["wall_us"] >= 9_900_000, "the machine was not busy"
    assert (entry["verdict"], entry["limit"], entry["signal"]) == ("TLE", "cpu", 9)


def test_no_time_for_pages_shortly_before_the_deadline(plain_box: Box, program: Callable[..., Path]) -> None:
    """Shortly before the sandbox's deadline there is no extra time for pages. A program within its limit is not
    stopped.
    """
    limits: dict[str, Any] = {"cpu_ms": LIMIT_MS, "memory_bytes": 2 << 30, "job_wall_ms": 0}
    stopped, ended = run_batch(plain_box, program("contestant"), "loop-kernel-pages 1", "burn 100", **limits).lines
    assert (stopped["verdict"], stopped["limit"], stopped["signal"]) == ("TLE", "cpu", 9)
    assert stopped["cpu_us"] < 1250 * LIMIT_MS + 600_000
    assert ended["signal"] == 0


def test_only_system_time_counts_as_time_for_pages(plain_box: Box, program: Callable[..., Path]) -> None:
    """Many pages give no extra user time. (For 200 MiB it would be one second.)"""
    limits: dict[str, Any] = {"cpu_ms": LIMIT_MS, "memory_bytes": 512 << 20}
    entry = run_batch(plain_box, program("contestant"), "loop-after-pages 1", **limits).only
    assert (entry["verdict"], entry["limit"], entry["signal"]) == ("TLE", "cpu", 9)
    assert entry["cpu_us"] < 1250 * LIMIT_MS + 100_000 + 1000 * int(entry["stderr"]) + 500_000


@in_each_kind_of_box
@pytest.mark.parametrize("mebibytes", [300, 1 << 25])
def test_prefaulted_memory_does_not_count(box: Box, program: Callable[..., Path], mebibytes: int) -> None:
    """Prefaulted memory does not count as the program's. It is limited to the memory limit, whatever the plan says."""
    limits: dict[str, Any] = {"memory_bytes": 512 << 20, "prefault_bytes": mebibytes << 20}
    entry = run_batch(box, program("contestant"), "sum 1", **limits).only
    assert entry["verdict"] == "AC"
    assert entry["memory_bytes"] < 3_000_000


@pytest.mark.parametrize("mode", ["new", "malloc-small", "static", "recurse", "thread-memory"])
def test_too_much_memory(box: Box, program: Callable[..., Path], mode: str) -> None:
    """A program over the memory limit is stopped and gets MLE, for each way of allocating memory."""
    number = 400 if mode != "recurse" else 400_000
    entry = run_batch(box, program("contestant"), f"{mode} {number}", memory_bytes=64 << 20, cpu_ms=5000).only
    assert (entry["verdict"], entry["limit"]) == ("MLE", "memory")
    assert entry["memory_bytes"] > 64 << 20


def test_peak_counts_even_if_polling_missed_it(plain_box: Box, program: Callable[..., Path]) -> None:
    """A program that ended before the runner saw its peak over the limit still gets MLE."""
    entry = run_batch(plain_box, program("contestant"), "new 40", memory_bytes=32 << 20, answer=b"41\n").only
    assert entry["verdict"] == "MLE"


@pytest.mark.parametrize("mebibytes", [1, 10, 100, 1000])
def test_peak_memory_is_measured(plain_box: Box, program: Callable[..., Path], mebibytes: int) -> None:
    """The peak is the allocated memory plus that of an empty program, within 5 % and the kernel's error."""
    contestant = program("contestant")
    limits: dict[str, Any] = {"memory_bytes": 2 << 30, "cpu_ms": 20_000}
    with one_processor():
        empty = run_batch(plain_box, contestant, "sum 1", **limits).only["memory_bytes"]
        answer = b"%d\n" % (mebibytes + 1)
        entry = run_batch(plain_box, contestant, f"new {mebibytes}", answer=answer, **limits).only
    assert empty < 2_000_000
    assert entry["verdict"] == "AC"
    assert entry["memory_bytes"] - empty == pytest.approx(mebibytes << 20, rel=0.05, abs=PEAK_ERROR_BYTES)


def test_no_machine_gives_huge_pages(plain_box: Box, program: Callable[..., Path]) -> None:
    """A program with a sparse array needs no more memory on a machine that gives pages of 2 MiB."""
    entry = run_batch(plain_box, program("contestant"), "huge-pages 400", memory_bytes=64 << 20, answer=b"401\n").only
    assert entry["verdict"] == "AC"


def test_reserved_address_space_is_not_memory(plain_box: Box, program: Callable[..., Path]) -> None:
    """Reserved address space without pages does not count, up to a bound far above the memory limit."""
    contestant = program("contestant")
    assert run_batch(plain_box, contestant, "reserve 3000", memory_bytes=64 << 20, answer=b"3001\n").verdicts == ["AC"]
    beyond = run_batch(plain_box, contestant, "reserve 6000", memory_bytes=64 << 20).only
    assert (beyond["verdict"], beyond["code"]) == ("RE", 96)


def test_deep_recursion_is_possible(plain_box: Box, program: Callable[..., Path]) -> None:
    """The stack is as large as the memory limit."""
    entry = run_batch(plain_box, program("contestant"), "recurse 100", memory_bytes=1 << 30, answer=b"101\n").only
    assert entry["verdict"] == "AC"
    assert entry["memory_bytes"] > 100_000 * 1000


def test_threads_are_counted(box: Box, program: Callable[..., Path]) -> None:
    """A program may have threads up to the limit. With more, it is stopped."""
    contestant = program("contestant")
    assert run_batch(box, contestant, "threads 30", threads=32, answer=b"31\n").verdicts == ["AC"]
    entry = run_batch(box, contestant, "threads 100", threads=32).only
    assert (entry["verdict"], entry["limit"]) == ("RE", "threads")
