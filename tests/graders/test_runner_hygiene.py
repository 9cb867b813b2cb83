"""A run leaves nothing behind, inside and outside of its box."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.graders.runner_box import (
    JUDGE,
    RUNNER_UID,
    Box,
    Files,
    batch_plan,
    command_of,
    communication_plan,
    family,
    job_directory,
    line,
    run_batch,
    run_game,
)

CONTESTANT = b"./program\0"
"""The command line of a contestant."""

COUNT = 60

# Prints the numbers of processes, mounts and directories of the runner while a test is checked.
CENSUS = rb"""#!/bin/sh
processes=0
for p in /proc/[0-9]*; do processes=$((processes + 1)); done
mounts=$(wc -l < /proc/self/mountinfo)
echo 1
echo "$processes $mounts $(ls -A .. | wc -l)" >&2
"""


def test_tests_leave_nothing(box: Box, program: Callable[..., Path]) -> None:
    """After many tests there are as many processes, mounts and files in the box as after the first."""
    answer = run_batch(
        box, program("contestant"), *(["leave-file 1", "exit 1", "sum 1"] * (COUNT // 3)), files={"checker": CENSUS},
        checker=line("checker", protocol="cms", file="checker", **JUDGE),
    )  # fmt: skip
    seen = [entry["message"].split() for entry in answer.lines if entry["verdict"] == "AC"]
    assert len(seen) == COUNT * 2 // 3
    inside = [
        words if box.level == "full" else words[2:] for words in seen
    ]  # with reduced isolation, two numbers are those of the machine
    assert all(words == inside[0] for words in inside), inside


def test_few_descriptors_are_enough_for_many_tests(plain_box: Box, program: Callable[..., Path]) -> None:
    """400 tests run with the minimum number of descriptors that the runner requires: none is leaked. They give one
    answer, with lines in the order of the plan.
    """
    tests = [f"test id={number} input=in answer=ans" for number in range(400)]
    files: Files = {"program": program("contestant"), "in": b"sum 1", "ans": b"2\n"}
    answer = plain_box.run(batch_plan(tests), files, descriptors=320)
    assert answer.verdicts == ["AC"] * 400
    assert [entry["test"] for entry in answer.lines] == list(range(400))
    assert answer.last["lines"] == 400


def test_few_descriptors_are_enough_for_many_processes(plain_box: Box, program: Callable[..., Path]) -> None:
    """A process of a Communication task takes ten descriptors of the runner, and nine under reduced isolation."""
    processes, each = 40, 10 if plain_box.level == "full" else 9
    answer = run_game(plain_box, program, "play play", processes=processes, descriptors=processes * each + 40)
    assert answer.verdicts == ["AC"]


def test_an_output_is_returned_whole_or_not_at_all(boxes: Callable[[str], Box], program: Callable[..., Path]) -> None:
    """If the runner can open no more files while a program runs, its output is not returned as an empty one."""
    plan = batch_plan(["test id=0 input=in"], checker="checker protocol=none return_bytes=100", cpu_ms=6000)
    files = {"program": program("contestant").read_bytes(), "in": b"sleep 4000"}
    first = first_line_without_descriptors(boxes("dir-reduced"), plan, files)
    assert "fault" in first or base64.b64decode(first["output"]) == b"4001\n", first


def test_a_manager_that_has_ended_blocks_no_program(boxes: Callable[[str], Box], program: Callable[..., Path]) -> None:
    """If the runner cannot open a FIFO in the manager's place, so that the program goes on, that is no idle time."""
    plan = communication_plan(["test id=0 input=in answer=in"], io="fifo_io", cpu_ms=2000)
    files = {
        "program": program("stub", "-DFIFOS").read_bytes(),
        "manager": b"#!/bin/sh\nsleep 1.5; echo 0\n",
        "in": b"in",
    }
    first = first_line_without_descriptors(boxes("dir-reduced"), plan, files)
    assert "fault" in first or first["verdict"] == "WA", first


def first_line_without_descriptors(box: Box, plan: bytes, files: dict[str, bytes]) -> dict[str, Any]:
    """The first line of a runner that can open no more files from a time on at which its program runs."""
    work = job_directory(box, {"plan": plan, **files})
    user = [] if os.geteuid() != 0 else ["setpriv", f"--reuid={RUNNER_UID}", f"--regid={RUNNER_UID}", "--clear-groups"]
    with subprocess.Popen(box.command(str(box.runner), "--dir", "."), cwd=work, stdout=subprocess.PIPE) as runner:
        wait_until(lambda: any(command_of(pid).startswith(b"./program\0") for pid in family(runner.pid)))
        time.sleep(0.3)  # by now it has opened what it reads of the program; if not, there is a fault
        subprocess.run([*user, "prlimit", "--pid", str(runner.pid), "--nofile=4:"], check=True)
        stdout, _ = runner.communicate(timeout=60)
    first: dict[str, Any] = json.loads(stdout.splitlines()[0])
    return first


@pytest.mark.parametrize("name", ["dir-full", "dir-reduced"])
def test_what_a_parent_passes_on(
    boxes: Callable[[str], Box], program: Callable[..., Path], built: Path, name: str
) -> None:
    """A runner that inherits an ignored SIGCHLD, and a umask that denies everything, judges and isolates as usual."""
    box = boxes(name)
    script = built / f"ignores-children-{name}"
    script.write_text(f'#!/bin/sh\numask 0777\nexec env --ignore-signal=CHLD {box.runner} "$@"\n')
    script.chmod(0o755)
    answer = run_batch(replace(box, runner=script), program("contestant"), "sum 1", "exit 1")
    assert answer.verdicts == ["AC", "RE"]
    assert answer.last["isolation"] == box.level


def test_too_few_descriptors_are_a_fault(boxes: Callable[[str], Box]) -> None:
    """With fewer descriptors, the runner reports a fault before it runs a test."""
    answer = boxes("fds-reduced-user").run(batch_plan([]), {}, descriptors=64)
    assert (answer.code, answer.last["fault"]) == (3, "limits")
    assert answer.last["explanation"] == "the limit on open files is 64, below 320"


@pytest.mark.parametrize(
    ("option", "explanation"),
    [
        ("--nproc=63:63", "the limit on processes is 63, below 64"),
        ("--nproc=64:64", ""),
        ("--fsize=335544319:335544319", "the limit on the size of a file is 335544319, below 335544320"),
        ("--fsize=335544320:335544320", ""),
        ("--stack=67108863:67108863", "the limit on the stack is 67108863, below 67108864"),
        ("--stack=67108864:67108864", ""),
    ],
)
def test_a_workers_limits_are_checked_in_each_job(
    boxes: Callable[[str], Box], built: Path, option: str, explanation: str
) -> None:
    """A worker may have lower limits than when it was explored. A client that starts the runner knows the limits."""
    directory, descriptors = boxes("dir-reduced"), boxes("fds-reduced-user")
    script = built / f"with{option}"
    script.write_text(f'#!/bin/sh\nexec prlimit {option} {directory.runner} "$@"\n')
    script.chmod(0o755)
    limited, unlimited = (replace(box, runner=script).run(batch_plan([]), {}).last for box in (directory, descriptors))
    refusal = {"fault": "limits", "explanation": explanation, "nonce": ""}
    assert limited == refusal if explanation else limited.get("fault") == "plan"  # no file `program`
    assert unlimited["fault"] == "plan"


@pytest.mark.parametrize("name", ["fds-reduced-user", "dir-full"])
def test_soft_limits_are_raised(
    boxes: Callable[[str], Box], built: Path, name: str, program: Callable[..., Path]
) -> None:
    """A shell's soft limits, which anybody may raise, restrict neither programs nor the runner, which copies them."""
    box = boxes(name)
    script = built / f"with-soft-limits-{name}"
    soft = f"--cpu=1: --data={64 << 20}: --as={512 << 20}: --fsize={1 << 20}:"
    script.write_text(f'#!/bin/sh\nexec prlimit {soft} {box.runner} "$@"\n')
    script.chmod(0o755)
    limited = replace(box, runner=script)
    answer = run_batch(limited, program("contestant"), "burn 1500", "new 200", "reserve 1000", cpu_ms=3000)
    assert [(entry["code"], entry["signal"]) for entry in answer.lines] == [(0, 0)] * 3


@pytest.mark.parametrize(
    "limit", [("as", 1 << 30, "the address space"), ("data", 1 << 30, "the data segment"), ("cpu", 3, "CPU time")]
)
def test_a_workers_limits_must_allow_what_the_plan_does(
    boxes: Callable[[str], Box], built: Path, limit: tuple[str, int, str], program: Callable[..., Path]
) -> None:
    """With less than a program may use, a correct one would be RE, or killed."""
    option, least, what = limit
    directory, descriptors = boxes("dir-reduced"), boxes("fds-reduced-user")
    script = built / f"with-{option}"
    for box, hard, verdict in ((directory, least - 1, None), (directory, least, "AC"), (descriptors, least - 1, "AC")):
        script.write_text(f'#!/bin/sh\nexec prlimit --{option}={hard}:{hard} {box.runner} "$@"\n')
        script.chmod(0o755)
        answer = run_batch(replace(box, runner=script), program("contestant"), "sum 1", memory_bytes=1 << 30)
        assert answer.lines == [] if verdict is None else answer.verdicts == [verdict]
        if verdict is None:
            assert answer.last["fault"] == "limits"
            assert answer.last["explanation"] == f"the limit on {what} is {hard}, below {least}"


def test_too_few_descriptors_for_the_jobs_files(boxes: Callable[[str], Box]) -> None:
    """If not all files of a job can be opened, the box lacks something: the plan is not at fault."""
    tests = [f"test id={number} input={number}.in answer=ans" for number in range(400)]
    files = {f"{number}.in": b"1\n" for number in range(400)}
    answer = boxes("dir-reduced").run(batch_plan(tests), {"program": b"x", "ans": b"2\n", **files}, descriptors=330)
    assert (answer.code, answer.last["fault"]) == (3, "system")
    assert "Too many open files" in answer.last["explanation"]


def test_a_fault_leaves_nothing(
    boxes: Callable[[str], Box], program: Callable[..., Path], built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault while a manager runs (no more processes can be started) ends the manager and removes all files."""
    box = boxes("dir-reduced")
    monkeypatch.setattr("tests.graders.runner_box.RUNNER_UID", RUNNER_UID + 1)  # whose processes are counted
    script = built / "with-three-processes"
    script.write_text(f'#!/bin/sh\nexec prlimit --nproc=3:64 {box.runner} "$@"\n')
    script.chmod(0o755)
    answer = run_game(replace(box, runner=script), program, "play play", processes=2)  # asserts that no file is left
    assert (answer.code, answer.lines, answer.last["fault"]) == (3, [], "system")
    assert answer.last["explanation"].startswith("clone: " if os.geteuid() == 0 else ("clone: ", "fork: "))


def test_a_reader_that_has_gone_leaves_nothing(
    boxes: Callable[[str], Box], program: Callable[..., Path], built: Path
) -> None:
    """A runner that can print no line removes its files, also those that it keeps for the next test's checker."""
    box = boxes("dir-reduced")
    script = built / "without-a-reader"
    script.write_text(f'#!/bin/sh\n{box.runner} "$@" > /dev/full\nexit $?\n')
    script.chmod(0o755)
    checker = line("checker", protocol="cms", file="checker", **JUDGE)
    files: Files = {"checker": b"#!/bin/sh\necho 1\n"}
    without_reader = replace(box, runner=script)  # it asserts that no file is left
    answer = run_batch(without_reader, program("contestant"), "sum 1", checker=checker, files=files)
    assert (answer.code, answer.lines, answer.last) == (4, [], {})


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_a_refused_process_does_not_mean_less_isolation(
    boxes: Callable[[str], Box], built: Path, processes: int
) -> None:
    """If no process can be started while the runner finds out what it can do, this is a fault of the machine.

    A fault of isolation would end the run, or exclude the worker.
    """
    box = boxes("dir-full")
    script = built / f"with-{processes}-processes"
    script.write_text(f'#!/bin/sh\nexec prlimit --nproc={processes}:64 {box.runner} "$@"\n')
    script.chmod(0o755)
    answer = replace(box, runner=script).run(batch_plan([]).replace(b"least=none", b"least=full"), {"program": b""})
    assert (answer.code, answer.last["fault"]) == (3, "system")


def test_communication_tests_leave_nothing(plain_box: Box, program: Callable[..., Path]) -> None:
    """Communication tests, also failed ones, leave no descriptor and no process."""
    modes = ["play play", "play fail", "play leave", "gives-up play 0"] * 20
    answer = run_game(plain_box, program, *modes, processes=2, descriptors=450)
    assert answer.verdicts == ["AC", "RE", "WA", "WA"] * 20


def test_contestants_end_with_a_killed_runner(
    box: Box, program: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the runner is killed, its contestants end."""
    found: list[int] = []

    def start(self: Box, command: list[str], work: Path, timeout: float, fds: tuple[int, ...], _: object) -> Any:
        runner = subprocess.Popen(command, cwd=work, pass_fds=fds, stdout=subprocess.DEVNULL)
        try:
            wait_until(lambda: contestants(runner.pid))
            found.extend(contestants(runner.pid))
        finally:
            runner.kill()
            runner.wait()
        return subprocess.CompletedProcess(command, runner.returncode, b"", b"")

    monkeypatch.setattr(Box, "_start", start)
    box.run(
        batch_plan(["test id=0 input=in answer=in"], cpu_ms=60_000),
        {"program": program("contestant"), "in": b"sleep 60000"},
    )
    assert found
    wait_until(lambda: all(command_of(pid) != CONTESTANT for pid in found))


@pytest.mark.parametrize("name", ["dir-full", "dir-reduced"])
def test_runner_ends_with_its_parent(boxes: Callable[[str], Box], program: Callable[..., Path], name: str) -> None:
    """If the process that started the runner is killed, runner and contestants end before their limits."""
    box = boxes(name)
    plan = batch_plan(["test id=0 input=in answer=in"], cpu_ms=60_000)
    work = job_directory(box, {"plan": plan, "program": program("contestant").read_bytes(), "in": b"sleep 60000"})
    words = shlex.join(box.command(str(box.runner), "--dir", "."))
    shell = subprocess.Popen(["sh", "-c", f"{words}; true"], cwd=work, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: contestants(shell.pid))
        found = contestants(shell.pid)
    finally:
        shell.kill()
        shell.wait()
    wait_until(lambda: all(command_of(pid) != CONTESTANT for pid in found))


def test_the_prefaulting_process_ends_with_a_killed_runner(
    boxes: Callable[[str], Box], program: Callable[..., Path]
) -> None:
    """If the runner is killed, the process that prefaults memory ends too."""
    box = boxes("dir-reduced")
    # so much memory takes half a second, in which the process can be found
    plan = batch_plan(["test id=0 input=in answer=in"], memory_bytes=2 << 30, prefault_bytes=2 << 30)
    work = job_directory(box, {"plan": plan, "program": program("contestant").read_bytes(), "in": b"sum 1"})
    runner = subprocess.Popen(box.command(str(box.runner), "--dir", "."), cwd=work, stdout=subprocess.DEVNULL)
    try:
        prefaulter = large_child(runner)
        os.kill(prefaulter, signal.SIGSTOP)  # so it does not end by itself
    finally:
        runner.kill()
        runner.wait()
    try:
        wait_until(lambda: has_ended(prefaulter))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(prefaulter, signal.SIGKILL)


def test_a_process_that_waits_for_its_fifos_ends_with_a_killed_runner(
    boxes: Callable[[str], Box], program: Callable[..., Path]
) -> None:
    """If the runner is killed while a program waits for its manager to open the FIFOs, the program ends too."""
    box = boxes("dir-reduced")
    plan = communication_plan(["test id=0 input=in answer=in"], cpu_ms=60_000)
    programs = {name: program(source).read_bytes() for name, source in (("program", "stub"), ("manager", "manager"))}
    work = job_directory(box, {"plan": plan, **programs, "in": b"never-opens x"})
    runner = subprocess.Popen(box.command(str(box.runner), "--dir", "."), cwd=work, stdout=subprocess.DEVNULL)
    found: list[int] = []
    try:
        wait_until(lambda: any(command_of(pid).startswith(b"./manager\0") for pid in family(runner.pid)))
        wait_until(lambda: len(family(runner.pid)) == 3)  # and the program
        found.extend(family(runner.pid)[1:])
    finally:
        runner.kill()
        runner.wait()
    try:
        wait_until(lambda: all(has_ended(pid) for pid in found))
    finally:
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def large_child(process: subprocess.Popen[bytes]) -> int:
    """Wait for a child that has more than 16 MiB in memory."""
    while process.poll() is None:
        for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            with contextlib.suppress(OSError, IndexError):
                if int(Path(f"/proc/{child}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") > 16 << 20:
                    return int(child)
    raise AssertionError("it has ended")


def has_ended(pid: int) -> bool:
    """Whether a process has ended. A zombie counts as ended, because a container's first process may not reap it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in ("Z", "X")
    except OSError:
        return True


def wait_until(holds: Callable[[], object]) -> None:
    """Wait until a condition holds, at most 30 s."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def contestants(pid: int) -> list[int]:
    """The process ids of a process's descendants that are contestants."""
    return [each for each in family(pid) if command_of(each) == CONTESTANT]
