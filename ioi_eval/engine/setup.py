"""The parts with which both families of problems judge on one sandbox."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.engine.running import ProgramScheduler
from ioi_eval.engine.target import Bindings, P
from ioi_eval.events import Events
from ioi_eval.jobs.run_job import BUNDLE_TESTS
from ioi_eval.programs import Builder
from ioi_eval.sandbox import Sandbox, Target


class JudgingSetup(Generic[P]):
    """The parts of `Scorer` and `AppsExecutor`: `builder` compiles, `bindings` chooses targets, `scheduler` runs tests.

    Args:
        sandbox: executes the jobs.
        artifacts: stores compiled programs.
        policy: how programs are compiled.
        refusal: why a target may not judge submissions to a problem; `None` if it may.
        events: gets an event when a problem's own program is compiled.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        artifacts: ArtifactStore,
        policy: Policy,
        refusal: Callable[[Target, P], str | None],
        events: Events | None = None,
    ) -> None:
        self._sandbox = sandbox
        self.builder = Builder(sandbox, artifacts, policy, events)
        self.bindings = Bindings(sandbox, refusal)

    def scheduler(
        self, *, max_tests: int = BUNDLE_TESTS, spread: bool = True, max_shared_jobs: int | None = None
    ) -> ProgramScheduler:
        """The scheduler that runs programs on their tests.

        Args:
            max_tests: in one job.
            spread: let a program use idle slots; otherwise it has one job at a time.
            max_shared_jobs: how many shared jobs run at once at most, on all targets; `None` for as many as they
                have slots.
        """
        jobs_at_once = self.bindings.jobs_at_once if spread else _one_job
        return ProgramScheduler(
            self._sandbox, jobs_at_once=jobs_at_once, max_tests=max_tests, max_shared_jobs=max_shared_jobs
        )


def in_service_or_all(targets: Sequence[Target]) -> Sequence[Target]:
    """The targets that have workers now; all, if none has."""
    return [target for target in targets if target.slots] or targets


def _one_job(_: Target) -> int:
    return 1
