"""Runs that only need scores: tests are ordered by earlier failures, which changes no score."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.model import Problem, ScoreType, Submission, Subtask, Verdict
from ioi_eval.model import TestCase as Case
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from ioi_eval.scorer.likely_failures import LikelyFailuresFirst, in_listed_order
from tests.judging_model import (
    KINDS,
    Behaviour,
    Behaviours,
    all_behaviours,
    drive,
    drive_one_by_one,
    exhaustive_model,
    make_problem,
    problems,
    result_of,
    scored_as,
)
from tests.small_problems import judging_of, small_problem

LETTERS = "abcdefgh"


def random_failures(problem: Problem, rng: random.Random) -> LikelyFailuresFirst:
    """Random failures that a run may have seen on a problem's tests."""
    failures = LikelyFailuresFirst()
    for _ in range(rng.randrange(4)):
        seen = rng.sample(LETTERS, rng.randrange(len(LETTERS)))
        failures.observe(problem, {test: KINDS[rng.choice(("AC", "WA", "runner"))] for test in seen})
    return failures


@settings(max_examples=200)
@given(problems, all_behaviours, st.data(), st.randoms(use_true_random=False))
def test_no_schedule_changes_the_score(
    problem: Problem, behaviours: Behaviours, data: st.DataObject, rng: random.Random
) -> None:
    """Whatever failures were seen before, and however the tests are divided into jobs."""
    ordered = random_failures(problem, rng).ordered(problem)
    result = in_listed_order(problem, result_of(ordered, drive(ordered, behaviours, data).outcomes()))
    expected = exhaustive_model(problem, behaviours)
    assert result.score == expected.score
    for ours, theirs in zip(result.subtasks, expected.subtasks, strict=True):
        assert (ours.score, [outcome.test for outcome in ours.tests]) == (
            theirs.score,
            [each.test for each in theirs.tests],
        )


def test_many_orders_give_the_same_scores(request: pytest.FixtureRequest) -> None:
    """100,000 cases with `--full`: random subtasks with shared tests, random outcomes, random earlier failures."""
    rng = random.Random(7)
    for _ in range(100_000 if request.config.getoption("--full") else 1_000):
        subtasks = ["".join(rng.sample(LETTERS, rng.randrange(1, 7))) for _ in range(rng.randrange(1, 4))]
        problem = scored_as(make_problem(*subtasks), rng.choice(list(ScoreType)), 0.5)
        behaviours = {
            test: Behaviour(usual=rng.choice(list(KINDS)), alone=rng.choice(("AC", "WA", "TLE"))) for test in LETTERS
        }
        ordered = random_failures(problem, rng).ordered(problem)
        judging, _ = drive_one_by_one(ordered, behaviours)
        expected = exhaustive_model(problem, behaviours)
        assert result_of(ordered, judging.outcomes()).score == expected.score, (subtasks, behaviours)


def test_the_test_with_most_failures_is_run_first() -> None:
    """A program that fails on this test needs one test instead of all tests up to it."""
    problem = make_problem("abcd", "dcba")
    failures = LikelyFailuresFirst()
    assert failures.ordered(problem) is problem
    fails_on_d = {test: KINDS["WA" if test == "d" else "AC"] for test in "abcd"}
    failures.observe(problem, fails_on_d)
    ordered = failures.ordered(problem)
    assert [subtask.tests for subtask in ordered.subtasks] == [tuple("dabc"), tuple("dcba")]
    behaviours = {test: Behaviour(usual="WA" if test == "d" else "AC") for test in LETTERS}
    assert [test for _, test in drive_one_by_one(ordered, behaviours)[1]] == ["d"]
    assert len(drive_one_by_one(problem, behaviours)[1]) == 4


def test_a_product_is_that_of_the_listed_order() -> None:
    """The floating-point product depends on the order of its factors, so it is computed in listed order."""
    problem = scored_as(make_problem("abc"), ScoreType.GROUP_MUL, 0.5)
    scores = {"a": 0.1, "b": 0.7, "c": 0.3}
    outcomes = {test: replace(KINDS["PA"], test=test, score=score) for test, score in scores.items()}
    failures = LikelyFailuresFirst()
    failures.observe(problem, {"b": KINDS["WA"], "c": KINDS["WA"]})
    ordered = failures.ordered(problem)
    expected = result_of(problem, outcomes).subtasks[0].score
    assert result_of(ordered, outcomes).subtasks[0].score != expected
    assert result_of(failures.problem_to_score(problem, ordered, outcomes), outcomes).subtasks[0].score == expected


def test_the_order_is_kept_if_every_test_counts() -> None:
    """For a sum all tests are needed."""
    problem = scored_as(make_problem("abcd"), ScoreType.SUM, 0.5)
    failures = LikelyFailuresFirst()
    failures.observe(problem, {"d": KINDS["WA"]})
    assert failures.ordered(problem) is problem
    assert judging_of(problem).exhaustive


def test_a_run_that_needs_scores_only(cache: Path) -> None:
    """The second program that fails on the last test is run on that test only. The scores are the usual ones."""
    cases = {f"t{n}": Case(name=f"t{n}", input=f"{n}\n".encode(), answer=f"{n}\n".encode()) for n in range(6)}
    problem = small_problem(subtasks=(Subtask(name="all", points=100, tests=tuple(cases)),), tests=cases)
    right = '#include <cstdio>\nint main() { int n; scanf("%d", &n); printf("%d\\n", n); }\n'
    wrong = right.replace('\\n", n)', '\\n", n == 5 ? 0 : n)')
    codes = (wrong, wrong + "//\n", right)

    async def scenario() -> None:
        async with LocalSandbox() as sandbox:
            scorer = Scorer(sandbox, artifacts=ArtifactStore(cache), policy=Policy(score_only=True), spread=False)
            results = [
                await scorer.score(problem, Submission(id="s", problem=problem.key, code=code)) for code in codes
            ]
        ran = [
            [each.test for each in result.subtasks[0].tests if each.verdict is not Verdict.SKIPPED]
            for result in results
        ]
        assert ran == [list(cases), ["t5"], list(cases)]
        assert [(result.verdict, result.score) for result in results] == [
            (Verdict.WA, 0.0),
            (Verdict.WA, 0.0),
            (Verdict.AC, 100.0),
        ]
        for result in results:
            assert [each.test for each in result.subtasks[0].tests] == list(cases)

    asyncio.run(scenario())
