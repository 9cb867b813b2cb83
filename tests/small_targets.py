"""Targets for tests in which nothing is run on them: the rest is as on most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ioi_eval.model import Execution, Isolation, Job
from ioi_eval.sandbox import Target
from ioi_eval.toolchain import Toolchain


def small_target(**fields: Any) -> Target:
    """A target with one slot and a static g++, in the bundled profile and full isolation.

    Args:
        fields: what is to be otherwise.
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
    """A sandbox with these targets that is not to be asked to run anything."""

    def __init__(self, *targets: Target) -> None:
        self._targets = targets

    def targets(self) -> Sequence[Target]:
        """What there is."""
        return self._targets

    async def execute(self, job: Job, target: Target) -> Execution:
        """Never asked."""
        raise AssertionError(f"a job was sent, and nothing is run here: {job.kind} on {target.name}")
