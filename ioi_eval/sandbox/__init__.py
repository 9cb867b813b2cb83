"""The interface of a sandbox, which executes jobs; and the sandboxes that there are.

A `Sandbox` offers targets and executes one job on one of them. It knows nothing of tests or scores, and of problems
only that a job may name a package with its files (`ProblemPackage`). Bring your own by implementing the protocol;
`tests/contract/` says whether it keeps the contract. The modules:

- this machine: `local` (the sandbox), `local_compiler`, `scripts`, `confinement`, `namespaces`, `process`, `slots`,
  `descriptors`, `work_directories`, `shown`, `compiler_contents`; what limits it: `inherited_limits`, `machine_limit`,
  `control_groups`
- a Piston cluster: `cluster` (the sandbox), `pool`, `endpoint_state`, `retries`, `workers`, `discovery`, `probing`,
  `inspection`, `conditions`, `abilities`, `endpoints`, `slurm`, `control`, `http_client`, `spool`, `wire` (requests),
  `answer` (answers), `two_stages`
- `ioi-eval serve`: `server`, `request`, `request_body`, `served_runtimes`, `held_bytes`, `connections`, `client_names`
- problems that are installed on workers: `problem_packages` makes packages, `installed_packages` and `served_packages`
  keep them in `serve`, `stored_files` makes jobs name them
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ioi_eval.errors import LostDataError
from ioi_eval.model import Blob, Execution, Isolation, Job
from ioi_eval.toolchain import Toolchain

LOCAL = "local"
"""The name of the target that is this machine itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Something that runs jobs alike: artifacts made on one target are good on it, and only there.

    Args:
        name: for people (`local`, `http://worker-7:2000`).
        profile: `bundled` (the runner judges many tests a job) or `classic` (one test a job).
        toolchain: the compiler there; part of every artifact's key.
        slots: how many jobs it executes at once; 0 while nobody serves it.
        isolation: the strongest isolation it can give.
        outer_filter: whether somebody else's filter of system calls (a container's) stands around it. What that
            answers ends as everywhere, but no result names the call.
        brings_pair: for `classic`: the target starts jobs by scripts of its own, so they carry none.
        max_output_bytes: how much stdout one job may return.
        max_wall_ms: the longest run stage it allows; `None` for no bound.
        max_body_bytes: the largest request it takes; `None` for no bound.
        narrowed: by what the machine keeps from programs that judging grants them elsewhere; empty if nothing is.
        is_only: set by who binds work to it: nothing else in service would do, so its jobs wait for it as long as for
            all targets.
    """

    name: str
    profile: str
    toolchain: Toolchain
    slots: int
    isolation: Isolation
    outer_filter: bool = False
    brings_pair: bool = False
    max_output_bytes: int = 64 * 1024 * 1024
    max_wall_ms: int | None = None
    max_body_bytes: int | None = None
    narrowed: str = ""
    is_only: bool = False


class Sandbox(Protocol):
    """Executes jobs. Safe to call from many tasks at once; waits while all slots are busy."""

    def targets(self) -> Sequence[Target]:
        """What there is to run on. Never empty."""
        ...

    async def execute(self, job: Job, target: Target) -> Execution:
        """Run one job to its end.

        A program that fails is an `Execution` like any other.

        Raises:
            SandboxError: the job could not be run, or its answer was lost. Never the program's fault.
            LostDataError: a file of the cache that it refers to is gone.
            TargetLostError: nobody serves this target any more, and others are served.
            UnavailableError: nobody serves any target any more.
        """
        ...


def lost(blob: Blob) -> LostDataError:
    """What to raise where a file that a job refers to is not there any more."""
    return LostDataError(f"{blob.path} is gone: the cache was deleted in mid-run; start the same command again")
