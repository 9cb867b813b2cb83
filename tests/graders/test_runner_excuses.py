"""A program cannot get JE on purpose, or keep memory that is not counted: each attempt gets its own verdict."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.graders.runner_box import (
    JUDGE,
    Box,
    batch_plan,
    command_of,
    family,
    job_directory,
    line,
    run_batch,
    run_game,
)

HARMLESS = ["membarrier", "vfork", "fsync", "direct", "cpu-limit", "old-cpu-limit", "ticks", "shared", "outputs"]


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


WAYS = ("kill", "group", "tkill", "tgkill", "sigqueue", "tgsigqueue", "thread", "timer", "blocked")


@pytest.mark.parametrize("without", ["", "notify"])
def test_program_that_sends_itself_sigterm(plain_box: Box, program: Callable[..., Path], without: str) -> None:
    """A SIGTERM that the program has sent itself, in any way, is RE. It can handle it.

    It can send neither SIGTERM nor SIGKILL to others.
    """
    box = replace(plain_box, more=("--without", without) if without else ())
    answer = run_batch(
        box, program("excuse"), *(f"terminate-{way} 1" for way in (*WAYS, "handled", "others")), answer=b"held\n"
    )
    for way, entry in zip(WAYS, answer.lines, strict=False):
        assert (entry["verdict"], entry["signal"], entry["attempted"]) == ("RE", signal.SIGTERM, {}), (way, entry)
    assert answer.verdicts[len(WAYS) :] == ["AC", "AC"]
    assert answer.lines[-1]["attempted"] == ({} if without else {"kill": 4})


@pytest.mark.parametrize("name", ["dir-full", "dir-reduced"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_program_that_something_else_ends(
    boxes: Callable[[str], Box], program: Callable[..., Path], name: str, number: signal.Signals
) -> None:
    """Programs that watch the machine's memory send SIGTERM, then SIGKILL: JE, because the program is not the cause."""
    box = boxes(name)
    plan = batch_plan(["test id=0 input=in answer=in"], cpu_ms=60_000)
    files = {"program": program("contestant").read_bytes(), "in": b"pause 1"}
    work = job_directory(box, {"plan": plan, **files})
    with subprocess.Popen(box.command(str(box.runner), "--dir", "."), cwd=work, stdout=subprocess.PIPE) as runner:
        found: list[int] = []
        while runner.poll() is None and not found:
            time.sleep(0.01)
            found = [pid for pid in family(runner.pid) if command_of(pid) == b"./program\0"]
        for pid in found:
            os.kill(pid, number)
        stdout, _ = runner.communicate(timeout=60)
    test, *_ = (json.loads(text) for text in stdout.splitlines())
    assert (test["verdict"], test.get("fault"), test.get("program")) == ("JE", "signal", "runner"), test
    assert "killed from outside" in test["explanation"]


@pytest.mark.parametrize(("mode", "without"), [("kill", ""), ("timer", ""), ("timer", "notify")])
def test_program_that_kills_itself_after_others_were_killed(
    boxes: Callable[[str], Box], built: Path, program: Callable[..., Path], mode: str, without: str
) -> None:
    """If the machine, short of memory, killed any process before the program could kill itself, this excuses nothing.

    The checker of the test before waits for such a kill. (It uses files of this machine, so isolation is reduced.)
    """
    box = boxes("fds-reduced-user")
    with tempfile.TemporaryDirectory(dir=built) as name, ThreadPoolExecutor() as threads:
        shared = Path(name)
        shared.chmod(0o777)
        killing = threads.submit(_kill_one, shared)
        wait = f"touch {shared}/begun; until [ -e {shared}/over ]; do sleep 0.05; done"
        answer = run_batch(
            replace(box, more=("--without", without) if without else ()), program("excuse"), "fsync 1", f"{mode} 1",
            files={"checker": f"#!/bin/sh\n{wait}\necho 1\n".encode()},
            checker=line("checker", protocol="cms", file="checker", **{**JUDGE, "wall_ms": 100_000}),
        )  # fmt: skip
        killed = killing.result()
    if not killed:
        pytest.skip("may not limit the memory of a control group here")
    assert answer.verdicts == ["AC", "RE"]
    assert answer.lines[1]["signal"] == signal.SIGKILL


def _kill_one(shared: Path) -> bool:
    """Let the kernel kill a process for lack of memory, after `begun` exists; then make `over`. False if that fails."""
    deadline = time.monotonic() + 60
    while not (shared / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    killed = any(
        _kill_in(root / f"ioi-eval-test-{os.getpid()}", limit)
        for root, limit in ((V1, "memory.limit_in_bytes"), (V1.parent, "memory.max"))
    )
    (shared / "over").touch()
    return killed


V1 = Path("/sys/fs/cgroup/memory")
"""Where version 1 of control groups limits memory; version 2 does it in the directory above."""


def _kill_in(group: Path, limit: str) -> bool:
    """Whether the kernel has killed a process in a new control group that has too little memory for it."""
    try:
        group.mkdir()
    except OSError:
        return False
    try:
        if not (group / limit).exists():  # an ordinary directory
            return False
        (group / limit).write_text(str(8 << 20))
        with contextlib.suppress(OSError):
            (group / "memory.swap.max").write_text("0")
        hungry = shlex.join([sys.executable, "-Ic", "bytearray(1 << 28)"])
        command = f"echo $$ > {group}/cgroup.procs && exec {hungry}"
        return subprocess.run(["sh", "-c", command], check=False).returncode == -signal.SIGKILL
    except OSError:
        return False
    finally:
        group.rmdir()


@pytest.mark.parametrize("static", [0, 1])
def test_program_whose_loader_is_missing(plain_box: Box, program: Callable[..., Path], static: int) -> None:
    """If exec fails because of the program's file, the verdict is RE."""
    entry = run_batch(plain_box, program("excuse", "-DNO_LOADER"), "membarrier 1", static=static).only
    assert (entry["verdict"], entry["code"], entry["signal"]) == ("RE", 127, 0)
