"""Runs a child process with limited output and a deadline; its process group is killed if the caller is cancelled.

`asyncio.subprocess` is not used: it starts a process in tasks of its own. `asyncio.run` cancels these too when it ends,
and then the start of a process never ends (Python 3.11 to 3.13), or its children are left behind. Here the start has
no `await`, and callbacks of the event loop, which nothing cancels, feed the process, read its streams, and note its end
and its deadline. (anyio, which inspect-ai and FastAPI use, cancels a task again in each turn of the event loop until it
ends. So a task that is cancelled could not wait for a descriptor to become ready.)
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
from typing import IO, Any

from ioi_eval.errors import TransientError
from ioi_eval.model import Stage, signal_name

_CHUNK = 1 << 16
_STDERR_BYTES = 1 << 20
_STEP_S = 1.0  # a deadline is waited for in steps of this length: see `_Process._step`
_LOST = 255  # the exit code of a process whose end was reported to other code. Source: asyncio
_LOOK_S = 0.005  # between two looks at a process, on a machine without pidfds
_LEFT_S = 2.0
"""How long streams are read after the end of a process. A process that has left its group may hold them for ever: a
server that it has started, the connection that `ssh` keeps with ControlPersist."""

_LOST_OUTPUT = "the log has the reason, perhaps a lack of memory in our own process"
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
    is_complete: Callable[[bytearray], bool] = lambda _: False,
) -> ProcessEnd:
    """Start a program, wait for it, and kill its process group at the deadline, too much output, or cancellation.

    Args:
        descriptors: which of our descriptors it inherits, under the same numbers.
        environment: its whole environment; empty by default.
        output_bytes: most stdout.
        turn: entered after the program has been started, before it gets its input and its deadline begins. Left at the
            program's end, or earlier, when `is_complete` says that stdout is complete.
        is_complete: whether this stdout is complete. The program is still waited for.

    Raises:
        TransientError: the program cannot be started, or a part of its output could not be kept.
    """
    process = _Process(argv, descriptors, cwd=cwd, environment=environment or {}, reads=bool(stdin))
    async with contextlib.AsyncExitStack() as held:
        try:
            await held.enter_async_context(turn or contextlib.nullcontext())
            started = time.monotonic()
            process.begin(stdin, wall_ms / 1000, output_bytes, is_complete)
            await asyncio.wait([process.complete])
            if not process.gone.done():
                await held.aclose()
            await asyncio.wait([process.gone])
        finally:
            await process.kill_and_wait()
    if process.lost_chunks:
        raise TransientError(f"a part of the output of {argv[0]} was lost: {_LOST_OUTPUT}")
    return ProcessEnd(
        stdout=bytes(process.stdout),
        stderr=bytes(process.stderr),
        returncode=process.returncode,
        timed_out=process.timed_out,
        overflowed=process.overflowed,
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


class _Process:
    """A process in a session of its own, with a pipe as its stdin if it `reads`, else with `/dev/null`.

    Attributes:
        stdout, stderr: what it has written, up to the limits and until it was stopped.
        lost_chunks: how many chunks of that could not be kept, for lack of memory. The event loop would only log the
            error.
        complete: done when stdout is complete, or the process is gone.
        gone: done when the process has ended and its output streams are closed.
    """

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
        self.pid = self._popen.pid
        self._pidfd: int | None = None
        try:
            self._pidfd = os.pidfd_open(self.pid)
        except OSError as error:
            # before Linux 5.3; a container's filter may refuse it; other code has waited for all children
            if error.errno not in (errno.ENOSYS, errno.EPERM, errno.ESRCH):
                os.killpg(self.pid, signal.SIGKILL)
                with self._popen:  # closes the streams, and waits
                    raise TransientError(f"cannot wait for {argv[0]}: {error.strerror}") from error
        assert self._popen.stdout is not None
        assert self._popen.stderr is not None
        self._input, self._output, self._errors = self._popen.stdin, self._popen.stdout, self._popen.stderr
        self.stdout, self.stderr, self.lost_chunks = bytearray(), bytearray(), 0
        self.timed_out = self.overflowed = False
        self._loop = asyncio.get_running_loop()
        self.complete, self.gone = self._loop.create_future(), self._loop.create_future()
        self._timer: asyncio.TimerHandle | None = None
        self._has_begun = False
        for stream in filter(None, (self._input, self._output, self._errors)):
            os.set_blocking(stream.fileno(), False)

    @property
    def has_ended(self) -> bool:
        return self._popen.returncode is not None

    @property
    def returncode(self) -> int:
        assert self._popen.returncode is not None
        return self._popen.returncode

    def begin(self, stdin: bytes, within_s: float, output_bytes: int, is_complete: Callable[[bytearray], bool]) -> None:
        """Give it its input, read its streams, and begin its deadline."""
        self._rest, self._output_bytes, self._is_complete = memoryview(stdin), output_bytes, is_complete
        if self._input is not None:
            self._loop.add_writer(self._input.fileno(), self._feed, self._input)
        self._loop.add_reader(self._output.fileno(), self._read, self._output, self._keep_output)
        self._loop.add_reader(self._errors.fileno(), self._read, self._errors, self._keep_errors)
        if self._pidfd is not None:
            self._loop.add_reader(self._pidfd, self._look)
        self._has_begun = True
        self._step(within_s)
        self._look()  # without a pidfd no event says when it ends

    async def kill_and_wait(self) -> None:
        """Kill what is left of it and its group, and wait for its end, even if the caller is cancelled meanwhile,
        several times; then raise the cancellation. (A deadline may pass during one.)"""
        self._kill_group()
        if not self._has_begun:
            self.begin(b"", _STEP_S, 0, lambda _: False)
        self._close_input()
        cancelled: asyncio.CancelledError | None = None
        while not self.gone.done():
            try:
                await asyncio.wait([self.gone])
            except asyncio.CancelledError as error:
                cancelled = error
        _reap_orphans()
        if cancelled is not None:
            raise cancelled

    def _step(self, within_s: float) -> None:
        """Stop it after this time.

        If this process is stopped (Ctrl-Z), at most one step of the deadline passes. The program runs on, so it may
        have ended by then; this process sees its end and its output only afterwards.
        """
        if within_s <= 0:
            self.timed_out = not self.overflowed
            self._kill_group()
        else:
            self._set_timer(min(within_s, _STEP_S), self._step, within_s - _STEP_S)

    # ------------------------------------------------------------------ its streams

    def _feed(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(ConnectionError):  # the program need not read its input
            self._rest = self._rest[stream.write(self._rest) or 0 :]
            if self._rest:
                return
        self._close_input()

    def _close_input(self) -> None:
        if self._input is not None and not self._input.closed:
            self._loop.remove_writer(self._input.fileno())
            self._input.close()

    def _read(self, stream: IO[bytes], keep: Callable[[bytes], None]) -> None:
        """Read what is there, at least a byte; at the end of the stream, close it."""
        chunk = stream.read(_CHUNK)
        if chunk:
            if not (self.timed_out or self.overflowed):
                self.lost_chunks += 1  # stays so if this fails
                keep(chunk)
                self.lost_chunks -= 1
        elif chunk is not None:  # it is None if there is nothing to read yet
            self._close(stream)

    def _keep_output(self, chunk: bytes) -> None:
        if len(self.stdout) + len(chunk) > self._output_bytes:
            self.overflowed = True
            self._kill_group()
            return
        self.stdout += chunk
        if self._is_complete(self.stdout) and not self.complete.done():
            self.complete.set_result(None)

    def _keep_errors(self, chunk: bytes) -> None:
        if len(self.stderr) < _STDERR_BYTES:
            self.stderr += chunk

    def _close(self, *streams: IO[bytes]) -> None:
        for stream in streams:
            if not stream.closed:
                self._loop.remove_reader(stream.fileno())
                stream.close()
        self._note_if_gone()

    # ------------------------------------------------------------------ its end

    def _look(self) -> None:
        """Note its end; look again if no event says when that is. (`Popen` would take 0 for a code that was lost.)"""
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            code = os.waitstatus_to_exitcode(status)
        except ChildProcessError:  # other code in this process has waited for all children
            pid, code = self.pid, _LOST
        if not pid:
            if self._pidfd is None:
                self._loop.call_later(_LOOK_S, self._look)
            return
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
        self._popen.returncode = code
        self._set_timer(_LEFT_S, self._leave_streams)
        self._note_if_gone()

    def _leave_streams(self) -> None:
        """Some time after its end, kill what is left of its group; as long after that, close its streams. (Processes
        that it has left may still have to write what it wrote to them.)"""
        self._kill_group()
        self._set_timer(_LEFT_S, self._close, self._output, self._errors)

    def _note_if_gone(self) -> None:
        if self.has_ended and self._output.closed and self._errors.closed:
            self._cancel_timer()
            for future in (self.complete, self.gone):
                if not future.done():
                    future.set_result(None)

    def _set_timer(self, after_s: float, call: Callable[..., None], *args: Any) -> None:
        self._cancel_timer()
        self._timer = self._loop.call_later(after_s, call, *args)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _kill_group(self) -> None:
        """Kill what is left of it and its group; if it has not ended yet, its descendants in other groups too: a
        compiler under reduced isolation has its own session."""
        others = [] if self.has_ended else _descendants(self.pid)
        for pid in (-self.pid, *others):
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
