"""What comes before the first program: what of this machine narrows it, and the runner, which may not be there yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.cli.sandboxes import Opened, tell
from ioi_eval.config import Policy
from ioi_eval.model import Problem
from ioi_eval.programs import Builder
from ioi_eval.sandbox import LOCAL, Sandbox
from ioi_eval.sandbox.machine_limit import MachineLimit


async def make_ready(here: Opened, memory_limits: Sequence[int]) -> None:
    """Say what of this machine narrows these problems, and have the runner there before the first program.

    Args:
        here: where programs will be judged.
        memory_limits: those of the problems of the run, one each, in bytes.

    Raises:
        SetupError: the runner cannot be compiled here.
    """
    tell_limits(here.limits, memory_limits)
    await compile_runner(here.sandbox, ArtifactStore())


def memory_limits_of(problems: Iterable[Problem]) -> list[int]:
    """What these problems allow their programs, in bytes."""
    return [problem.memory_limit_bytes for problem in problems]


def tell_limits(limits: Sequence[MachineLimit], memory_limits: Sequence[int] = ()) -> None:
    """Say what narrows, a line each, and nothing of what binds none of these problems."""
    lines = [limit.compared(memory_limits) for limit in limits]
    tell(*(f"  limited here: {line}" for line in lines if line))


async def compile_runner(sandbox: Sandbox, artifacts: ArtifactStore) -> None:
    """Compile what judges in the box, if it is not in the cache; says so, as nothing else happens for some seconds.

    On a cluster it is only said: each kind of worker compiles, or brings, its own with its first job.

    Raises:
        SetupError: it cannot be compiled here.
    """
    builder = Builder(sandbox, artifacts, Policy())
    for target in sandbox.targets():
        if target.brings_pair:
            continue
        if not builder.has_runner(target):
            where = "" if target.name == LOCAL else f" on {target.name}, unless its package brings it"
            tell(
                f"first, the judge's own program (the runner) is compiled{where}: 6 to 10 s of "
                "processor time, once for each compiler"
            )
        if target.name == LOCAL:
            await builder.ready_runner(target)
