"""Some of a target's workers may lack their compiler, or a part of it, from the beginning: the others compile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import BrokenTargetError, TargetLostError, TransientError
from ioi_eval.jobs.recipes import known_good_recipe
from ioi_eval.model import Execution, Job, JobKind, JudgeProgram, SourceFile, Stage, Submission, Subtask
from ioi_eval.programs import Builder, ProblemProgramError
from ioi_eval.sandbox import Target
from ioi_eval.scorer import Scorer
from tests.box_answers import answer_text, built, not_started, plan_of, step_answer
from tests.small_problems import small_problem
from tests.small_targets import IdleSandbox, small_target

STEP = {"code": 0, "signal": 0, "limit": None, "killed": 0, "cpu_us": 1, "wall_us": 1, "memory_bytes": 1, "output": ""}


def refuses(output: str) -> Callable[[Job], Stage]:
    """The answer of a compiler that works, but does not compile the checker (the last two steps of a recipe)."""

    def answer(job: Job) -> Stage:
        plan = plan_of(job)
        steps = [{**STEP, "step": number} for number in range(plan.count("\nstep ") - 1)]
        steps[-1] |= {"code": 1, "output": output}
        return Stage(stdout=answer_text(steps, plan.split("\n")[1].split()[1]), stderr="", code=0)

    return answer


LACKS = step_answer(code=1, output="g++: fatal error: cannot execute 'cc1plus': execvp: No such file or directory\n")
NO_VECTOR = "checker.cpp:1:10: fatal error: vector: No such file or directory\n"
COMPILED = step_answer("checker")
TARGET = small_target(name="cluster", is_remote=True)
CHECKER = JudgeProgram(source=SourceFile(path="checker/checker.cpp", content=b""))


class Workers(IdleSandbox):
    """Workers of one kind. A job goes to the first one that is not known to be useless, or else to the first.

    Args:
        count: how many there are.
        broken: how many of them do not work; these get jobs first.
        lacks: what the broken ones answer.
        checker: what the others answer if a checker is compiled; by default that it was.
    """

    def __init__(
        self,
        count: int,
        broken: int,
        *,
        lacks: Callable[[Job], Stage] = LACKS,
        checker: Callable[[Job], Stage] = COMPILED,
    ) -> None:
        super().__init__(TARGET)
        self._count, self._broken = count, broken
        self._lacks, self._checker = lacks, checker
        self.useless: set[str] = set()

    def break_all(self) -> None:
        """From now on, none works."""
        self._broken = self._count

    async def execute(self, job: Job, _: Target) -> Execution:
        """The answer of a worker to a compile job."""
        assert job.retries is not None
        self.useless |= set(job.retries.useless)
        job.retries.useless.clear()
        number = next((number for number in range(self._count) if str(number) not in self.useless), 0)
        job.retries.tried.append(str(number))
        if number < self._broken:
            return Execution(run=self._lacks(job))
        if job.kind is JobKind.SCRIPTS:
            return Execution(run=built(job))
        answer = self._checker if "checker.cpp" in plan_of(job) else step_answer("good")
        return Execution(run=answer(job))


def builder_for(workers: Workers, cache: Path) -> Builder:
    """A builder with a runner, so that the first job compiles something else."""
    artifacts = ArtifactStore(cache)
    asyncio.run(Builder(Workers(1, 0), artifacts, Policy()).runner(TARGET))
    return Builder(workers, artifacts, Policy())


@pytest.mark.parametrize(
    "lacks", [LACKS, step_answer(code=1, output=NO_VECTOR), not_started("No such file or directory")]
)
@pytest.mark.parametrize("broken", [1, 2])
def test_a_checker_is_compiled_on_a_worker_whose_compiler_works(
    tmp_path: Path, lacks: Callable[[Job], Stage] | Stage, broken: int
) -> None:
    """The package is not at fault, and the broken workers get no more jobs for a while."""
    answer = lacks if callable(lacks) else lambda _: lacks
    workers = Workers(3, broken, lacks=answer)
    builder = builder_for(workers, tmp_path)
    asyncio.run(builder.judge_program("checker", CHECKER, TARGET, std="gnu++17"))
    assert workers.useless == {str(number) for number in range(broken)}


def test_an_error_of_the_package_is_found_behind_a_broken_worker(tmp_path: Path) -> None:
    """It counts at once."""
    builder = builder_for(Workers(2, 1, checker=refuses("checker.cpp:1:1: error: unknown\n")), tmp_path)
    with pytest.raises(ProblemProgramError, match="error: unknown"):
        asyncio.run(builder.judge_program("checker", CHECKER, TARGET, std="gnu++17"))


def test_a_header_that_the_package_lacks_is_its_error(tmp_path: Path) -> None:
    """The message is that of a compiler without its headers. But the same worker compiles the known good program."""

    builder = builder_for(Workers(2, 0, checker=refuses(NO_VECTOR)), tmp_path)
    with pytest.raises(ProblemProgramError, match="vector"):
        asyncio.run(builder.judge_program("checker", CHECKER, TARGET, std="gnu++17"))


@pytest.mark.parametrize("broken", [1, 2])
def test_one_working_compiler_is_enough(tmp_path: Path, broken: int) -> None:
    """If the known good program does not compile on a broken worker, it is compiled on others."""
    builder = builder_for(Workers(3, broken), tmp_path)
    asyncio.run(builder.checks.require_working_compiler("gnu++17", TARGET, message="x"))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_no_working_compiler_ends_the_run(tmp_path: Path, count: int) -> None:
    """With the compiler's message, whatever was compiled."""
    lacks = r"does not work inside a box of cluster: g\+\+: fatal error: cannot execute"
    builder = builder_for(Workers(count, count), tmp_path)
    with pytest.raises(BrokenTargetError, match=lacks):
        asyncio.run(builder.checks.require_working_compiler("gnu++17", TARGET, message="x"))
    builder = builder_for(Workers(count, count), tmp_path)
    with pytest.raises(BrokenTargetError, match=lacks):
        asyncio.run(builder.judge_program("checker", CHECKER, TARGET, std="gnu++17"))
    problem = small_problem(subtasks=(Subtask(name="all", points=100, tests=("a",)),))
    submission = Submission(id="x", problem=problem.key, code="int main() {}")
    with pytest.raises(BrokenTargetError, match=lacks):
        asyncio.run(Scorer(Workers(count, count), artifacts=ArtifactStore(tmp_path)).score(problem, submission))


def test_a_full_disk_of_all_workers_is_no_broken_compiler(tmp_path: Path) -> None:
    """It may have room again soon."""
    full = step_answer(code=1, output="as: final close failed: No space left on device\n")
    builder = builder_for(Workers(2, 2, lacks=full), tmp_path)
    with pytest.raises(TransientError, match="No space left"):
        asyncio.run(builder.checks.require_working_compiler("gnu++17", TARGET, message="x"))


def test_the_runner_is_compiled_on_another_worker(tmp_path: Path) -> None:
    """A worker that fails to do so is not asked a second time."""
    failed = Stage(stdout="", stderr="g++: fatal error: cannot execute 'cc1plus'\n", code=1)
    workers = Workers(2, 1, lacks=lambda _: failed)
    asyncio.run(Builder(workers, ArtifactStore(tmp_path), Policy()).runner(TARGET))
    assert workers.useless == {"0"}


@pytest.mark.parametrize("lacks", [LACKS, lambda _: not_started("No such file or directory")])
def test_compilers_that_break_later_move_submissions_to_another_target(
    tmp_path: Path, lacks: Callable[[Job], Stage]
) -> None:
    """If none is left, the program is JE: the compiler may work again soon."""
    workers = Workers(1, 0, lacks=lacks)
    builder = builder_for(workers, tmp_path)
    recipe = replace(known_good_recipe(TARGET.toolchain), known_good_steps=3)
    asyncio.run(builder.checks.require_working_compiler("gnu++17", TARGET, message="x"))
    workers.break_all()
    with pytest.raises(TargetLostError, match="execute"):
        asyncio.run(builder.compile(recipe, TARGET))
    with pytest.raises(TransientError, match="execute") as failure:
        asyncio.run(builder.compile(recipe, replace(TARGET, is_only=True)))
    assert not isinstance(failure.value, TargetLostError)
