"""Judging with a worker's own scripts: which jobs are repeated, and how."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from pathlib import Path

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.model import (
    Execution,
    Isolation,
    Job,
    Problem,
    SourceFile,
    Stage,
    Submission,
    SubmissionResult,
    Subtask,
    TestCase,
    Verdict,
)
from ioi_eval.sandbox import Target
from ioi_eval.scorer import Scorer
from tests.small_problems import small_problem
from tests.small_targets import small_target

TARGET = small_target(name="here", profile="classic", isolation=Isolation.NONE, has_own_scripts=True)
PROBLEM = small_problem(
    name="Sum",
    year=2026,
    subtasks=(Subtask(name="01", points=100, tests=("a", "b")),),
    tests={name: TestCase(name=name, input=b"1 2\n", answer=b"3\n") for name in "ab"},
    headers=(SourceFile(path="graders/sum.h", content=b"int sum();"),),
    cxx_std="gnu++17",
)
COMPILED = Stage(stdout="Compiled sum\n", stderr="", code=0)
BAD_CHECKER = Stage(stdout="Compiling checker\n", stderr="graders/checker.cpp:1:1: error: expected\n", code=1)
REFUSED = Stage(stdout="Problem name: sum\n", stderr="graders/sum.cpp:1:1: error: expected\n", code=1)
DOUBTFUL = Stage(stdout="Problem name: sum\n", stderr="", code=None, signal="SIGKILL", status="EL")
RIGHT = Stage(stdout="1\n", stderr="", code=0)
LATE = Stage(stdout="0\n", stderr="Time limit exceeded (1.0s)\n", code=0)
NO_SCORE = Stage(stdout="", stderr="", code=1)
ODD_SCORE = Stage(stdout="7\n", stderr="", code=0)


class Scripted:
    """A worker with prepared answers (compile, run). It records which jobs requested the machine alone."""

    def __init__(self, *answers: tuple[Stage, Stage]) -> None:
        self.answers = list(answers)
        self.alone: list[bool] = []

    def targets(self) -> Sequence[Target]:
        """One target."""
        return (TARGET,)

    async def execute(self, job: Job, _: Target) -> Execution:
        """The next answer. The job must contain no script and no runner."""
        assert {"compile", "run", "runner"}.isdisjoint(file.name for file in job.files)
        self.alone.append(job.alone)
        compiled, run = self.answers.pop(0)
        return Execution(run=run, compile=compiled)


def judged(directory: Path, worker: Scripted, problem: Problem = PROBLEM) -> SubmissionResult:
    """The result. All answers must be used."""
    scorer = Scorer(worker, artifacts=ArtifactStore(directory), policy=Policy(least_isolation=Isolation.NONE))
    result = asyncio.run(scorer.score(problem, Submission(id="x", problem=problem.key, code="int main() {}")))
    assert not worker.answers
    return result


def verdicts(result: SubmissionResult) -> list[str]:
    """The verdicts of the tests."""
    return [outcome.verdict.value for outcome in result.subtasks[0].tests]


def test_a_job_for_each_test(tmp_path: Path) -> None:
    """Jobs end after the first zero. A TLE without a measured time is not repeated."""
    worker = Scripted((COMPILED, RIGHT), (COMPILED, RIGHT))
    assert verdicts(judged(tmp_path, worker)) == ["AC", "AC"]
    worker = Scripted((COMPILED, LATE))
    assert verdicts(judged(tmp_path, worker)) == ["TLE", "SKIPPED"]
    assert worker.alone == [False]


def test_a_compilation_over_a_limit_is_repeated_alone(tmp_path: Path) -> None:
    """It counts only after the repetition. A compile error is not repeated."""
    worker = Scripted((DOUBTFUL, DOUBTFUL), (COMPILED, RIGHT), (COMPILED, RIGHT))
    assert judged(tmp_path, worker).score == 100.0
    assert worker.alone == [False, True, False]
    assert judged(tmp_path, Scripted((REFUSED, REFUSED))).verdict is Verdict.CE


def test_a_program_that_does_not_compile_any_more(tmp_path: Path) -> None:
    """A program that compiled before and does not now is a fault of the machine. It is repeated, and after three
    failures it is JE.
    """
    worker = Scripted((COMPILED, RIGHT), (REFUSED, REFUSED), (COMPILED, RIGHT))
    assert judged(tmp_path, worker).score == 100.0
    result = judged(tmp_path, Scripted((COMPILED, RIGHT), *[(REFUSED, REFUSED)] * 3))
    assert (verdicts(result), result.score) == (["AC", "JE"], None)


def test_a_checker_that_does_not_compile_any_more(tmp_path: Path) -> None:
    """It is final only if it never compiled: else the machine is at fault."""
    worker = Scripted((COMPILED, RIGHT), (BAD_CHECKER, BAD_CHECKER), (COMPILED, RIGHT))
    assert judged(tmp_path, worker).score == 100.0
    result = judged(tmp_path, Scripted((BAD_CHECKER, BAD_CHECKER)))
    assert (result.verdict, result.compile.final) == (Verdict.JE, True)


def test_a_failing_checker_is_final(tmp_path: Path) -> None:
    """The program is not run again. An answer without information is repeated, and is not final."""
    result = judged(tmp_path, Scripted((COMPILED, RIGHT), (COMPILED, ODD_SCORE)))
    assert (verdicts(result), result.score, result.subtasks[0].tests[1].final) == (["AC", "JE"], None, True)
    result = judged(tmp_path, Scripted((COMPILED, RIGHT), *[(COMPILED, NO_SCORE)] * 3))
    assert (verdicts(result), result.score, result.subtasks[0].tests[1].final) == (["AC", "JE"], None, False)


def test_a_first_test_without_a_score(tmp_path: Path) -> None:
    """The program has compiled, so only that test is JE, and the others are judged: a zero among them counts."""
    result = judged(tmp_path, Scripted(*[(COMPILED, NO_SCORE)] * 3, (COMPILED, LATE)))
    assert (verdicts(result), result.score) == (["JE", "TLE"], 0.0)
    result = judged(tmp_path, Scripted(*[(COMPILED, NO_SCORE)] * 3, (COMPILED, RIGHT)))
    assert (verdicts(result), result.score) == (["JE", "AC"], None)
    worker = Scripted((COMPILED, NO_SCORE), (REFUSED, REFUSED), (COMPILED, RIGHT), (COMPILED, RIGHT))
    assert judged(tmp_path, worker).score == 100.0


def test_a_worker_that_never_gives_a_score(tmp_path: Path) -> None:
    """Three tests are tried, not all: each attempt compiles the program again."""
    names = "abcdefgh"
    problem = dataclasses.replace(
        PROBLEM,
        subtasks=(Subtask(name="01", points=100, tests=tuple(names)),),
        tests={name: TestCase(name=name, input=b"1 2\n", answer=b"3\n") for name in names},
    )
    result = judged(tmp_path, Scripted(*[(COMPILED, NO_SCORE)] * 9), problem)
    assert (result.verdict, result.score) == (Verdict.JE, None)
