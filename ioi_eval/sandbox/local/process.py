"""Runs a child process with limited output and a deadline; its process group is killed if the caller is cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ioi_eval.errors import TransientError
from ioi_eval.model import Stage, signal_name

_CHUNK = 1 << 16
_STDERR_BYTES = 1 << 20
_STEP_S = 1.0  # of a deadline

_MORE_PROCESSES = "raise the limit on processes (ulimit -u, docker run --pids-limit), or run fewer jobs at once"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnd:
    """How a child process ended.

    Args:
        stdout, stderr: up to their limits.
        returncode: as in `subprocess`: negative for a signal.
        timed_out: whether it was killed at the deadline.
        overflowed: whether it was killed because it wrote too much.
    """

    stdout: bytes
    stderr: bytes
    returncode: int
    timed_out: bool
    overflowed: bool
    wall_ms: float


async def run_process(
    argv: Sequence[str],
    *,
    descriptors: Sequence[int] = (),
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    wall_ms: int,
    output_bytes: int,
    turn: AbstractAsyncContextManager[object] | None = None,
    is_complete: Callable[[bytearray], bool] | None = None,
) -> ProcessEnd:
    """Start a program, wait for it, and kill its process group at the deadline, too much output, or cancellation.

    Args:
        argv: the command; no shell is used.
        descriptors: which of our descriptors it inherits, under the same numbers.
        environment: its whole environment; empty by default.
        wall_ms: deadline.
        output_bytes: most stdout.
        turn: entered after the program has been started: then it gets its input, and its deadline begins. Left when it
            has ended, or `is_complete` holds.
        is_complete: whether this stdout is complete: then `turn` is left, and the program is still waited for.

    Raises:
        TransientError: the program cannot be started.
    """
    starting = _start(argv, descriptors, cwd=cwd, environment=environment or {}, reads=bool(stdin))
    process = await _wait_for_start(starting)
    stdout, stderr = bytearray(), bytearray()
    timed_out = overflowed = False
    async with contextlib.AsyncExitStack() as held:
        try:
            await held.enter_async_context(turn or contextlib.nullcontext())
            started = time.monotonic()
            async with asyncio.TaskGroup() as limited:
                deadline = limited.create_task(_time_out(wall_ms / 1000))
                async with asyncio.TaskGroup() as group:
                    group.create_task(_listen(process.stdout, stdout, output_bytes, is_complete, held))
                    group.create_task(_read(process.stderr, stderr))
                    group.create_task(_feed(process.stdin, stdin))
                    group.create_task(process.wait())
                deadline.cancel()
        except* _Overflow:
            overflowed = True
        except* TimeoutError:
            timed_out = True
        finally:
            await _kill_and_wait(process)
    return ProcessEnd(
        stdout=bytes(stdout),
        stderr=bytes(stderr),
        returncode=process.returncode if process.returncode is not None else -signal.SIGKILL,
        timed_out=timed_out,
        overflowed=overflowed,
        wall_ms=(time.monotonic() - started) * 1000,
    )


def stage_of(end: ProcessEnd) -> Stage:
    """The process's end in Piston's terms. Over a limit it counts as killed, even if it ended before the signal."""
    over = end.timed_out or end.overflowed
    killed = over or end.returncode < 0
    status = "TO" if end.timed_out else "OL" if end.overflowed else "SG" if killed else None
    return Stage(
        stdout=end.stdout.decode("utf-8", "replace"),
        stderr=end.stderr.decode("utf-8", "replace"),
        code=None if killed else end.returncode,
        signal=("SIGKILL" if over else signal_name(-end.returncode)) if killed else None,
        status=status,
        wall_ms=end.wall_ms,
    )


class _Overflow(Exception):
    """The process wrote too much output."""


async def _time_out(within_s: float) -> None:
    """Raise TimeoutError after this time, of which at most `_STEP_S` passes while this process is stopped (Ctrl-Z).

    The program runs on meanwhile. That it has ended, and what it has written, can only be seen afterwards.
    """
    while within_s > 0:
        await asyncio.sleep(min(within_s, _STEP_S))
        within_s -= _STEP_S
    raise TimeoutError


async def _listen(
    stream: asyncio.StreamReader | None,
    output: bytearray,
    bound: int,
    is_complete: Callable[[bytearray], bool] | None,
    turn: contextlib.AsyncExitStack,
) -> None:
    """Read a stream to its end. Raise if it is too long; leave `turn` when it is complete."""
    assert stream is not None
    while chunk := await stream.read(_CHUNK):
        if len(output) + len(chunk) > bound:
            raise _Overflow
        output += chunk
        if is_complete is not None and is_complete(output):
            await turn.aclose()


async def _read(stream: asyncio.StreamReader | None, output: bytearray) -> None:
    """Read a stream to its end, and keep its beginning."""
    assert stream is not None
    while chunk := await stream.read(_CHUNK):
        if len(output) < _STDERR_BYTES:
            output += chunk


async def _feed(stream: asyncio.StreamWriter | None, content: bytes) -> None:
    if stream is None:
        return
    with contextlib.suppress(ConnectionError):  # the program need not read its input
        stream.write(content)
        await stream.drain()
    stream.close()


class _Streams(asyncio.subprocess.SubprocessStreamProtocol):
    """The streams of a process. If asyncio started it, but cannot wait for its end, it is killed.

    (asyncio needs a thread or a descriptor to wait. If it gets none, it raises, and leaves the process running.)
    """

    failed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take over the pipes of the process, which asyncio has connected."""
        super().connection_made(transport)
        if self.failed:
            assert isinstance(transport, asyncio.SubprocessTransport)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(transport.get_pid(), signal.SIGKILL)
            transport.close()
            transport.get_extra_info("subprocess").wait()  # else it would stay as a zombie, and count toward the limit


async def _start(
    argv: Sequence[str],
    descriptors: Sequence[int],
    *,
    cwd: Path | None,
    environment: Mapping[str, str],
    reads: bool,
) -> asyncio.subprocess.Process:
    # no preexec_fn and no user=: with either, Python would fork instead of using vfork, which costs
    # 16 ms or more in a process of 500 MB
    loop = asyncio.get_running_loop()
    streams = _Streams(limit=_CHUNK, loop=loop)
    try:
        transport, _ = await loop.subprocess_exec(
            lambda: streams,
            *argv,
            stdin=asyncio.subprocess.PIPE if reads else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=tuple(descriptors),
            cwd=cwd,
            env=dict(environment),
            start_new_session=True,
        )
    except (OSError, RuntimeError) as error:
        streams.failed = True
        if isinstance(error, OSError) and error.errno != errno.EAGAIN:
            raise TransientError(f"cannot start {argv[0]}: {error.strerror}") from error
        raise TransientError(f"cannot start {argv[0]} ({error}): {_MORE_PROCESSES}") from error
    return asyncio.subprocess.Process(transport, streams, loop)


async def _wait_for_start(starting: Coroutine[Any, Any, asyncio.subprocess.Process]) -> asyncio.subprocess.Process:
    """Wait until the process has been started. If the caller is cancelled meanwhile, its process group is killed.

    (asyncio would kill the process only, not its children.)
    """
    task = asyncio.ensure_future(starting)
    try:
        await _wait_despite_cancellation(task)
    except asyncio.CancelledError:
        if not task.cancelled() and task.exception() is None:
            await _kill_and_wait(task.result())
        raise
    return task.result()


async def _kill_and_wait(process: asyncio.subprocess.Process) -> None:
    """Kill what is left of the process and its group, and wait for its end."""
    _kill_group(process)
    await _wait_despite_cancellation(asyncio.ensure_future(_wait_and_drain(process)))
    _reap_orphans()


async def _wait_despite_cancellation(task: asyncio.Future[Any]) -> None:
    """Wait for the task, even if the caller is cancelled meanwhile, several times; then raise the cancellation.

    (A deadline may pass during a cancellation, and no other task knows of the process.)
    """
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


async def _wait_and_drain(process: asyncio.subprocess.Process) -> None:
    """Wait for the process's end, and discard its remaining output.

    asyncio reports the end only after both pipes have ended, and stops reading a pipe while its buffer is full: if
    nothing read the buffers, this would wait for ever.
    """
    async with asyncio.TaskGroup() as group:
        drains = [group.create_task(_read(stream, bytearray())) for stream in (process.stdout, process.stderr)]
        await process.wait()
        for drain in drains:
            drain.cancel()


def _kill_group(process: asyncio.subprocess.Process) -> None:
    """Kill what is left of the process and its group; if it has not ended yet, its descendants in other groups too.

    (A compiler under reduced isolation has its own session, and its processes would continue.)
    """
    others = _descendants(process.pid) if process.returncode is None else []
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for pid in others:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    if os.getpid() == 1:
        _orphans.update(others)


_orphans: set[int] = set()
"""Killed processes whose parents were killed too. The first process of a container becomes their parent."""


def _reap_orphans() -> None:
    """Reap the orphans that have ended. Otherwise they stay as zombies, and count toward the container's limit."""
    for pid in tuple(_orphans):
        try:
            exists = os.waitpid(pid, os.WNOHANG) == (0, 0)
        except ChildProcessError:  # its parent has not ended yet, or has reaped it
            exists = os.path.exists(f"/proc/{pid}")
        if not exists:
            _orphans.discard(pid)


def _descendants(pid: int) -> list[int]:
    """Its children, their children, and so on. Empty if the kernel does not list children."""
    pids = [pid]
    for parent in pids:  # the list grows during the loop
        with contextlib.suppress(OSError):  # the process has ended
            for thread in os.listdir(f"/proc/{parent}/task"):
                with contextlib.suppress(OSError):  # this thread has ended
                    pids.extend(map(int, Path(f"/proc/{parent}/task/{thread}/children").read_text().split()))
    return pids[1:]
