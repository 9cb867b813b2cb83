"""Contest problems for tests that need only a few of a problem's fields. The others have usual values."""

from __future__ import annotations

from typing import Any

from ioi_eval.engine.judging import Judging
from ioi_eval.model import Batch, JudgeProgram, Problem, ProblemKey, Subtask, TestCase


def small_problem(*, subtasks: tuple[Subtask, ...], name: str = "Nile", year: int = 2024, **fields: Any) -> Problem:
    """A Batch problem in C++20 whose tests are empty.

    Args:
        subtasks: the subtasks. Unless `tests` is given, the problem has the tests that they name.
        name: the title; in lower case, the id.
        year: the year of the contest.
        fields: other fields to set.
    """
    tests = {test: TestCase(name=test, input=b"", answer=b"") for subtask in subtasks for test in subtask.tests}
    usual: dict[str, Any] = {
        "key": ProblemKey(year=year, id=name.lower()),
        "method": Batch(),
        "time_limit_s": 1.0,
        "memory_limit_bytes": 1 << 28,
        "tests": tests,
        "cxx_std": "gnu++20",
    }
    return Problem(name=name, subtasks=subtasks, **{**usual, **fields})


def checker_of(problem: Problem) -> JudgeProgram:
    """The problem's checker. It must have one."""
    assert problem.checker is not None
    return problem.checker


def manager_of(problem: Problem) -> JudgeProgram:
    """The problem's manager or interactor. It must have one."""
    assert problem.method.manager is not None
    return problem.method.manager


def judging_of(problem: Problem, **options: Any) -> Judging:
    """The judging of a submission to this problem."""
    groups = (subtask.tests for subtask in problem.subtasks)
    return Judging(groups, zero_decides=problem.score_type.zero_decides, **options)
