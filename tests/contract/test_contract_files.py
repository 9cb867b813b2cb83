"""Submitted output files, and programs that use files by name, in each sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.model import (
    BatchAndOutput,
    OutputFile,
    Problem,
    ProblemKey,
    Submission,
    SubmissionResult,
    Subtask,
    TestCase,
    Verdict,
)
from ioi_eval.scorer import Scorer

Entering = Callable[..., Any]

BIG = 3_000_000  # bytes: more than a pipe or a buffer holds
TESTS = {
    "named": TestCase(name="named", input=b"2\n" + b" " * BIG, answer=b"4\n"),
    "nothing": TestCase(name="nothing", input=b"0\n", answer=b"0\n"),
    "submitted": TestCase(name="submitted", input=b"5\n", answer=b"x" * BIG),
    "absent": TestCase(name="absent", input=b"6\n", answer=b"12\n"),
}
PROBLEM = Problem(
    key=ProblemKey(year=2024, id="double"),
    name="Double",
    method=BatchAndOutput(
        input_file="double.in",
        output_file="double.out",
        output_tests=("submitted", "absent"),
        output_only_tests=("submitted", "absent"),
    ),
    time_limit_s=2.0,
    memory_limit_bytes=64 << 20,
    subtasks=tuple(Subtask(name=name, points=25, tests=(name,)) for name in TESTS),
    tests=TESTS,
    cxx_std="gnu++17",
)
SUBMISSION = Submission(
    id="s",
    problem=PROBLEM.key,
    code="""
#include <fstream>
int main() {
  int a;
  std::ifstream("double.in") >> a;
  if (a) std::ofstream("double.out") << 2 * a << std::endl;
}
""",
    outputs=(OutputFile(test="submitted", content=b"x" * BIG + b"\n"),),
)


async def judged(entering: Entering, profile: str, artifacts: ArtifactStore) -> SubmissionResult:
    """The result of the submission in this profile."""
    async with entering(profile) as sandbox:
        return await Scorer(sandbox, artifacts=artifacts).score(PROBLEM, SUBMISSION)


@pytest.mark.parametrize("profile", ["bundled", "classic"])
def test_files_by_name_and_outputs(entering: Entering, artifacts: ArtifactStore, profile: str) -> None:
    """The four cases: output file written, output file missing, output submitted, output not submitted.

    On a worker with its own scripts (`cms_ioi`) the result is JE, never a score.
    """
    result = asyncio.run(judged(entering, profile, artifacts))
    if " cms_ioi " in result.compile.message:
        assert (result.verdict, result.score) == (Verdict.JE, None)
        return
    outcomes = {test.test: (test.verdict, test.message) for subtask in result.subtasks for test in subtask.tests}
    assert outcomes == {
        "named": (Verdict.AC, "Output is correct"),
        "nothing": (Verdict.WA, "Evaluation didn't produce file double.out"),
        "submitted": (Verdict.AC, "Output is correct"),
        "absent": (Verdict.WA, "File not submitted"),
    }
    assert result.score == 50
