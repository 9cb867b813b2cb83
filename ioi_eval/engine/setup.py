"""What both families of problems judge with, on one sandbox."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.engine.running import ProgramRunner
from ioi_eval.engine.target import Bindings, P
from ioi_eval.events import Events
from ioi_eval.jobs.run_job import BUNDLE_TESTS
from ioi_eval.programs import Builder
from ioi_eval.sandbox import Sandbox, Target


class JudgingSetup(Generic[P]):
    """What `Scorer` and `AppsExecutor` judge with: `builder` compiles, `bindings` chooses targets, a runner runs tests.

    Args:
        sandbox: executes the jobs.
        artifacts: stores the programs that are compiled once.
        policy: how programs are compiled.
        refusal: why a target may not judge submissions to a problem; `None` if it may.
        events: are told when a problem's own program is compiled.
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

    def runner(self, *, most_tests: int = BUNDLE_TESTS, spread: bool = True, jobs: int | None = None) -> ProgramRunner:
        """What runs programs on their tests.

        Args:
            most_tests: in one job.
            spread: let a program use slots that would be idle; without, it has one job under way at a time.
            jobs: how many shared jobs run at once at most, on all targets; `None` for as many as these have slots.
        """
        lanes = self.bindings.lanes if spread else _one_lane
        return ProgramRunner(self._sandbox, lanes=lanes, most_tests=most_tests, jobs=jobs)


def in_service(targets: Sequence[Target]) -> Sequence[Target]:
    """The targets that somebody serves now; all, if nobody serves any."""
    return [target for target in targets if target.slots] or targets


def _one_lane(_: Target) -> int:
    return 1
