"""Finds inherited limits (of the shell, the container, the machine) that would restrict the programs to judge.

A correct program that reaches such a limit fails like a wrong one: with a hard stack limit of 8 MiB it is RE. So the
limits are checked before the first program is run, where that is cheap by a trial. Each is a `MachineLimit`:

- a *fatal* one makes correct programs fail, or makes judging impossible: nothing is judged here;
- any other matters only for programs that need much: it is reported, and compared with the problems' limits. If such
  programs fail as if by their own fault, the target is *narrowed*.

A soft limit is raised to the hard one, so it restricts nothing. A hard one is not changed, even by root: somebody has
set it on purpose. All of this takes about 3 ms.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import queue
import resource
import shutil
import signal
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ioi_eval.config import MIB, CompileLimits, Policy
from ioi_eval.model import Isolation
from ioi_eval.sandbox.least_limits import LEAST_CPU_S, LEAST_FILE_BYTES, LEAST_STACK_BYTES
from ioi_eval.sandbox.local.control_groups import memory_limit_bytes, processes_left
from ioi_eval.sandbox.local.descriptors import MFD_EXEC
from ioi_eval.sandbox.local.machine_limit import GIB, MachineLimit, fatal_limit, format_bytes

_LEAST_ADDRESS_BYTES = 5 * GIB
"""A checker may take this (`JudgeLimits`, and 1 GiB); a program with up to 1 GiB of memory and 64 threads may reserve
it. Source: graders/runner/launch.h, judges.h."""

_LEAST_FILES, _FILES_A_JOB, _OWN_FILES = 512, 3 * 128 + 16, 128
"""A shared job has up to 128 tests, each with an input, an answer and a program of its own, and a few other files.
Source: `engine/run_jobs.py`, MAX_TESTS; graders/runner/numbers.h, kLeastFds."""

_PROCESSES_A_JOB, _OWN_PROCESSES = Policy().threads + 8, 16
"""A program's threads, its box, its judges."""

_APPS_THREADS = 500  # Source: `apps/settings.py`, `AppsSettings.threads`

_LEAST_MEMORY_BYTES = CompileLimits().memory_bytes
"""Compiling a submission may take this; compiling the runner takes 320 MiB (400 MiB with the assembler)."""

_OWN_MEMORY_BYTES = 256 * MIB
"""For `score` itself: 110 MiB, and the programs, inputs and outputs that are being sent or received."""

_USUAL_MEMORY_BYTES = GIB
"""The largest memory limit of most problems: with this much for each job nothing is reported."""

_TMP_BYTES, _SCRATCH_BYTES, _TMP_FILES = 32 * MIB, 16 * MIB, 1000
"""What compiling the runner takes; without namespaces, what each program may write; how many more files must fit. With
namespaces, boxes have their own /tmp. Source: graders/runner/numbers.h, kScratchBytes."""

_MOST_TMP_BYTES = 2 * CompileLimits().file_bytes
"""Without namespaces, what a job may use: the object and the program of the largest submission."""


def inherited_limits(*, slots: int, boxes: int) -> tuple[MachineLimit, ...]:
    """The limits of this machine that restrict judging at any isolation; empty on most machines. `slots` jobs will run
    at once, and `boxes` jobs will run or be ready to."""
    if missing := (*_missing_files(), *_ignored_signal()):
        return missing  # without these the other checks are not reliable
    for raised in _RAISED:  # for this process and all that it starts
        soft, most = resource.getrlimit(raised.resource)
        if soft != most:
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(raised.resource, (most, most))
    hard = tuple(_hard_limits(slots, boxes))
    threads = () if any(limit.is_fatal for limit in hard) else _processes(slots)  # threads need memory for stacks
    return (*hard, *threads, *_memory(slots), *_reserved_memory(), *_memory_files())


def limit_of_temporary_files(isolation: Isolation, *, slots: int) -> tuple[MachineLimit, ...]:
    """The limit on temporary files, if jobs may need more; else empty. With namespaces they need little room there."""
    jobs = 0 if isolation is Isolation.FULL else slots
    least, most = _TMP_BYTES + _SCRATCH_BYTES * jobs, _MOST_TMP_BYTES * jobs
    advice = "set TMPDIR to a directory with room, or give /tmp more (docker run --tmpfs /tmp:exec,size=1g)"
    try:
        name = tempfile.mkdtemp(prefix="ioi-eval-room-")
    except OSError as error:
        reason = error.strerror or "no directory can be written"
        return (fatal_limit("temporary files", f"none can be made ({reason})", "jobs need files there", advice),)
    try:
        room = os.statvfs(name)
    finally:
        shutil.rmtree(name, ignore_errors=True)
    where = os.path.dirname(name)
    free_bytes = room.f_bavail * room.f_frsize
    if room.f_files and room.f_favail < _TMP_FILES:
        available = f"{room.f_favail} more files fit into {where}"
        return (fatal_limit("temporary files", available, f"jobs need {_TMP_FILES}", advice),)
    if not room.f_blocks or free_bytes >= max(least, most):  # 0 blocks: a tmpfs without a limit (size=0)
        return ()
    is_fatal = free_bytes < least
    fit = (free_bytes - _TMP_BYTES) // _SCRATCH_BYTES if is_fatal else free_bytes // _MOST_TMP_BYTES
    limit = MachineLimit(
        what="temporary files",
        measured=f"{format_bytes(free_bytes)} are free in {where}",
        needed=f"jobs need {format_bytes(least)}"
        if is_fatal
        else f"jobs with large programs need up to {format_bytes(most)}; one that finds no room is JE, never a score",
        advice=advice + _fewer(fit if fit < slots else 0),
        is_fatal=is_fatal,
    )
    return (limit,)


def _fewer(fit: int) -> str:
    """The advice to run fewer jobs at once; empty if not even one fits."""
    return f", or give score, validate or serve the option --workers {fit} (slots= in Python)" if fit > 0 else ""


# ---------------------------------------------------------------------- limits that setrlimit(2) has set


@dataclass(frozen=True, slots=True, kw_only=True)
class _HardLimit:
    """How a hard limit is reported and raised: by its letter for `ulimit`, and its name for `docker run --ulimit`.
    systemd has the same name in capitals."""

    resource: int
    what: str
    flag: str
    docker: str = ""

    def value(self) -> int | None:
        """The hard limit; `None` if there is none."""
        hard = resource.getrlimit(self.resource)[1]
        return None if hard == resource.RLIM_INFINITY else hard

    def found(self, measured: str, needed: str, *, is_fatal: bool, advice: str = "") -> MachineLimit:
        """What is reported about it."""
        measured, advice = f"{measured} (hard limit)", advice or self.advice()
        return MachineLimit(what=self.what, measured=measured, needed=needed, advice=advice, is_fatal=is_fatal)

    def advice(self, value: int | None = None) -> str:
        """How to raise it, in each program that may have set it."""
        docker = f", Docker --ulimit {self.docker}={value or -1}" if self.docker else ""
        systemd = f"systemd Limit{(self.docker or 'as').upper()}={value or 'infinity'}"
        shell = f"as root `ulimit -H{self.flag} {value or 'unlimited'}`"
        return f"raise the hard limit where this is started ({shell}{docker}, {systemd})"


_STACK = _HardLimit(resource=resource.RLIMIT_STACK, what="stack", flag="s", docker="stack")
_ADDRESSES = _HardLimit(resource=resource.RLIMIT_AS, what="address space", flag="v")
_DATA = _HardLimit(resource=resource.RLIMIT_DATA, what="data segment", flag="d", docker="data")
_FILE_SIZE = _HardLimit(resource=resource.RLIMIT_FSIZE, what="file size", flag="f", docker="fsize")
_CPU = _HardLimit(resource=resource.RLIMIT_CPU, what="CPU time", flag="t", docker="cpu")
_FILES = _HardLimit(resource=resource.RLIMIT_NOFILE, what="open files", flag="n", docker="nofile")
_PROCESSES = _HardLimit(resource=resource.RLIMIT_NPROC, what="processes", flag="u", docker="nproc")

_RAISED = (_ADDRESSES, _DATA, _FILE_SIZE, _CPU, _FILES, _PROCESSES)  # the runner raises the stack limit itself


def _hard_limits(slots: int, boxes: int) -> Iterator[MachineLimit]:
    if (stack := _STACK.value()) is not None:
        yield _bytes_limit(_STACK, stack, least=LEAST_STACK_BYTES, enough_for=stack, does="recurses deeper")
    for limit in (_ADDRESSES, _DATA):
        if (hard := limit.value()) is not None:
            enough_for = min((hard - GIB) // 2, hard - 4 * GIB)  # Source: graders/runner/launch.h, RLIMIT_AS
            yield _bytes_limit(limit, hard, least=_LEAST_ADDRESS_BYTES, enough_for=enough_for, does="reserves more")
    file_size = _FILE_SIZE.value()
    if file_size is not None:
        needed = f"outputs need {format_bytes(LEAST_FILE_BYTES)}, and results must fit too"
        measured = f"{format_bytes(file_size)} at most"
        yield _FILE_SIZE.found(measured, needed, is_fatal=file_size < LEAST_FILE_BYTES)
    cpu_s = _CPU.value()
    if cpu_s is not None:
        needed = "this command itself is killed at this limit; start it again to continue"
        if is_fatal := cpu_s < LEAST_CPU_S:
            needed = f"compiling a checker may take {LEAST_CPU_S} s"
        yield _CPU.found(f"{cpu_s} s a process", needed, is_fatal=is_fatal)
    files, enough = _FILES.value(), boxes * _FILES_A_JOB + _OWN_FILES
    if files is not None and files < enough:
        is_fatal = files < _LEAST_FILES
        fewer = "" if is_fatal else ", or give score, validate or serve fewer --workers"
        needed = f"{slots} jobs at once need up to {enough}, one job {_LEAST_FILES}; a test that gets none is JE"
        yield _FILES.found(f"{files} at once", needed, is_fatal=is_fatal, advice=f"{_FILES.advice(enough)}{fewer}")


def _bytes_limit(limit: _HardLimit, hard: int, *, least: int, enough_for: int, does: str) -> MachineLimit:
    """A hard limit in bytes.

    Args:
        least: with less, correct programs fail.
        enough_for: the largest memory limit of a problem for which the hard limit suffices.
        does: what a program does that reaches it.
    """
    measured = f"{format_bytes(hard)} at most"
    if hard < least:
        return limit.found(measured, f"correct programs need {format_bytes(least)}", is_fatal=True)
    found = limit.found(measured, f"a program that {does} is RE, even a correct one", is_fatal=False)
    return replace(found, memory_bytes=enough_for, changes_outcomes=True)


# ---------------------------------------------------------------------- processes and memory


def _processes(slots: int) -> Iterator[MachineLimit]:
    least = _PROCESSES_A_JOB + _OWN_PROCESSES
    enough = slots * _PROCESSES_A_JOB + _OWN_PROCESSES
    left = _startable(least, enough)
    hard = _PROCESSES.value()
    if os.geteuid() == 0 and hard is not None and hard < least:
        left = min(left, hard)  # the limit does not apply to root, but to the users of boxes
    if left >= enough:
        return
    fit = (left - _OWN_PROCESSES) // _PROCESSES_A_JOB
    none = "" if left else "; or update Docker, which before 20.10.10 forbids clone3, so that no thread starts"
    needed = f"{slots} jobs at once need {enough} with the threads of their programs"
    advice = "raise the limit of this user (ulimit -Hu, as root; systemd TasksMax=) or of this container (docker run "
    advice += f"--pids-limit){_fewer(fit)}{none}"
    yield fatal_limit(_PROCESSES.what, f"{left} more can be started", needed, advice)


def limit_of_threads_for_apps(*, slots: int) -> tuple[MachineLimit, ...]:
    """The hard limit on processes, or the container's, if programs for APPS may need more; else empty."""
    hard, left = _PROCESSES.value(), processes_left()
    jobs = 1 if os.geteuid() == 0 else slots  # as root, each box has a user of its own
    enough, of_all = (count * (_APPS_THREADS + 8) + _OWN_PROCESSES for count in (jobs, slots))
    if hard is not None and hard < enough:
        measured, advice = f"{hard} of a user at once (hard limit)", _PROCESSES.advice(enough)
    elif left is not None and left < of_all:
        measured, enough = f"{left} more in this container", of_all
        advice = "raise the limit of this container (docker run --pids-limit) or service (systemd TasksMax=)"
    else:
        return ()
    needed = (
        f"a program for APPS may have {_APPS_THREADS} threads, which needs {enough} (jobs at once: {slots}); one "
        "that gets fewer is RE or TLE, even if it is correct"
    )
    advice = f"{advice}, then judge again with --no-resume"
    return (MachineLimit(what=_PROCESSES.what, measured=measured, needed=needed, advice=advice),)


_ENDED_S = 1.0
"""If none of the threads ends for so long, no other will. (Each ends as soon as it gets a processor.)"""


def _startable(least: int, enough: int) -> int:
    """How many processes or threads can be started now: `least` are tried, or `enough` if a limit is near."""
    hard, left = _PROCESSES.value(), processes_left()
    near = (left is not None and left < enough) or (hard is not None and hard < enough + _threads_here())
    held, ended = _thread.allocate_lock(), queue.SimpleQueue[None]()
    started = 0

    def wait() -> None:
        with held:
            ended.put(None)

    with held, contextlib.suppress(RuntimeError, MemoryError):  # "can't start new thread"
        for _ in range(enough if near else least):
            _thread.start_new_thread(wait, ())
            started += 1
    with contextlib.suppress(queue.Empty):  # a thread that finds no memory for its first call ends and puts nothing
        for _ in range(started):
            ended.get(timeout=_ENDED_S)
    return enough if started >= least and not near else started


def _threads_here() -> int:
    """The number of threads on this machine, or of those that a container can see. Source: proc(5), `loadavg`."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/loadavg").read_text(encoding="utf-8").split()[3].partition("/")[2])
    return 1 << 20


def _memory(slots: int) -> Iterator[MachineLimit]:
    container, machine = memory_limit_bytes(), os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit, whose = machine, "this machine"
    if container is not None and container <= machine:
        limit, whose = container, "this container"
    is_fatal = limit < _LEAST_MEMORY_BYTES
    if limit >= _OWN_MEMORY_BYTES + slots * _USUAL_MEMORY_BYTES:
        return
    yield MachineLimit(
        what="memory",
        measured=f"{whose} has {format_bytes(limit)}",
        needed=f"compiling needs up to {format_bytes(_LEAST_MEMORY_BYTES)}"
        if is_fatal
        else f"a program that finds none left is JE, never a score (jobs at once: {slots})",
        advice="give it more (docker run --memory, Kubernetes resources.limits.memory, Slurm --mem)",
        is_fatal=is_fatal,
        memory_bytes=None if is_fatal else max(0, limit - _OWN_MEMORY_BYTES),
    )


def _reserved_memory() -> Iterator[MachineLimit]:
    """The kernel may refuse to reserve more memory than there is, also if it would never be used. Source: proc(5)."""
    with contextlib.suppress(OSError):
        if Path("/proc/sys/vm/overcommit_memory").read_text(encoding="utf-8").strip() == "2":
            yield MachineLimit(
                what="reserved memory",
                measured="all programs together may reserve only what this machine has",
                needed="a program that gets none fails, also within its memory limit",
                advice="as root `sysctl vm.overcommit_memory=0`",
                changes_outcomes=True,
            )


def _memory_files() -> Iterator[MachineLimit]:
    """Programs are started from memory files; a sysctl may forbid this."""
    try:
        os.close(os.memfd_create("ioi-eval", os.MFD_CLOEXEC | MFD_EXEC))
    except PermissionError:
        needed, advice = "programs are started from them", "sysctl vm.memfd_noexec=1 (or 0)"
        yield fatal_limit("executable memory files", "none can be made", needed, advice)
    except OSError:
        return  # an older kernel, which always allows it


# ---------------------------------------------------------------------- what must be there

_DEVICES = (("/dev/null", stat.S_IROTH | stat.S_IWOTH), ("/dev/urandom", stat.S_IROTH))


def _missing_files() -> Iterator[MachineLimit]:
    if not os.path.isdir(f"/proc/{os.getpid()}/fd"):
        advice = "mount it (mount -t proc proc /proc); containers have it by default"
        yield fatal_limit("/proc", "it is not mounted, or is another PID namespace's", "judging reads it", advice)
    for device, others_may in _DEVICES:
        if problem := _problem_of_device(device, others_may):
            advice = "mount the devices into this root directory (mount --rbind /dev ROOT/dev)"
            yield fatal_limit(device, problem, "programs use it", advice)


def _problem_of_device(device: str, others_may: int) -> str:
    """Why programs cannot use a device; empty if they can. `others_may` are the bits of its mode that they need.

    Without devices, a shell's `> /dev/null` makes a file of that name. All programs could write to it, and read from
    it what others have written.
    """
    try:
        fd = os.open(device, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        return f"it cannot be opened ({error.strerror})"
    mode = os.fstat(fd).st_mode
    os.close(fd)
    if not stat.S_ISCHR(mode):
        return "it is a file, not a device"
    if mode & others_may != others_may:
        return f"ordinary users may not use it (its mode is {stat.S_IMODE(mode):o})"
    return ""


def _ignored_signal() -> Iterator[MachineLimit]:
    """The kernel reports no end of a child to a process that ignores SIGCHLD, which a process inherits. The command
    `ioi-eval` stops ignoring it when it starts."""
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        needed = "the exit codes of compilers and boxes would be lost"
        advice = "call signal.signal(signal.SIGCHLD, signal.SIG_DFL) first"
        yield fatal_limit("SIGCHLD", "this process ignores it", needed, advice)
