"""Which target of a cluster runs Python programs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.apps.execution import AppsExecutor, AppsSettings
from ioi_eval.apps.settings import fingerprint_of, judging_digest_of
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.cli import apps_executor
from ioi_eval.cli.sandboxes import SandboxOptions
from ioi_eval.errors import ExhaustedError, SetupError, TargetLostError
from ioi_eval.model import Execution, Isolation, Job, Profile, Verdict
from ioi_eval.model.methods import Comparator
from ioi_eval.pipeline.settings import spare_for
from ioi_eval.problems.apps_submissions import AppsSubmission
from ioi_eval.sandbox import LOCAL, Target
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.toolchain import Toolchain
from tests.python_box import row
from tests.small_targets import IdleSandbox


def target(name: str, profile: Profile, slots: int, isolation: Isolation = Isolation.REDUCED) -> Target:
    """A target of a cluster."""
    toolchain = Toolchain(command="g++", version="g++ 12", machine="x86_64-linux-gnu", static=True)
    return Target(name=name, profile=profile, toolchain=toolchain, slots=slots, isolation=isolation)


A = target("a", Profile.BUNDLED, 1)


def test_a_cluster_that_cannot_run_python_is_an_error(tmp_path: Path) -> None:
    """The message names its targets and what is needed."""
    executor = AppsExecutor(IdleSandbox(target("stock", Profile.CLASSIC, 50)), artifacts=ArtifactStore(tmp_path))
    words = r"bundled profile and isolation 'reduced' or more; there is stock \(classic"
    with pytest.raises(SetupError, match=words):
        executor.slots  # noqa: B018 - a property that refuses
    with pytest.raises(SetupError, match=words):
        asyncio.run(executor.score(row(["1"], ["1"]), "print(1)"))


def test_jobs_at_once_by_default(tmp_path: Path) -> None:
    """The slots of targets that may run Python with enough isolation, unless the user gives a number."""
    sandbox = IdleSandbox(
        target("stock", Profile.CLASSIC, 50), target("open", Profile.BUNDLED, 40, Isolation.NONE),
        target("a", Profile.BUNDLED, 4), target("b", Profile.BUNDLED, 8),
    )  # fmt: skip
    executor = AppsExecutor(sandbox, artifacts=ArtifactStore(tmp_path))
    assert apps_executor.jobs_now(SandboxOptions(), executor) == 12
    assert apps_executor.jobs_now(SandboxOptions(workers=3), executor) == 3
    assert [spare_for(jobs, shares=True) for jobs in (1, 2, 100)] == [7, 14, 56]
    assert [spare_for(jobs, shares=False) for jobs in (1, 2, 100)] == [2, 4, 32]


def test_a_fingerprint_has_the_checker_that_is_used(tmp_path: Path) -> None:
    """Later changes of its file do not count."""
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


def test_the_extraction_rule_does_not_change_the_fingerprint() -> None:
    """So an identical program is judged once."""
    rules = ("column:code", "fence:python")
    found = [AppsSubmission(id="x", problem="0", code="print(1)", extraction=rule) for rule in rules]
    assert len({fingerprint_of("way", "problem", one) for one in found}) == 1


def test_the_default_limit_has_the_same_fingerprint_if_it_is_given() -> None:
    """So results under the default are not judged again if the option is given."""
    limits = (None, 10.0, 5.0)
    found = [judging_digest_of(AppsSettings(time_limit_s=limit), A, "cpython 3", checker=None) for limit in limits]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("change", [{"narrowed": "by memory"}, {"outer_filter": True}])
def test_what_is_different_on_a_machine_changes_the_fingerprint(change: dict[str, Any]) -> None:
    """As for contest problems: results also have the refused calls, which an outer filter hides."""
    found = [
        judging_digest_of(AppsSettings(), target, "cpython 3", checker=None) for target in (A, replace(A, **change))
    ]
    assert found[0] != found[1]


class Losing:
    """The embedded sandbox as two kinds of workers, `a` and `b`. `a` is lost with its first run job."""

    def __init__(self, inner: LocalSandbox) -> None:
        self.inner = inner
        self.ran_on: list[str] = []

    def targets(self) -> Sequence[Target]:
        """The same machine twice: `a` with more slots and restrictions, and `b`."""
        (one,) = self.inner.targets()
        return (replace(one, name="a", slots=4, narrowed="by nothing"), replace(one, name="b", slots=1))

    async def execute(self, job: Job, target: Target) -> Execution:
        """Run the job, or lose the target."""
        plan = next((file.content for file in job.files if file.name == "plan"), b"")
        if isinstance(plan, bytes) and b"mode run" in plan:
            self.ran_on.append(target.name)
            if target.name == "a":
                raise TargetLostError("nobody serves a any more")
        return await self.inner.execute(job, replace(target, name=LOCAL))


def test_programs_of_a_lost_target_start_again_on_another(cache: Path) -> None:
    """All tests of a program run again there. Its result and its fingerprint name that target."""

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


def test_workers_that_do_not_answer_do_not_affect_others(cache: Path) -> None:
    """Workers that are not in service get no job."""

    class Broken(Losing):
        """`a` loses every job, and `c` has no workers at the moment."""

        def targets(self) -> Sequence[Target]:
            """All three."""
            a, b = super().targets()
            return (a, replace(b, name="c", slots=0), b)

        async def execute(self, job: Job, target: Target) -> Execution:
            """Run the job on `b` only."""
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


def test_a_kind_of_workers_without_python_is_named(cache: Path) -> None:
    """Its workers are idle during the whole run, so users must learn why."""

    class Lacking(Losing):
        """`a` has no Python."""

        async def execute(self, job: Job, target: Target) -> Execution:
            """Run the job on `b` only."""
            if target.name == "a":
                raise SetupError("python3 cannot be started")
            return await super().execute(job, target)

    async def scenario() -> None:
        async with LocalSandbox(slots=1) as inner:
            executor = AppsExecutor(Lacking(inner), artifacts=ArtifactStore(cache))
            await executor.interpreter()
            assert executor.without_python() == ["a runs no programs: python3 cannot be started"]

    asyncio.run(scenario())
