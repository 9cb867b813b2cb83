"""On a cluster, submissions are scored with build jobs: the results are those of this machine, with fewer jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.errors import RejectedError
from ioi_eval.model import (
    BatchAndOutput,
    Language,
    Submission,
    SubmissionResult,
    Subtask,
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

pytestmark = pytest.mark.usefixtures("short_requests", "small_good_program")

RIGHT = '#include <cstdio>\nint main() { long a, b; scanf("%ld %ld", &a, &b); printf("%ld\\n", a + b); }\n'
RUN = {
    "right": RIGHT,
    "wrong late": RIGHT.replace("a + b", "a + b + (a == 4)"),
    "crashes": RIGHT.replace("printf", "if (a == 3) __builtin_trap(); printf"),
    "endless": RIGHT.replace("printf", "if (a == 5) for (volatile int i = 0;;) i = i + 1; printf"),
}
REFUSED = RIGHT.replace("main() {", "main( {")
PROGRAMS = {
    **RUN,
    "refused": REFUSED,
    "compiler needs too much": "#define A(x) x x x x x x x x x x\n#warning w\nint main() { A(A(A(A(A(A(A(y;))))))) }\n",
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
    judged = small_problem(subtasks=(subtask,), tests=cases, time_limit_s=0.3, cxx_std="gnu++17")
    scorer = Scorer(sandbox, artifacts=ArtifactStore(cache))
    return [
        await scorer.score(judged, Submission(id=f"s{n}", problem=judged.key, code=code), exhaustive=exhaustive)
        for n, code in enumerate(codes)
    ]


def outcomes_of(result: SubmissionResult) -> list[TestOutcome]:
    """The outcomes in the only subtask."""
    (subtask,) = result.subtasks
    return list(subtask.tests)


def comparable(result: SubmissionResult) -> tuple[object, ...]:
    """The parts of a result that must be equal: all except times."""
    tests = [
        (each.test, each.verdict, each.score, each.message, each.signal, each.limit) for each in outcomes_of(result)
    ]
    return result.verdict, result.score, result.compile.verdict, result.compile.message, tests


@pytest.mark.parametrize("exhaustive", [False, True])
def test_results_are_the_same_as_on_this_machine(served: Served, cache: Path, exhaustive: bool) -> None:
    """Verdicts, scores and messages are the same, for each kind of failure; also for CE, where no test can run."""
    programs = RUN if exhaustive else PROGRAMS

    async def scenario() -> None:
        codes = list(programs.values())
        async with LocalSandbox() as here, PistonCluster([served.base], profile="bundled") as cluster:
            watched = Watched(cluster)
            expected = await score(here, cache, codes, exhaustive=exhaustive)
            for name, ours, theirs in zip(
                programs, await score(watched, cache, codes, exhaustive=exhaustive), expected, strict=True
            ):
                assert comparable(ours) == comparable(theirs), name
            assert watched.kinds.count("build") == len(codes)

    asyncio.run(scenario())


def test_a_program_needs_one_job(served: Served, cache: Path) -> None:
    """If all tests fit into one job, there is one job. The result has the time for compiling."""

    async def scenario() -> None:
        async with PistonCluster([served.base], profile="bundled") as cluster:
            await score(cluster, cache, [RIGHT], tests=3)  # compiles the problem's programs
            watched = Watched(cluster)
            (result,) = await score(watched, cache, [RIGHT + "// again\n"], tests=3)
            assert result.verdict is Verdict.AC
            assert (result.compile.cpu_ms or 0) > 10
            assert watched.kinds == ["build"]

    asyncio.run(scenario())


def test_a_program_with_ce_is_not_compiled_again(served: Served, cache: Path) -> None:
    """The CE of the build job counts. After the first CE, one known correct program is compiled, once in a run."""

    async def scenario() -> None:
        async with PistonCluster([served.base], profile="bundled") as cluster:
            watched = Watched(cluster)
            results = await score(watched, cache, [REFUSED, REFUSED + "//\n"])
            assert [result.verdict for result in results] == [Verdict.CE, Verdict.CE]
            assert [kind for kind in watched.kinds if kind != "scripts"] == ["build", "compile", "build"]

    asyncio.run(scenario())


def test_after_a_lost_answer_the_program_is_compiled_again(served: Served, cache: Path) -> None:
    """If the answer of a build job is lost, nothing is recorded, and a compile job compiles the program."""

    async def scenario() -> None:
        async with PistonCluster([served.base], profile="bundled") as cluster:
            watched = Watched(cluster, lost=1)
            (result,) = await score(watched, cache, [RIGHT])
            assert (result.verdict, len(outcomes_of(result))) == (Verdict.AC, TESTS)
            assert [kind for kind in watched.kinds if kind != "scripts"][:3] == ["build", "compile", "run"]

    asyncio.run(scenario())


def test_a_refused_build_job_is_tried_once_per_problem(served: Served, cache: Path) -> None:
    """After one refusal, the problem gets no more build jobs: the reason, for example the size, would be the same."""

    async def scenario() -> None:
        async with PistonCluster([served.base], profile="bundled") as cluster:
            watched = Watched(cluster, lost=9, error=RejectedError("request entity too large"))
            results = await score(watched, cache, [RIGHT, RIGHT + "// another\n"])
            assert [result.verdict for result in results] == [Verdict.AC, Verdict.AC]
            assert watched.kinds.count("build") == 1

    asyncio.run(scenario())


def test_more_tests_than_one_job_holds(served: Served, cache: Path) -> None:
    """The first answer has the compiled program, and later jobs send it."""

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
    """A test that accepts only submitted outputs gets one WA, also if the program does not compile or is in Python."""
    subtask, cases = problem(tests=2)
    method = BatchAndOutput(output_tests=("t1",), output_only_tests=("t1",))
    judged = small_problem(subtasks=(subtask,), tests=cases, method=method, cxx_std="gnu++17")
    python = "print(sum(map(int, input().split())))\n"
    codes = ((RIGHT, Language.CPP), (REFUSED, Language.CPP), (python, Language.PYTHON))

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


def test_a_worker_whose_time_limit_is_too_short_for_build_jobs(served: Served, cache: Path) -> None:
    """If the longest job of a worker is too short for compiling and a test, compiling is a separate job."""

    class Short(Watched):
        def targets(self) -> Sequence[Target]:
            """Targets that allow only short jobs."""
            return [replace(target, max_wall_ms=15_000) for target in super().targets()]

    async def scenario() -> None:
        async with PistonCluster([served.base], profile="bundled") as cluster:
            watched = Short(cluster)
            (result,) = await score(watched, cache, [RIGHT])
            assert result.verdict is Verdict.AC
            assert "build" not in watched.kinds

    asyncio.run(scenario())


def test_the_compiler_cannot_read_test_data(served: Served, cache: Path) -> None:
    """No file of the job is there for a program to include: neither tests nor judge programs."""
    paths = ("t0.in", "../t0.ans", "plan", "/proc/self/fd/5", "checker")
    asked = "".join(f'#if __has_include("{path}")\n#error found {path}\n#endif\n' for path in paths)

    async def scenario() -> None:
        async with PistonCluster([served.base], profile="bundled") as cluster:
            (result,) = await score(cluster, cache, [asked + RIGHT])
            assert result.verdict is Verdict.AC, result.compile.message

    asyncio.run(scenario())
