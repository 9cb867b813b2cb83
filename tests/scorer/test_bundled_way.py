"""The bundled way, over a machine that answers at once: how many tests it asks for, and of what it takes heed."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest
from small_problems import small_problem

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.model import Execution, Isolation, Job, JobKind, OutputFile, Stage, Submission, Subtask, TaskType, Verdict
from ioi_eval.sandbox import Target
from ioi_eval.scorer import Scorer
from ioi_eval.scorer.spreading import TRUST
from ioi_eval.toolchain import Toolchain

TESTS = tuple(f"t{number}" for number in range(8))
PROBLEM = small_problem(
    name="Numbers",
    subtasks=(Subtask(name="all", points=100, tests=TESTS),),
    task_type=TaskType.OUTPUT_ONLY,
    output_tests=TESTS,
)
RIGHT = {
    **{"verdict": "AC", "score": "1", "message": "", "cpu_us": 1, "wall_us": 1, "memory_bytes": 1, "code": 0},
    **{"signal": 0, "limit": None, "attempted": {}, "stderr": "", "judge": {"cpu_us": 1, "wall_us": 1}},
}
"""What the runner says of a test, but for its number."""


class Machine:
    """Finds every output right.

    Args:
        most: an answer of more tests is cut on its way.
        holds: so many tests of a job are run at most, as if they took long.
    """

    def __init__(self, *, most: int, holds: int) -> None:
        self._most, self._holds = most, holds
        self.asked: list[int] = []

    def targets(self) -> Sequence[Target]:
        """One."""
        toolchain = Toolchain(command="g++", version="12", machine="x86_64", static=True)
        return (Target(name="small", profile="bundled", toolchain=toolchain, slots=1, isolation=Isolation.FULL),)

    async def execute(self, job: Job, _: Target) -> Execution:
        """Compile the runner, or answer a plan."""
        if job.kind is JobKind.SCRIPTS:
            script = next(file.content for file in job.files if file.name == "run")
            assert isinstance(script, bytes)
            nonce = script.decode().splitlines()[-1].rpartition(" ")[2]
            return _said(f"{nonce}\n{base64.b64encode(b'runner').decode()}\n{nonce}\n")
        plan = next(file.content for file in job.files if file.name == "plan")
        assert isinstance(plan, bytes)
        lines = plan.decode().splitlines()
        nonce = next(line.split()[1] for line in lines if line.startswith("nonce "))
        tests = sum(line.startswith("test ") for line in lines)
        self.asked.append(tests)
        told = [{"test": number, **RIGHT} for number in range(min(tests, self._holds))]
        end = {"end": True, "nonce": nonce, "lines": len(told), "isolation": "full", "runner": 1}
        answer = "".join(f"{orjson.dumps(line).decode()}\n" for line in (*told, end))
        return _said(answer if tests <= self._most else answer[: len(answer) // 2])


def _said(stdout: str) -> Execution:
    return Execution(run=Stage(stdout=stdout, stderr="", code=0, signal=None, status=None, wall_ms=1.0))


@pytest.mark.parametrize(("holds", "tries_more"), [(8, True), (3, False)])
def test_more_is_asked_for_when_full_answers_have_arrived(tmp_path: Path, holds: int, tries_more: bool) -> None:
    """Not when those arrived that held less than was asked for: they say nothing of the limit."""
    machine = Machine(most=4, holds=holds)
    outputs = tuple(OutputFile(test=test, content=b"1") for test in TESTS)

    async def scenario() -> None:
        scorer = Scorer(machine, artifacts=ArtifactStore(tmp_path), bundle_tests=len(TESTS))
        for number in range(TRUST):
            submission = Submission(id=f"u{number}", problem=PROBLEM.key, code=None, outputs=outputs)
            result = await scorer.score(PROBLEM, submission)
            assert (result.verdict, result.score) == (Verdict.AC, 100.0), result

    asyncio.run(scenario())
    assert machine.asked[:2] == [8, 4], "the first one was cut"
    assert (max(machine.asked[2:]) > 4) is tries_more
