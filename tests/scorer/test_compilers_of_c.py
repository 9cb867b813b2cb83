"""A compile error in C is checked with the known good program in C, one in C++ with that in C++."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.errors import SetupError
from ioi_eval.model import Execution, Job, Language, Submission, SubmissionResult, Subtask, TestCase, Verdict
from ioi_eval.sandbox import Target
from ioi_eval.scorer import Scorer
from tests.box_answers import built, plan_of, step_answer
from tests.small_problems import small_problem
from tests.small_targets import small_target

TARGET = small_target(name="here")
PROBLEM = small_problem(
    name="Sum",
    year=2026,
    subtasks=(Subtask(name="01", points=100, tests=("a",)),),
    tests={"a": TestCase(name="a", input=b"1 2\n", answer=b"3\n")},
    cxx_std="gnu++20",
)


class Compiler:
    """A target that compiles everything except submissions and jobs with a certain option."""

    def __init__(self, unknown: str) -> None:
        self.unknown = unknown

    def targets(self) -> Sequence[Target]:
        """One target."""
        return (TARGET,)

    async def execute(self, job: Job, _: Target) -> Execution:
        """The compiler's answer."""
        if not any(file.name == "plan" for file in job.files):
            return Execution(run=built(job))
        if self.unknown in plan_of(job):
            return Execution(run=step_answer(code=1, output=f"unrecognized option {self.unknown}")(job))
        if "a.out" in plan_of(job):
            return Execution(run=step_answer(code=1, output="sum.c:1:1: error: no")(job))
        return Execution(run=step_answer("good")(job))


def judged(directory: Path, compiler: Compiler, language: Language) -> SubmissionResult:
    """The result of a program that does not compile."""
    submission = Submission(id="x", problem=PROBLEM.key, code="int main", language=language)
    return asyncio.run(Scorer(compiler, artifacts=ArtifactStore(directory)).score(PROBLEM, submission))


@pytest.mark.parametrize(
    ("language", "unknown", "verdict", "words"),
    [
        (Language.C, "-std=gnu++20", Verdict.CE, "error: no"),
        (Language.C, "-std=gnu17", Verdict.JE, "does not compile C"),
        (Language.CPP, "-std=gnu17", Verdict.CE, "error: no"),
        (Language.CPP, "-std=gnu++20", Verdict.JE, "does not know -std=gnu++20"),
    ],
)
def test_a_compile_error_counts_where_the_language_compiles(
    tmp_path: Path, language: Language, unknown: str, verdict: Verdict, words: str
) -> None:
    """Whether the compiler works for the other language does not matter."""
    result = judged(tmp_path, Compiler(unknown), language)
    assert result.compile.verdict is verdict
    assert words in result.compile.message


def test_a_c_compiler_that_refuses_everything_is_a_setup_error(tmp_path: Path) -> None:
    """As for C++."""
    with pytest.raises(SetupError, match="does not work inside a box"):
        judged(tmp_path, Compiler("-std="), Language.C)
