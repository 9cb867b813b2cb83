"""Orders the tests of problems for runs that need scores only: tests that most programs have failed so far come first.

A zero decides a subtask, whichever test it is found on. Usually tests run in listed order, because the first zero in
that order gives the subtask's verdict. If only scores count, the order is free, and a program that fails is stopped
sooner.

The rules of `engine/judging.py` hold for any order of a subtask's tests, and the score is that of all tests. So a
submission's score does not depend on the order; its verdict, and which tests were run, do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ioi_eval.model import Problem, ProblemKey, SubmissionResult, TestOutcome


@dataclass(slots=True)
class _TestCounts:
    """How often the tests of a problem were run, and how often a program scored 0 on them."""

    runs: Counter[str] = field(default_factory=Counter)
    zeros: Counter[str] = field(default_factory=Counter)

    def share_of_zeros(self, test: str) -> float:
        """How many of its runs scored 0, divided by the number of runs plus one: so one failure in one run counts less
        than failures in most of many runs."""
        return self.zeros[test] / (self.runs[test] + 1)


class LikelyFailuresFirst:
    """What a run has learned about the tests of its problems. Tasks and threads may share it."""

    def __init__(self) -> None:
        self._seen: dict[ProblemKey, _TestCounts] = {}

    def ordered(self, problem: Problem) -> Problem:
        """The problem with the tests of each subtask in the order in which they are to be run."""
        seen = self._seen.get(problem.key)
        if seen is None or not problem.score_type.zero_decides:
            return problem
        subtasks = (
            replace(subtask, tests=tuple(sorted(subtask.tests, key=seen.share_of_zeros, reverse=True)))
            for subtask in problem.subtasks
        )
        return replace(problem, subtasks=tuple(subtasks))

    @staticmethod
    def problem_to_score(problem: Problem, ordered: Problem, outcomes: Mapping[str, TestOutcome]) -> Problem:
        """The problem with which a submission's score is computed. Subtasks whose tests all ran are in listed order: in
        another order the product of scores could differ in its last digit."""
        subtasks = (
            listed if all(test in outcomes for test in listed.tests) else other
            for listed, other in zip(problem.subtasks, ordered.subtasks, strict=True)
        )
        return replace(problem, subtasks=tuple(subtasks))

    def observe(self, problem: Problem, outcomes: Mapping[str, TestOutcome]) -> None:
        """Learn from the outcomes of a submission's tests."""
        seen = self._seen.setdefault(problem.key, _TestCounts())
        for test, outcome in outcomes.items():
            if outcome.score is not None:
                seen.runs[test] += 1
                seen.zeros[test] += outcome.score == 0.0


def in_listed_order(problem: Problem, result: SubmissionResult) -> SubmissionResult:
    """The result with the tests of each subtask as the problem lists them."""
    subtasks = []
    for subtask, found in zip(problem.subtasks, result.subtasks, strict=True):
        by_name = {outcome.test: outcome for outcome in found.tests}
        subtasks.append(replace(found, tests=tuple(by_name[test] for test in subtask.tests)))
    return replace(result, subtasks=tuple(subtasks))
