"""A sandbox that records which kinds of jobs it executes."""

from __future__ import annotations

from collections.abc import Sequence

from ioi_eval.errors import SandboxError, TransportError
from ioi_eval.model import Execution, Job
from ioi_eval.sandbox import Sandbox, Target


class Watched:
    """A sandbox that records the jobs given to it. It answers the first `lost` build jobs with `error`."""

    def __init__(self, inner: Sandbox, *, lost: int = 0, error: SandboxError | None = None) -> None:
        self._inner, self._lost = inner, lost
        self._error = error or TransportError("the answer was lost")
        self.kinds: list[str] = []

    def targets(self) -> Sequence[Target]:
        """The targets of the inner sandbox."""
        return self._inner.targets()

    async def execute(self, job: Job, target: Target) -> Execution:
        """Record whether the job compiles, runs, or both; then execute it."""
        names = {file.name for file in job.files}
        plan = next(
            (bytes(file.content) for file in job.files if file.name == "plan" and isinstance(file.content, bytes)), b""
        )
        kind = "build" if "steps" in names else "run" if b"\nmode run\n" in plan else "compile" if plan else "scripts"
        self.kinds.append(kind)
        execution = await self._inner.execute(job, target)
        if kind == "build" and self._lost:
            self._lost -= 1
            raise self._error
        return execution
