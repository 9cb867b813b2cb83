"""What each grader says of a program, and where they differ."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import cast

import pytest

from ioi_eval.apps import verdicts
from ioi_eval.apps.catalog import CatalogEntry
from ioi_eval.apps.execution import AppsExecutor
from ioi_eval.apps.explain import OURS, differ, differing_tests, grader_results
from ioi_eval.apps.result import AppsResult
from ioi_eval.apps.settings import AppsSettings
from ioi_eval.compat import grader_named
from ioi_eval.compat.terms import Graded
from ioi_eval.errors import SetupError
from ioi_eval.journal import keys_of
from ioi_eval.model import TestOutcome, Verdict
from ioi_eval.model.apps import AppsProblem, StdinTest
from ioi_eval.pipeline.dump_reader import Judgeable
from ioi_eval.pipeline.window import Candidate
from ioi_eval.problems.apps_submissions import AppsSubmission
from ioi_eval.problems.row import Row

PROBLEM = AppsProblem(id="1", index=1, tests=(StdinTest(number=0, given="1\n", expected="2\n"),), inputs=1, outputs=1)
ENTRY = CatalogEntry(
    id="1", instance_id="apps_1", difficulty="", tests=1, digest="", fault=None, unusable="", offset=0, size=0
)
CANDIDATE = Candidate(
    problem=ENTRY,
    submission=AppsSubmission(id="a", problem="1", code="print(2)", extraction="column:code"),
    problem_key="1",
    id="a",
    size=8,
    max_s=10.0,
    fingerprint="",
    keys=keys_of("1", "a", ""),
)


@dataclass
class Accepting:
    """An executor by whose rules every program is right."""

    async def score(self, problem: AppsProblem, code: str) -> AppsResult:  # noqa: ARG002 - any program
        """Judge a program."""
        return verdicts.result_of(problem, {"0": TestOutcome(test="0", verdict=Verdict.AC, score=1.0)}, AppsSettings())


@dataclass
class Failing:
    """An executor that fails to judge by another grader's rules."""

    async def score(self, problem: AppsProblem, code: str) -> AppsResult:  # noqa: ARG002 - any program
        """Judge a program."""
        return verdicts.unjudged(problem, AppsSettings(compat=grader_named("mcpbr")), "the answer was cut off")


@dataclass
class Broken:
    """An executor whose own code fails on the row."""

    async def score(self, problem: AppsProblem, code: str) -> AppsResult:  # noqa: ARG002 - any program
        """Judge a program."""
        raise RecursionError("too deep")


@dataclass
class Stated:
    """An executor with a fixed result."""

    result: AppsResult

    async def score(self, problem: AppsProblem, code: str) -> AppsResult:  # noqa: ARG002 - any program
        """Judge a program."""
        return self.result


@dataclass
class Unusable:
    """An executor without an interpreter."""

    async def score(self, problem: AppsProblem, code: str) -> AppsResult:  # noqa: ARG002 - any program
        """Judge a program."""
        raise SetupError("python3 is not installed")


def test_our_own_grader_must_be_usable() -> None:
    """Nothing can be compared without it. Another one that cannot be used is left out."""
    entry = Judgeable(row=Row(source="dump", number=1, values={"code": "print(2)"}), candidate=CANDIDATE)
    unusable: dict[str, str] = {}
    executors = cast("dict[str, AppsExecutor]", {OURS: Accepting(), "mcpbr": Unusable()})
    assert len(asyncio.run(grader_results(entry, PROBLEM, executors, unusable))) == 1
    assert unusable == {"mcpbr": "python3 is not installed"}
    executors = cast("dict[str, AppsExecutor]", {OURS: Accepting(), "mcpbr": Accepting()})
    assert len(asyncio.run(grader_results(entry, PROBLEM, executors, unusable))) == 1
    executors = cast("dict[str, AppsExecutor]", {OURS: Unusable(), "mcpbr": Accepting()})
    with pytest.raises(SetupError, match="python3 is not installed"):
        asyncio.run(grader_results(entry, PROBLEM, executors, {}))


def test_a_grader_that_stopped_does_not_differ_on_later_tests() -> None:
    """It says nothing about them. One code of a grader that does not stop is for all tests."""
    problem = replace(
        PROBLEM, tests=tuple(replace(PROBLEM.tests[0], number=number) for number in range(3)), inputs=3, outputs=3
    )
    entry = Judgeable(row=Row(source="dump", number=1, values={"code": "print(2)"}), candidate=CANDIDATE)
    outcomes = {
        str(number): TestOutcome(test=str(number), verdict=verdict, score=float(verdict is Verdict.AC))
        for number, verdict in enumerate((Verdict.WA, Verdict.AC, Verdict.AC))
    }
    ours = Stated(verdicts.result_of(problem, outcomes, AppsSettings()))
    for grader, differing in (("eval-protocol", []), ("livecodebench", []), ("hendrycks", [1, 2])):
        graded = Graded(codes=(-1,), rules=("wrong",))
        theirs = Stated(AppsResult(verdict=Verdict.WA, passed=0, total=1, graded=graded))
        executors = cast("dict[str, AppsExecutor]", {OURS: ours, grader: theirs})
        results = asyncio.run(grader_results(entry, problem, executors, {}))
        assert differing_tests(results) == differing
    graded = Graded(codes=(False, False, False), rules=("one", "two", "three"))
    theirs = Stated(AppsResult(verdict=Verdict.WA, passed=0, total=3, graded=graded))
    executors = cast("dict[str, AppsExecutor]", {OURS: ours, "hendrycks": theirs})
    _, shown = asyncio.run(grader_results(entry, problem, executors, {}))
    assert [(test.result, test.passes, test.reason) for test in shown.tests] == [
        ("False", False, rule) for rule in graded.rules
    ]


def test_reasons_are_one_short_line() -> None:
    """Of a traceback it is the last line."""
    entry = Judgeable(row=Row(source="dump", number=1, values={"code": "print(2)"}), candidate=CANDIDATE)
    texts = {"": "right", "a\nb ": "a b", "Traceback\n  in f\nKeyError: 1\n": "KeyError: 1", "x" * 201: f"{'x' * 200}…"}
    for text, shown in texts.items():
        outcome = TestOutcome(test="0", verdict=Verdict.AC, score=1.0, message=text)
        stated = Stated(AppsResult(verdict=Verdict.AC, passed=1, total=1, tests=(outcome,)))
        executors = cast("dict[str, AppsExecutor]", {OURS: stated})
        (ours,) = asyncio.run(grader_results(entry, PROBLEM, executors, {}))
        assert [test.reason for test in ours.tests] == [shown]


def test_our_failure_is_no_difference_between_graders() -> None:
    """Nothing is known of what the other grader says."""
    entry = Judgeable(row=Row(source="dump", number=1, values={"code": "print(2)"}), candidate=CANDIDATE)
    executors = cast("dict[str, AppsExecutor]", {OURS: Accepting(), "mcpbr": Failing()})
    ours, theirs = asyncio.run(grader_results(entry, PROBLEM, executors, {}))
    assert not differ((ours, theirs))
    assert (ours.right, ours.we_failed) == (True, False)
    assert (theirs.right, theirs.we_failed, theirs.whole) == (None, True, "the answer was cut off")
    executors = cast("dict[str, AppsExecutor]", {OURS: Accepting(), "mcpbr": Broken()})
    ours, theirs = asyncio.run(grader_results(entry, PROBLEM, executors, {}))
    assert not differ((ours, theirs))
    assert (theirs.right, theirs.we_failed) == (None, True)
    assert "judging this row" in theirs.whole
