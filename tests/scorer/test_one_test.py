"""`run_submission`: which jobs are repeated, and how."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.jobs.find_runner import runner_key
from ioi_eval.model import Execution, Job, Stage
from ioi_eval.sandbox import Target
from ioi_eval.scorer.one_test import run_submission
from tests.small_targets import small_target

TARGET = small_target()
ROW = {"id": "sum", "time_limit": 1.0, "memory_limit": 64 << 20, "grader_files": []}
JUDGED = Execution(
    compile=Stage(stdout="Compiled sum\n", stderr="", code=0), run=Stage(stdout="1\n", stderr="", code=0)
)


class Scripted:
    """A machine with prepared answers. It records which jobs were to run alone."""

    def __init__(self, *answers: Execution) -> None:
        self.answers = list(answers)
        self.alone: list[bool] = []

    def targets(self) -> Sequence[Target]:
        """One target."""
        return (TARGET,)

    async def execute(self, job: Job, _: Target) -> Execution:
        """The next answer."""
        self.alone.append(job.alone)
        return self.answers.pop(0)


def refused(stderr: str) -> Execution:
    """The answer of our own pair to a submission that does not compile."""
    stage = Stage(stdout="Failed to compile sum\n", stderr=stderr, code=1)
    return Execution(compile=stage, run=stage)


def judged(directory: Path, machine: Scripted) -> str:
    """The score by our own pair. All answers must be used."""
    artifacts = ArtifactStore(directory)
    artifacts.put(runner_key(TARGET.toolchain), b"the runner")
    score, _ = asyncio.run(run_submission(machine, ROW, "1 2\n", "int main() {}", "3\n", artifacts=artifacts))
    assert not machine.answers
    return score


@pytest.mark.parametrize(
    "stderr",
    [
        "Compilation stopped by its limit: cpu\n",
        "Compilation stopped by its limit: memory\nvirtual memory exhausted\n",
        "g++: fatal error: Killed signal terminated program cc1plus\n",
    ],
)
def test_a_compilation_in_doubt_is_repeated_alone(tmp_path: Path, stderr: str) -> None:
    """Other jobs on the machine may be the reason, so only the repetition counts."""
    machine = Scripted(refused(stderr), JUDGED)
    assert judged(tmp_path, machine) == "1\n"
    assert machine.alone == [False, True]
    machine = Scripted(refused(stderr), refused(stderr))
    assert judged(tmp_path, machine) == "0"


@pytest.mark.parametrize(
    "stderr",
    ["graders/sum.cpp:1:1: error: expected\n", "Compilation stopped by its limit: file\n"],
    ids=["error", "size"],
)
def test_a_compilation_that_is_not_in_doubt_counts(tmp_path: Path, stderr: str) -> None:
    """An error, and a limit that every repetition would reach."""
    machine = Scripted(refused(stderr))
    assert judged(tmp_path, machine) == "0"
    assert machine.alone == [False]
