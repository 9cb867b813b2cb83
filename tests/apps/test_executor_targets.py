"""On which target of a cluster Python programs run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.apps.execution import AppsExecutor, AppsSettings
from ioi_eval.apps.outcomes import fingerprint_of, judging_digest_of
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.cli import apps_calls
from ioi_eval.cli.sandboxes import SandboxOptions
from ioi_eval.errors import ExhaustedError, SetupError, TargetLostError
from ioi_eval.model import Execution, Isolation, Job, Verdict
from ioi_eval.model.apps import Comparator
from ioi_eval.pipeline.settings import spare_for
from ioi_eval.problems.apps_submissions import AppsSubmission
from ioi_eval.sandbox import LOCAL, Target
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.toolchain import Toolchain
from tests.python_box import row
from tests.small_targets import IdleSandbox


def target(name: str, profile: str, slots: int, isolation: Isolation = Isolation.REDUCED) -> Target:
    """A target of a cluster."""
    toolchain = Toolchain(command="g++", version="g++ 12", machine="x86_64-linux-gnu", static=True)
    return Target(name=name, profile=profile, toolchain=toolchain, slots=slots, isolation=isolation)


A = target("a", "bundled", 1)


def test_a_cluster_that_cannot_run_python_says_what_it_has(tmp_path: Path) -> None:
    """By name, and what is asked for."""
    executor = AppsExecutor(IdleSandbox(target("stock", "classic", 50)), artifacts=ArtifactStore(tmp_path))
    words = r"bundled profile and isolation 'reduced' or more; there is stock \(classic"
    with pytest.raises(SetupError, match=words):
        executor.slots  # noqa: B018 - a property that refuses
    with pytest.raises(SetupError, match=words):
        asyncio.run(executor.score(row(["1"], ["1"]), "print(1)"))


def test_as_many_at_once_as_its_targets_take(tmp_path: Path) -> None:
    """Those that may run Python, which confine enough; unless the user says how many."""
    sandbox = IdleSandbox(
        target("stock", "classic", 50), target("open", "bundled", 40, Isolation.NONE), target("a", "bundled", 4),
        target("b", "bundled", 8),
    )  # fmt: skip
    executor = AppsExecutor(sandbox, artifacts=ArtifactStore(tmp_path))
    assert apps_calls.jobs_at_once(SandboxOptions(), executor) == 12
    assert apps_calls.jobs_at_once(SandboxOptions(workers=3), executor) == 3
    assert [spare_for(jobs, shares=True) for jobs in (1, 2, 100)] == [7, 14, 56]
    assert [spare_for(jobs, shares=False) for jobs in (1, 2, 100)] == [2, 4, 32]


def test_a_fingerprint_is_of_the_checker_that_judges(tmp_path: Path) -> None:
    """Not of what its file has become meanwhile."""
    path = tmp_path / "checker.cpp"
    path.write_text("int main() {}")
    settings = AppsSettings(comparator=Comparator.parse(f"checker:{path}"))

    def executor() -> AppsExecutor:
        return AppsExecutor(IdleSandbox(A), artifacts=ArtifactStore(tmp_path), settings=settings)

    def judging_digest(by: AppsExecutor) -> str:
        return judging_digest_of(settings, A, "cpython 3", checker=by.checker)

    first = executor()
    before = judging_digest(first)
    path.write_text("int main() { return 1; }")
    assert judging_digest(first) == before
    assert judging_digest(executor()) != before


def test_a_program_is_the_same_whatever_rule_found_it() -> None:
    """So that it is judged once."""
    rules = ("column:code", "fence:python")
    found = [AppsSubmission(id="x", problem="0", code="print(1)", extraction=rule) for rule in rules]
    assert len({fingerprint_of("way", "problem", one) for one in found}) == 1


def test_a_limit_is_the_same_asked_for_or_not() -> None:
    """What is judged under the default is not judged again for naming it."""
    limits = (None, 10.0, 5.0)
    found = [judging_digest_of(AppsSettings(time_limit_s=limit), A, "cpython 3", checker=None) for limit in limits]
    assert found[0] == found[1] != found[2]


class Losing:
    """The embedded sandbox as two kinds of workers, `a` and `b`, of which `a` is lost with its first run job."""

    def __init__(self, inner: LocalSandbox) -> None:
        self.inner = inner
        self.ran_on: list[str] = []

    def targets(self) -> Sequence[Target]:
        """The same machine twice: as one with more slots that narrows programs, and as it is."""
        (one,) = self.inner.targets()
        return (replace(one, name="a", slots=4, narrowed="by nothing"), replace(one, name="b", slots=1))

    async def execute(self, job: Job, target: Target) -> Execution:
        """Run it, or not."""
        plan = next((file.content for file in job.files if file.name == "plan"), b"")
        if isinstance(plan, bytes) and b"mode run" in plan:
            self.ran_on.append(target.name)
            if target.name == "a":
                raise TargetLostError("nobody serves a any more")
        return await self.inner.execute(job, replace(target, name=LOCAL))


def test_a_lost_target_loses_its_programs_to_another(cache: Path) -> None:
    """All of a program is run anew there; its result, and its fingerprint, name that one."""

    async def scenario() -> None:
        async with LocalSandbox(slots=1) as inner:
            sandbox = Losing(inner)
            executor = AppsExecutor(sandbox, artifacts=ArtifactStore(cache))
            await executor.interpreter()
            submission = AppsSubmission(id="x", problem="7", code="print(1)", extraction="given")
            on_a, on_b = executor.fingerprints("digest", submission)
            result = await executor.score(row(["1"], ["1"]), "print(1)")
            assert sandbox.ran_on == ["a", "b"]
            assert (result.verdict, result.target) == (Verdict.AC, "b, bundled")
            assert fingerprint_of(result.judging_digest, "digest", submission) == on_b != on_a

    asyncio.run(scenario())


def test_workers_that_cannot_be_asked_keep_nobody_from_the_others(cache: Path) -> None:
    """Nor do those that are not in service, which are not even asked."""

    class Broken(Losing):
        """`a` loses every job, and `c` has no workers at the moment."""

        def targets(self) -> Sequence[Target]:
            """The three."""
            a, b = super().targets()
            return (a, replace(b, name="c", slots=0), b)

        async def execute(self, job: Job, target: Target) -> Execution:
            """On `b` only."""
            assert target.name != "c"
            if target.name == "a":
                raise ExhaustedError("nobody answers")
            return await super().execute(job, target)

    async def scenario() -> None:
        async with LocalSandbox(slots=1) as inner:
            executor = AppsExecutor(Broken(inner), artifacts=ArtifactStore(cache))
            assert "cpython" in (await executor.interpreter()).version
            submission = AppsSubmission(id="x", problem="7", code="print(1)", extraction="given")
            assert len(executor.fingerprints("digest", submission)) == 1

    asyncio.run(scenario())
