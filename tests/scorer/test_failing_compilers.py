"""What befalls the compiler or the machine during a run makes no program a compile error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.model import Execution, Job, JobKind, Stage, Submission, SubmissionResult, Subtask, Verdict
from ioi_eval.sandbox import Target
from ioi_eval.scorer import Scorer
from tests.box_answers import answer_text, built, plan_of, step_answer
from tests.small_problems import small_problem
from tests.small_targets import small_target

PROBLEM = small_problem(subtasks=(Subtask(name="all", points=100, tests=("a",)),))
GOOD = step_answer("good")
LACKS = "g++: fatal error: cannot execute 'cc1plus': execvp: No such file or directory\n"
MISSING = step_answer(code=1, output=LACKS)
DISK_FULL = step_answer(code=1, output="as: final close failed: No space left on device\n")
STEP = {"code": 0, "signal": 0, "limit": None, "killed": 0, "cpu_us": 1, "wall_us": 1, "memory_bytes": 1, "output": ""}
FULL = step_answer(code=1, output="g++: fatal error: cannot execute 'as': vfork: Resource temporarily unavailable\n")
UNKNOWN = step_answer(code=1, output="nile.cpp:1:1: error: unknown\n")
OTHER = step_answer(code=1, output="cc1plus: error: unrecognized command-line option '-new'\n")


class Machine:
    """A machine that refuses each submission, and compiles the known good program.

    Args:
        compiler: the file of its compiler.
    """

    def __init__(self, compiler: Path) -> None:
        compiler.write_text("old")
        self.compiler, self.submission, self.good = compiler, MISSING, GOOD
        self.is_upgraded_by_each_job = False
        self.full_until_checked = False
        self.useless: list[list[str]] = []
        self.target = small_target(toolchain=replace(small_target().toolchain, command=str(compiler)))

    def targets(self) -> Sequence[Target]:
        """This machine."""
        return (self.target,)

    async def execute(self, job: Job, _: Target) -> Execution:
        """The compiler's answer."""
        if job.retries is not None:
            self.useless.append([*job.retries.useless])
            job.retries.tried.append("w")
        if job.kind is JobKind.SCRIPTS:
            return Execution(run=built(job))
        if self.is_upgraded_by_each_job:
            self.compiler.write_text(f"{self.compiler.read_text()} and newer")
        if "a.out" not in plan_of(job):
            self.full_until_checked = False
            return Execution(run=self.good(job))
        return Execution(run=(FULL if self.full_until_checked else self.submission)(job))


async def result(scorer: Scorer) -> SubmissionResult:
    """The result of a submission."""
    return await scorer.score(PROBLEM, Submission(id="x", problem=PROBLEM.key, code="int main() {}"))


def test_an_error_counts_only_if_the_compiler_was_not_replaced_meanwhile(tmp_path: Path) -> None:
    """A part of it may be back before the known good program is compiled."""

    async def scenario() -> None:
        machine = Machine(tmp_path / "g++")
        scorer = Scorer(machine, artifacts=ArtifactStore(tmp_path / "cache"))
        assert (await result(scorer)).verdict is Verdict.CE
        machine.is_upgraded_by_each_job = True
        compiled = (await result(scorer)).compile
        assert compiled.verdict is Verdict.JE
        assert "was replaced meanwhile" in compiled.message
        machine.is_upgraded_by_each_job = False
        assert (await result(scorer)).verdict is Verdict.CE

    asyncio.run(scenario())


def test_after_an_upgrade_the_known_good_program_is_compiled_again(tmp_path: Path) -> None:
    """The new compiler may not work, whatever its message is."""

    async def scenario() -> None:
        machine = Machine(tmp_path / "g++")
        scorer = Scorer(machine, artifacts=ArtifactStore(tmp_path / "cache"))
        assert (await result(scorer)).verdict is Verdict.CE
        machine.compiler.write_text("new")
        machine.submission = machine.good = OTHER
        compiled = (await result(scorer)).compile
        assert compiled.verdict is Verdict.JE
        assert "does not work any more: cc1plus: error: unrecognized" in compiled.message

    asyncio.run(scenario())


def test_a_failure_of_the_machine_may_end_before_the_compiler_is_checked(tmp_path: Path) -> None:
    """Then the program is compiled once more, and that counts."""

    async def scenario() -> None:
        machine = Machine(tmp_path / "g++")
        scorer = Scorer(machine, artifacts=ArtifactStore(tmp_path / "cache"))
        machine.submission = UNKNOWN
        machine.full_until_checked = True
        compiled = (await result(scorer)).compile
        assert compiled.verdict is Verdict.CE
        assert "error: unknown" in compiled.message

    asyncio.run(scenario())


@pytest.mark.parametrize("answer", [MISSING, DISK_FULL])
def test_a_compiler_that_works_on_another_worker_proves_nothing(tmp_path: Path, answer: Callable[[Job], Stage]) -> None:
    """A worker that fails is free again first, so it gets all submissions, and the others show that compilers work."""
    machine = Machine(tmp_path / "g++")
    machine.target = replace(machine.target, is_remote=True)
    machine.submission = answer
    compiled = asyncio.run(result(Scorer(machine, artifacts=ArtifactStore(tmp_path / "cache")))).compile
    assert compiled.verdict is Verdict.JE
    assert "the compiler there does not work" in compiled.message
    # The sandbox, which should give it no jobs, removes them. The last job compiles the known good program.
    assert machine.useless[-3:-1] == [["w"], ["w", "w"]]


def test_a_forged_message_is_a_compile_error_also_on_a_worker(tmp_path: Path) -> None:
    """There the known good program is compiled in the same job, before the submission."""

    def forged(job: Job) -> Stage:
        good = [{**STEP, "step": number} for number in range(plan_of(job).count("\nstep ") - 1)]
        nonce = plan_of(job).split("\n")[1].split()[1]
        failed = {**STEP, "step": len(good), "code": 1, "output": LACKS}
        return Stage(stdout=answer_text([*good, failed], nonce), stderr="", code=0)

    machine = Machine(tmp_path / "g++")
    machine.target = replace(machine.target, is_remote=True)
    machine.submission = forged
    compiled = asyncio.run(result(Scorer(machine, artifacts=ArtifactStore(tmp_path / "cache")))).compile
    assert compiled.verdict is Verdict.CE
    assert LACKS.strip() in compiled.message


@pytest.mark.parametrize(
    ("good_s", "own_s", "message"),
    [
        (25, 0, "the compiler there does not work: Compilation stopped: over 20 s of CPU time"),
        (3, 9, "Compilation error exit code 1"),
        (3, 10.5, "Compilation stopped: over 10 s of CPU time"),
    ],
)
def test_the_known_good_program_takes_no_time_from_the_submission(
    tmp_path: Path, good_s: float, own_s: float, message: str
) -> None:
    """Each of the three steps of the known good program takes `good_s`, and then one of the submission's `own_s`."""

    def slow(job: Job) -> Stage:
        plan = plan_of(job)
        good = plan.count("\nstep ") - 2
        if good < 3:
            return MISSING(job)
        limit_ms, wall_ms = (int(plan.split(name)[1].split()[0]) for name in ("cpu_ms=", "wall_ms="))
        assert limit_ms < wall_ms  # it is the limit of idle time, too: one that waits is CE, not JE
        steps: list[dict[str, object]] = []
        for number, seconds in enumerate([good_s] * good + [own_s]):
            stopped = 1000 * (good_s * number + seconds) >= limit_ms
            failed = number == good and not stopped
            step: dict[str, object] = {
                **STEP,
                "step": number,
                "cpu_us": int(seconds * 1e6),
                "limit": "cpu" if stopped else None,
            }
            steps.append({**step, "code": 1, "output": LACKS} if failed else step)
            if stopped:
                break
        return Stage(stdout=answer_text(steps, plan.split("\n")[1].split()[1]), stderr="", code=0)

    machine = Machine(tmp_path / "g++")
    machine.target = replace(machine.target, is_remote=True)
    machine.submission = slow
    compiled = asyncio.run(result(Scorer(machine, artifacts=ArtifactStore(tmp_path / "cache")))).compile
    assert message in compiled.message
    assert compiled.verdict is (Verdict.CE if own_s else Verdict.JE)
