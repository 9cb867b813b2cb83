"""The CPU time of a command and its descendants by the name of the process, as the kernel's scheduler counts it.

Processes of a sandbox are often reaped by one another, and their CPU time is then part of their parent's sum. The
scheduler's trace reports each separately, up to its last moment: a process that ends returns its memory first, which
for compilers takes 2 % of their CPU time. Tracing needs root of the machine (not of a container).

Source: the kernel's Documentation/trace/ftrace.rst and include/trace/events/sched.h.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

OWN = "(own)"
"""The name for the command's first process, its threads, and its children until they start another program."""

_TRACING = Path("/sys/kernel/tracing")
_EVENTS = "sched:sched_stat_runtime sched:sched_process_fork sched:sched_process_exec"
_BUFFER_KIB = 64 << 10  # for each processor; a busy one needs 1 MiB for 3 s
_FORK = re.compile(r" sched_process_fork: .* pid=(\d+) child_comm=.* child_pid=(\d+)$")
_EXEC = re.compile(r" sched_process_exec: .* pid=(\d+) old_pid=\d+$")
_RUN = re.compile(r" sched_stat_runtime: comm=(.*) pid=(\d+) runtime=(\d+) ")


class SchedulerTrace:
    """Traces all processes of the machine while it is entered. Nothing is read meanwhile, so it takes little time.

    Afterwards `lines` is the trace, and `is_complete` says whether all of it was recorded.

    Raises:
        OSError: this process may not trace, or the kernel cannot.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.is_complete = False
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            if not (_TRACING / "instances").exists():
                if subprocess.run(["mount", "-t", "tracefs", "tracefs", str(_TRACING)], check=False).returncode:
                    raise OSError(f"{_TRACING} cannot be mounted: trace as root of the machine")
                undo.callback(subprocess.run, ["umount", str(_TRACING)], check=False)
            self._buffer = _TRACING / "instances" / "ioi_eval"
            with suppress(FileNotFoundError):
                self._buffer.rmdir()  # of a benchmark that was killed
            self._buffer.mkdir()
            undo.callback(self._buffer.rmdir)
            for name, value in (("buffer_size_kb", _BUFFER_KIB), ("trace_clock", "mono"), ("set_event", _EVENTS)):
                (self._buffer / name).write_text(str(value))
            self._undo = undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._undo:
            (self._buffer / "tracing_on").write_text("0")
            statistics = "".join(path.read_text() for path in self._buffer.glob("per_cpu/*/stats"))
            self.is_complete = re.search("^overrun: [^0]", statistics, re.M) is None
            self.lines = (self._buffer / "trace").read_text(errors="replace").splitlines()


def cpu_s_by_name(lines: Iterable[str], root: int) -> dict[str, float]:
    """CPU time of the process with this id and of all its descendants, in s, by name (`OWN` for its own)."""
    inside, own, sums = {root}, {root}, Counter[str]()
    for line in lines:
        if match := _RUN.search(line):
            if (task := int(match[2])) in inside:
                sums[OWN if task in own else match[1]] += int(match[3])
        elif match := _FORK.search(line):
            parent, child = int(match[1]), int(match[2])
            for tasks in (inside, own):
                if child != root:  # an id may have belonged to another process before
                    (tasks.add if parent in tasks else tasks.discard)(child)
        elif (match := _EXEC.search(line)) and int(match[1]) != root:
            own.discard(int(match[1]))
    return {name: nanoseconds / 1e9 for name, nanoseconds in sums.items()}
