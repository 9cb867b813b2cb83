"""A program in Python for a Batch problem, in a real box: judged like any other."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.jobs.harness import InPython, preloaded, program_file
from ioi_eval.jobs.run_job import PlannedProgram, PlannedTest, Program, run_job
from ioi_eval.jobs.run_setups import job_tests, problem_setup
from ioi_eval.jobs.runner_answer import RunAnswer, run_answer
from ioi_eval.model import Isolation, Subtask, TestCase
from ioi_eval.programs import Builder
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from tests.small_problems import small_problem

NONCE = "0123456789abcdef" * 2
CODE = "import heapq\na, b = map(int, input().split())\nprint(a + b if a else heapq.heappop([b + 1]))\n"
PROBLEM = small_problem(
    name="Sum",
    year=2026,
    time_limit_s=5.0,
    subtasks=(Subtask(name="01", points=100.0, tests=("a", "b", "c")),),
    tests={
        "a": TestCase(name="a", input=b"1 2\n", answer=b"3\n"),
        "b": TestCase(name="b", input=b"0 2\n", answer=b"2\n"),
        "c": TestCase(name="c", input=b"x\n", answer=b"2\n"),
    },
    cxx_std="gnu++17",
)


async def judged(cache: Path) -> RunAnswer:
    """The result of the program on all tests."""
    async with LocalSandbox(slots=1) as sandbox:
        (target,) = sandbox.targets()
        builder = Builder(sandbox, ArtifactStore(cache), Policy())
        setup = problem_setup(
            PROBLEM,
            Policy(),
            runner=await builder.runner(target),
            program=InPython(interpreter=await builder.tools.interpreter(target), preload=preloaded(CODE, calls=False)),
        )
        tests, setup = job_tests(PROBLEM, {}), replace(setup, needed_only=False)
        program = Program(problem=PROBLEM.key, content=program_file(CODE), tests=tests, setup=setup)
        planned = PlannedProgram(program=program, tests=[PlannedTest(test=name) for name in tests])
        job = run_job([planned], target, nonce=NONCE)
        execution = await sandbox.execute(job, target)
        return run_answer(
            execution.run, NONCE, tests=len(tests), time_limit_s=PROBLEM.time_limit_s, least=Isolation.NONE
        )


def test_a_program_in_python(cache: Path) -> None:
    """A right output, a wrong one and a crash, by the rules for compiled programs."""
    outcomes = asyncio.run(judged(cache)).tests
    assert [outcome.verdict for outcome in outcomes.values()] == ["AC", "WA", "RE"]
    assert "ValueError" in outcomes[2].stderr
