"""On which target of a cluster Python programs run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ioi_eval.apps.execution import AppsExecutor, AppsSettings
from ioi_eval.apps.judging import AppsFingerprints
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.cli import apps_calls
from ioi_eval.cli.sandboxes import Place
from ioi_eval.errors import SetupError
from ioi_eval.model import Execution, Isolation, Job
from ioi_eval.model.apps import Comparator
from ioi_eval.problems.apps_submissions import AppsSubmission
from ioi_eval.sandbox import Target
from ioi_eval.toolchain import Toolchain


def target(name: str, profile: str, slots: int, isolation: Isolation = Isolation.REDUCED) -> Target:
    """A target of a cluster."""
    toolchain = Toolchain(command="g++", version="g++ 12", machine="x86_64-linux-gnu", static=True)
    return Target(name=name, profile=profile, toolchain=toolchain, slots=slots, isolation=isolation)


class Mixed:
    """A cluster of several kinds of workers that executes nothing."""

    def __init__(self, *targets: Target) -> None:
        self.has = targets

    def targets(self) -> Sequence[Target]:
        """What there is at the moment."""
        return self.has

    async def execute(self, job: Job, target: Target) -> Execution:
        """Never asked."""
        raise AssertionError(f"nothing is run here: {job.kind} on {target.name}")


def test_the_largest_that_may_is_taken_and_kept(tmp_path: Path) -> None:
    """Neither a classic worker nor one that confines too little; and one run has one target."""
    sandbox = Mixed(
        target("stock", "classic", 50), target("open", "bundled", 40, Isolation.NONE), target("a", "bundled", 4),
        target("b", "bundled", 8),
    )  # fmt: skip
    executor = AppsExecutor(sandbox, artifacts=ArtifactStore(tmp_path))
    assert executor.target.name == "b"
    sandbox.has = (target("c", "bundled", 100), *sandbox.has)
    assert executor.target.name == "b"


def test_a_cluster_that_cannot_run_python_says_what_it_has(tmp_path: Path) -> None:
    """By name, and what is asked for."""
    executor = AppsExecutor(Mixed(target("stock", "classic", 50)), artifacts=ArtifactStore(tmp_path))
    with pytest.raises(SetupError, match=r"bundled profile and isolation 'reduced' or more; there is stock \(classic"):
        executor.target  # noqa: B018 - a property that refuses


def test_as_many_at_once_as_its_one_target_takes(tmp_path: Path) -> None:
    """Whatever else the cluster has; unless the user says how many."""
    sandbox = Mixed(target("stock", "classic", 50), target("a", "bundled", 4), target("b", "bundled", 8))
    executor = AppsExecutor(sandbox, artifacts=ArtifactStore(tmp_path))
    assert apps_calls.workers(Place(), executor) == 8
    assert apps_calls.workers(Place(workers=3), executor) == 3
    assert [apps_calls.in_flight(jobs) for jobs in (1, 2, 100)] == [8, 16, 156]


def test_a_fingerprint_is_of_the_checker_that_judges(tmp_path: Path) -> None:
    """Not of what its file has become meanwhile."""
    path = tmp_path / "checker.cpp"
    path.write_text("int main() {}")
    settings = AppsSettings(comparator=Comparator.parse(f"checker:{path}"))

    def executor() -> AppsExecutor:
        return AppsExecutor(Mixed(target("a", "bundled", 1)), artifacts=ArtifactStore(tmp_path), settings=settings)

    def fingerprint(by: AppsExecutor) -> str:
        of = AppsFingerprints(settings, by.target, "cpython 3", checker=by.checker)
        return of.of("problem", AppsSubmission(id="x", problem="0", code="print(1)", extraction="given"))

    first = executor()
    before = fingerprint(first)
    path.write_text("int main() { return 1; }")
    assert fingerprint(first) == before
    assert fingerprint(executor()) != before


def test_a_program_is_the_same_whatever_rule_found_it(tmp_path: Path) -> None:
    """So that it is judged once."""
    by = AppsExecutor(Mixed(target("a", "bundled", 1)), artifacts=ArtifactStore(tmp_path))
    of = AppsFingerprints(AppsSettings(), by.target, "cpython 3", checker=by.checker).of
    rules = ("column:code", "fence:python")
    found = [AppsSubmission(id="x", problem="0", code="print(1)", extraction=rule) for rule in rules]
    assert len({of("problem", one) for one in found}) == 1


def test_a_limit_is_the_same_asked_for_or_not(tmp_path: Path) -> None:
    """What is judged under the default is not judged again for naming it."""
    by = AppsExecutor(Mixed(target("a", "bundled", 1)), artifacts=ArtifactStore(tmp_path))
    one = AppsSubmission(id="x", problem="0", code="print(1)", extraction="given")
    found = [
        AppsFingerprints(AppsSettings(time_limit_s=limit), by.target, "cpython 3", checker=None).of("problem", one)
        for limit in (None, 10.0, 5.0)
    ]
    assert found[0] == found[1] != found[2]
