"""Jobs that fail, answers that are cut, tests that are late, checkers that do not work: what the result says."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.errors import SandboxError, TransportError, UnavailableError
from ioi_eval.model import Execution, Job, SourceFile, Stage, SubmissionResult, Verdict
from ioi_eval.sandbox import Target
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from tests.sample_contest import problems, solution


class Scripted:
    """A sandbox that passes jobs on to a real one, until its script says otherwise for the n-th run job."""

    def __init__(self, inner: LocalSandbox, script: Any) -> None:
        self.inner, self.script, self.runs = inner, script, 0
        self.alone: list[int] = []

    def targets(self) -> Any:
        """The real one's."""
        return self.inner.targets()

    async def execute(self, job: Job, target: Target) -> Execution:
        """Do what the script says about this run job, which may compile too; compile jobs are passed on."""
        if not any(file.name in ("program", "steps") for file in job.files):
            return await self.inner.execute(job, target)
        self.runs += 1
        plan = next(file.content for file in job.files if file.name == "plan")
        assert isinstance(plan, bytes)
        self.alone += [plan.count(b"\ntest ")] if job.alone else []
        change = self.script(self.runs)
        if isinstance(change, Exception):
            raise change
        execution = await self.inner.execute(job, target)
        return change(execution) if change else execution


def cut(execution: Execution) -> Execution:
    """Its answer without the second half."""
    stage: Stage = execution.run
    return Execution(run=replace(stage, stdout=stage.stdout[: len(stage.stdout) // 2]))


def score_scripted(cache: Path, label: str, script: Any, **changes: Any) -> tuple[SubmissionResult, int]:
    """Score one solution on a scripted sandbox; gives the result and how many run jobs it took."""

    async def scenario() -> tuple[SubmissionResult, int]:
        submission = solution(label)
        problem = replace(problems(cache)[submission.problem], **changes)
        async with LocalSandbox(slots=1) as inner:
            sandbox = Scripted(inner, script)
            result = await Scorer(sandbox, artifacts=ArtifactStore(cache)).score(problem, submission)
            return result, sandbox.runs

    return asyncio.run(scenario())


def test_lost_sandbox_is_a_judge_error_and_never_a_score(cache: Path) -> None:
    """If every run job fails, the result has no score, is not final, and says why."""
    result, runs = score_scripted(cache, "buoys/model_solution/bisection.cpp", lambda _: TransportError("cut cable"))
    assert (result.verdict, result.score) == (Verdict.JE, None)
    outcome = result.subtasks[0].tests[0]
    assert outcome.verdict is Verdict.JE
    assert not outcome.final
    assert "cut cable" in outcome.message
    assert runs > 1, "a transient failure is worth another try"


def test_answer_that_was_cut_is_asked_for_again_in_halves(cache: Path) -> None:
    """The tail of the first answer is lost: half of its tests are asked for, then the others; nothing of it counts."""

    result, runs = score_scripted(
        cache, "buoys/model_solution/bisection.cpp", lambda number: cut if number == 1 else None
    )
    assert (result.verdict, result.score) == (Verdict.AC, 100.0)
    assert 3 <= runs <= 5


def test_a_compilation_whose_answer_is_cut_does_not_shrink_other_jobs(cache: Path) -> None:
    """The compiler, or the program that came back, may be the cause: a submission must not slow down the others."""

    async def scenario() -> list[int]:
        submission = solution("buoys/model_solution/bisection.cpp")
        problem, runs = problems(cache)[submission.problem], [0]
        async with LocalSandbox(slots=1) as inner:
            sandbox = Scripted(inner, lambda number: cut if number == 1 else None)
            scorer = Scorer(sandbox, artifacts=ArtifactStore(cache))
            for _ in range(2):
                result = await scorer.score(problem, submission)
                assert (result.verdict, result.score) == (Verdict.AC, 100.0)
                runs.append(sandbox.runs)
        return [now - before for before, now in itertools.pairwise(runs)]

    first, second = asyncio.run(scenario())
    assert (first > 1, second) == (True, 1)


def test_a_size_whose_answers_are_cut_is_tried_once(cache: Path) -> None:
    """Where answers are cut above two tests, all other jobs have two; the next submission's from the first one on."""

    def cut_above_two(execution: Execution) -> Execution:
        return cut(execution) if execution.run.stdout.count('"test"') > 2 else execution

    async def scenario() -> tuple[SubmissionResult, list[int]]:
        submission = solution("buoys/model_solution/bisection.cpp")
        problem, runs = problems(cache)[submission.problem], [0]
        async with LocalSandbox(slots=1) as inner:
            sandbox = Scripted(inner, lambda _: cut_above_two)
            scorer = Scorer(sandbox, artifacts=ArtifactStore(cache))
            for _ in range(2):
                result = await scorer.score(problem, submission)
                assert (result.verdict, result.score) == (Verdict.AC, 100.0)
                runs.append(sandbox.runs)
        return result, [now - before for before, now in itertools.pairwise(runs)]

    result, runs = asyncio.run(scenario())
    tests = {outcome.test for subtask in result.subtasks for outcome in subtask.tests}
    pairs = -(-len(tests) // 2)
    assert runs == [3 + pairs, pairs], "all, which were compiled and run, the first eight and the first four were cut"


def test_rejected_job_is_not_repeated(cache: Path) -> None:
    """What a server refuses for good becomes JE at once."""
    result, runs = score_scripted(cache, "buoys/model_solution/bisection.cpp", lambda _: SandboxError("no such thing"))
    assert result.verdict is Verdict.JE
    tests = {outcome.test for subtask in result.subtasks for outcome in subtask.tests}
    assert runs == 2 + (len(tests) > 8), "the job that compiles too, the first eight tests once, and what is left once"


def score_late(cache: Path, code: str) -> tuple[SubmissionResult, list[int]]:
    """Score a program for buoys under 0.3 s; gives the result and how many tests each job was given that ran alone."""

    async def scenario() -> tuple[SubmissionResult, list[int]]:
        submission = replace(solution("buoys/model_solution/bisection.cpp"), code=code)
        problem = replace(problems(cache)[submission.problem], time_limit_s=0.3)
        async with LocalSandbox(slots=1) as inner:
            sandbox = Scripted(inner, lambda _: None)
            result = await Scorer(sandbox, artifacts=ArtifactStore(cache)).score(problem, submission)
            return result, sandbox.alone

    return asyncio.run(scenario())


def test_late_tests_that_decide_share_the_time_alone(cache: Path) -> None:
    """The first test of each subtask is late, in the first run and alone: one job on an idle machine for them all."""
    wait = "#include <ctime>\nstatic struct Wait { Wait() { while (clock() < CLOCKS_PER_SEC * 32 / 100) {} } } wait_;\n"
    result, alone = score_late(cache, wait + str(solution("buoys/model_solution/bisection.cpp").code))
    firsts = {subtask.tests[0].test: subtask.tests[0] for subtask in result.subtasks}
    assert {(one.verdict, one.reran, one.limit) for one in firsts.values()} == {(Verdict.TLE, True, "cpu")}
    assert len(firsts) > 1
    assert alone[0] == len(firsts)


def test_who_burns_his_time_and_sleeps_has_no_second_guess(cache: Path) -> None:
    """A program that sees its guess fail can do so; close to the limit or not, it is not run again."""
    burns = "while (clock() < CLOCKS_PER_SEC * 285 / 1000) {}"
    result, alone = score_late(cache, f"#include <ctime>\n#include <unistd.h>\nint main() {{ {burns} pause(); }}")
    assert {subtask.tests[0].limit for subtask in result.subtasks} == {"idle"}
    assert result.subtasks[0].tests[0].near_limit
    assert alone == []


def test_broken_checker_is_named_and_final(cache: Path) -> None:
    """A checker that gives no score, twice, each time in a new box, is final JE; nobody gets points or zero for it."""
    broken = SourceFile(path="checker/checker.cpp", content=b"int main() { return 0; }\n")
    result, _ = score_scripted(cache, "berths/model_solution/heap.cpp", lambda _: None, checker=broken)
    assert (result.verdict, result.score) == (Verdict.JE, None)
    faults = [outcome for subtask in result.subtasks for outcome in subtask.tests if outcome.verdict is Verdict.JE]
    assert faults
    assert all(outcome.final and outcome.failed_program == "checker" for outcome in faults)


def test_checker_that_does_not_compile_is_the_problems_fault(cache: Path) -> None:
    """JE, final, with the compiler's words; not CE."""
    broken = SourceFile(path="checker/checker.cpp", content=b"int main() { return nothing; }\n")
    result, runs = score_scripted(cache, "berths/model_solution/heap.cpp", lambda _: None, checker=broken)
    assert (result.verdict, result.score, runs) == (Verdict.JE, None, 0)
    assert result.compile.final
    assert "checker does not compile" in result.compile.message
    assert "nothing" in result.compile.message


def test_no_endpoint_left_ends_the_run(cache: Path) -> None:
    """It is not this submission's failure, and the next one would meet it too."""
    with pytest.raises(UnavailableError):
        score_scripted(cache, "buoys/model_solution/bisection.cpp", lambda _: UnavailableError("no endpoint left"))
