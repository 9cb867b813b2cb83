"""What comes before the first program: what of this machine narrows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ioi_eval.cli.sandboxes import Opened, tell
from ioi_eval.model import Problem
from ioi_eval.sandbox.machine_limit import MachineLimit


async def make_ready(here: Opened, memory_limits: Sequence[int]) -> None:
    """Say what of this machine narrows these problems.

    Args:
        here: where programs will be judged.
        memory_limits: those of the problems of the run, one each, in bytes.
    """
    tell_limits(here.limits, memory_limits)


def memory_limits_of(problems: Iterable[Problem]) -> list[int]:
    """What these problems allow their programs, in bytes."""
    return [problem.memory_limit_bytes for problem in problems]


def tell_limits(limits: Sequence[MachineLimit], memory_limits: Sequence[int] = ()) -> None:
    """Say what narrows, a line each, and nothing of what binds none of these problems."""
    lines = [limit.compared(memory_limits) for limit in limits]
    tell(*(f"  limited here: {line}" for line in lines if line))
