"""Submissions scored on a cluster, where the job that runs a program compiles it first: the results of this machine, in
fewer jobs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.errors import RejectedError
from ioi_eval.model import (
    Language,
    Submission,
    SubmissionResult,
    Subtask,
    TaskType,
    TestOutcome,
    Verdict,
)
from ioi_eval.model import TestCase as Case
from ioi_eval.sandbox import Sandbox, Target
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.scorer import Scorer
from tests.sandbox.served import Served
from tests.small_problems import small_problem
from tests.watched_jobs import Watched

RIGHT = '#include <cstdio>\nint main() { long a, b; scanf("%ld %ld", &a, &b); printf("%ld\\n", a + b); }\n'
PROGRAMS = {
    "right": RIGHT,
    "wrong late": RIGHT.replace("a + b", "a + b + (a == 4)"),
    "crashes": RIGHT.replace("printf", "if (a == 3) __builtin_trap(); printf"),
    "endless": RIGHT.replace("printf", "if (a == 5) for (volatile int i = 0;;) i = i + 1; printf"),
    "refused": RIGHT.replace("main() {", "main( {"),
    "too many messages": "#define A(x) x x x x x x x x x x\n#warning w\nint main() { A(A(A(A(A(A(A(y;))))))) }\n",
}
TESTS = 6


def problem(tests: int = TESTS) -> tuple[Subtask, dict[str, Case]]:
    """A subtask whose tests add two numbers, and these tests."""
    cases = {
        f"t{n}": Case(name=f"t{n}", input=f"{n} {n}\n".encode(), answer=f"{2 * n}\n".encode()) for n in range(tests)
    }
    return Subtask(name="all", points=100, tests=tuple(cases)), cases


async def score(
    sandbox: Sandbox, cache: Path, codes: Sequence[str], *, exhaustive: bool = False, tests: int = TESTS
) -> list[SubmissionResult]:
    """Score programs, one after another."""
    subtask, cases = problem(tests)
    judged = small_problem(subtasks=(subtask,), tests=cases)
    scorer = Scorer(sandbox, artifacts=ArtifactStore(cache))
    return [
        await scorer.score(judged, Submission(id=f"s{n}", problem=judged.key, code=code), exhaustive=exhaustive)
        for n, code in enumerate(codes)
    ]


def outcomes_of(result: SubmissionResult) -> list[TestOutcome]:
    """The outcomes of its only subtask."""
    (subtask,) = result.subtasks
    return list(subtask.tests)


def told(result: SubmissionResult) -> tuple[object, ...]:
    """What a result says of a submission, without times."""
    tests = [
        (each.test, each.verdict, each.score, each.message, each.signal, each.limit) for each in outcomes_of(result)
    ]
    return result.verdict, result.score, result.compile.verdict, result.compile.message, tests


@pytest.mark.parametrize("exhaustive", [False, True])
def test_results_are_those_of_this_machine(served: Served, cache: Path, exhaustive: bool) -> None:
    """Verdicts, scores and messages of programs that fail in every way, and of those that do not compile."""

    async def scenario() -> None:
        codes = list(PROGRAMS.values())
        async with LocalSandbox() as here, PistonCluster([served.base], profile="bundled") as cluster:
            watched = Watched(cluster)
            expected = await score(here, cache, codes, exhaustive=exhaustive)
            for name, ours, theirs in zip(
                PROGRAMS, await score(watched, cache, codes, exhaustive=exhaustive), expected, strict=True
            ):
                assert told(ours) == told(theirs), name
            assert watched.kinds.count("build") == len(codes)

    asyncio.run(scenario())


def test_a_program_needs_one_job(served: Served, cache: Path) -> None:
    """If its tests fit into one; and its time for compiling is in the result."""

    async def scenario() -> None:
        async with PistonCluster([served.base], profile="bundled") as cluster:
            await score(cluster, cache, [RIGHT], tests=3)  # compiles what the problem needs
            watched = Watched(cluster)
            (result,) = await score(watched, cache, [RIGHT + "// again\n"], tests=3)
            assert result.verdict is Verdict.AC
            assert (result.compile.cpu_ms or 0) > 10
            assert watched.kinds == ["build"]

    asyncio.run(scenario())


def test_a_refusal_is_not_compiled_again(served: Served, cache: Path) -> None:
    """The answer of the first job counts. The known good program is compiled once a run."""

    async def scenario() -> None:
        async with PistonCluster([served.base], profile="bundled") as cluster:
            watched = Watched(cluster)
            results = await score(watched, cache, [PROGRAMS["refused"], PROGRAMS["refused"] + "//\n"])
            assert [result.verdict for result in results] == [Verdict.CE, Verdict.CE]
            assert [kind for kind in watched.kinds if kind != "scripts"] == ["build", "compile", "build"]

    asyncio.run(scenario())


def test_a_lost_answer_costs_another_compilation(served: Served, cache: Path) -> None:
    """Nothing of it is recorded, and the program is compiled by a job of its own."""

    async def scenario() -> None:
        async with PistonCluster([served.base], profile="bundled") as cluster:
            watched = Watched(cluster, lost=1)
            (result,) = await score(watched, cache, [RIGHT])
            assert (result.verdict, len(outcomes_of(result))) == (Verdict.AC, TESTS)
            assert [kind for kind in watched.kinds if kind != "scripts"][:3] == ["build", "compile", "run"]

    asyncio.run(scenario())


def test_a_job_that_is_refused_is_not_tried_again_for_its_problem(served: Served, cache: Path) -> None:
    """It would be refused for each submission, for the same reason: it is too large for this server, for example."""

    async def scenario() -> None:
        async with PistonCluster([served.base], profile="bundled") as cluster:
            watched = Watched(cluster, lost=9, error=RejectedError("request entity too large"))
            results = await score(watched, cache, [RIGHT, RIGHT + "// another\n"])
            assert [result.verdict for result in results] == [Verdict.AC, Verdict.AC]
            assert watched.kinds.count("build") == 1

    asyncio.run(scenario())


def test_more_tests_than_one_job_holds(served: Served, cache: Path) -> None:
    """The program comes back with the first answer, and later jobs bring it."""

    async def scenario() -> None:
        async with PistonCluster([served.base], profile="bundled") as cluster:
            watched = Watched(cluster)
            (result,) = await score(watched, cache, [RIGHT], tests=200)
            assert (result.verdict, len(outcomes_of(result))) == (Verdict.AC, 200)
            kinds = [kind for kind in watched.kinds if kind != "scripts"]
            assert kinds[0] == "build"
            assert set(kinds[1:]) == {"run"}

    asyncio.run(scenario())


def test_an_output_that_is_missing_counts_once(served: Served, cache: Path) -> None:
    """Where a test accepts only a submitted output: also if the first job makes no program, or has none to compile."""
    subtask, cases = problem(tests=2)
    judged = small_problem(
        subtasks=(subtask,),
        tests=cases,
        task_type=TaskType.BATCH_AND_OUTPUT,
        output_tests=("t1",),
        output_only_tests=("t1",),
    )
    python = "print(sum(map(int, input().split())))\n"
    codes = ((RIGHT, Language.CPP), (PROGRAMS["refused"], Language.CPP), (python, Language.PYTHON))

    async def scenario() -> None:
        async with PistonCluster([served.base], profile="bundled") as cluster:
            scorer = Scorer(cluster, artifacts=ArtifactStore(cache))
            submissions = [
                Submission(id="s", problem=judged.key, code=code, language=language) for code, language in codes
            ]
            results = [await scorer.score(judged, submission) for submission in submissions]
        assert [result.verdict for result in results] == [Verdict.WA, Verdict.CE, Verdict.WA]
        assert [each.verdict for each in outcomes_of(results[0])] == [Verdict.AC, Verdict.WA]
        assert [each.verdict for each in outcomes_of(results[2])] == [Verdict.AC, Verdict.WA]

    asyncio.run(scenario())


def test_a_worker_without_the_time_for_both(served: Served, cache: Path) -> None:
    """If its longest job has no room for compiling and a test, each has a job of its own."""

    class Short(Watched):
        def targets(self) -> Sequence[Target]:
            """With a short longest job."""
            return [replace(target, max_wall_ms=15_000) for target in super().targets()]

    async def scenario() -> None:
        async with PistonCluster([served.base], profile="bundled") as cluster:
            watched = Short(cluster)
            (result,) = await score(watched, cache, [RIGHT])
            assert result.verdict is Verdict.AC
            assert "build" not in watched.kinds

    asyncio.run(scenario())


def test_no_test_data_is_seen_while_compiling(served: Served, cache: Path) -> None:
    """A program that includes what it would find in its job is refused, and learns nothing."""
    codes = [f'#include "{path}"\n{RIGHT}' for path in ("t0.in", "../t0.ans", "plan", "/proc/self/fd/5", "checker")]

    async def scenario() -> None:
        async with PistonCluster([served.base], profile="bundled") as cluster:
            results = await score(cluster, cache, codes)
            assert [result.verdict for result in results] == [Verdict.CE] * len(codes)

    asyncio.run(scenario())
