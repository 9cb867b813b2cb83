"""One child process: output limits, deadline, cancellation."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import select
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import TransientError
from ioi_eval.sandbox import process
from ioi_eval.sandbox.process import ProcessEnd, _descendants, run_process, stage_of
from ioi_eval.slots import Slots
from tests.cancelling import cancel_in_each_turn


def run(script: str, **options: Any) -> ProcessEnd:
    """Run a shell script, by default with large limits."""
    wide: dict[str, Any] = {"wall_ms": 20_000, "output_bytes": 1 << 20, "environment": {"PATH": os.environ["PATH"]}}
    return asyncio.run(run_process(("/bin/sh", "-c", script), **(wide | options)))


def test_streams_code_and_signal_are_kept_apart() -> None:
    """stdout, stderr and exit code come back separately. A signal is a negative code."""
    end = run("cat; echo err >&2; exit 3", stdin=b"in")
    assert (end.stdout, end.stderr, end.returncode) == (b"in", b"err\n", 3)
    assert run("kill -SEGV $$").returncode == -11


def test_environment_is_empty_by_default() -> None:
    """A process gets none of our environment variables."""
    assert b"HOME" not in run("/usr/bin/env", environment=None).stdout


@pytest.mark.parametrize(("over", "status"), [({"overflowed": True}, "OL"), ({"timed_out": True}, "TO")])
def test_a_stage_over_a_limit_counts_as_killed(over: dict[str, Any], status: str) -> None:
    """The stage has SIGKILL, also if the process ended by itself just before the signal."""
    end = ProcessEnd(stdout=b"", stderr=b"", returncode=0, timed_out=False, overflowed=False, wall_ms=1.0)
    end = replace(end, **over)
    stage = stage_of(end)
    assert (stage.code, stage.signal, stage.status) == (None, "SIGKILL", status)


def test_output_that_cannot_be_kept_is_our_failure() -> None:
    """The event loop only logs an error of a callback: a part of the output would be missing, and the rest judged."""

    def fail(output: bytearray) -> bool:
        if b"second" in output:
            return False
        raise MemoryError

    with pytest.raises(TransientError, match="a part of the output of /bin/sh was lost"):
        run("echo first; sleep 0.2; echo second", is_complete=fail)


def test_a_signal_without_a_name() -> None:
    """A real-time signal gets a name with its number."""
    assert stage_of(run("kill -40 $$")).signal == "SIG40"


def test_deadline_keeps_what_was_written() -> None:
    """The process is killed at the deadline, and its earlier output is kept."""
    end = run("echo early; sleep 60", wall_ms=2000)
    assert end.timed_out
    assert end.stdout == b"early\n"


def test_the_deadline_waits_while_this_process_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that ends while this process is stopped (Ctrl-Z) for longer than its deadline has not timed out."""
    monkeypatch.setattr(process, "_STEP_S", 0.002)
    read, write = os.pipe()

    def stop(turns: int) -> None:
        """After some turns of the event loop, in which the deadline begins, stop until the program has ended."""
        if turns:
            asyncio.get_running_loop().call_soon(stop, turns - 1)
            return
        os.close(write)
        assert os.read(read, 1) == b""
        time.sleep(0.3)

    @asynccontextmanager
    async def turn() -> AsyncIterator[None]:
        stop(5)
        yield

    end = run("read word; echo done", stdin=b"go\n", descriptors=(write,), wall_ms=200, turn=turn())
    os.close(read)
    assert (end.stdout, end.returncode, end.timed_out) == (b"done\n", 0, False)


def test_endless_output_is_stopped_at_the_limit() -> None:
    """A program that writes without end is killed then, not at its deadline, and not more than the limit is stored."""
    end = run("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", output_bytes=100_000, wall_ms=3_600_000)
    assert end.overflowed
    assert len(end.stdout) <= 100_000


def test_deadline_during_much_output() -> None:
    """A process that is killed while unread output remains ends in a bounded time."""

    async def scenario() -> None:
        loop = asyncio.get_running_loop()

        def delay_the_loop() -> None:  # delays each turn of the loop, so the pipe is always full
            time.sleep(0.002)
            loop.call_soon(delay_the_loop)

        delay_the_loop()
        for _ in range(3):
            async with asyncio.timeout(20):
                end = await run_process(
                    ("/bin/sh", "-c", "exec cat /dev/zero >&2"),
                    environment={"PATH": os.environ["PATH"]},
                    wall_ms=100,
                    output_bytes=10,
                )
            assert end.timed_out

    asyncio.run(scenario())


def test_no_process_is_forked_while_one_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forked process had the pipes of the one that started. The start, and all later ones, waited for its end."""
    events: list[str] = []
    forked = threading.Event()

    def fork() -> None:
        child = os.fork()
        if child == 0:
            os._exit(0)
        events.append("forked")
        forked.set()
        os.waitpid(child, 0)

    forking, start = threading.Thread(target=fork), subprocess.Popen

    def start_slowly(*args: Any, **options: Any) -> Any:
        forking.start()
        forked.wait(2)  # in vain
        started = start(*args, **options)
        events.append("started")
        return started

    monkeypatch.setattr(subprocess, "Popen", start_slowly)
    assert run("echo done").stdout == b"done\n"
    forking.join()
    assert events == ["started", "forked"]


def test_much_stderr_does_not_block() -> None:
    """stderr over its limit is discarded, and the program runs on."""
    end = run("head -c 3000000 /dev/zero >&2; echo done")
    assert end.stdout == b"done\n"
    assert len(end.stderr) < 1_200_000


def test_input_that_is_not_read_is_no_error() -> None:
    """A program that does not read its stdin is no error."""
    assert run("exit 0", stdin=b"x" * 1_000_000).returncode == 0


def test_what_a_filter_writes_after_the_end_is_kept() -> None:
    """A script whose output goes through a process that it has started ends before that has written it."""
    assert run("(sleep 0.2; echo out) &").stdout == b"out\n"


def test_missing_program_is_our_failure() -> None:
    """A program that cannot be started raises TransientError, and is not a verdict."""
    with pytest.raises(TransientError, match="cannot start"):
        asyncio.run(run_process(("/nonexistent/program",), wall_ms=1000, output_bytes=1))


def test_a_process_that_cannot_be_waited_for_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """If this process has no descriptor left to wait for another one, this is our failure. The other process and its
    children are killed, and no zombie is left."""
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children")
    before = children.read_text()
    read, write = os.pipe()

    def refuse(_: int) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    with pytest.raises(TransientError, match="cannot wait for /bin/bash: Too many open files"):
        asyncio.run(
            run_process(("/bin/bash", "-c", "sleep 300 & wait"), descriptors=(write,), wall_ms=1000, output_bytes=10)
        )
    os.close(write)
    assert select.select([read], [], [], 10)[0]
    os.close(read)
    assert children.read_text() == before


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.EPERM])
def test_without_pidfds(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """Where the kernel or a container's filter refuses them, the end of a process is found by looks at it."""

    def refuse(_: int) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "pidfd_open", refuse)
    end = run("read word; echo $word; exit 3", stdin=b"go\n")
    assert (end.stdout, end.returncode) == (b"go\n", 3)
    assert run("sleep 60", wall_ms=100).timed_out


@pytest.mark.parametrize("when", ["at once", "later", "without pidfds"])
def test_a_lost_exit_code_is_no_success(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that uses this library may wait for all of its children, and so take the exit code."""
    pidfd_open = os.pidfd_open

    def wait_for(pid: int) -> None:
        os.waitpid(pid, 0)

    def open_late(pid: int) -> int:
        if when == "without pidfds":
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        if when == "at once":
            wait_for(pid)
        return pidfd_open(pid)

    monkeypatch.setattr(os, "pidfd_open", open_late)

    async def lost() -> int:
        child = process._Process(("/bin/sh", "-c", "exit 0"), (), cwd=None, environment={}, reads=False)
        if when != "at once":
            wait_for(child.pid)
        child.begin(b"", 60.0, 10, lambda _: False)
        await asyncio.wait([child.gone])
        return child.returncode

    assert asyncio.run(lost()) == 255


def test_input_and_wall_clock_start_with_the_slot() -> None:
    """The process starts at once, and gets its input when it has a slot; then its wall clock starts. The slot is
    returned at its end.
    """
    events: list[str] = []

    @asynccontextmanager
    async def turn() -> AsyncIterator[None]:
        await asyncio.sleep(3.5)
        events.append("begins")
        yield
        events.append("ends")

    end = run("date +%s%N; read word; date +%s%N", stdin=b"go\n", wall_ms=3000, turn=turn())
    started, given = map(int, end.stdout.split())
    assert given - started > 1_000_000_000
    assert not end.timed_out
    assert end.wall_ms < 3000
    assert events == ["begins", "ends"]


@pytest.mark.parametrize("bounds", [{"wall_ms": 2000}, {"output_bytes": 10}], ids=["deadline", "flood"])
def test_the_slot_is_held_until_a_killed_process_is_gone(bounds: dict[str, int], tmp_path: Path) -> None:
    """A process that is killed at a limit has ended before its slot is returned."""
    pid_file = tmp_path / "pid"
    still_running: list[bool] = []

    def look() -> None:
        still_running.append(Path("/proc", pid_file.read_text().strip()).exists())

    @asynccontextmanager
    async def turn() -> AsyncIterator[None]:
        try:
            yield
        finally:
            look()

    end = run(f"echo $$ > {pid_file}; echo more than ten bytes; sleep 60", turn=turn(), **bounds)
    assert end.timed_out or end.overflowed
    assert still_running == [False]


def test_the_slot_is_free_after_the_last_line(tmp_path: Path) -> None:
    """The slot is returned after the last line of output, before the process ends. The end is still waited for."""
    returned = tmp_path / "returned"  # the process ends when this exists
    held_s: list[float] = []

    @asynccontextmanager
    async def turn() -> AsyncIterator[None]:
        begun = time.monotonic()
        yield
        held_s.append(time.monotonic() - begun)
        returned.touch()

    end = run(
        f"read word; printf half; sleep 0.3; echo ' and all'; until [ -e {returned} ]; do sleep 0.05; done; exit 3",
        stdin=b"go\n",
        wall_ms=100_000,
        turn=turn(),
        is_complete=lambda output: output.endswith(b"all\n"),
    )
    assert (end.stdout, end.returncode) == (b"half and all\n", 3)
    assert held_s[0] >= 0.3


def test_cancellation_without_a_slot_kills_the_group() -> None:
    """If a caller is cancelled while it waits for a slot, the process and its children are killed."""

    async def scenario() -> bool:
        read, write = os.pipe()
        slots = Slots(1)
        async with slots.take():
            task = asyncio.ensure_future(
                run_process(
                    ("/bin/bash", "-c", f"echo >&{write}; sleep 300 & wait"),
                    descriptors=(write,),
                    environment={"PATH": os.environ["PATH"]},
                    wall_ms=60_000,
                    output_bytes=10,
                    turn=slots.take(),
                )
            )
            await asyncio.to_thread(os.read, read, 20)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        os.close(write)
        gone = bool(select.select([read], [], [], 10)[0])
        os.close(read)
        return gone

    assert asyncio.run(scenario())


def test_cancellation_kills_the_group() -> None:
    """If the caller is cancelled, the program and its children are killed."""

    async def scenario() -> int:
        read, write = os.pipe()
        script = f"(echo $$ >&{write}; sleep 300) & sleep 300"
        task = asyncio.ensure_future(
            run_process(
                ("/bin/bash", "-c", script),  # dash cannot name a descriptor over 9
                descriptors=(write,),
                environment={"PATH": os.environ["PATH"]},
                wall_ms=60_000,
                output_bytes=10,
            )
        )
        pid = int(await asyncio.to_thread(os.read, read, 20))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        os.close(write)
        # the pipe has no writers any more: all processes of the group have ended
        assert await asyncio.to_thread(os.read, read, 20) == b""
        os.close(read)
        return pid

    with pytest.raises(ProcessLookupError):
        os.kill(asyncio.run(scenario()), 0)


def test_a_cancellation_at_the_deadline_is_not_lost() -> None:
    """Whenever a caller is cancelled that has not returned yet, also in the turns of the event loop in which the
    deadline passes: else it would go on with its next job after Ctrl-C."""
    late = partial(run_process, ("sleep", "300"), wall_ms=0, output_bytes=10)
    asyncio.run(cancel_in_each_turn(late, turns=12))


def test_a_caller_that_is_cancelled_in_every_turn_ends() -> None:
    """anyio cancels a task in each turn of the event loop until it has ended. The task waited for ever."""

    async def scenario() -> bool:
        task = asyncio.ensure_future(run_process(("sleep", "300"), wall_ms=600_000, output_bytes=10))
        until = time.monotonic() + 60
        while not task.done() and time.monotonic() < until:
            await asyncio.sleep(0)
            task.cancel()
        return task.cancelled()

    assert asyncio.run(scenario())


@pytest.mark.parametrize("kill", ["cancel", "deadline"])
def test_a_process_in_another_session_is_killed_too(kill: str) -> None:
    """With reduced isolation, a compiler runs in its own session. It and its children end with the box."""

    async def scenario() -> bytes:
        read, write = os.pipe()
        task = asyncio.ensure_future(
            run_process(
                ("/bin/bash", "-c", f"setsid bash -c 'sleep 30 & echo >&{write}; wait' >/dev/null 2>&1 & wait"),
                descriptors=(write,),
                environment={"PATH": os.environ["PATH"]},
                wall_ms=60_000 if kill == "cancel" else 2_000,
                output_bytes=10,
            )
        )
        assert await asyncio.to_thread(os.read, read, 20) == b"\n"
        os.close(write)
        if kill == "cancel":
            task.cancel()
        await asyncio.wait([task])
        gone = select.select([read], [], [], 10)[0]
        os.close(read)
        return b"gone" if gone else b"alive"

    assert asyncio.run(scenario()) == b"gone"


@pytest.mark.parametrize("ends_by", ["itself", "itself, before too much output", "deadline", "cancellation"])
def test_a_process_that_left_the_group_holds_nobody_up(
    ends_by: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A program may start a server that keeps its output open, as `ssh` does with ControlPersist. Then its own end, the
    deadline and a cancellation count."""
    monkeypatch.setattr(process, "_LEFT_S", 0.2)

    async def scenario() -> ProcessEnd | None:
        read, write = os.pipe()
        last = "exit 3" if ends_by.startswith("itself") else "exec sleep 60"
        server_script = "sleep 0.05; echo more than ten bytes;" if "too much" in ends_by else ""
        task = asyncio.create_task(
            run_process(
                (
                    "/bin/bash",
                    "-c",
                    f"(setsid bash -c 'echo $$ > pid; {server_script} exec sleep 60' &);"
                    f" until [ -s pid ]; do sleep 0.01; done; cat pid >&{write}; echo out; {last}",
                ),
                cwd=tmp_path,
                descriptors=(write,),
                environment={"PATH": os.environ["PATH"]},
                wall_ms=5_000 if ends_by == "deadline" else 60_000,
                output_bytes=10,
            )
        )
        server = int(await asyncio.to_thread(os.read, read, 20))
        os.close(write)
        os.close(read)
        if ends_by == "cancellation":
            task.cancel()
        await asyncio.wait([task], timeout=30)
        os.kill(server, 9)
        assert task.done()
        return None if task.cancelled() else task.result()

    end = asyncio.run(scenario())
    if ends_by == "cancellation":
        assert end is None
    else:
        assert end is not None
        assert end.stdout == b"out\n"
        assert (end.returncode, end.timed_out) == ((-9, True) if ends_by == "deadline" else (3, False))


@pytest.mark.parametrize("times", [1, 3])
def test_cancellation_during_the_start_kills_the_group(times: int) -> None:
    """A cancellation before asyncio has made the pipes kills the process and its children too.

    So does a second cancellation during the first: for example, a deadline may pass during a cancellation.
    """

    async def scenario() -> bytes:
        read, write = os.pipe()
        task = asyncio.ensure_future(
            run_process(
                ("/bin/bash", "-c", f"sleep 30 & echo >&{write}; wait"),
                descriptors=(write,),
                environment={"PATH": os.environ["PATH"]},
                wall_ms=60_000,
                output_bytes=10,
            )
        )
        while not task.done():
            await asyncio.sleep(0)
            if select.select([read], [], [], 0.05)[0]:  # without a turn of the loop since the start
                break
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await task
        os.close(write)
        os.read(read, 20)
        gone = select.select([read], [], [], 10)[0]
        os.close(read)
        return b"gone" if gone else b"alive"

    assert asyncio.run(scenario()) == b"gone"


LEFT_WHILE_ONE_RUNS = """
import asyncio, os, select
from ioi_eval.sandbox.process import run_process

async def leave(turns, write):
    start = run_process(
        ("/bin/bash", "-c", "sleep 300 & wait"), descriptors=(write,), stdin=b"go", wall_ms=60_000, output_bytes=10
    )
    task = asyncio.create_task(start)
    for _ in range(turns):
        await asyncio.sleep(0)
    raise LookupError

for turns in [*range(12), 1000]:
    read, write = os.pipe()
    try:
        asyncio.run(leave(turns, write))
    except LookupError:
        pass
    os.close(write)
    assert select.select([read], [], [], 10)[0], turns
    os.close(read)
print("none is left")
"""


def test_an_event_loop_that_ends_while_a_process_is_started() -> None:
    """`asyncio.run` cancels all tasks when it ends, also those of asyncio itself. The process and its children are
    killed, and `asyncio.run` returns. It waited for ever.
    """
    done = subprocess.run((sys.executable, "-c", LEFT_WHILE_ONE_RUNS), capture_output=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == (b"none is left\n", b"")


AS_FIRST_PROCESS = """
import asyncio, time
from pathlib import Path
from ioi_eval.sandbox.process import run_process

def run(script):
    return asyncio.run(run_process(("/bin/bash", "-c", script), wall_ms=1000, output_bytes=10))

assert run("(sleep 300 & exec sleep 300) & exec sleep 300").timed_out
until = time.monotonic() + 60
while len(list(Path("/proc").glob("[0-9]*"))) > 1 and time.monotonic() < until:
    run("")
print([path.read_text() for path in Path("/proc").glob("[0-9]*/stat")])
"""


@pytest.mark.root
def test_the_first_process_of_a_container_leaves_no_zombies() -> None:
    """It becomes the parent of killed processes whose parents were killed too, and reaps them during later jobs."""
    words = ("unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", AS_FIRST_PROCESS)
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    if done.stderr.startswith("unshare:"):
        pytest.skip(done.stderr)
    assert re.fullmatch(r"\['1 \([^(]*\n", done.stdout), done


def test_children_of_processes() -> None:
    """Of a process that has ended there are none. It may end while they are listed."""
    with subprocess.Popen(["sh", "-c", "sleep 600 & echo $!; wait"], stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout is not None
        child = int(shell.stdout.readline())
        assert _descendants(shell.pid) == [child]
        os.kill(child, 9)
    assert _descendants(shell.pid) == []
