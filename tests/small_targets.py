"""Targets for tests that run nothing on them. Fields that are not given have usual values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ioi_eval.model import Execution, Isolation, Job
from ioi_eval.sandbox import Target
from ioi_eval.toolchain import Toolchain


def small_target(**fields: Any) -> Target:
    """A target with one slot and a static g++, in the bundled profile and full isolation.

    Args:
        fields: the fields to change.
    """
    usual: dict[str, Any] = {
        "name": "local",
        "profile": "bundled",
        "toolchain": Toolchain(command="g++", version="g++ 12", machine="x86_64-linux-gnu", static=True),
        "slots": 1,
        "isolation": Isolation.FULL,
    }
    return Target(**{**usual, **fields})


class IdleSandbox:
    """A sandbox with these targets. It must not be asked to run anything."""

    def __init__(self, *targets: Target) -> None:
        self._targets = targets

    def targets(self) -> Sequence[Target]:
        """The targets."""
        return self._targets

    async def execute(self, job: Job, target: Target) -> Execution:
        """Fail: no test calls this."""
        raise AssertionError(f"a job was sent, and nothing is run here: {job.kind} on {target.name}")
