"""Outcomes to scores: test → subtask → submission. Pure.

`docs/verdicts.md`, "Subtasks and totals", has the rules. Two of their consequences, for the score types under which a
zero decides a subtask:

**A zero outweighs a JE at any position.** A JE is a test with an unknown score in [0, 1]. If another test of the
subtask has score 0, the subtask's score is 0 whatever the unknown score is: a JE *before* the zero stays visible in the
list, one after it is SKIPPED. Without a zero, the subtask's score depends on the unknown one: it is `None`, and the
verdict is JE. (A score over the threshold of `GroupThreshold` makes the subtask 0 too, but stops no test.)

**The order of running does not matter.** The result depends only on the outcomes up to and including the first zero.
`judging.py` runs all of these tests (a JE is not a zero, so it stops nothing). Other tests may have run too, because
bundles run in parallel, but they are after the first zero and are ignored.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial

from ioi_eval.model import (
    CompileOutcome,
    Isolation,
    Problem,
    ScoreType,
    Submission,
    SubmissionResult,
    Subtask,
    SubtaskResult,
    TestOutcome,
    Verdict,
)

WORST_FIRST = tuple(map(Verdict, ("JE", "SKIPPED", "NC", "CE", "SV", "RE", "WA", "OLE", "MLE", "TLE", "PA", "AC")))
"""Which subtask's verdict becomes the submission's.

JE comes first, because without that subtask there is no total: a submission's verdict is JE exactly if its score is
`None`. (SKIPPED is a verdict of tests only; it is here only so that no verdict is missing.)

Source: the reference's order CE, RE, WA, MLE, TLE, PA, AC; verdicts that it lacks are beside similar ones.
"""

_SEVERITY = {verdict: place for place, verdict in enumerate(WORST_FIRST)}


# --------------------------------------------------------------------------- one submission


def subtask_result(
    problem: Problem, subtask: Subtask, outcomes: Mapping[str, TestOutcome], *, keep_all: bool = False
) -> SubtaskResult:
    """A submission's result in one subtask, from the outcomes by test name, at least up to the first with score 0.

    With `keep_all` the outcomes after the first zero are shown too, instead of SKIPPED. Score and verdict stay the
    same. Only for exhaustive judging (`validate`); otherwise it depends on chance which of these tests have run.
    """
    counted = _counted(problem.score_type, subtask, outcomes)
    score, verdict = _REDUCTIONS[problem.score_type](subtask, counted)
    rest = tuple(
        outcomes[name] if keep_all and name in outcomes else _skipped(name) for name in subtask.tests[len(counted) :]
    )
    return _subtask_result(problem, subtask, verdict, score, (*counted, *rest))


def submission_result(
    problem: Problem,
    submission: Submission,
    compile: CompileOutcome,
    outcomes: Mapping[str, TestOutcome],
    *,
    target: str = "",
    isolation: Isolation | None = None,
    keep_all: bool = False,
) -> SubmissionResult:
    """A submission's result in all subtasks.

    The total is rounded once, from the unrounded sum. The verdict is the worst verdict of the subtasks (`WORST_FIRST`),
    also of those worth 0 points: AC means that no test failed. If the submission was not run (`compile`), `outcomes` is
    ignored (`_unrun`).

    Source: CMS rounds a subtask for display and the total from the unrounded sum.
    """
    if compile.verdict is None:
        subtasks = tuple(subtask_result(problem, s, outcomes, keep_all=keep_all) for s in problem.subtasks)
    else:
        subtasks = tuple(_unrun(problem, subtask, compile) for subtask in problem.subtasks)
    pairs = zip(problem.subtasks, subtasks, strict=True)
    products = (contribution(problem, subtask, result) for subtask, result in pairs)
    return SubmissionResult(
        submission=submission.id,
        problem=problem.key,
        verdict=min((result.verdict for result in subtasks), key=_SEVERITY.__getitem__),
        score=total_points(itertools.chain.from_iterable(products), problem.score_precision),
        compile=compile,
        subtasks=subtasks,
        target=target,
        isolation=isolation,
    )


def _counted(score_type: ScoreType, subtask: Subtask, outcomes: Mapping[str, TestOutcome]) -> list[TestOutcome]:
    """The outcomes that count: of all tests, or up to the first zero if it decides."""
    counted: list[TestOutcome] = []
    for name in subtask.tests:
        outcome = outcomes.get(name)
        if outcome is None or outcome.verdict is Verdict.SKIPPED:
            # judging was not finished, which is our bug
            raise ValueError(f"test {name!r} of subtask {subtask.name!r} has no outcome, though it can still matter")
        counted.append(outcome)
        if outcome.score == 0.0 and score_type.zero_decides:
            break
    return counted


def _unrun(problem: Problem, subtask: Subtask, compile: CompileOutcome) -> SubtaskResult:
    """The result in a subtask of a submission that has no program to run.

    With CE or NC the tests are SKIPPED, because none can change the result. With JE the tests are JE too: their scores
    are unknown, and counts of tests by verdict must include them.
    """
    verdict = compile.verdict or Verdict.JE
    if verdict is not Verdict.JE:
        return _subtask_result(problem, subtask, verdict, 0.0, tuple(map(_skipped, subtask.tests)))
    message = "the submission could not be judged"
    unjudged = partial(TestOutcome, verdict=verdict, score=None, message=message, final=compile.final)
    return _subtask_result(problem, subtask, verdict, None, tuple(unjudged(test=name) for name in subtask.tests))


def _subtask_result(
    problem: Problem, subtask: Subtask, verdict: Verdict, score: float | None, tests: tuple[TestOutcome, ...]
) -> SubtaskResult:
    return SubtaskResult(
        subtask=subtask.name,
        verdict=verdict,
        score=score,
        points=subtask.points,
        weighted_score=total_points(_products(problem, subtask, score, tests), problem.score_precision),
        tests=tests,
    )


def _products(
    problem: Problem, subtask: Subtask, score: float | None, tests: Sequence[TestOutcome]
) -> list[tuple[float | None, float]]:
    """What a subtask adds to a total, as pairs of score and points.

    Under `Sum` there is one pair for each test: the mean is rounded to a float, which could change how a half is
    rounded in the total. Source: CMS, `Sum`: the outcome times the parameter, which is the points of one test. It is
    found by decimal division: 6 tests of 0.7 points have 4.2 points, and as floats 4.2 / 6 is more than 0.7.
    """
    if score is None or problem.score_type is not ScoreType.SUM:
        return [(score, subtask.points)]
    points = float(Decimal(f"{subtask.points:.15g}") / len(tests))  # 15 digits: `points` may be such a float product
    return [(outcome.score, points) for outcome in tests if outcome.score is not None]


def contribution(problem: Problem, subtask: Subtask, result: SubtaskResult) -> list[tuple[float | None, float]]:
    """What a subtask's result adds to a total, as pairs of score and points; from its score and points if it has no
    tests, because it was read from a row."""
    if result.tests or result.score is None or result.weighted_score is None:
        return _products(problem, subtask, result.score, result.tests)
    points = unrounded_points(result.score, subtask.points, result.weighted_score, problem.score_precision)
    return [(points, 1.0)]


def unrounded_points(score: float, points: float, weighted_score: float, precision: int) -> float:
    """The points in a subtask before they are rounded, from the columns of a result row.

    They are score × points, but under `Sum` the score is a mean that was rounded to a float. If this product rounds to
    another number than `weighted_score`, the mean's own rounding has moved it across a half of the last decimal, and
    `weighted_score` is taken.
    """
    product = score * points
    return product if round(product, precision) == weighted_score else weighted_score


def _skipped(test: str) -> TestOutcome:
    return TestOutcome(test=test, verdict=Verdict.SKIPPED, score=None)


def total_points(parts: Iterable[tuple[float | None, float]], precision: int) -> float | None:
    """The sum of score × points, rounded once; `None` if any score is unknown.

    The products are added one after the other, as floats, because CMS does: a last digit can change a rounding. (The
    builtin `sum` gives other last digits since Python 3.12.)
    """
    total = 0.0
    for score, points in parts:
        if score is None:
            return None
        total += score * points
    return round(total, precision)


# --------------------------------------------------------------------------- score types
# Each function gets the outcomes that count, in listed order, and returns the subtask's score, in [0, 1] and unrounded,
# and its verdict. If the known scores do not decide, they are `None` and JE.
# Source: CMS, `cms/grading/scoretypes/`; verdicts are the reference's.

_Reduced = tuple[float | None, Verdict]


def _minimum(_: Subtask, counted: Sequence[TestOutcome]) -> _Reduced:
    """The verdict is that of the first test with the lowest score."""
    if counted[-1].score == 0.0:
        return 0.0, counted[-1].verdict
    scores = _known_scores(counted)
    if len(scores) < len(counted):
        return None, Verdict.JE
    return min(scores), counted[scores.index(min(scores))].verdict


def _product(subtask: Subtask, counted: Sequence[TestOutcome]) -> _Reduced:
    """The product of the scores; the verdict is that of the minimum."""
    lowest, verdict = _minimum(subtask, counted)
    return (math.prod(_known_scores(counted)) if lowest else lowest), verdict


def _within_threshold(subtask: Subtask, counted: Sequence[TestOutcome]) -> _Reduced:
    """All or nothing: every score must be above 0 and at most the threshold. A score over the threshold is WA."""
    threshold = 1.0 if subtask.threshold is None else subtask.threshold
    for outcome in counted:
        if outcome.score is not None and not 0.0 < outcome.score <= threshold:
            return 0.0, outcome.verdict if outcome.score == 0.0 else Verdict.WA
    return (None, Verdict.JE) if len(_known_scores(counted)) < len(counted) else (1.0, Verdict.AC)


def _mean(_: Subtask, counted: Sequence[TestOutcome]) -> _Reduced:
    """The mean of the scores; the verdict is that of the minimum, so that a label such as `time_limit` can match it."""
    scores = _known_scores(counted)
    if len(scores) < len(counted):
        return None, Verdict.JE
    return math.fsum(scores) / len(scores), counted[scores.index(min(scores))].verdict


_REDUCTIONS: Mapping[ScoreType, Callable[[Subtask, Sequence[TestOutcome]], _Reduced]] = {
    ScoreType.GROUP_MIN: _minimum,
    ScoreType.GROUP_MUL: _product,
    ScoreType.GROUP_THRESHOLD: _within_threshold,
    ScoreType.SUM: _mean,
}


def _known_scores(outcomes: Iterable[TestOutcome]) -> list[float]:
    return [outcome.score for outcome in outcomes if outcome.score is not None]
