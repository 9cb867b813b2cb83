"""The bundled profile on a simulated machine: the number of tests in a job, and what it depends on."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import TransportError
from ioi_eval.model import (
    Content,
    Execution,
    Isolation,
    Job,
    JobKind,
    OutputFile,
    OutputOnly,
    Profile,
    Stage,
    Submission,
    Subtask,
    Verdict,
)
from ioi_eval.sandbox import Target
from ioi_eval.scorer import Scorer
from ioi_eval.toolchain import Toolchain
from tests.box_answers import answer_text
from tests.small_problems import small_problem

RIGHT = {
    **{"verdict": "AC", "score": "1", "message": "", "cpu_us": 1, "wall_us": 1, "memory_bytes": 1, "code": 0},
    "idle_us": 0,
    **{"signal": 0, "limit": None, "attempted": {}, "stderr": "", "judge": {"cpu_us": 1, "wall_us": 1}},
}
"""What the runner says of a test, but for its number."""
STEP: dict[str, object] = {
    **{"code": 0, "signal": 0, "limit": None, "killed": 0, "cpu_us": 1, "wall_us": 1, "memory_bytes": 1, "output": ""},
}
"""And of a step."""


class Machine:
    """Judges every output AC.

    Args:
        most: answers with more tests are cut.
        wall_s: the reported wall time of a test.
        fifth: changes to the result of the fifth test of the first job.
        lost: the numbers of the run jobs, from 0 on, whose answers are lost.
        refuses: whether the runner refuses every plan.
        max_wall_ms: the longest job that it allows.
        first_step: changes to the step of the first compilation, which fails; by default, a limit stops it.
    """

    def __init__(
        self,
        *,
        most: int = 1000,
        wall_s: float = 0.001,
        fifth: Mapping[str, object] | None = None,
        lost: Collection[int] = (),
        refuses: bool = False,
        max_wall_ms: int | None = None,
        first_step: Mapping[str, object] | None = None,
    ) -> None:
        self._first_step = first_step or {"limit": "cpu"}
        self._max_wall_ms = max_wall_ms
        self._most = most
        self._line = {**RIGHT, "idle_us": round(wall_s * 1e6)}
        self._fifth = fifth or {}
        self._lost, self._refuses = lost, refuses
        self.alone: list[bool] = []
        self.compiled_alone: list[bool] = []
        self.asked: list[int] = []
        self.orders: set[str] = set()
        self.limits: list[str] = []
        self.outputs: list[Content] = []

    def targets(self) -> Sequence[Target]:
        """One target."""
        toolchain = Toolchain(command="g++", version="12", machine="x86_64", static=True)
        target = Target(name="small", profile=Profile.BUNDLED, toolchain=toolchain, slots=1, isolation=Isolation.FULL)
        return (replace(target, max_wall_ms=self._max_wall_ms),)

    async def execute(self, job: Job, _: Target) -> Execution:
        """Compile the runner, or answer a plan."""
        if job.kind is JobKind.SCRIPTS:
            script = next(file.content for file in job.files if file.name == "run")
            assert isinstance(script, bytes)
            nonce = script.decode().splitlines()[-1].rpartition(" ")[2]
            binary, digest = base64.b64encode(b"runner").decode(), hashlib.sha256(b"runner").hexdigest()
            return _said(f"{nonce}\n{binary}\n{digest}  -\n{nonce}\n")
        plan = next(file.content for file in job.files if file.name == "plan")
        assert isinstance(plan, bytes)
        lines = plan.decode().splitlines()
        nonce = next(line.split()[1] for line in lines if line.startswith("nonce "))
        if "mode compile" in lines or any(line.startswith("compile ") for line in lines):
            return _said(answer_text(self._compiled(lines, alone=job.alone), nonce))
        tests = sum(line.startswith("test ") for line in lines)
        first = not self.asked
        self.asked.append(tests)
        self.alone.append(job.alone)
        self.outputs += [file.content for file in job.files if file.name.endswith(".out")]
        if len(self.asked) - 1 in self._lost:
            raise TransportError("the answer was lost")
        if self._refuses:
            return _said(f'{{"fault":"plan","explanation":"no such line","nonce":"{nonce}"}}\n')
        self.limits += [line for line in lines if line.startswith("limits ")]
        self.orders |= {line for line in lines if line.startswith("order ")}
        test_lines = [{"test": number, **self._line} for number in range(tests)]
        if first:
            test_lines[4:5] = [{**line, **self._fifth} for line in test_lines[4:5]]
        answer = answer_text(test_lines, nonce)
        return _said(answer if tests <= self._most else answer[: len(answer) // 2])

    def _compiled(self, plan: Sequence[str], *, alone: bool) -> list[dict[str, object]]:
        """The first compilation fails: by default, a limit stops it."""
        self.compiled_alone.append(alone)
        if len(self.compiled_alone) == 1:
            return [{"step": 0, **STEP, "code": 1, **self._first_step}]
        steps = sum(line.startswith("step ") for line in plan)
        program = {"artifact": "a.out", "base64": base64.b64encode(b"program").decode(), "bytes": 7}
        return [*({"step": number, **STEP} for number in range(steps)), program]


def _said(stdout: str) -> Execution:
    return Execution(run=Stage(stdout=stdout, stderr="", code=0, signal=None, status=None, wall_ms=1.0))


def judge(
    cache: Path,
    machine: Machine,
    *,
    tests: int,
    verdict: Verdict = Verdict.AC,
    content: bytes = b"1",
    **options: Any,
) -> None:
    """Judge outputs for this number of tests. The verdict is the expected one."""
    names = tuple(f"t{number}" for number in range(tests))
    subtasks = (Subtask(name="all", points=100, tests=names),)
    problem = small_problem(subtasks=subtasks, method=OutputOnly(output_tests=names))
    outputs = tuple(OutputFile(test=name, content=content) for name in names)

    async def scenario() -> None:
        scorer = Scorer(machine, artifacts=ArtifactStore(cache), **options)
        submission = Submission(id="u0", problem=problem.key, code=None, outputs=outputs)
        result = await scorer.score(problem, submission)
        assert (result.verdict, result.score) == (verdict, 100.0 if verdict is Verdict.AC else None), result

    asyncio.run(scenario())


@pytest.mark.parametrize(("wall_s", "asked"), [(0.001, [8, 32]), (0.45, [8, *[4] * 8])])
def test_bundle_sizes_follow_measured_times(tmp_path: Path, wall_s: float, asked: list[int]) -> None:
    """The first job is small. Each later one takes about two seconds, or has all remaining tests. No job starts a test
    after two seconds.
    """
    machine = Machine(wall_s=wall_s)
    judge(tmp_path, machine, tests=40)
    assert machine.asked == asked
    assert machine.orders == {"order run=needed enough_ms=2000"}


def test_a_half_has_all_its_attempts(tmp_path: Path) -> None:
    """That the answer of the larger job was cut does not reduce the attempts of the smaller ones."""
    machine = Machine(most=4, lost=(1, 2))
    judge(tmp_path, machine, tests=8)
    assert machine.asked == [8, 4, 4, 4, 4]


def test_a_refused_plan_is_not_repeated_in_halves(tmp_path: Path) -> None:
    """The runner would refuse these too. The submission has no score."""
    machine = Machine(refuses=True)
    judge(tmp_path, machine, tests=8, verdict=Verdict.JE)
    assert machine.asked == [8]


LATE = {"verdict": "TLE", "score": "0", "in_time": "1", "cpu_us": 1_050_000}
MACHINE_FAULT = {"verdict": "JE", "score": None, "fault": "start", "program": "runner", "explanation": "no memory"}


@pytest.mark.parametrize("fifth", [LATE, MACHINE_FAULT], ids=["late", "fault"])
def test_doubtful_tests_are_run_once_more(tmp_path: Path, fifth: Mapping[str, object]) -> None:
    """In a job of its own, alone on the machine."""
    machine = Machine(fifth=fifth)
    judge(tmp_path, machine, tests=8)
    assert list(zip(machine.asked, machine.alone, strict=True)) == [(8, False), (1, True)]


def test_memory_is_prepared_for_a_repetition_alone(tmp_path: Path) -> None:
    """As much memory as the first run used. For other repetitions none is prepared."""
    machine = Machine(fifth={**LATE, "memory_bytes": 123_456_789})
    judge(tmp_path, machine, tests=8)
    first, second = machine.limits
    assert second == f"{first} prefault_bytes=123456789"


def test_an_output_over_the_limit_is_not_sent_whole(tmp_path: Path) -> None:
    """It is OLE by one byte too much. A worker could refuse a larger job, and then it would be JE."""
    machine = Machine()
    judge(tmp_path, machine, tests=2, content=b"12345", policy=Policy(output_bytes=3))
    assert machine.outputs == [b"1234", b"1234"]


def test_the_runner_is_told_what_a_server_allows(tmp_path: Path) -> None:
    """A program must reach its limit before the job ends; otherwise it would be JE."""
    machine = Machine(max_wall_ms=15_000)
    judge(tmp_path, machine, tests=1)
    assert machine.limits[0].endswith(" job_wall_ms=5000")


LACKING = {"output": "g++: fatal error: cannot execute \u2018cc1plus\u2019: execvp: No such file or directory\n"}


@pytest.mark.parametrize(("first_step", "alone"), [({"limit": "cpu"}, True), (LACKING, False)])
def test_a_doubtful_compilation_is_repeated(tmp_path: Path, first_step: Mapping[str, object], alone: bool) -> None:
    """Other jobs on the machine must not make a program CE, nor a compiler that is just being upgraded there."""
    machine = Machine(first_step=first_step)
    problem = small_problem(subtasks=(Subtask(name="all", points=100, tests=("t0", "t1")),))
    submission = Submission(id="u", problem=problem.key, code="int main() {}")
    result = asyncio.run(Scorer(machine, artifacts=ArtifactStore(tmp_path)).score(problem, submission))
    assert (result.verdict, machine.compiled_alone, machine.alone) == (Verdict.AC, [False, alone], [False])
