"""Before the first program: print the limits of this machine that matter, and compile the runner if needed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from ioi_eval import shipped
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.cli.messages import tell
from ioi_eval.cli.sandboxes import OpenSandbox
from ioi_eval.config import Policy
from ioi_eval.programs import Builder
from ioi_eval.sandbox import LOCAL, Sandbox
from ioi_eval.sandbox.local.machine_limit import MachineLimit


async def make_ready(entered: OpenSandbox, memory_limits: Iterable[int]) -> None:
    """Print the limits of this machine that matter for a run, and compile the runner, as `compile_runner` does.

    The memory limits are those of the run's problems, in bytes.
    """
    tell_limits(entered.limits, list(memory_limits))
    await compile_runner(entered.sandbox, ArtifactStore())


def tell_limits(limits: Sequence[MachineLimit], memory_limits: Sequence[int] = ()) -> None:
    """Print a line for each limit of the machine that matters for at least one of these problems."""
    lines = [limit.compared(memory_limits) for limit in limits]
    tell(*(f"  limited here: {line}" for line in lines if line))


async def compile_runner(sandbox: Sandbox, artifacts: ArtifactStore) -> None:
    """Ensure that the runner is in the cache. A line is printed if it must be compiled, because that takes seconds.

    On a cluster only the line is printed: each kind of worker compiles or has its own runner at its first job.
    """
    builder = Builder(sandbox, artifacts, Policy())
    for target in sandbox.targets():
        if target.has_own_scripts:
            continue
        is_new = not builder.has_runner(target)
        ready = shipped.content_for(shipped.RUNNER, target.toolchain.machine) if is_new else None
        if is_new and ready is None:
            where = "" if target.name == LOCAL else f" on {target.name}, unless its package brings it"
            why = shipped.checked_program(shipped.RUNNER).why_not
            tell(*filter(None, [why]), f"first, the judge's own program (the runner) is compiled{where}: {_COST}")
        if target.name == LOCAL:
            runner = await builder.ready_runner(target)
            if ready is not None and runner.sha256 != hashlib.sha256(ready).hexdigest():
                tell(f"the runner of this package cannot be started here, so it was compiled: {_COST}")


_COST = "6 to 10 s of processor time, once for each compiler"
