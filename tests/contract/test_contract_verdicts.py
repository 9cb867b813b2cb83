"""Each sandbox gives the verdicts that the authors of the sample contest state, in both profiles."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import orjson
import pytest

from ioi_eval import sample
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.config import Policy
from ioi_eval.model import (
    Isolation,
    Problem,
    ProblemKey,
    Submission,
    SubmissionResult,
    Subtask,
    TestCase,
    Verdict,
)
from ioi_eval.problems.ioi import load_problems
from ioi_eval.rows import open_source
from ioi_eval.scorer import Scorer
from tests.sample_contest import name_of
from tests.small_problems import small_problem

Entering = Callable[..., Any]
SOLUTIONS = [orjson.loads(line) for line in sample.solutions().read_bytes().splitlines()]

SELECTED = {
    *("berths/model_solution/heap.cpp", "berths/partially_correct/first-fit.cpp", "berths/output_limit/flood.cpp"),
    *("buoys/incorrect/narrow-seconds.cpp", "buoys/compile_error/undeclared.cpp"),
    *("lamps/partially_correct/both-halves.cpp", "lamps/time_limit/waits-for-more.cpp"),
    *("lamps/memory_limit/remembers-all.cpp", "keepers/model_solution/halving.cpp"),
    "keepers/runtime_error/second-keeper.cpp",
}
"""One of each verdict and of each kind of task."""

FEW = {
    *("berths/partially_correct/one-each.cpp", "keepers/incorrect/own-median.cpp"),
    "lamps/model_solution/halving.cpp",
}
"""For the classic profile, where each job may compile everything again, which takes seconds. None is of *buoys*, which
has no header: `test_classic_without_headers` tests such a problem, and a program that does not compile."""


def rows(names: set[str] | None) -> list[dict[str, Any]]:
    """The solutions with these names; all if `names` is `None`."""
    found = [row for row in SOLUTIONS if names is None or name_of(row) in names]
    assert names is None or len(found) == len(names)
    return found


async def judge(
    entering: Entering, profile: str, chosen: Sequence[dict[str, Any]], problems: Any, artifacts: ArtifactStore
) -> list[SubmissionResult]:
    """The results of solutions, judged in all slots of the sandbox."""
    results: dict[str, SubmissionResult] = {}
    waiting = list(chosen)
    async with entering(profile) as sandbox:
        targets = sandbox.targets()
        stock = any(target.has_own_scripts for target in targets)  # they isolate nothing
        least = Isolation.NONE if stock else Isolation.REDUCED
        # such scripts compile with gnu++17 only, and the others take two thirds of the time of gnu++20
        policy = Policy(least_isolation=least, std="gnu++17")
        scorer = Scorer(sandbox, artifacts=artifacts, policy=policy)

        async def work() -> None:
            while waiting:
                row = waiting.pop()
                problem: Problem = problems[ProblemKey(year=row["year"], id=row["problem_id"])]
                submission = Submission(id=name_of(row), problem=problem.key, code=row["code"])
                results[submission.id] = await scorer.score(problem, submission)

        async with asyncio.TaskGroup() as group:
            for _ in range(sum(target.slots for target in targets)):
                group.create_task(work())
    return [results[name_of(row)] for row in chosen]


def disagreements(row: dict[str, Any], result: SubmissionResult) -> list[str]:
    """Descriptions of the judged subtasks whose verdict differs from the author's statement."""
    wrong = []
    for subtask, got in ((subtask.subtask, subtask.verdict) for subtask in result.subtasks):
        stated = row["expected_subtasks"][subtask]
        if got is Verdict.AC if stated == "FAILED" else got != stated:
            wrong.append(f"{result.submission} {subtask}: {stated} stated, {got} judged")
    if len(result.subtasks) < len(row["expected_subtasks"]):
        return wrong
    if result.score != row["expected_total"]:
        why = [t.message for s in result.subtasks for t in s.tests if t.verdict is Verdict.JE][:1] or result.compile
        wrong.append(f"{result.submission}: {row['expected_total']} points stated, {result.score} judged ({why})")
    return wrong


def check(
    entering: Entering,
    profile: str,
    names: set[str] | None,
    blobs: BlobStore,
    artifacts: ArtifactStore,
    *,
    subtasks: int | None = None,
) -> None:
    """Check that these solutions get the stated verdicts, on the first `subtasks` subtasks of each problem."""
    loaded = load_problems(open_source(sample.problems()), open_source(sample.tests()), blobs).problems
    problems = {key: replace(problem, subtasks=problem.subtasks[:subtasks]) for key, problem in loaded.items()}
    chosen = rows(names)
    results = asyncio.run(judge(entering, profile, chosen, problems, artifacts))
    assert [line for row, result in zip(chosen, results, strict=True) for line in disagreements(row, result)] == []


@pytest.mark.parametrize("entering", ["served", "piston", "documented"], indirect=True)
def test_bundled(entering: Entering, blobs: BlobStore, artifacts: ArtifactStore) -> None:
    """A selection with each verdict and task type, with many tests in a job. `tests/test_scorer.py` and
    `tests/cli/test_demo.py` judge all solutions in the embedded sandbox.
    """
    check(entering, "bundled", SELECTED, blobs, artifacts)


def test_scripts_job(entering: Entering, blobs: BlobStore, artifacts: ArtifactStore) -> None:
    """A few solutions on the first subtask, with one test in a job."""
    check(entering, "classic", FEW, blobs, artifacts, subtasks=1)


def test_classic_without_headers(entering: Entering, artifacts: ArtifactStore) -> None:
    """A problem without headers: programs are judged, and a program that includes its header gets CE on all workers."""
    whole = '#include <cstdio>\nint main() { int a; if (std::scanf("%d", &a) == 1) std::printf("%d\\n", 2 * a); }\n'
    programs = {"right": whole, "wrong": whole.replace("2 * a", "a"), "header": f'#include "nile.h"\n{whole}'}
    test = TestCase(name="t", input=b"21\n", answer=b"42\n")
    subtask = Subtask(name="01", points=100.0, tests=("t",))
    problem = small_problem(subtasks=(subtask,), tests={"t": test}, cxx_std="gnu++17")
    chosen = [{"year": 2024, "problem_id": "nile", "label": name, "code": code} for name, code in programs.items()]
    results = asyncio.run(judge(entering, "classic", chosen, {problem.key: problem}, artifacts))
    assert [result.verdict for result in results] == [Verdict.AC, Verdict.WA, Verdict.CE]


@pytest.mark.full
def test_classic_at_length(entering: Entering, blobs: BlobStore, artifacts: ArtifactStore) -> None:
    """The selection with each verdict and task type, on all subtasks."""
    check(entering, "classic", SELECTED, blobs, artifacts)


@pytest.mark.full
@pytest.mark.parametrize("entering", ["served"], indirect=True)
def test_all_solutions_over_http(entering: Entering, blobs: BlobStore, artifacts: ArtifactStore) -> None:
    """All solutions of the sample contest, over HTTP."""
    check(entering, "bundled", None, blobs, artifacts)
