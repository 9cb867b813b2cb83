"""The interface of a sandbox, which executes jobs, and its implementations.

A `Sandbox` offers targets and executes one job on one of them. It knows nothing of tests or scores, and of problems
only that a job may name a package with its files (`ProblemPackage`). To add your own, implement the protocol;
`tests/contract/` tests whether it keeps the contract.

- `local/`: this machine
- `piston/`: a Piston cluster
- `serve/`: this machine as a Piston server, for `ioi-eval serve`
- `findings`: what was found out about a machine or a worker
- `least_limits`: what correct programs need at least, on any machine
- `process`: runs a child process
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ioi_eval.errors import InputError, LostDataError, RejectedError, SetupError
from ioi_eval.model import Blob, Content, Execution, Isolation, Job, Profile
from ioi_eval.toolchain import Toolchain

LOCAL = "local"
"""The name of the target that is this machine."""

DEFAULT_MEMORY_BYTES = 8 << 30
"""The memory limit of a job that states none. A Piston server that uses isolate does not limit a program's stack: there
infinite recursion took 12.9 GB (recorded: `stack_overflow_cpp`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One or more machines that run jobs in the same way. Artifacts made on a target can only be used on that target.

    Args:
        name: identifies the target within its sandbox (`local`, `piston bash 3.1, g++ 12.2.0`).
        profile: bundled (the runner judges many tests per job) or classic (one test per job); also as text.
        toolchain: the compiler there; part of every artifact's key.
        slots: how many jobs it executes at once; 0 while no worker serves it.
        isolation: the isolation that each of its workers is known to give; the answer to a job may report more.
        outer_filter: whether another system call filter (a container's) already applies there. A program that makes a
            forbidden call ends as elsewhere, but if that filter refuses the call, no result can name it.
        has_own_scripts: in the profile classic only: the worker's own `compile` and `run` judge, and jobs have none.
        max_output_bytes: how much stdout one job may return.
        max_wall_ms: the longest run stage it allows; `None` for no bound.
        max_body_bytes: the largest request it accepts; `None` for no bound.
        narrowed: the limits of the machine that give programs less than judging grants elsewhere, as text for
            fingerprints; empty if none do.
        has_python: whether it has a `python3`, for checkers and managers.
        is_remote: whether jobs are sent over a network. In the profile bundled the first job of a compiled program
            then compiles it too, if `max_wall_ms` leaves time for that.
        is_only: whether this is the only target with workers that may judge the submission; set by `engine/target.py`.
            If its workers are lost, its jobs cannot move: they wait as long as if all workers of all targets were lost.

    Raises:
        InputError: there is no such profile, or its own scripts judge and its profile is not classic.
    """

    name: str
    profile: Profile
    toolchain: Toolchain
    slots: int
    isolation: Isolation
    outer_filter: bool = False
    has_own_scripts: bool = False
    max_output_bytes: int = 64 * 1024 * 1024
    max_wall_ms: int | None = None
    max_body_bytes: int | None = None
    narrowed: str = ""
    has_python: bool = True
    is_remote: bool = False
    is_only: bool = False

    def __post_init__(self) -> None:
        profile = profile_named(self.profile, of=f"target {self.name!r}: ")
        if self.has_own_scripts and profile is not Profile.CLASSIC:
            raise InputError(f"target {self.name!r}: has_own_scripts is for the profile 'classic' only")
        object.__setattr__(self, "profile", profile)


class Sandbox(Protocol):
    """Executes jobs. Safe to call from many tasks at once; waits while all slots are busy."""

    def targets(self) -> Sequence[Target]:
        """The targets that jobs can run on. Never empty."""
        ...

    async def execute(self, job: Job, target: Target) -> Execution:
        """Run one job to its end.

        A program that fails is an `Execution` like any other.

        Raises:
            SandboxError: the job could not be run, or its answer was lost. Never the program's fault.
            LostDataError: a file of the cache that it refers to is gone.
            TargetLostError: no worker serves this target any more, but other targets are served.
            UnavailableError: no worker serves any target any more.
        """
        ...


def profile_named(name: str, *, of: str = "") -> Profile:
    """The profile with a name; InputError, whose message begins with `of`, if there is none."""
    try:
        return Profile(name)
    except ValueError:
        raise InputError(f"{of}profile {name!r} is neither 'bundled' nor 'classic'") from None


def lost(blob: Blob) -> LostDataError:
    """The error to raise if a file that a job refers to has been deleted."""
    return LostDataError(f"{blob.path} is gone: the cache was deleted during the run")


def read_content(content: Content) -> bytes:
    """The bytes of a content. LostDataError if it is on disk and has been deleted; SetupError if it cannot be read any
    more, or was changed."""
    if not isinstance(content, Blob):
        return content
    try:
        data = content.path.read_bytes()
    except FileNotFoundError as error:
        raise lost(content) from error
    except OSError as error:
        raise SetupError(f"{content.path} cannot be read any more: {error.strerror}") from error
    require_size(content, len(data))
    return data


def require_size(blob: Blob, size: int) -> None:
    """Check the size of a file that a job refers to. (Its content was compared when the problem was loaded.)"""
    if size != blob.size:
        raise SetupError(f"{blob.path} has {size} bytes, not {blob.size}: it was changed during the run")


def require_different_names(names: Sequence[str]) -> None:
    """Refuse a job that names a file twice."""
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise RejectedError(f"a job names these files twice: {', '.join(twice)}")
