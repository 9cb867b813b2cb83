"""Small problems, judged by a `Scorer` in the embedded sandbox.

Checkers and managers are shell scripts that execute the commands in `input.txt`. So the test case decides what the
judge program does, and one program, compiled once, is judged by many checkers or managers in one run.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import JudgeLimits, Policy
from ioi_eval.errors import IsolationError
from ioi_eval.model import (
    Batch,
    Isolation,
    Language,
    Problem,
    ProblemKey,
    Submission,
    SubmissionResult,
    Subtask,
    TestCase,
    TestOutcome,
)
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer

MIB = 1024 * 1024
KEY = ProblemKey(year=2024, id="task")
POLICY = Policy(judge=JudgeLimits(cpu_s=1.0, wall_s=5.0, memory_bytes=256 * MIB), output_bytes=4 * MIB)


def problem_of(tests: Mapping[str, tuple[bytes, bytes | None]], **fields: Any) -> Problem:
    """A problem with a subtask for each test, so that the result has the verdict of each test."""
    base = Problem(
        key=KEY,
        name="task",
        method=Batch(),
        time_limit_s=0.4,
        memory_limit_bytes=64 * MIB,
        subtasks=tuple(Subtask(name=name, points=1.0, tests=(name,)) for name in tests),
        tests={name: TestCase(name=name, input=given, answer=answer) for name, (given, answer) in tests.items()},
        cxx_std="gnu++17",
    )
    return replace(base, **fields)


class Bench:
    """Scores programs one after another in a sandbox of one isolation level."""

    def __init__(self, runner: asyncio.Runner, scorer: Scorer) -> None:
        self._runner = runner
        self._scorer = scorer

    def result(
        self, problem: Problem, code: str, language: Language = Language.CPP, *, exhaustive: bool = True
    ) -> SubmissionResult:
        """The result of a program on all tests of a problem."""
        submission = Submission(id="program", problem=problem.key, code=code, language=language)
        return self.score(problem, submission, exhaustive=exhaustive)

    def score(self, problem: Problem, submission: Submission, *, exhaustive: bool = True) -> SubmissionResult:
        """The result of a submission."""
        return self._runner.run(self._scorer.score(problem, submission, exhaustive=exhaustive))

    def outcomes(self, problem: Problem, code: str) -> dict[str, TestOutcome]:
        """The outcome of a program on each test of a problem. The program must compile."""
        result = self.result(problem, code)
        assert result.compile.verdict is None, result.compile.message
        return {test.test: test for subtask in result.subtasks for test in subtask.tests}


@pytest.fixture(scope="session")
def benches(cache: Path) -> Iterator[Callable[[Isolation], Bench]]:
    """A bench for each isolation level. They share compiled artifacts."""
    store = ArtifactStore(cache)
    known: dict[Isolation, Bench] = {}
    with asyncio.Runner() as runner:
        stack = contextlib.AsyncExitStack()

        def get(isolation: Isolation) -> Bench:
            if isolation not in known:
                sandbox = LocalSandbox(slots=2, least_isolation=isolation, strongest=isolation)
                try:
                    runner.run(stack.enter_async_context(sandbox))
                except IsolationError as error:
                    pytest.skip(str(error))
                known[isolation] = Bench(runner, Scorer(sandbox, artifacts=store, policy=POLICY))
            return known[isolation]

        yield get
        runner.run(stack.aclose())


@pytest.fixture(params=[Isolation.FULL, Isolation.REDUCED], ids=str)
def bench(request: pytest.FixtureRequest, benches: Callable[[Isolation], Bench]) -> Bench:
    """A bench for each isolation level: the test runs once for each."""
    return benches(request.param)


@pytest.fixture
def full_bench(benches: Callable[[Isolation], Bench]) -> Bench:
    """A bench with full isolation, for tests that do not depend on the isolation level."""
    return benches(Isolation.FULL)


@pytest.fixture
def problem_from() -> Callable[..., Problem]:
    """The function `problem_of`."""
    return problem_of
