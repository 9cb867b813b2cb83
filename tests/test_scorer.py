"""A submission is scored from source to points, on real input: the sample contest's solutions get their authors'
verdicts.

As root and as an unprivileged user, in full and in reduced isolation.
"""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from ioi_eval import sample
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import CompileLimits, Policy
from ioi_eval.errors import IsolationError, SetupError
from ioi_eval.model import (
    Batch,
    Isolation,
    JudgeProgram,
    ProblemKey,
    SourceFile,
    Submission,
    SubmissionResult,
    Subtask,
    TaskType,
    Verdict,
)
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from tests import unprivileged
from tests.full_isolation import require_full_isolation
from tests.sample_contest import SOLUTIONS, name_of, problems, solution
from tests.shared_work import copy_cache
from tests.small_problems import small_problem

SAMPLED = [
    *("berths/partially_correct/first-fit.cpp", "berths/memory_limit/timetable.cpp", "berths/output_limit/flood.cpp"),
    *("buoys/incorrect/forgets-batteries.cpp", "buoys/compile_error/undeclared.cpp"),
    *("lamps/partially_correct/both-halves.cpp", "lamps/runtime_error/famous-last-words.cpp"),
    *("lamps/time_limit/waits-for-more.cpp", "keepers/model_solution/halving.cpp"),
    *("keepers/incorrect/shared-notebook.cpp", "keepers/runtime_error/second-keeper.cpp"),
]
"""One solution of each kind, for the ways that are not the common one."""

USERS = ["me", pytest.param("unprivileged", marks=pytest.mark.root)]


def in_the_dump() -> set[str]:
    """Solutions that are also programs of the sample's dump, with the same expected results. The demo's test judges
    them.
    """
    rows = [orjson.loads(line) for line in sample.dump_expected().read_bytes().splitlines()]
    keys = ("problem_id", "expected_subtasks", "expected_total")
    stated = [(row["solution"], *(row[key] for key in keys)) for row in rows]
    return {name_of(row) for row in SOLUTIONS if (row["label"], *(row[key] for key in keys)) in stated}


async def score_all(cache: Path, isolation: Isolation, labels: list[str], std: str | None) -> list[SubmissionResult]:
    """Score solutions, two at a time; `std` instead of the contest's C++20."""
    known = problems(cache)
    results: dict[str, SubmissionResult] = {}
    waiting = list(labels)
    async with LocalSandbox(slots=2, strongest=isolation) as sandbox:
        scorer = Scorer(sandbox, artifacts=ArtifactStore(cache), policy=Policy(std=std))

        async def work() -> None:
            while waiting:
                submission = solution(waiting.pop())
                results[submission.id] = await scorer.score(known[submission.problem], submission)

        async with asyncio.TaskGroup() as group:
            group.create_task(work())
            group.create_task(work())
    return [results[label] for label in labels]


def run(cache: Path, isolation: Isolation, labels: list[str], std: str | None = "gnu++17") -> list[SubmissionResult]:
    """`score_all` for synchronous code and for a forked process; in C++17, which compiles in two thirds of the time."""
    return asyncio.run(score_all(cache, isolation, labels, std))


@pytest.fixture(scope="module")
def unprivileged_cache(cache_with_runner: Path) -> Iterator[Path]:
    """A cache of the unprivileged user, with the rows of the contest."""
    with unprivileged.private_directory() as directory:
        for path in (sample.problems(), sample.tests()):
            shutil.copy(path, directory)  # the user may be unable to enter the checkout, as in /root
        yield copy_cache(cache_with_runner, directory, owner=unprivileged.UID)


@pytest.mark.parametrize("isolation", [Isolation.FULL, Isolation.REDUCED], ids=str)
@pytest.mark.parametrize("user", USERS)
def test_sample_solutions_get_their_stated_verdicts(
    user: str, isolation: Isolation, cache: Path, request: pytest.FixtureRequest
) -> None:
    """Every subtask's verdict and every total, for each user and each isolation level.

    For the user who runs the tests, in full isolation, solutions that are also in the sample's dump are left out:
    `tests/cli/test_demo.py` judges them. Both compile as the contest's C++20. The other cases judge a sample of the
    solutions.
    """
    if isolation is Isolation.FULL:
        require_full_isolation()
    left_out = in_the_dump() if isolation is Isolation.FULL and user == "me" else {name_of(row) for row in SOLUTIONS}
    rows = [row for row in SOLUTIONS if name_of(row) in SAMPLED or name_of(row) not in left_out]
    labels = [name_of(row) for row in rows]
    if user == "unprivileged":
        theirs = request.getfixturevalue("unprivileged_cache")
        results = unprivileged.call(run, theirs, isolation, labels)
    else:
        results = run(cache, isolation, labels, None if isolation is Isolation.FULL else "gnu++17")
    wrong = []
    for row, result in zip(rows, results, strict=True):
        got = {subtask.subtask: subtask.verdict for subtask in result.subtasks}
        for subtask, expected in row["expected_subtasks"].items():
            agrees = got[subtask] is not Verdict.AC if expected == "FAILED" else got[subtask] == expected
            if not agrees:
                wrong.append(f"{result.submission} {subtask}: {expected} stated, {got[subtask]} judged")
        if result.score != row["expected_total"]:
            wrong.append(f"{result.submission}: {row['expected_total']} points stated, {result.score} judged")
    assert wrong == []
    ran = [result for result in results if result.compile.verdict is None]
    assert {result.isolation for result in ran} == {isolation}


def test_compiler_that_does_not_work_in_a_box_is_no_compile_error(cache: Path, tmp_path: Path) -> None:
    """A compiler that is not visible in the box raises an error that says so. The submissions get no CE."""
    wrapper = tmp_path / "g++-elsewhere"
    wrapper.write_text('#!/bin/sh\nexec g++ "$@"\n')
    wrapper.chmod(0o755)
    tmp_path.chmod(0o755)

    async def scenario() -> None:
        submission = solution("buoys/model_solution/bisection.cpp")
        problem = problems(cache)[submission.problem]
        async with LocalSandbox(slots=1, compiler=str(wrapper)) as sandbox:
            await Scorer(sandbox, artifacts=ArtifactStore(cache)).score(problem, submission)

    with pytest.raises(
        SetupError, match=r"does not work inside a box|does not compile on this target|cannot be shown to boxes"
    ):
        asyncio.run(scenario())


def score_to_buoys(cache: Path, *, policy: Policy | None = None, **submitted: Any) -> SubmissionResult:
    """Score a submission to buoys with these fields."""

    async def scenario() -> SubmissionResult:
        problem = problems(cache)[ProblemKey(year=sample.YEAR, id="buoys")]
        async with LocalSandbox(slots=1) as sandbox:
            scorer = Scorer(sandbox, artifacts=ArtifactStore(cache), policy=policy)
            return await scorer.score(problem, Submission(id="s", problem=problem.key, **submitted))

    return asyncio.run(scenario())


def test_no_code_is_zero_and_runs_nothing(cache: Path) -> None:
    """The verdict is NC, with 0 points in every subtask."""
    result = score_to_buoys(cache, code=None, extraction="none")
    assert (result.verdict, result.score) == (Verdict.NC, 0.0)
    assert {subtask.verdict for subtask in result.subtasks} == {Verdict.NC}


def test_program_over_the_size_limit_is_a_compile_error(cache: Path) -> None:
    """Code that is refused before compiling is CE with the reason, as on the official server, and not NC."""
    result = score_to_buoys(cache, code=None, refused="50 MB of code; at most 100 kB")
    assert (result.verdict, result.score) == (Verdict.CE, 0.0)
    assert "at most 100 kB" in result.compile.message


def test_compile_bomb_is_a_compile_error_that_names_the_limit(cache: Path) -> None:
    """A program that the compiler cannot finish within the limits is CE, after one repetition alone on the machine."""
    bomb = "template<int D, class... P> struct T { T<D - 1, P..., int> a; T<D - 1, P..., char> b; };\n"
    bomb += "template<class... P> struct T<0, P...> {};\nT<30> bomb;\nint main() {}\n"
    result = score_to_buoys(cache, policy=Policy(compile=CompileLimits(cpu_s=2.0)), code=bomb)
    assert (result.verdict, result.score) == (Verdict.CE, 0.0)
    assert "over 2 s of CPU time" in result.compile.message or "MiB of memory" in result.compile.message


def test_unavailable_isolation_is_an_error() -> None:
    """Full isolation is requested where only reduced is available. Entering the sandbox raises an error with the
    reason.
    """

    async def enter() -> None:
        async with LocalSandbox(least_isolation=Isolation.FULL, strongest=Isolation.REDUCED):
            raise AssertionError("entered")

    with pytest.raises(IsolationError, match="not available"):
        asyncio.run(enter())


def test_the_sample_has_batch_and_communication_tasks() -> None:
    """The tests above use this contest, so they cover both task types."""
    kinds = {orjson.loads(line)["task_type"] for line in sample.problems().read_bytes().splitlines()}
    assert kinds == {TaskType.BATCH.value, TaskType.COMMUNICATION.value}


def test_scores_do_not_depend_on_the_size_of_bundles(cache: Path) -> None:
    """One test a job, three, or all: the results are equal."""
    label = "lamps/partially_correct/first-and-count.cpp"

    async def scenario() -> list[list[tuple[Any, ...]]]:
        submission = solution(label)
        problem = problems(cache)[submission.problem]
        found = []
        async with LocalSandbox(slots=1) as sandbox:
            for size in (1, 3, 64):
                scorer = Scorer(sandbox, artifacts=ArtifactStore(cache), bundle_tests=size)
                result = await scorer.score(problem, submission)
                found.append(
                    [
                        (subtask.subtask, subtask.verdict, subtask.score, outcome.test, outcome.verdict, outcome.score)
                        for subtask in result.subtasks
                        for outcome in subtask.tests
                    ]
                )
        return found

    one, three, all_at_once = asyncio.run(scenario())
    assert one == three == all_at_once


def test_nothing_is_left_behind(cache: Path) -> None:
    """After judging, this process has the same open descriptors and children as before."""

    def state() -> tuple[int, str]:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
        return len(os.listdir("/proc/self/fd")), children

    before = state()
    run(cache, Isolation.FULL, ["lamps/runtime_error/last-lamp.cpp"])
    assert state() == before


def test_a_scorer_keeps_no_problems(cache: Path) -> None:
    """A reward function may make the problem of each row anew. The tests of earlier ones do not stay in memory."""

    async def is_kept() -> bool:
        async with LocalSandbox() as sandbox:
            scorer = Scorer(sandbox, artifacts=ArtifactStore(cache), policy=Policy(std="gnu++17"))
            problem = small_problem(subtasks=(Subtask(name="01", points=100, tests=("a",)),))
            submission = Submission(id="s", problem=problem.key, code="int main() {}")
            assert (await scorer.score(problem, submission)).verdict is Verdict.AC
            reference = weakref.ref(problem)
            del problem
            gc.collect()
            return reference() is not None

    assert not asyncio.run(is_kept())


GRADER = """
#include <cstdio>
#include "double/factor.h"
#include "nile.h"
int main() { printf("%d", kFactor * f()); }
"""
CHECKER = """
#include <cstdio>
#include "factor.h"
#include "triple/factor.h"
int main() { puts(kOne + kFactor == 4 ? "1" : "0"); }
"""


def test_headers_in_directories(cache: Path) -> None:
    """Grader and checker include headers from directories below their own; two of the same name are not mixed up."""

    def file(path: str, text: str) -> SourceFile:
        return SourceFile(path=path, content=text.encode())

    headers = (file("graders/nile.h", "int f();"), file("graders/double/factor.h", "const int kFactor = 2;"))
    checker = JudgeProgram(
        source=file("checker/checker.cpp", CHECKER),
        files=(
            file("checker/factor.h", "const int kOne = 1;"),
            file("checker/triple/factor.h", "const int kFactor = 3;"),
        ),
    )
    problem = small_problem(
        subtasks=(Subtask(name="all", points=100, tests=("a",)),),
        linked=(file("graders/grader.cpp", GRADER),),
        headers=headers,
        method=Batch(check=checker),
    )
    code = '#include "double/factor.h"\n#include "nile.h"\nint f() { return kFactor; }'

    async def score() -> SubmissionResult:
        async with LocalSandbox() as sandbox:
            mine = Submission(id="mine", problem=problem.key, code=code)
            return await Scorer(sandbox, artifacts=ArtifactStore(cache)).score(problem, mine)

    result = asyncio.run(score())
    assert (result.verdict, result.score) == (Verdict.AC, 100)
