"""The classic profile's way through a submission's tests: what is repeated, and how."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from small_problems import small_problem
from small_targets import small_target

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.model import (
    Execution,
    Job,
    Stage,
    Submission,
    Subtask,
    TestCase,
    Verdict,
)
from ioi_eval.sandbox import Target
from ioi_eval.scorer import Scorer

TARGET = small_target(name="here", profile="classic")
PROBLEM = small_problem(
    name="Sum",
    year=2026,
    subtasks=(Subtask(name="01", points=100, tests=("a", "b")),),
    tests={name: TestCase(name=name, input=b"1 2\n", answer=b"3\n") for name in "ab"},
    cxx_std="gnu++17",
)
COMPILED = Stage(stdout="Compiled sum\n", stderr="", code=0)
RIGHT = Stage(stdout="1\n", stderr="", code=0)


def late(cpu_us: int, in_time: str = "") -> Stage:
    """What our own pair says of a program over the limit."""
    return Stage(stdout="0\n", stderr=f"Time limit exceeded (1.0s), used {cpu_us} us{in_time}\n", code=4)


class Scripted:
    """A worker whose answers to tests are written down; remembers which jobs wanted the machine alone."""

    def __init__(self, *answers: Stage, compiled: Stage = COMPILED) -> None:
        self.answers = list(answers)
        self.compiled = compiled
        self.alone: list[bool] = []

    def targets(self) -> Sequence[Target]:
        """Just one."""
        return (TARGET,)

    async def execute(self, job: Job, _: Target) -> Execution:
        """The runner, or the next answer."""
        script = next(file.content for file in job.files if file.name == "run")
        if not any(file.name == "input.txt" for file in job.files):
            assert isinstance(script, bytes)
            nonce = script.decode().split()[-1]
            return Execution(
                run=Stage(stdout=f"{nonce}\n{base64.b64encode(b'r').decode()}\n{nonce}\n", stderr="", code=0)
            )
        self.alone.append(job.alone)
        return Execution(run=self.answers.pop(0), compile=self.compiled)


def judged(directory: Path, worker: Scripted) -> tuple[float | None, list[str]]:
    """Total, and the verdicts of the tests."""
    scorer = Scorer(worker, artifacts=ArtifactStore(directory))
    result = asyncio.run(scorer.score(PROBLEM, Submission(id="x", problem=PROBLEM.key, code="int main() {}")))
    return result.score, [outcome.verdict.value for outcome in result.subtasks[0].tests]


def test_a_time_near_the_limit_is_measured_again_alone(tmp_path: Path) -> None:
    """That time stands: the tests behind it are run after all."""
    worker = Scripted(late(1_050_000), RIGHT, RIGHT)
    assert judged(tmp_path, worker) == (100.0, ["AC", "AC"])
    assert worker.alone == [False, True, False]


def test_a_time_that_stays_over_the_limit(tmp_path: Path) -> None:
    """Once, not for ever."""
    worker = Scripted(late(1_050_000, ", worth 1 in time"), late(1_020_000, ", worth 1 in time"))
    assert judged(tmp_path, worker) == (0.0, ["TLE", "SKIPPED"])
    assert worker.alone == [False, True]


def test_what_another_measurement_cannot_help(tmp_path: Path) -> None:
    """A time far over the limit, an output that was worth nothing, a pair that measures nothing."""
    unmeasured = replace(late(0), stderr="Time limit exceeded (1.0s)\n", code=0)
    for answer in (late(1_350_000), late(1_010_000, ", worth 0 in time"), unmeasured):
        worker = Scripted(answer)
        assert judged(tmp_path, worker) == (0.0, ["TLE", "SKIPPED"])
        assert worker.alone == [False]


def test_a_compiler_that_refuses_good_programs_is_asked_once(tmp_path: Path) -> None:
    """No compile error for anybody: unfit, as in the bundled profile, and no job is spent on the next submission."""
    said = "Compiling sum\nFound room\nTrying the compiler\n"
    unknown = Stage(stdout=said, stderr="g++: error: unrecognized command-line option '-std=gnu++17'\n", code=1)
    worker = Scripted(unknown, unknown, compiled=unknown)
    scorer = Scorer(worker, artifacts=ArtifactStore(tmp_path))
    for name in "xy":
        result = asyncio.run(scorer.score(PROBLEM, Submission(id=name, problem=PROBLEM.key, code="int main() {}")))
        assert (result.verdict, result.score, result.compile.unfit) == (Verdict.JE, None, True)
        assert "g++ 12 on here does not compile a good program with -std=gnu++17" in result.compile.message
    assert worker.alone == [False]
