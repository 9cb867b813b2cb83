"""What a sandbox is given, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ioi_eval.model.problem import Content


class JobKind(StrEnum):
    """What starts a job in its box."""

    SCRIPTS = "scripts"  # the files `compile` (if there is one) and `run`, bash scripts, in that order
    RUNNER = "runner"  # the file `runner`, with the file `plan`: see graders/PROTOCOL.md


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFile:
    """A file that travels into the box. Names are relative, with `/` between their parts."""

    name: str
    content: Content
    executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StageLimits:
    """The hard limits of one stage, kept by the sandbox; finer ones are kept inside the box.

    Args:
        wall_ms: wall clock.
        cpu_ms: CPU time of all processes.
        memory_bytes: `None` for the sandbox's own.
        output_bytes: how much stdout may come back.
    """

    wall_ms: int
    cpu_ms: int
    memory_bytes: int | None = None
    output_bytes: int = 64 * 1024 * 1024


RETRIES = 5
"""So many times a job is repeated at most, which makes six attempts. Where one request in five fails, six fail in a row
once in 16,000 jobs."""


@dataclass(slots=True, kw_only=True)
class Retries:
    """How often one job may still be repeated. Whoever repeats it takes from here: the sandbox, where no whole answer
    came, and its caller, where the answer was of no use. So their bounds do not multiply.

    Args:
        left: how many repetitions are left.
        tried: the workers that the job was sent to, in order; one that was tried twice stands there twice.
    """

    left: int = RETRIES
    tried: list[str] = field(default_factory=list)

    def take(self) -> bool:
        """Take one, if there is one left."""
        self.left -= 1
        return self.left >= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What Piston's `POST /api/v2/execute` takes, without its encoding.

    Args:
        kind: what starts it.
        files: what is in the box. The first is the main file.
        args: of the run stage (kind SCRIPTS: the runner finds all that it needs in files).
        stdin: likewise.
        compile_limits: limits of the compile stage (kind SCRIPTS with a `compile` file only).
        run_limits: limits of the run stage.
        alone: nothing else of ours may run on that machine meanwhile (a near-limit time is measured again).
        trusted: nothing in the box comes from a submission (the runner's own compilation).
        sees: directories of the machine that the box shows too, read-only (an interpreter that is not the system's). On
            a server whoever runs it decides what boxes see.
        returns: names of files that it writes if it is given them open (kind RUNNER), which spares the way through its
            stdout. A sandbox need not: what has no file stays in the stdout.
        retries: how often it may still be repeated, where its caller repeats it too; `None` if each execution of it
            is by itself.
    """

    kind: JobKind
    files: tuple[JobFile, ...]
    args: tuple[str, ...] = ()
    stdin: bytes = b""
    compile_limits: StageLimits | None = None
    run_limits: StageLimits
    alone: bool = False
    trusted: bool = False
    sees: tuple[str, ...] = ()
    returns: tuple[str, ...] = ()
    retries: Retries | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """How one stage of a job ended.

    Args:
        stdout, stderr: as text; invalid UTF-8 is replaced, as Piston does.
        code: exit code; `None` when a signal ended it.
        signal: its name (`SIGKILL`), else `None`.
        status, message: newer Piston's words (`TO`, `OL`, …), else `None`.
        cpu_ms, wall_ms, memory_bytes: where the sandbox measured them.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What a sandbox returns for a job.

    Args:
        run: how its run stage ended.
        compile: how its compile stage ended, if it had one.
        returned: what was written to the files that `Job.returns` names, where the sandbox gave it such files.
    """

    run: Stage
    compile: Stage | None = None
    returned: Mapping[str, bytes] = field(default_factory=dict)
