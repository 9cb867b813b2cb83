"""What a sandbox is given, and what it returns."""

from __future__ import annotations

import hashlib
import signal
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import quote

from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.model.problem import Content


class JobKind(StrEnum):
    """What starts a job in its box."""

    SCRIPTS = "scripts"  # the files `compile` (if there is one) and `run`, bash scripts, in that order
    RUNNER = "runner"  # the file `runner`, with the file `plan`: see graders/PROTOCOL.md


@fast_dataclass
class JobFile:
    """A file that is put into the box. Names are relative, with `/` between their parts."""

    name: str
    content: Content
    executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemPackage:
    """A problem's files on workers, as a package that a job may name instead of sending them.

    The hash that names its files has a `key`, which is computed from all the data. Without a key, a program could test
    whether the package has certain data: where Landlock alone confines it, it can find out whether a path exists.
    """

    language: str  # its name on servers, which contains a hash of the data
    key: bytes = field(repr=False)
    held: frozenset[str] = field(repr=False)  # the hashes of the data (`sandbox/piston/stored_files.py`, `digest`)

    def name_of(self, digest: str) -> str:
        """The name of a file in it, by the hash of the content."""
        return hashlib.blake2b(bytes.fromhex(digest), key=self.key, digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class StageLimits:
    """The hard limits of one stage, which the sandbox enforces. The tighter limits are enforced inside the box."""

    wall_ms: int
    cpu_ms: int  # of all processes
    memory_bytes: int | None = None  # `None` for the sandbox's default
    output_bytes: int = 64 * 1024 * 1024  # the most stdout that is returned


RETRIES = 5
"""How often a job is sent again at most; with the first attempt that makes six. If one request in five fails, six fail
in a row once in 16,000 jobs."""


@dataclass(slots=True, kw_only=True)
class Retries:
    """How often one job may still be sent again. The sandbox does that if the answer is incomplete; its caller does
    it if the answer is of no use. Both count here, so their bounds do not multiply.

    Args:
        left: how many retries are left.
        tried: the workers on which it was tried, in order, also without a connection; each once for every attempt.
        useless: workers that answered, but not so that the caller could use it. The sandbox gives them no jobs for a
            while.
    """

    left: int = RETRIES
    tried: list[str] = field(default_factory=list)
    useless: list[str] = field(default_factory=list)

    def take(self) -> bool:
        """Use one retry; false if none is left."""
        if not self.left:
            return False
        self.left -= 1
        return True

    def failure_text(self, last: object, why: str = "") -> str:
        """The message for a job that is not sent again: how often it was tried, on which workers, and the last error.

        If no worker is known, as on this machine, it is that error alone.
        """
        if not self.tried:
            return str(last)
        count = Counter(self.tried)
        where = ", ".join(name if n == 1 else f"{name} ({n} times)" for name, n in count.items())
        times = "once" if count.total() == 1 else f"{count.total()} times"
        return f"the job was tried {times}, on {where}, without an answer that could be used; {why}at last: {last}"


@fast_dataclass
class Job:
    """What a sandbox executes: what Piston's `POST /api/v2/execute` takes except `stdin`, and hints for our sandboxes.

    Args:
        kind: what starts it.
        files: what is in the box. The first is the main file. No two have one name.
        args: arguments of the run stage (kind SCRIPTS only; the runner reads all that it needs from files).
        compile_limits: limits of the compile stage (kind SCRIPTS with a `compile` file only).
        run_limits: limits of the run stage.
        alone: no other job of ours may run on that machine at the same time: it repeats a test that was late or on
            which the machine failed, or a compilation that is in doubt.
        trusted: nothing in the box comes from a submission (the runner's own compilation). The embedded sandbox then
            needs no box, and refuses a file `compile` and files in directories.
        sees: further paths of the machine that are visible in the box, read-only (of an interpreter or compiler that
            is not the system's). On a server, its operator decides what boxes see.
        returns: names of files that the runner writes instead of its stdout, if the sandbox gives them to it as open
            descriptors (kind RUNNER). A sandbox need not: without a file, the contents come in stdout.
        retries: how often it may still be sent again, if its caller does that too; `None` if every execution has its
            own count.
        package: the package of the problem, if the whole job is for one problem. A sandbox may take files from there.
        has_header: whether it uses a worker's precompiled header, which our package has.
        nonce: the plan's (kind RUNNER), so that a sandbox can tell the job's answer from another one; empty if unknown.
    """

    kind: JobKind
    files: tuple[JobFile, ...]
    args: tuple[str, ...] = ()
    compile_limits: StageLimits | None = None
    run_limits: StageLimits
    alone: bool = False
    trusted: bool = False
    sees: tuple[str, ...] = ()
    returns: tuple[str, ...] = ()
    retries: Retries | None = field(default=None, compare=False)
    package: ProblemPackage | None = None
    has_header: bool = False
    nonce: str = ""


def word(text: str) -> str:
    """A word of a plan, or of a list of files: special bytes become `%XX`, the empty string `%`. Source:
    graders/PROTOCOL.md."""
    return quote(text, safe="._/,:=+@-", errors="surrogateescape").replace("~", "%7E") or "%"


def signal_name(number: int) -> str | None:
    """`SIGKILL` for 9; `None` for 0. Real-time signals have no names of their own: `SIG40`."""
    if not number:
        return None
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


@fast_dataclass
class Stage:
    """How one stage of a job ended.

    Args:
        stdout, stderr: as text; invalid UTF-8 is replaced, as Piston does.
        code: exit code; `None` when a signal ended it.
        signal: its name (`SIGKILL`), else `None`.
        status, message: these fields of newer Piston versions (`TO`, `OL`, …), else `None`.
        cpu_ms, wall_ms, memory_bytes: `None` if the sandbox did not measure them.
    """

    stdout: str
    stderr: str
    code: int | None
    signal: str | None = None
    status: str | None = None
    message: str | None = None
    cpu_ms: float | None = None
    wall_ms: float | None = None
    memory_bytes: int | None = None


@fast_dataclass
class Execution:
    """What a sandbox returns for a job.

    Args:
        run: how its run stage ended.
        compile: how its compile stage ended, if it had one.
        returned: the contents of the files that `Job.returns` names, if the sandbox provided such files.
    """

    run: Stage
    compile: Stage | None = None
    returned: Mapping[str, bytes] = field(default_factory=dict)
