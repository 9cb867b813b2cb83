"""Outcomes to scores: test → subtask → submission → problem → contest, and pass@k. Pure.

**A subtask is its first zero.** Read a subtask's tests in listed order. If one of them has score 0, the first such
test decides: the score is 0, the verdict is that test's, and what comes after it is SKIPPED, whether it ran or not. If
none has, the score is the minimum, and the verdict that of the first test that has it.

Under `GroupMul` the score is the product instead. All of this holds for it as well: a product with a zero is zero, and
without one it is a function of all tests, as the minimum is.

**A zero beats a JE, wherever the JE stands.** A JE is a test whose score we failed to learn, somewhere in [0, 1].
With a zero in the subtask the minimum is 0 whatever that score is, so the subtask is decided; a JE *before* the
zero stays visible in the list, and one after it is SKIPPED. Without a zero the minimum depends on what we do not
know: score `None`, verdict JE.

**Why the order of running cannot matter.** The result is a function of the outcomes at positions up to and
including the first zero, and of nothing else. `judging.py` runs all of these (a JE is no zero, so it stops
nothing); what else happens to have run, because bundles went out in parallel, lies behind the first zero and is not
looked at.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ioi_eval.errors import InputError
from ioi_eval.model import (
    CompileOutcome,
    Isolation,
    Problem,
    ProblemKey,
    ScoreType,
    Submission,
    SubmissionResult,
    Subtask,
    SubtaskResult,
    TestOutcome,
    Verdict,
)

WORST_FIRST = (
    Verdict.JE,
    Verdict.SKIPPED,
    Verdict.NC,
    Verdict.CE,
    Verdict.SV,
    Verdict.RE,
    Verdict.WA,
    Verdict.OLE,
    Verdict.MLE,
    Verdict.TLE,
    Verdict.PA,
    Verdict.AC,
)
"""Which subtask's verdict becomes the submission's.

JE and SKIPPED come first, as without that subtask there is no total: a submission's verdict is one of these two
exactly when its score is `None`.

Source: the reference's order CE, RE, WA, MLE, TLE, PA, AC; what it does not have stands beside its kin.
"""

_SEVERITY = {verdict: place for place, verdict in enumerate(WORST_FIRST)}


# --------------------------------------------------------------------------- one submission


def subtask_result(
    problem: Problem, subtask: Subtask, outcomes: Mapping[str, TestOutcome], *, keep_all: bool = False
) -> SubtaskResult:
    """What a submission is worth in one subtask, by its first zero or else its minimum.

    Args:
        problem: gives the precision of `weighted_score`.
        subtask: one of the problem's.
        outcomes: by test name, at least for all tests up to the first with score 0.
        keep_all: show the outcomes behind the first zero too, instead of SKIPPED. Score and verdict are the same;
            for exhaustive judging (`validate`), as otherwise chance decides what has run there.

    Raises:
        ValueError: a test before the first zero has no outcome. Judging was not finished, which is our bug.
    """
    shown = _up_to_first_zero(subtask, outcomes)
    scores = [outcome.score for outcome in shown if outcome.score is not None]
    if shown[-1].score == 0.0:
        score, verdict = 0.0, shown[-1].verdict
    elif len(scores) < len(shown):
        score, verdict = None, Verdict.JE
    else:
        lowest = min(scores)
        verdict = shown[scores.index(lowest)].verdict
        score = math.prod(scores) if problem.score_type is ScoreType.GROUP_MUL else lowest
    rest = tuple(
        outcomes[name] if keep_all and name in outcomes else _skipped(name) for name in subtask.tests[len(shown) :]
    )
    return _subtask_result(problem, subtask, verdict, score, (*shown, *rest))


def submission_result(
    problem: Problem,
    submission: Submission,
    compile: CompileOutcome,
    outcomes: Mapping[str, TestOutcome],
    *,
    target: str = "",
    isolation: Isolation | None = None,
    skip_subtasks: Collection[str] = (),
    keep_all: bool = False,
) -> SubmissionResult:
    """What a submission is worth in all subtasks.

    The total is rounded once, from the unrounded sum. The verdict is the worst of the subtasks' (`WORST_FIRST`), those
    worth no points included: AC means that nothing at all failed.

    Args:
        problem: what was asked.
        submission: for its id.
        compile: with CE or NC every subtask scores 0 with that verdict, with JE none has a score; either way no test
            is looked at.
        outcomes: by test name; see `subtask_result`.
        target: description of the target that judged it.
        isolation: the weakest isolation over its runs.
        skip_subtasks: names of subtasks that were not asked for. They are SKIPPED even where tests they share with
            others have run, so that what they show does not depend on chance; the total is then `None`.
        keep_all: see `subtask_result`.

    Source: CMS rounds a subtask for display and the total from the unrounded sum.
    """
    if compile.verdict is None:
        subtasks = tuple(
            _undecided(problem, subtask, Verdict.SKIPPED)
            if subtask.name in skip_subtasks
            else subtask_result(problem, subtask, outcomes, keep_all=keep_all)
            for subtask in problem.subtasks
        )
    else:
        subtasks = tuple(_unrun(problem, subtask, compile.verdict) for subtask in problem.subtasks)
    return SubmissionResult(
        submission=submission.id,
        problem=problem.key,
        verdict=min((result.verdict for result in subtasks), key=_SEVERITY.__getitem__),
        score=total_points(((result.score, result.points) for result in subtasks), problem.score_precision),
        compile=compile,
        subtasks=subtasks,
        target=target,
        isolation=isolation,
    )


def _up_to_first_zero(subtask: Subtask, outcomes: Mapping[str, TestOutcome]) -> list[TestOutcome]:
    shown: list[TestOutcome] = []
    for name in subtask.tests:
        outcome = outcomes.get(name)
        if outcome is None or outcome.verdict is Verdict.SKIPPED:
            raise ValueError(f"test {name!r} of subtask {subtask.name!r} has no outcome, though it can still matter")
        shown.append(outcome)
        if outcome.score == 0.0:
            break
    return shown


def _unrun(problem: Problem, subtask: Subtask, verdict: Verdict) -> SubtaskResult:
    """A subtask of a submission that has nothing to run."""
    if verdict is Verdict.JE:
        return _undecided(problem, subtask, verdict)
    return _subtask_result(problem, subtask, verdict, 0.0, tuple(map(_skipped, subtask.tests)))


def _undecided(problem: Problem, subtask: Subtask, verdict: Verdict) -> SubtaskResult:
    return _subtask_result(problem, subtask, verdict, None, tuple(map(_skipped, subtask.tests)))


def _subtask_result(
    problem: Problem, subtask: Subtask, verdict: Verdict, score: float | None, tests: tuple[TestOutcome, ...]
) -> SubtaskResult:
    return SubtaskResult(
        subtask=subtask.name,
        verdict=verdict,
        score=score,
        points=subtask.points,
        weighted_score=total_points([(score, subtask.points)], problem.score_precision),
        tests=tests,
    )


def _skipped(test: str) -> TestOutcome:
    return TestOutcome(test=test, verdict=Verdict.SKIPPED, score=None)


def total_points(parts: Iterable[tuple[float | None, float]], precision: int) -> float | None:
    """The sum of score × points, rounded once; `None` with any unknown score.

    `fsum`, as `sum` of floats gives other last digits since Python 3.12, and a last digit can turn a rounding.
    """
    products: list[float] = []
    for score, points in parts:
        if score is None:
            return None
        products.append(score * points)
    return round(math.fsum(products), precision)


# --------------------------------------------------------------------------- many submissions


@dataclass(frozen=True, slots=True, kw_only=True)
class BestSubtask:
    """The best that a set of submissions reached in one subtask.

    Args:
        subtask: its name.
        points: what full marks are worth.
        score: the highest known score, unrounded; 0 without submissions; `None` if none of theirs is known.
        submission: id of the first submission that reached it; `None` where nothing is known.
        undecided: how many submissions without a known score might still raise it. 0 once it is 1.
    """

    subtask: str
    points: float
    score: float | None
    submission: str | None
    undecided: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemScore:
    """What a set of submissions is worth together. A lower bound while `undecided` is not 0.

    Args:
        problem: the problem's key.
        score: points, rounded from the unrounded sum; `None` if in some subtask nothing is known.
        subtasks: in the problem's order.
    """

    problem: ProblemKey
    score: float | None
    subtasks: tuple[BestSubtask, ...]

    @property
    def undecided(self) -> int:
        """Subtasks that a judge error left open."""
        return sum(1 for best in self.subtasks if best.undecided)


def best_by_subtask(problem: Problem, results: Iterable[SubmissionResult]) -> ProblemScore:
    """The contest score of one problem: the sum over subtasks of the best that any submission reached there.

    Args:
        problem: what all submissions are for.
        results: theirs, in any order; consumed once, so a stream of a million will do. Order only decides which of
            equals is named.

    Raises:
        InputError: a result is of another problem, or its subtasks are not the problem's.

    Source: IOI regulations since 2017; CMS's `score_mode: max_subtask`.
    """
    names = tuple(subtask.name for subtask in problem.subtasks)
    best: list[tuple[float | None, str | None]] = [(None, None)] * len(names)
    unknown = [0] * len(names)
    for result in results:
        if result.problem != problem.key or tuple(r.subtask for r in result.subtasks) != names:
            raise InputError(
                f"submission {result.submission} was judged on {result.problem} with subtasks "
                f"{[r.subtask for r in result.subtasks]}, not on {problem.key} with {list(names)}; score problems apart"
            )
        for place, subtask in enumerate(result.subtasks):
            if subtask.score is None:
                unknown[place] += 1
                continue
            known = best[place][0]
            if known is None or subtask.score > known:
                best[place] = (subtask.score, result.submission)
    subtasks = tuple(
        BestSubtask(
            subtask=subtask.name,
            points=subtask.points,
            score=0.0 if score is None and not missing else score,
            submission=submission,
            undecided=0 if score == 1.0 else missing,
        )
        for subtask, (score, submission), missing in zip(problem.subtasks, best, unknown, strict=True)
    )
    total = total_points(((s.score, s.points) for s in subtasks), problem.score_precision)
    return ProblemScore(problem=problem.key, score=total, subtasks=subtasks)


def contest_points(problems: Iterable[ProblemScore]) -> float | None:
    """The sum over a contest's problems; `None` if one of them has no score.

    Source: CMS adds the rounded task scores.
    """
    scores = [problem.score for problem in problems]
    known = [score for score in scores if score is not None]
    return math.fsum(known) if len(known) == len(scores) else None


# --------------------------------------------------------------------------- pass@k


def pass_at_k(counts: Sequence[tuple[int, int]], k: int) -> float | None:
    """The probability that one of k samples drawn without replacement solves a problem, in the mean over problems.

    The estimator is unbiased: 1 − C(n − c, k) / C(n, k) for a problem with c of n samples right.

    Args:
        counts: (n, c) for each problem. Leave out samples that could not be judged: they are not wrong ones.
        k: how many are drawn.

    Returns:
        A number in [0, 1]; `None` if a problem has fewer than k samples (a mean over the others would be of another set
        of problems), or if there is no problem.

    Raises:
        InputError: k is below 1, or a count is impossible.

    Source: arXiv 2107.03374, section 2.1, in its product form, which stays exact for large n.
    """
    if k < 1:
        raise InputError(f"pass@{k} does not exist: k must be at least 1")
    for n, c in counts:
        if not 0 <= c <= n:
            raise InputError(f"{c} right samples of {n} are not possible")
    if not counts or any(n < k for n, _ in counts):
        return None
    return math.fsum(_pass_at_k(n, c, k) for n, c in counts) / len(counts)


def _pass_at_k(n: int, c: int, k: int) -> float:
    if n - c < k:
        return 1.0
    return 1.0 - math.prod(1.0 - k / i for i in range(n - c + 1, n + 1))
