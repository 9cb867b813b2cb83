"""A program cannot get JE on purpose, or keep memory that is not counted: each attempt gets its own verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.graders.runner_box import JUDGE, Box, run_batch, run_game

HARMLESS = ["membarrier", "vfork", "fsync", "cpu-limit", "old-cpu-limit", "ticks", "shared", "outputs"]


def test_excuses_are_refused_or_have_no_effect(plain_box: Box, program: Callable[..., Path]) -> None:
    """Barriers, vfork, disks, CPU limits, ticks, shared memory, readable outputs: each is refused or has no effect."""
    answer = run_batch(plain_box, program("excuse"), *(f"{mode} 1" for mode in HARMLESS), answer=b"held\n")
    for mode, entry in zip(HARMLESS, answer.lines, strict=True):
        assert entry["verdict"] == "AC", (mode, entry)


def test_no_write_waits_for_a_disk(plain_box: Box, program: Callable[..., Path]) -> None:
    """If its directory is on a real disk, a program cannot open a file whose writes wait for that disk."""
    answer = b"held\n" if plain_box.level == "reduced" else b"synced\n"
    assert run_batch(plain_box, program("excuse"), "synced 1", answer=answer).verdicts == ["AC"]


def test_waiting_in_the_kernel_is_not_idle(plain_box: Box, program: Callable[..., Path]) -> None:
    """State D, as of a process that waits for a disk, is not idle time. (Only a manager can cause it here.)"""
    patient = {**JUDGE, "cpu_ms": 1000, "wall_ms": 60_000}
    inputs = ("waits-in-the-kernel play", "waits-in-the-kernel-for-ever play")
    slow, endless = run_game(plain_box, program, *inputs, cpu_ms=100, manager=patient).lines
    assert slow["verdict"] == "AC"
    assert slow["judge"]["wall_us"] > 7_000_000
    assert (endless["verdict"], endless["fault"], endless["program"]) == ("JE", "stall", "manager")


def test_program_that_kills_itself_by_a_timer(plain_box: Box, program: Callable[..., Path]) -> None:
    """A SIGKILL that the program could have sent itself is RE."""
    entry = run_batch(plain_box, program("excuse"), "timer 1").only
    assert (entry["verdict"], entry["signal"], entry["attempted"]) == ("RE", 9, {})


@pytest.mark.parametrize("static", [0, 1])
def test_program_whose_loader_is_missing(plain_box: Box, program: Callable[..., Path], static: int) -> None:
    """If exec fails because of the program's file, the verdict is RE."""
    entry = run_batch(plain_box, program("excuse", "-DNO_LOADER"), "membarrier 1", static=static).only
    assert (entry["verdict"], entry["code"], entry["signal"]) == ("RE", 127, 0)
