"""A scorer with several targets: free slots are used, lost targets are avoided, and results name their target."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from ioi_eval import sample
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.config import Policy
from ioi_eval.errors import TargetLostError, UnavailableError
from ioi_eval.jobs.find_runner import runner_key
from ioi_eval.model import (
    Blob,
    Execution,
    Isolation,
    Job,
    Language,
    Problem,
    ProblemKey,
    Profile,
    Submission,
    SubmissionResult,
    Subtask,
    Verdict,
)
from ioi_eval.problems.ioi import load_problems
from ioi_eval.programs import Builder
from ioi_eval.rows import open_source
from ioi_eval.sandbox import Target
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from tests.small_problems import small_problem

pytestmark = pytest.mark.usefixtures("small_good_program")

LABEL = ("buoys", "model_solution/bisection.cpp")
Loses = Callable[[str, int], bool]
"""Whether the n-th run job on the target of that name loses the target."""


class Farm:
    """Two kinds of workers, simulated by this machine. Their compilers differ in version.

    Args:
        inner: runs the jobs.
        loses: which jobs lose their target.
        profile, has_own_scripts: of the first kind.
    """

    def __init__(
        self, inner: LocalSandbox, loses: Loses, *, profile: Profile = Profile.BUNDLED, has_own_scripts: bool = False
    ) -> None:
        (here,) = inner.targets()
        self.inner, self.loses = inner, loses
        self.here = here
        self.kinds = [
            replace(here, name="old", slots=2, profile=profile, has_own_scripts=has_own_scripts),
            replace(
                here, name="new", slots=1, toolchain=replace(here.toolchain, version=f"{here.toolchain.version} (new)")
            ),
        ]
        self.runs = {"old": 0, "new": 0}
        self.compiled = self.tests = 0
        self.asked: set[tuple[str, bool]] = set()

    def targets(self) -> Sequence[Target]:
        """Both kinds."""
        return self.kinds

    async def execute(self, job: Job, target: Target) -> Execution:
        """Run the job, or lose its target."""
        self.asked.add((target.name, target.is_only))
        plans = [f.content for f in job.files if f.name in ("plan", "steps") and isinstance(f.content, bytes)]
        self.compiled += any(b" argv=-c argv=buoys.cpp " in plan for plan in plans)
        if any(file.name in ("program", "steps") for file in job.files):  # the job runs tests
            self.runs[target.name] += 1
            if self.loses(target.name, self.runs[target.name]):
                raise TargetLostError(f"no worker of {target.name!r} is left")
        execution = await self.inner.execute(job, self.here)
        self.tests += execution.run.stdout.count('{"test":')
        return execution


def contest(cache: Path) -> dict[str, Problem]:
    """The sample contest's problems by id."""
    loaded = load_problems(open_source(sample.problems()), open_source(sample.tests()), BlobStore(cache / "blobs"))
    return {key.id: problem for key, problem in loaded.problems.items()}


async def content_of(blob: Blob) -> bytes:
    """Its bytes."""
    return blob.path.read_bytes()


def score(
    cache: Path, loses: Loses, *, times: int = 1, problem_changes: Mapping[str, Any] | None = None, **farm: Any
) -> tuple[list[SubmissionResult], list[tuple[str, ...]], Farm]:
    """Score a right solution several times at once. Returns results, possible fingerprints, and the farm."""
    row = next(r for r in map(orjson.loads, sample.solutions().open()) if (r["problem_id"], r["label"]) == LABEL)
    problems = load_problems(
        open_source(sample.problems()), open_source(sample.tests()), BlobStore(cache / "b")
    ).problems
    problem: Problem = replace(problems[ProblemKey(year=row["year"], id="buoys")], **(problem_changes or {}))
    submission = Submission(id="x", problem=problem.key, code=row["code"])

    async def scenario() -> tuple[list[SubmissionResult], list[tuple[str, ...]], Farm]:
        async with LocalSandbox(slots=2) as inner:
            sandbox, artifacts = Farm(inner, loses, **farm), ArtifactStore(cache)
            runner = await Builder(inner, artifacts, Policy()).runner(sandbox.here)
            for kind in sandbox.kinds:  # this machine runs all jobs, so one runner is right for both kinds
                await artifacts.ensure(runner_key(kind.toolchain), partial(content_of, runner))
            scorer = Scorer(sandbox, artifacts=artifacts)
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(scorer.score(problem, submission)) for _ in range(times)]
            return [task.result() for task in tasks], [scorer.fingerprints(problem, submission)], sandbox

    return asyncio.run(scenario())


def test_free_slots_of_all_kinds_are_used(cache: Path) -> None:
    """Three submissions on two and one slots: two go to one kind, one to the other. Each result has its target's name
    and fingerprint.
    """
    results, (fingerprints,), _ = score(cache, lambda *_: False, times=3)
    assert sorted(result.target.split(",")[0] for result in results) == ["new", "old", "old"]
    assert {result.verdict for result in results} == {Verdict.AC}
    assert len(set(fingerprints)) == 2
    by_kind = {result.target.split(",")[0]: result.fingerprint for result in results}
    assert (by_kind["old"], by_kind["new"]) == fingerprints


@pytest.mark.parametrize(("times", "lost_from"), [(2, 1), (1, 2)], ids=["before-any-test", "after-some-tests"])
def test_submissions_of_a_lost_target_start_again_on_another(cache: Path, times: int, lost_from: int) -> None:
    """They start again from the beginning, and the result is that of one target."""
    results, (fingerprints,), farm = score(
        cache, lambda name, number: name == "old" and number >= lost_from, times=times
    )
    assert [(result.verdict, result.score) for result in results] == [(Verdict.AC, 100.0)] * times
    assert all(result.target.startswith("new") and result.fingerprint == fingerprints[1] for result in results)
    assert farm.runs["old"] >= 2
    assert ("new", True) in farm.asked, "there is nowhere else to go then"
    assert ("old", True) not in farm.asked


def test_without_a_suitable_target_a_submission_is_je(cache: Path) -> None:
    """It is JE with the reasons, and is judged again in the next run. This run continues, because others
    may be judged.
    """
    (result,), _, _ = score(cache, lambda *_: True)
    assert (result.verdict, result.score, result.compile.final) == (Verdict.JE, None, False)
    assert not result.compile.all_unsuitable, "that is the sandbox's failure"
    assert "no worker of 'old' is left; no worker of 'new' is left" in result.compile.message


def test_without_any_target_the_run_ends(cache: Path) -> None:
    """It is not a failure of this submission, and the next one would fail in the same way."""

    def gone(_: str, __: int) -> bool:
        raise UnavailableError("no endpoint left")

    with pytest.raises(ExceptionGroup) as raised:
        score(cache, gone)
    assert raised.group_contains(UnavailableError)


def test_a_standard_that_no_compiler_knows_is_je(cache: Path) -> None:
    """The verdict is not CE, because our compilers are at fault. The message names compiler and standard."""
    (result,), _, farm = score(cache, lambda *_: False, problem_changes={"cxx_std": "gnu++29"})
    assert (result.verdict, result.score) == (Verdict.JE, None)
    assert "does not know -std=gnu++29" in result.compile.message
    assert result.compile.all_unsuitable, "it says nothing of the sandbox"
    assert farm.tests == 0, "nothing was run"


def test_the_classic_profile_judges_the_same(cache: Path) -> None:
    """With one test a job, the points are the same. The target that offers this profile is used."""
    problems = load_problems(
        open_source(sample.problems()), open_source(sample.tests()), BlobStore(cache / "b")
    ).problems
    buoys = next(problem for key, problem in problems.items() if key.id == "buoys")
    second = buoys.subtasks[1]
    few = {"subtasks": (second,), "tests": {name: buoys.tests[name] for name in second.tests}}
    (result,), _, farm = score(cache, lambda *_: False, problem_changes=few, profile=Profile.CLASSIC)
    assert result.target.startswith("old, classic")
    assert {subtask.verdict for subtask in result.subtasks} == {Verdict.AC}
    assert farm.runs == {"old": len(second.tests), "new": 0}
    assert (farm.compiled, len(second.tests) > 1) == (1, True), "once, whatever the number of tests"


def test_other_languages_are_not_judged_by_a_worker_s_own_scripts(cache: Path) -> None:
    """A C program is bound to another target instead, the only one for it: its jobs wait as long as for all targets."""

    async def scenario() -> tuple[SubmissionResult, set[tuple[str, bool]]]:
        problem = contest(cache)["buoys"]
        lax = Policy(least_isolation=Isolation.NONE, std="gnu++17")  # so that its scripts may judge the problem
        submission = Submission(id="c", problem=problem.key, code="int main(void) { return 0; }", language=Language.C)
        async with LocalSandbox(slots=1) as inner:
            sandbox = Farm(inner, lambda *_: False, profile=Profile.CLASSIC, has_own_scripts=True)
            sandbox.kinds[1] = replace(sandbox.kinds[1], slots=4)  # so that it is tried first
            scorer = Scorer(sandbox, artifacts=ArtifactStore(cache), policy=lax)
            in_cpp = replace(submission, language=Language.CPP)
            assert len(scorer.fingerprints(problem, in_cpp)) == 2, "a program in C++ may be judged by either"
            return await scorer.score(problem, submission), sandbox.asked

    result, asked = asyncio.run(scenario())
    assert result.verdict is Verdict.WA
    assert result.target.startswith("new, bundled")
    assert asked == {("new", True)}


def test_a_row_without_a_program_is_found_again_when_a_tool_becomes_known(cache: Path) -> None:
    """A target may be asked for its Python only after such a row: its result has a fingerprint without any tool."""

    async def scenario() -> tuple[SubmissionResult, tuple[str, ...]]:
        problem = small_problem(subtasks=(Subtask(name="01", points=100, tests=("a",)),))
        submission = Submission(id="empty", problem=problem.key, code=None, language=Language.PYTHON)
        async with LocalSandbox(slots=1) as sandbox:
            scorer = Scorer(sandbox, artifacts=ArtifactStore(cache))
            result = await scorer.score(problem, submission)
            await scorer.learn_tools([Language.PYTHON])
            return result, scorer.fingerprints(problem, submission)

    result, fingerprints = asyncio.run(scenario())
    assert result.verdict is Verdict.NC
    assert result.fingerprint in fingerprints
