"""Runs a child process with limited output and a deadline; its process group is killed if the caller is cancelled.

`asyncio.subprocess` is not used: it starts a process in tasks of its own. `asyncio.run` cancels these too when it ends,
and then the start of a process never ends (Python 3.11 to 3.13), or its children are left behind. Here the start has
no `await`, and whoever waits for a process waits until its descriptors are ready.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ioi_eval.concurrency import wait_for_all
from ioi_eval.errors import TransientError
from ioi_eval.model import Stage, signal_name

_CHUNK = 1 << 16
_STDERR_BYTES = 1 << 20
_STEP_S = 1.0  # of a deadline
_LOST = 255  # the exit code of a process whose end was reported to other code. Source: asyncio
_LOOK_S = 0.005  # between two looks at a process, on a machine without pidfds
_LEFT_S = 2.0
"""How long streams are read after the end of a process. A process that has left its group may hold them for ever: a
server that it has started, the connection that `ssh` keeps with ControlPersist."""

_MORE_PROCESSES = "raise the limit on processes (ulimit -u, docker run --pids-limit), or run fewer jobs at once"

_starting = threading.RLock()
"""Held while a process is started, and while another thread forks (a data loader of a trainer, say): the forked process
would have the pipes of the one that starts, and its start ends only when nobody can write to them any more."""

os.register_at_fork(before=_starting.acquire, after_in_parent=_starting.release, after_in_child=_starting.release)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnd:
    """How a child process ended: what it wrote, up to the limits; the exit code, or the negative number of a signal;
    whether it was killed at the deadline, or because it wrote too much."""

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
        descriptors: which of our descriptors it inherits, under the same numbers.
        environment: its whole environment; empty by default.
        output_bytes: most stdout.
        turn: entered after the program has been started, before it gets its input and its deadline begins. Left at the
            program's end, or earlier, when `is_complete` says that stdout is complete.
        is_complete: whether this stdout is complete. The program is still waited for.
    """
    process = _Process(argv, descriptors, cwd=cwd, environment=environment or {}, reads=bool(stdin))
    stdout, stderr = bytearray(), bytearray()
    timed_out = overflowed = False
    async with contextlib.AsyncExitStack() as held:
        try:
            await held.enter_async_context(turn or contextlib.nullcontext())
            started = time.monotonic()
            deadline = asyncio.create_task(_time_out(wall_ms / 1000))
            works = [_listen(process.stdout, stdout, output_bytes, is_complete, held), _read(process.stderr, stderr)]
            if process.stdin is not None:
                works.append(_feed(process.stdin, stdin))
            streams = [asyncio.create_task(work) for work in works]
            ending = asyncio.create_task(_wait_for_end(process, deadline, streams))
            await wait_for_all([deadline, ending, *streams])
        except _Overflow:
            overflowed = True
        except TimeoutError:
            timed_out = True
        finally:
            await _kill_and_wait(process)
    return ProcessEnd(
        stdout=bytes(stdout),
        stderr=bytes(stderr),
        returncode=process.returncode,
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
    """Raise TimeoutError after this time.

    If this process is stopped (Ctrl-Z), at most one step of the deadline passes. The program runs on, so it may have
    ended by then; this process sees its end and its output only afterwards.
    """
    while within_s > 0:
        await asyncio.sleep(min(within_s, _STEP_S))
        within_s -= _STEP_S
    raise TimeoutError


# ------------------------------------------------------------------ a process and its streams


class _Process:
    """A process in a session of its own, with a pipe as its stdin if it `reads`, else with `/dev/null`."""

    def __init__(
        self,
        argv: Sequence[str],
        descriptors: Sequence[int],
        *,
        cwd: Path | None,
        environment: Mapping[str, str],
        reads: bool,
    ) -> None:
        try:
            # no preexec_fn and no user=: with either, Python would fork instead of using vfork, which costs
            # 16 ms or more in a process of 500 MB
            with _starting:
                self._popen = subprocess.Popen(
                    argv,
                    bufsize=0,
                    stdin=subprocess.PIPE if reads else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    pass_fds=tuple(descriptors),
                    cwd=cwd,
                    env=dict(environment),
                    start_new_session=True,
                )
        except OSError as error:
            reason = f" ({error}): {_MORE_PROCESSES}" if error.errno == errno.EAGAIN else f": {error.strerror}"
            raise TransientError(f"cannot start {argv[0]}{reason}") from error
        assert self._popen.stdout is not None
        assert self._popen.stderr is not None
        self.pid = self._popen.pid
        self.stdin, self.stdout, self.stderr = self._popen.stdin, self._popen.stdout, self._popen.stderr
        for stream in filter(None, (self.stdin, self.stdout, self.stderr)):
            os.set_blocking(stream.fileno(), False)
        self._pidfd: int | None = None
        try:
            self._pidfd = os.pidfd_open(self.pid)
        except OSError as error:
            # before Linux 5.3; a container's filter may refuse it; other code has waited for all children
            if error.errno in (errno.ENOSYS, errno.EPERM, errno.ESRCH):
                return
            os.killpg(self.pid, signal.SIGKILL)
            with self._popen:  # closes the streams, and waits
                raise TransientError(f"cannot wait for {argv[0]}: {error.strerror}") from error

    @property
    def has_ended(self) -> bool:
        return self._popen.returncode is not None

    @property
    def is_gone(self) -> bool:
        """Whether it has ended, and its streams are closed."""
        return self.has_ended and self.stdout.closed and self.stderr.closed

    @property
    def returncode(self) -> int:
        assert self._popen.returncode is not None
        return self._popen.returncode

    async def wait(self) -> None:
        if self._pidfd is not None and not self.has_ended:
            await _until_ready(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None
        while not self._look():  # noqa: ASYNC110 - without a pidfd no event says when it ends
            await asyncio.sleep(_LOOK_S)

    def _look(self) -> bool:
        """Whether it has ended; then its exit code is known. (`Popen` would take 0 for a code that was lost.)"""
        if self.has_ended:
            return True
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:  # other code in this process has waited for all children
            self._popen.returncode = _LOST
            return True
        if pid:
            self._popen.returncode = os.waitstatus_to_exitcode(status)
        return bool(pid)


async def _until_ready(fd: int, *, to_write: bool = False) -> None:
    loop = asyncio.get_running_loop()
    add, remove = (loop.add_writer, loop.remove_writer) if to_write else (loop.add_reader, loop.remove_reader)
    ready = loop.create_future()

    def stop() -> None:
        remove(fd)
        if not ready.done():
            ready.set_result(None)

    add(fd, stop)
    try:
        await ready
    finally:
        remove(fd)


async def _chunk(stream: IO[bytes]) -> bytes:
    """What can be read from a stream, at least a byte. At its end nothing; then it is closed."""
    while not stream.closed:
        await _until_ready(stream.fileno())
        if chunk := stream.read(_CHUNK):
            return chunk
        if chunk is not None:  # it is None if there is nothing to read yet
            stream.close()
    return b""


async def _listen(
    stream: IO[bytes],
    output: bytearray,
    bound: int,
    is_complete: Callable[[bytearray], bool] | None,
    held: contextlib.AsyncExitStack,
) -> None:
    """Read a stream to its end. Raise if it is too long; leave what is `held` when it is complete."""
    while chunk := await _chunk(stream):
        if len(output) + len(chunk) > bound:
            raise _Overflow
        output += chunk
        if is_complete is not None and is_complete(output):
            await held.aclose()


async def _read(stream: IO[bytes], output: bytearray) -> None:
    """Read a stream to its end, and keep its beginning."""
    while chunk := await _chunk(stream):
        if len(output) < _STDERR_BYTES:
            output += chunk


async def _feed(stream: IO[bytes], content: bytes) -> None:
    rest = memoryview(content)
    with stream, contextlib.suppress(ConnectionError):  # the program need not read its input
        while rest:
            await _until_ready(stream.fileno(), to_write=True)
            rest = rest[stream.write(rest) or 0 :]


# ------------------------------------------------------------------ its end


async def _wait_for_end(process: _Process, deadline: asyncio.Task[None], streams: Sequence[asyncio.Task[None]]) -> None:
    """Wait until a process has ended before its deadline, and then for its streams."""
    await process.wait()
    deadline.cancel()
    await _end_streams(process, streams)


async def _end_streams(process: _Process, streams: Sequence[asyncio.Task[None]]) -> None:
    """After the end of a process, wait for the tasks that read and write its streams, but not for long; kill what is
    left of its group, and close them. (Processes that it has left may still have to write what it wrote to them.)"""
    _, left = await asyncio.wait(streams, timeout=_LEFT_S)
    _kill_group(process)
    _, endless = await asyncio.wait(left, timeout=_LEFT_S) if left else ((), ())
    for task in endless:
        task.cancel()
    if endless:
        await asyncio.wait(endless)  # so that the event loop does not watch a closed descriptor
    process.stdout.close()
    process.stderr.close()


async def _kill_and_wait(process: _Process) -> None:
    """Kill what is left of the process and its group, and wait for its end, even if the caller is cancelled meanwhile,
    several times; then raise the cancellation. (A deadline may pass during one.)

    A task of its own waits for the end: anyio, which inspect-ai and FastAPI use, cancels a task in each turn of the
    event loop until it has ended, so that task never sees a descriptor become ready.
    """
    _kill_group(process)
    if process.stdin is not None:
        process.stdin.close()
    cancelled: asyncio.CancelledError | None = None
    if not process.is_gone:
        ending = asyncio.create_task(_until_gone(process))
        while not ending.done():
            try:
                await asyncio.wait([ending])
            except asyncio.CancelledError as error:
                cancelled = error
        ending.result()
    _reap_orphans()
    if cancelled is not None:
        raise cancelled


async def _until_gone(process: _Process) -> None:
    """Wait for the end of a killed process, also if `asyncio.run` ends meanwhile and cancels this task."""
    while not process.is_gone:
        with contextlib.suppress(asyncio.CancelledError):
            async with asyncio.TaskGroup() as group:
                outputs = process.stdout, process.stderr
                streams = [group.create_task(_read(stream, bytearray())) for stream in outputs]
                await process.wait()
                await _end_streams(process, streams)


def _kill_group(process: _Process) -> None:
    """Kill what is left of the process and its group; if it has not ended yet, its descendants in other groups too: a
    compiler under reduced isolation has its own session."""
    others = [] if process.has_ended else _descendants(process.pid)
    for pid in (-process.pid, *others):
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
