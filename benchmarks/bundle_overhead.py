"""The wall clock of a trivial test in a bundle, minus the CPU time of the program itself."""

from __future__ import annotations

import asyncio
import statistics
import time
from dataclasses import replace

from figures import Figure, report

from ioi_eval import ArtifactStore, Isolation, LocalSandbox, Problem, ProblemKey, Scorer, Submission
from ioi_eval.config import Environment
from ioi_eval.model import Batch, Subtask, TestCase

TESTS = 256
PROGRAM = '#include <cstdio>\nint main() { int a, b; std::scanf("%d%d", &a, &b); std::printf("%d\\n", a + b); }\n'
NAMES = tuple(f"t{number:03}" for number in range(TESTS))
PROBLEM = Problem(
    key=ProblemKey(year=0, id="sum"),
    name="Sum",
    method=Batch(),
    time_limit_s=1.0,
    memory_limit_bytes=256 << 20,
    subtasks=(Subtask(name="all", points=100, tests=NAMES),),
    tests={
        name: TestCase(name=name, input=f"{number} 1\n".encode(), answer=f"{number + 1}\n".encode())
        for number, name in enumerate(NAMES)
    },
    cxx_std="gnu++17",
)


async def measure(isolation: Isolation) -> None:
    """Score the same program with all tests and with one test; the difference is the cost of the others."""
    problem = replace(PROBLEM, subtasks=(replace(PROBLEM.subtasks[0], tests=NAMES[:1]),))
    submission = Submission(id="sum", problem=PROBLEM.key, code=PROGRAM)
    costs = []
    async with LocalSandbox(slots=1, strongest=isolation) as sandbox:
        scorer = Scorer(sandbox, artifacts=ArtifactStore(Environment.read().cache), bundle_tests=TESTS)
        for _ in range(5):
            started = time.monotonic()
            await scorer.score(problem, submission)
            middle = time.monotonic()
            result = await scorer.score(PROBLEM, submission)
            ended = time.monotonic()
            assert result.score == 100, result
            cpu_ms = sum(outcome.cpu_ms or 0 for outcome in result.subtasks[0].tests)
            wall_ms = ((ended - middle) - (middle - started)) * 1000
            costs.append((wall_ms - cpu_ms) / (TESTS - 1))
    print(f"{isolation}: 5 runs, {min(costs):.2f} to {max(costs):.2f} ms a test")
    report(Figure(name=f"a test, {isolation}", value=statistics.median(costs), unit="ms", bound=3))


if __name__ == "__main__":
    for level in (Isolation.FULL, Isolation.REDUCED):
        asyncio.run(measure(level))
