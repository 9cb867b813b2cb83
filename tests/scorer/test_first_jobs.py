"""The first job of a submission on this machine also compiles the program, unless slots are idle."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from ioi_eval import ArtifactStore, LocalSandbox, Scorer, Submission, SubmissionResult
from ioi_eval.model import Subtask, TestCase
from tests.small_problems import small_problem
from tests.watched_jobs import Watched

RIGHT = '#include <cstdio>\nint main() { long a; scanf("%ld", &a); printf("%ld\\n", 2 * a); }\n'
PROGRAMS = (
    RIGHT,
    RIGHT.replace("2 * a", "2 * a + (a == 4)"),
    RIGHT.replace("printf", "if (a == 3) __builtin_trap(); printf"),
    RIGHT.replace("printf", "if (a == 2) for (volatile int i = 0;;) i = i + 1; printf"),
    RIGHT.replace("main() {", "main( {"),
)
LATE = "#include <ctime>\n" + RIGHT.replace("printf", "while (std::clock() < 0.27 * CLOCKS_PER_SEC) {} printf")
TESTS = {f"t{n}": TestCase(name=f"t{n}", input=b"%d\n" % n, answer=b"%d\n" % (2 * n)) for n in range(6)}
SUBTASK = Subtask(name="all", points=100, tests=tuple(TESTS))
PROBLEM = small_problem(subtasks=(SUBTASK,), tests=TESTS, time_limit_s=0.2, cxx_std="gnu++17")


def outcome_without_times(result: SubmissionResult) -> Sequence[object]:
    """A submission's result without times."""
    tests = [(test.test, test.verdict, test.score, test.message) for each in result.subtasks for test in each.tests]
    return result.verdict, result.score, result.compile.verdict, result.compile.message, tests


def judged(cache: Path, *, slots: int, programs: Sequence[str] = PROGRAMS) -> tuple[list[Sequence[object]], list[str]]:
    """The results of all programs, scored one after another, and the kinds of all jobs."""

    async def scenario() -> tuple[list[Sequence[object]], list[str]]:
        async with LocalSandbox(slots=slots) as sandbox:
            watched = Watched(sandbox)
            scorer = Scorer(watched, artifacts=ArtifactStore(cache))
            submissions = [Submission(id=str(n), problem=PROBLEM.key, code=code) for n, code in enumerate(programs)]
            results = [await scorer.score(PROBLEM, submission) for submission in submissions]
            return [outcome_without_times(result) for result in results], watched.kinds

    return asyncio.run(scenario())


def test_one_job_compiles_and_runs_if_no_slot_is_idle(cache: Path) -> None:
    """The results equal those of a separate compilation. The known good program is compiled once a run."""
    busy, kinds = judged(cache, slots=1)
    idle, kinds_if_idle = judged(cache, slots=2)
    assert busy == idle
    assert [kind for kind in kinds if kind != "scripts"] == [*["build"] * len(PROGRAMS), "compile"]
    assert "build" not in kinds_if_idle


def test_a_repeated_test_needs_no_second_compilation(cache: Path) -> None:
    """The compiled program was returned by the first job. Only the repetition's time counts."""
    _, kinds = judged(cache, slots=1, programs=[LATE])
    assert [kind for kind in kinds if kind != "scripts"][:2] == ["build", "run"]
    assert "compile" not in kinds
    assert kinds.count("build") == 1
