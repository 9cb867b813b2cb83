"""One child process: bounds, deadline, cancellation."""

from __future__ import annotations

import asyncio
import os
import select
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import TransientError
from ioi_eval.sandbox.local.process import ProcessEnd, run_process, stage_of
from ioi_eval.sandbox.local.slots import Slots


def run(script: str, **options: Any) -> ProcessEnd:
    """Run a shell script under wide limits."""
    wide: dict[str, Any] = {"wall_ms": 20_000, "output_bytes": 1 << 20, "environment": {"PATH": os.environ["PATH"]}}
    return asyncio.run(run_process(("/bin/sh", "-c", script), **(wide | options)))


def test_streams_code_and_signal_are_kept_apart() -> None:
    """stdout, stderr, exit code; a signal is a negative code."""
    end = run("cat; echo err >&2; exit 3", stdin=b"in")
    assert (end.stdout, end.stderr, end.returncode) == (b"in", b"err\n", 3)
    assert run("kill -SEGV $$").returncode == -11


def test_environment_is_empty_by_default() -> None:
    """Nothing of ours leaks into a box."""
    assert b"HOME" not in run("/usr/bin/env", environment=None).stdout


@pytest.mark.parametrize(("over", "status"), [({"overflowed": True}, "OL"), ({"timed_out": True}, "TO")])
def test_what_went_over_a_limit_was_killed(over: dict[str, Any], status: str) -> None:
    """Also if it ended by itself before the signal arrived: that is a matter of luck."""
    end = ProcessEnd(stdout=b"", stderr=b"", returncode=0, timed_out=False, overflowed=False, wall_ms=1.0)
    end = replace(end, **over)
    stage = stage_of(end)
    assert (stage.code, stage.signal, stage.status) == (None, "SIGKILL", status)


def test_a_signal_without_a_name() -> None:
    """Real-time signals have numbers only."""
    assert stage_of(run("kill -40 $$")).signal == "SIG40"


def test_deadline_keeps_what_was_written() -> None:
    """Killed at the deadline; what came before it is there."""
    end = run("echo early; sleep 60", wall_ms=300)
    assert end.timed_out
    assert end.stdout == b"early\n"


def test_flood_is_stopped_at_the_bound() -> None:
    """A program that writes for ever is killed and does not fill our memory."""
    end = run("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", output_bytes=100_000)
    assert end.overflowed
    assert len(end.stdout) <= 100_000


def test_deadline_amid_a_flood_is_kept() -> None:
    """Whoever is stopped while more was written than has been read is waited for, and not for ever."""

    async def scenario() -> None:
        loop = asyncio.get_running_loop()

        def drag() -> None:  # the pipe is full again whenever the loop looks at it
            time.sleep(0.002)
            loop.call_soon(drag)

        drag()
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


def test_stderr_flood_does_not_block_or_grow() -> None:
    """What is over the bound of stderr is thrown away, and the program goes on."""
    end = run("head -c 3000000 /dev/zero >&2; echo done")
    assert end.stdout == b"done\n"
    assert len(end.stderr) < 1_200_000


def test_input_that_is_not_read_is_no_error() -> None:
    """A program need not read its input."""
    assert run("exit 0", stdin=b"x" * 1_000_000).returncode == 0


def test_missing_program_is_our_failure() -> None:
    """What cannot be started is never a verdict."""
    with pytest.raises(TransientError, match="cannot start"):
        asyncio.run(run_process(("/nonexistent/program",), wall_ms=1000, output_bytes=1))


def test_nothing_is_given_and_no_time_runs_before_the_turn() -> None:
    """It is started, and gets its input when its turn has come; the turn is over when it has ended."""
    told: list[str] = []

    @asynccontextmanager
    async def turn() -> AsyncIterator[None]:
        await asyncio.sleep(0.6)
        told.append("begins")
        yield
        told.append("ends")

    end = run("date +%s%N; read word; date +%s%N", stdin=b"go\n", wall_ms=500, turn=turn())
    started, given = map(int, end.stdout.split())
    assert given - started > 400_000_000
    assert not end.timed_out
    assert end.wall_ms < 500
    assert told == ["begins", "ends"]


@pytest.mark.parametrize("bounds", [{"wall_ms": 300}, {"output_bytes": 10}], ids=["deadline", "flood"])
def test_a_turn_is_held_until_who_was_stopped_is_gone(bounds: dict[str, int], tmp_path: Path) -> None:
    """Whoever has the next turn does not run beside it."""
    told = tmp_path / "pid"
    there: list[bool] = []

    def look() -> None:
        there.append(Path("/proc", told.read_text().strip()).exists())

    @asynccontextmanager
    async def turn() -> AsyncIterator[None]:
        try:
            yield
        finally:
            look()

    end = run(f"echo $$ > {told}; echo more than ten bytes; sleep 60", turn=turn(), **bounds)
    assert end.timed_out or end.overflowed
    assert there == [False]


def test_turn_is_over_when_all_is_said() -> None:
    """Not before, and not only when the process has ended; that is waited for."""
    told: dict[str, float] = {}

    @asynccontextmanager
    async def turn() -> AsyncIterator[None]:
        yield
        told["turn"] = time.monotonic()

    end = run(
        "printf half; sleep 0.3; echo ' and all'; sleep 0.6; exit 3",
        turn=turn(),
        is_all=lambda said: said.endswith(b"all\n"),
    )
    ended = time.monotonic()
    assert (end.stdout, end.returncode) == (b"half and all\n", 3)
    assert ended - told["turn"] > 0.5
    assert end.wall_ms / 1000 - (ended - told["turn"]) > 0.2


def test_cancellation_before_the_turn_kills_the_group() -> None:
    """Whoever goes away while it waits leaves nothing behind."""

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
    """When the caller is cancelled, the program and its children are gone."""

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
        # all writers of the pipe are gone: the group is dead
        assert await asyncio.to_thread(os.read, read, 20) == b""
        os.close(read)
        return pid

    with pytest.raises(ProcessLookupError):
        os.kill(asyncio.run(scenario()), 0)


@pytest.mark.parametrize("kill", ["cancel", "deadline"])
def test_who_has_left_the_group_is_killed_too(kill: str) -> None:
    """A compiler under reduced isolation runs in a session of its own: with its parts it ends when its box does."""

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


@pytest.mark.parametrize("times", [1, 3])
def test_cancellation_amid_the_start_kills_the_group(times: int) -> None:
    """Who is cancelled before asyncio has made its pipes leaves no child of the process behind either.

    Nor who is cancelled again while it sees to that: a deadline may come amid a cancellation.
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
            if select.select([read], [], [], 0.05)[0]:  # without a turn of the loop between the start and this
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
