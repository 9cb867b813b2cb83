"""The embedded sandbox: jobs run on this machine, in namespaces where it allows them.

    job ── files become descriptors ── box ── [setpriv] [bwrap] runner ── slot ── stdout ── Execution

None of a job's files has a path that a submission could open: bytes are passed in sealed memory files, test data as
descriptors of the files where they already are. For jobs of kind RUNNER the runner is the box's PID 1 and confines each
contestant further (`graders/PROTOCOL.md`); if namespaces are not available it uses Landlock and seccomp alone, which is
reported as `reduced`.

A job needs a slot to run. Making a box (namespaces, mounts, a program to load) takes about 8 ms, half of them waiting
for the kernel; so there are a few more boxes than slots, and in these the runner is ready and waits for a slot. A slot
is free again when the runner has printed its last line; the kernel may still be removing the box. While a job runs
alone, there is no other box in any state.

A compiled program is returned by a descriptor too, if the job says so: as base64 in the runner's stdout it would take
10 ms of the event loop's thread.

The isolation level is determined once, when the sandbox is entered: `full` if bwrap can start a box, else `reduced`. A
level below what the caller accepts is an `IsolationError` that says what to install or allow. An inherited limit under
which correct programs fail is a `SetupError` (`inherited_limits.py`).
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self
from urllib.parse import quote

from ioi_eval.concurrency import in_new_thread
from ioi_eval.config import value_of
from ioi_eval.errors import InputError, IsolationError, OverloadError, RejectedError, SetupError, TransientError
from ioi_eval.model import Execution, Isolation, Job, JobFile, JobKind, Profile
from ioi_eval.sandbox import LOCAL, Target, profile_named, read_content, require_different_names
from ioi_eval.sandbox.local.compiler import detect
from ioi_eval.sandbox.local.confinement import PATH, as_user, in_namespaces, why_not_shown
from ioi_eval.sandbox.local.control_groups import processors, refused_processes
from ioi_eval.sandbox.local.descriptors import content_of, descriptors, returned_files
from ioi_eval.sandbox.local.inherited_limits import inherited_limits, limit_of_temporary_files
from ioi_eval.sandbox.local.machine_limit import MachineLimit, narrowed_by, require_none_fatal
from ioi_eval.sandbox.local.scripts import Command, commands, run_in_box
from ioi_eval.sandbox.local.why_no_box import is_filtered, is_out_of_namespaces, too_few_namespaces, why_no_box
from ioi_eval.sandbox.local.work_directories import sweep, work_directory
from ioi_eval.sandbox.process import run_process, stage_of
from ioi_eval.slots import Slots

_FIRST_UID, _PROCESSES, _MAX_BOXES = 0x70000000, 1 << 16, 1 << 12
"""Boxes' uids as root: the first, for how many processes, and how many each has. They are above the uids that
distributions, systemd and container tools assign, and below those that some programs read as negative numbers. Source:
systemd's `UIDS-GIDS.md`."""

_FEWER_BOXES = 1 << 9
_NOBODY = 65534
"""For a container that has only 65,536 uids: boxes get the upper half of those below `nobody`."""

_NEEDED_BY_ROOT = {"CAP_CHOWN": 0, "CAP_DAC_OVERRIDE": 1, "CAP_KILL": 5, "CAP_SETGID": 6, "CAP_SETUID": 7}
"""To start programs as another user, give them directories, and kill them. Source: Linux, `linux/capability.h`."""

_SLOTS_PER_SPARE_BOX = 8
"""One spare box for this many slots, and at least one: a job takes 0.1 s or more, making a box 0.008 s."""

_START = b"\n"  # the runner waits for it
_LAST_LINE = b'{"end":true,'  # Source: graders/PROTOCOL.md

_TRY_S = 60  # for a box that is tried
_TRIED_NAMESPACES = 16
"""How many PID namespaces are made at once in a box that is tried: an outer container's limit on them cannot be read.
They are inside one another, of which the kernel allows 32. Source: Linux, pid_namespaces(7)."""

_TRUSTED_ENVIRONMENT = {"PATH": PATH, "LANG": "C.UTF-8", "HOME": "/nonexistent"}

_NO_PROCESSES = (
    "this container's limit on processes was reached while the job ran, so programs may have failed to start threads: "
    "raise the limit (docker run --pids-limit, systemd TasksMax=), or give fewer --workers"
)


class LocalSandbox:
    """Executes jobs on this machine. An async context manager. Several threads may use it, each with its event loop.

    A forked process has its own slots, besides its parent's.

    Args:
        slots: how many jobs run at once; by default the processors that this process may use (`control_groups.py`).
        least_isolation: the weakest that is accepted: an `Isolation`, or the name of one.
        strongest: do not try a stronger one (to test `reduced` on machines that can do `full`).
        compiler: the C++ compiler's command.
        profile: `bundled`, or `classic` for one test per job.

    Raises:
        InputError: there is no such profile or isolation level, or `slots` is below 1.
        SetupError: on entering: no compiler, or a limit of this machine under which correct programs fail.
        IsolationError: on entering: less isolation than is accepted.
    """

    def __init__(
        self,
        *,
        slots: int | None = None,
        least_isolation: Isolation | str = Isolation.REDUCED,
        strongest: Isolation | str = Isolation.FULL,
        compiler: str = "g++",
        profile: str = Profile.BUNDLED,
    ) -> None:
        if slots is not None and slots < 1:
            raise InputError(f"slots is {slots}; give 1 or more, or None for all processors")
        self._slots = Slots(slots or processors())
        self._boxes = Slots(self._slots.count + max(1, self._slots.count // _SLOTS_PER_SPARE_BOX))
        self._least = value_of(Isolation, least_isolation, "isolation level")
        self._strongest = value_of(Isolation, strongest, "isolation level")
        self._compiler = compiler
        self._profile = profile_named(profile)
        self._target: Target | None = None
        self.why_not_full = ""
        self.limits: tuple[MachineLimit, ...] = ()
        self._allowed: set[tuple[str, ...]] = set()  # values of `Job.sees` that were checked
        self._has_size_option = True  # whether bwrap has `--size`

    async def __aenter__(self) -> Self:
        self.limits = inherited_limits(slots=self._slots.count, boxes=self._boxes.count)
        require_none_fatal(self.limits)
        self._target = await in_new_thread(self._examine_machine)
        return self

    def _examine_machine(self) -> Target:
        """What this machine can do. It starts the compiler and bwrap, which takes seconds on a busy machine."""
        level, self.why_not_full = self._find_isolation()
        if level.rank < self._least.rank:
            message = f"isolation {self._least.value!r} is not available on this machine: {self.why_not_full}"
            raise IsolationError(message)
        self.limits += limit_of_temporary_files(level, slots=self._slots.count)
        require_none_fatal(self.limits)
        sweep()
        return Target(
            name=LOCAL,
            profile=self._profile,
            toolchain=detect(self._compiler),
            slots=self._slots.count,
            isolation=level,
            narrowed=narrowed_by(self.limits),
            outer_filter=is_filtered(),
        )

    async def __aexit__(self, *_: object) -> None:
        self._target = None

    def targets(self) -> Sequence[Target]:
        """This machine."""
        if self._target is None:
            raise SetupError("the sandbox is not entered: use `async with LocalSandbox() as sandbox`")
        return (self._target,)

    def busy(self) -> tuple[int, int]:
        """How many jobs run now, and how many may run at once."""
        return self._slots.taken, self._slots.count

    async def execute(self, job: Job, target: Target) -> Execution:
        """Run one job in a fresh box; see `Sandbox.execute`.

        Raises:
            RejectedError: the job needs paths that may not be shown to a box (`confinement.py`), names a file twice, or
                is a trusted script that needs more than `run` and files beside it.
            SandboxError: the box could not be made, or gave no answer.
        """
        if job.sees not in self._allowed:
            if reasons := list(filter(None, map(why_not_shown, job.sees))):
                raise RejectedError("; ".join(reasons))
            self._allowed.add(job.sees)
        if job.kind is JobKind.SCRIPTS and not job.trusted:
            return await self.run_commands(commands(job), job.files, alone=job.alone)
        async with self._boxes.take(alone=job.alone) as box:
            if job.kind is JobKind.SCRIPTS:
                async with self._slots.take():
                    return await self._run_trusted_script(job, box)
            with descriptors(job.files) as files, returned_files(job.returns) as returns:
                return await self._run_runner(job, files, returns, box, target.isolation)

    @asynccontextmanager
    async def own_work(self) -> AsyncIterator[None]:
        """Work of this process in the place of a job: meanwhile one job less runs, and none runs alone. Those that must
        run alone wait, and keep no others waiting."""
        async with self._boxes.take(delays_alone=True), self._slots.take():
            yield

    async def run_commands(
        self, stages: Sequence[Command], files: Sequence[JobFile], *, alone: bool = False
    ) -> Execution:
        """Run commands of a client in a fresh box; see `run_in_box`.

        Args:
            stages: `run`, or `compile` and `run`.
            alone: whether nothing else may run in this sandbox meanwhile.

        Raises:
            RejectedError: the sandbox has less isolation than scripts need.
            SandboxError: the box could not be made, or gave no answer.
        """
        (target,) = self.targets()
        if target.isolation is not Isolation.FULL:
            raise RejectedError(
                f"scripts of others need isolation 'full', and this sandbox has {target.isolation.value!r} "
                f"({self.why_not_full}): remove that cause, or judge without scripts, by the profile 'bundled'"
            )
        async with self._boxes.take(alone=alone) as box, self._slots.take():
            try:
                return await run_in_box(
                    stages, files, target.toolchain, uid=_box_uid(box), has_size_option=self._has_size_option
                )
            except OSError as error:
                raise TransientError(f"the stage runner cannot be compiled: {error.strerror}") from error

    # ------------------------------------------------------------------ the kinds of jobs

    async def _run_runner(
        self, job: Job, files: Mapping[str, int], returns: Mapping[str, int], box: int, isolation: Isolation
    ) -> Execution:
        refused = refused_processes()
        given = {**files, **returns}
        table = ",".join(f"{quote(name)}={descriptor}" for name, descriptor in given.items() if name != "runner")
        command = (f"/proc/self/fd/{files['runner']}", "--most", isolation.value, "--wait", "--fds", table)
        with contextlib.ExitStack() as stack:
            directory = None
            before = as_user(_box_uid(box))
            if isolation is Isolation.FULL:
                before += (*in_namespaces(show=job.sees, has_size_option=self._has_size_option), "--")
            else:
                directory = stack.enter_context(work_directory(_box_uid(box)))
            end = await run_process(
                (*before, *command),
                descriptors=tuple(given.values()),
                cwd=directory,
                environment={"PATH": PATH},
                stdin=_START,
                wall_ms=job.run_limits.wall_ms,
                output_bytes=job.run_limits.output_bytes,
                turn=self._slots.take(),
                is_complete=has_ended,
            )
        if isolation is Isolation.FULL and end.returncode == 1 and not end.stdout:
            _require_box(end.stderr.decode("utf-8", "replace"), sees=bool(job.sees))
        if refused != refused_processes() and not _counts_though_processes_were_refused(end.stdout):
            raise OverloadError(_NO_PROCESSES)
        returned = {name: content_of(descriptor) for name, descriptor in returns.items()}
        return Execution(run=stage_of(end), returned=returned)

    async def _run_trusted_script(self, job: Job, box: int) -> Execution:
        names = [file.name for file in job.files]
        require_different_names(names)
        if refused := [name for name in names if name == "compile" or "/" in name]:
            raise RejectedError(f"a trusted script has only `run` and files beside it, not {', '.join(refused)}")
        with work_directory(_box_uid(box)) as directory:
            try:
                for file in job.files:
                    (directory / file.name).write_bytes(read_content(file.content))
                    (directory / file.name).chmod(0o755 if file.executable else 0o644)
            except OSError as error:
                raise TransientError(f"a job's files cannot be put into {directory}: {error.strerror}") from error
            end = await run_process(
                (*as_user(_box_uid(box)), "bash", "run", *job.args),
                cwd=directory,
                environment={**_TRUSTED_ENVIRONMENT, "TMPDIR": str(directory)},
                wall_ms=job.run_limits.wall_ms,
                output_bytes=job.run_limits.output_bytes,
            )
        return Execution(run=stage_of(end))

    # ------------------------------------------------------------------ what this machine can do

    def _find_isolation(self) -> tuple[Isolation, str]:
        """The strongest isolation that works here, and why it is not full."""
        if os.geteuid() == 0:
            _require_other_users()
        if self._strongest is not Isolation.FULL:
            return self._strongest, f"limited to {self._strongest.value!r} by the caller"
        if (path := shutil.which("bwrap")) is None:
            return Isolation.REDUCED, why_no_box(as_user(_box_uid(0)), None)
        if shutil.which("bwrap", path=PATH) is None:
            return Isolation.REDUCED, f"{path} is not used, as it is not in {PATH}; link or install it there"
        boxes_of_a_user = 1 if os.geteuid() == 0 else self._boxes.count
        if reason := too_few_namespaces(boxes_of_a_user):
            return Isolation.REDUCED, reason
        probe = self._try_box()
        if "Unknown option --size" in probe.stderr:
            self._has_size_option = False
            probe = self._try_box()
        if probe.returncode == 0:
            return Isolation.FULL, ""
        message = probe.stderr.strip() or f"exit code {probe.returncode}"
        return Isolation.REDUCED, why_no_box(as_user(_box_uid(0)), message)

    def _try_box(self) -> subprocess.CompletedProcess[str]:
        """Make a box, and in it namespaces like those that the runner makes, if there is a command for that."""
        box = in_namespaces(has_size_option=self._has_size_option)
        namespaces = ("unshare", "--mount", *("unshare", "--pid", "--fork") * _TRIED_NAMESPACES)
        inside = namespaces if shutil.which("unshare", path=PATH) else ()
        return _try((*as_user(_box_uid(0)), *box, "--", *inside, "/usr/bin/true"))


def _require_other_users() -> None:
    """Refuse if root cannot start and control another user's programs: they are never run as root, not even that of a
    container."""
    if shutil.which("setpriv") is None:
        raise SetupError("as root this needs setpriv (package util-linux), to change the user before a program starts")
    probe = _try((*as_user(_box_uid(0)), "true"))
    if probe.returncode != 0:
        raise SetupError(
            f"root cannot become another user here ({probe.stderr.strip()}), and programs are never run as root: start "
            f"it as an ordinary user, or give this container more user ids than 0, and {', '.join(_NEEDED_BY_ROOT)}"
        )
    status = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace")
    held = int(status.partition("\nCapEff:")[2].split()[0], 16)
    if missing := ", ".join(name for name, bit in _NEEDED_BY_ROOT.items() if not held >> bit & 1):
        raise SetupError(
            f"root has no {missing} here, and cannot control another user's programs: start it as an ordinary user, or "
            f"give this container {missing} (docker run --cap-add)"
        )


def _require_box(stderr: str, *, sees: bool) -> None:
    """Raise if bwrap could not make a namespace, or show a path because the user who runs the programs may not read
    it."""
    if is_out_of_namespaces(stderr):
        raise SetupError(
            f"a box cannot be made ({stderr.strip()}): raise the user.max_*_namespaces of this machine and of its "
            "containers (sysctl), or give fewer --workers"
        )
    shown = r"bwrap: Can't (?:find source path|get type of source|bind mount) (\S+)"
    if sees and (match := re.match(shown, stderr)):
        raise SetupError(
            f"{match[1].rstrip(':')} cannot be shown to boxes ({stderr.strip()}): the user who runs programs must be "
            "able to read it; put it where all users may read it (/opt, /var/tmp)"
        )


def _try(command: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, env={"PATH": PATH}, timeout=_TRY_S, check=False)
    except subprocess.TimeoutExpired as error:
        message = f"{command[0]} did not end within {_TRY_S} s; try again when this machine is less busy"
        raise SetupError(message) from error
    except OSError as error:
        raise SetupError(f"{command[0]} cannot be started: {error}") from error


def _box_uid(box: int) -> int | None:
    """An unprivileged uid that hardly any other box on this machine has (docs/security.md: which may); `None` if we are
    not root."""
    if os.geteuid() != 0:
        return None
    first, processes, boxes = _uids_here()
    return first + os.getpid() % processes * boxes + box % boxes


@functools.cache
def _uids_here() -> tuple[int, int, int]:
    with contextlib.suppress(OSError):
        return uids_of_boxes(Path("/proc/self/uid_map").read_text())
    return _FIRST_UID, _PROCESSES, _MAX_BOXES


def uids_of_boxes(uid_map: str) -> tuple[int, int, int]:
    """The first uid of boxes, the number of processes that share the range, and the number of uids for each, from the
    uids of this namespace: a line for each range, with the first, its number outside, and how many.

    Source: Linux, user_namespaces(7). Podman without root and Kubernetes' `hostUsers: false` give 65,536.
    """
    ranges = [(int(first), int(count)) for first, _, count in map(str.split, uid_map.splitlines())]
    usual = _FIRST_UID, _PROCESSES, _MAX_BOXES
    last = _FIRST_UID + _PROCESSES * _MAX_BOXES - 1
    if not ranges or any(first <= _FIRST_UID and last < first + count for first, count in ranges):
        return usual
    first, count = max(ranges, key=lambda item: item[1])
    lowest, end = first + count // 2, min(first + count, _NOBODY)
    processes = (end - lowest) // _FEWER_BOXES
    return (lowest, processes, _FEWER_BOXES) if processes > 0 else usual


def _counts_though_processes_were_refused(answer: bytes) -> bool:
    """Whether an answer counts although this container's limit on processes was reached while the job ran.

    It does if the job itself may have reached the limit: if a program started too many threads, or if the job only
    compiled (a submission can make its compiler execute code). Otherwise such a program would be JE, and would have
    others judged again. (A compiler that lacks processes fails, and its messages say so.)
    """
    has_run = b'{"test":' in answer
    return b'"limit":"threads"' in answer or (has_ended(bytearray(answer)) and not has_run)


def has_ended(output: bytearray) -> bool:
    """Whether a runner has printed its last line. Removing the box then takes 4 ms, mostly in the kernel."""
    line = output[output.rfind(b"\n", 0, -1) + 1 :] if output.endswith(b"}\n") else b""
    return line.startswith(_LAST_LINE)
