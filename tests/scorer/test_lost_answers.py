"""Results if jobs fail, answers are cut, tests are late, or checkers do not work."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.errors import SandboxError, TransportError, UnavailableError
from ioi_eval.model import Batch, Execution, Job, JudgeProgram, SourceFile, Stage, SubmissionResult, Verdict
from ioi_eval.sandbox import Target
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from tests.sample_contest import problems, solution


class Scripted:
    """A sandbox that passes jobs to a real one, except for the run jobs that its script handles."""

    def __init__(self, inner: LocalSandbox, script: Any) -> None:
        self.inner, self.script, self.runs = inner, script, 0
        self.alone: list[int] = []

    def targets(self) -> Any:
        """The targets of the real sandbox."""
        return self.inner.targets()

    async def execute(self, job: Job, target: Target) -> Execution:
        """Do what the script says for this run job, which may also compile. Compile jobs are passed on."""
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
    """The execution with the first half of its output."""
    stage: Stage = execution.run
    return Execution(run=replace(stage, stdout=stage.stdout[: len(stage.stdout) // 2]))


def score_scripted(cache: Path, label: str, script: Any, **changes: Any) -> tuple[SubmissionResult, int]:
    """Score one solution on a scripted sandbox. Returns the result and the number of run jobs."""

    async def scenario() -> tuple[SubmissionResult, int]:
        submission = solution(label)
        problem = replace(problems(cache)[submission.problem], **changes)
        async with LocalSandbox(slots=1) as inner:
            sandbox = Scripted(inner, script)
            result = await Scorer(sandbox, artifacts=ArtifactStore(cache)).score(problem, submission)
            return result, sandbox.runs

    return asyncio.run(scenario())


def test_lost_sandbox_is_a_judge_error_and_never_a_score(cache: Path) -> None:
    """If every run job fails, the result has no score, is not final, and gives the reason."""
    result, runs = score_scripted(cache, "buoys/model_solution/bisection.cpp", lambda _: TransportError("cut cable"))
    assert (result.verdict, result.score) == (Verdict.JE, None)
    outcome = result.subtasks[0].tests[0]
    assert outcome.verdict is Verdict.JE
    assert not outcome.final
    assert "cut cable" in outcome.message
    assert runs > 1, "a transient failure is worth another try"


def test_after_a_cut_answer_the_tests_are_run_in_halves(cache: Path) -> None:
    """The end of the first answer is lost, so nothing of it counts. One half of its tests is run, then the other."""

    result, runs = score_scripted(
        cache, "buoys/model_solution/bisection.cpp", lambda number: cut if number == 1 else None
    )
    assert (result.verdict, result.score) == (Verdict.AC, 100.0)
    assert 3 <= runs <= 5


def test_a_cut_answer_does_not_shrink_the_jobs_of_later_submissions(cache: Path) -> None:
    """Its end was lost by chance, or this program is the cause: what a server allows was measured before."""

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


def test_rejected_job_is_not_repeated(cache: Path) -> None:
    """A job that a server refuses for good is JE at once."""
    result, runs = score_scripted(cache, "buoys/model_solution/bisection.cpp", lambda _: SandboxError("no such thing"))
    assert result.verdict is Verdict.JE
    tests = {outcome.test for subtask in result.subtasks for outcome in subtask.tests}
    assert runs == 2 + (len(tests) > 8), "the job that compiles too, the first eight tests once, and what is left once"


def score_late(cache: Path, code: str) -> tuple[SubmissionResult, list[int]]:
    """Score a program for buoys with a limit of 0.3 s. Returns the result and the number of tests of each job that ran
    alone.
    """

    async def scenario() -> tuple[SubmissionResult, list[int]]:
        submission = replace(solution("buoys/model_solution/bisection.cpp"), code=code)
        problem = replace(problems(cache)[submission.problem], time_limit_s=0.3)
        async with LocalSandbox(slots=1) as inner:
            sandbox = Scripted(inner, lambda _: None)
            result = await Scorer(sandbox, artifacts=ArtifactStore(cache)).score(problem, submission)
            return result, sandbox.alone

    return asyncio.run(scenario())


def test_deciding_late_tests_share_one_job_alone(cache: Path) -> None:
    """The first test of each subtask is late in both runs. All of them are repeated in one job."""
    wait = "#include <ctime>\nstatic struct Wait { Wait() { while (clock() < CLOCKS_PER_SEC * 32 / 100) {} } } wait_;\n"
    result, alone = score_late(cache, wait + str(solution("buoys/model_solution/bisection.cpp").code))
    firsts = {subtask.tests[0].test: subtask.tests[0] for subtask in result.subtasks}
    assert {(one.verdict, one.reran, one.limit) for one in firsts.values()} == {(Verdict.TLE, True, "cpu")}
    assert len(firsts) > 1
    assert alone[0] == len(firsts)


def test_a_program_that_uses_its_time_and_sleeps_is_not_repeated(cache: Path) -> None:
    """A program could do this when it sees that its guess is wrong. It is not run again, even near the limit."""
    burns = "while (clock() < CLOCKS_PER_SEC * 285 / 1000) {}"
    result, alone = score_late(cache, f"#include <ctime>\n#include <unistd.h>\nint main() {{ {burns} pause(); }}")
    assert {subtask.tests[0].limit for subtask in result.subtasks} == {"idle"}
    assert result.subtasks[0].tests[0].near_limit
    assert alone == []


def checked_by(checker: str) -> Batch:
    """Batch with this checker."""
    return Batch(check=JudgeProgram(source=SourceFile(path="checker/checker.cpp", content=checker.encode())))


def test_broken_checker_is_named_and_final(cache: Path) -> None:
    """A checker that fails is a final JE without score."""
    broken = checked_by("int main() { return 0; }\n")
    result, _ = score_scripted(cache, "berths/model_solution/heap.cpp", lambda _: None, method=broken)
    assert (result.verdict, result.score) == (Verdict.JE, None)
    faults = [outcome for subtask in result.subtasks for outcome in subtask.tests if outcome.verdict is Verdict.JE]
    assert faults
    assert all(outcome.final and outcome.failed_program == "checker" for outcome in faults)


def test_checker_that_does_not_compile_is_a_final_je(cache: Path) -> None:
    """The message is the compiler's. The verdict is not CE."""
    broken = checked_by("int main() { return nothing; }\n")
    result, runs = score_scripted(cache, "berths/model_solution/heap.cpp", lambda _: None, method=broken)
    assert (result.verdict, result.score, runs) == (Verdict.JE, None, 0)
    assert result.compile.final
    assert "checker does not compile" in result.compile.message
    assert "nothing" in result.compile.message


def test_no_endpoint_left_ends_the_run(cache: Path) -> None:
    """It is not a failure of this submission, and the next one would fail in the same way."""
    with pytest.raises(UnavailableError):
        score_scripted(cache, "buoys/model_solution/bisection.cpp", lambda _: UnavailableError("no endpoint left"))
