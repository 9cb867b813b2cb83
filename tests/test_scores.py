"""Scores follow the rules of DESIGN, "Verdicts", and pass@k is the unbiased estimator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.errors import InputError
from ioi_eval.expectations import deciding_test
from ioi_eval.model import (
    CompileOutcome,
    Isolation,
    Problem,
    ProblemKey,
    ScoreType,
    Submission,
    SubmissionResult,
    Subtask,
    TaskType,
    TestCase,
    TestOutcome,
    Verdict,
)
from ioi_eval.scores import (
    WORST_FIRST,
    best_by_subtask,
    contest_points,
    pass_at_k,
    submission_result,
    subtask_result,
)

KEY = ProblemKey(year=2024, id="nile")
COMPILED = CompileOutcome(verdict=None)
ZEROS = (Verdict.WA, Verdict.TLE, Verdict.MLE, Verdict.OLE, Verdict.SV, Verdict.RE)


def make_problem(*subtasks: tuple[float, str], precision: int = 2, key: ProblemKey = KEY) -> Problem:
    """A problem from (points, tests as letters) pairs; the subtasks are named 00, 01, …"""
    names = sorted({test for _, tests in subtasks for test in tests})
    return Problem(
        key=key,
        name="Nile",
        task_type=TaskType.BATCH,
        time_limit_s=1.0,
        memory_limit_bytes=2**30,
        score_precision=precision,
        subtasks=tuple(
            Subtask(name=f"{number:02}", points=points, tests=tuple(tests))
            for number, (points, tests) in enumerate(subtasks)
        ),
        tests={name: TestCase(name=name, input=b"", answer=b"") for name in names},
        cxx_std="gnu++20",
    )


def outcome(test: str, what: Verdict | float) -> TestOutcome:
    """A test's outcome, from its score or from a verdict that leaves no choice of score."""
    if isinstance(what, Verdict):
        score = None if what in (Verdict.JE, Verdict.SKIPPED) else float(what is Verdict.AC)
        return TestOutcome(test=test, verdict=what, score=score)
    verdict = Verdict.AC if what == 1.0 else Verdict.WA if what == 0.0 else Verdict.PA
    return TestOutcome(test=test, verdict=verdict, score=what)


def outcomes(tests: str, *whats: Verdict | float) -> dict[str, TestOutcome]:
    """Outcomes of tests named by letters."""
    return {test: outcome(test, what) for test, what in zip(tests, whats, strict=True)}


def judge(problem: Problem, *whats: Verdict | float, submission: str = "s") -> SubmissionResult:
    """The result of a submission with these outcomes, in alphabetical order of the tests."""
    asked = Submission(id=submission, problem=problem.key, code="…")
    return submission_result(problem, asked, COMPILED, outcomes("".join(sorted(problem.tests)), *whats))


def verdicts(tests: Sequence[TestOutcome]) -> list[Verdict]:
    """The verdicts of tests as a subtask shows them."""
    return [test.verdict for test in tests]


@pytest.mark.parametrize(
    ("whats", "verdict", "score", "shown"),
    [
        ("1 1 1", Verdict.AC, 1.0, "AC AC AC"),
        ("1 .5 .5", Verdict.PA, 0.5, "AC PA PA"),
        ("1 .9999 1", Verdict.PA, 0.9999, "AC PA AC"),
        ("1 0 1", Verdict.WA, 0.0, "AC WA SKIPPED"),
        (".5 TLE RE", Verdict.TLE, 0.0, "PA TLE SKIPPED"),
        ("RE TLE MLE", Verdict.RE, 0.0, "RE SKIPPED SKIPPED"),
        ("1 1 OLE", Verdict.OLE, 0.0, "AC AC OLE"),
        ("1 JE 1", Verdict.JE, None, "AC JE AC"),
        ("1 JE .5", Verdict.JE, None, "AC JE PA"),
        ("JE 1 SV", Verdict.SV, 0.0, "JE AC SV"),
        ("TLE JE 1", Verdict.TLE, 0.0, "TLE SKIPPED SKIPPED"),
        ("JE JE JE", Verdict.JE, None, "JE JE JE"),
    ],
)
def test_subtask_is_its_first_zero_or_its_minimum(
    whats: str, verdict: Verdict, score: float | None, shown: str
) -> None:
    """A subtask's score is the minimum, its verdict the first lowest test's; a zero beats a JE on either side."""
    problem = make_problem((40, "abc"))
    given_whats = [Verdict(what) if what.isalpha() else float(what) for what in whats.split()]
    result = subtask_result(problem, problem.subtasks[0], outcomes("abc", *given_whats))
    assert (result.verdict, result.score) == (verdict, score)
    assert " ".join(verdicts(result.tests)) == shown
    assert result.weighted_score == (None if score is None else round(40 * score, 2))


def test_subtask_verdict_goes_by_listed_order() -> None:
    """The order in which a subtask lists its tests decides, not that of their names or of the mapping."""
    problem = make_problem((10, "cab"))
    result = subtask_result(problem, problem.subtasks[0], outcomes("abc", Verdict.RE, Verdict.MLE, Verdict.TLE))
    assert result.verdict is Verdict.TLE
    assert [test.test for test in result.tests] == ["c", "a", "b"]
    assert verdicts(result.tests) == [Verdict.TLE, Verdict.SKIPPED, Verdict.SKIPPED]


def test_first_of_several_lowest_partial_scores_names_the_verdict() -> None:
    """Of several tests with the lowest score, the first in listed order is the one that counts."""
    problem = make_problem((10, "abc"))
    odd = TestOutcome(test="b", verdict=Verdict.WA, score=0.25)
    result = subtask_result(problem, problem.subtasks[0], {**outcomes("abc", 1.0, 1.0, 0.25), "b": odd})
    assert (result.verdict, result.score) == (Verdict.WA, 0.25)


def test_skipped_tests_show_nothing_of_what_ran() -> None:
    """What ran behind the first zero leaves no trace, so that two runs of one dump give equal results."""
    problem = make_problem((10, "ab"))
    ran = outcomes("ab", 0.0, Verdict.RE)
    assert subtask_result(problem, problem.subtasks[0], ran) == subtask_result(
        problem, problem.subtasks[0], {"a": ran["a"]}
    )


def test_keep_all_shows_what_ran_and_scores_the_same() -> None:
    """Exhaustive judging may show every outcome; verdict and score do not change by it."""
    problem = make_problem((10, "abc"))
    ran = outcomes("ab", 0.0, Verdict.RE)
    plain = subtask_result(problem, problem.subtasks[0], ran)
    full = subtask_result(problem, problem.subtasks[0], ran, keep_all=True)
    assert (full.verdict, full.score, full.weighted_score) == (plain.verdict, plain.score, plain.weighted_score)
    assert verdicts(full.tests) == [Verdict.WA, Verdict.RE, Verdict.SKIPPED]


@pytest.mark.parametrize("missing", [{}, {"b": TestOutcome(test="b", verdict=Verdict.SKIPPED, score=None)}])
def test_needed_test_without_outcome_is_our_bug(missing: dict[str, TestOutcome]) -> None:
    """A test that could still matter and has no outcome is never scored around."""
    problem = make_problem((10, "abc"))
    with pytest.raises(ValueError, match=r"'b' of subtask '00'"):
        subtask_result(problem, problem.subtasks[0], {**outcomes("ac", 1.0, 0.0), **missing})


def test_solved_means_unrounded_one() -> None:
    """0.9999 is worth full points after rounding, and still does not solve the subtask."""
    problem = make_problem((10, "a"), precision=1)
    nearly = subtask_result(problem, problem.subtasks[0], outcomes("a", 0.9999))
    assert nearly.weighted_score == 10.0
    assert not nearly.solved
    assert subtask_result(problem, problem.subtasks[0], outcomes("a", 1.0)).solved


def test_total_is_rounded_from_the_unrounded_sum() -> None:
    """Rounding each subtask first would lose a third of a hundredth three times."""
    problem = make_problem((10, "a"), (10, "b"), (10, "c"))
    result = judge(problem, 1 / 3, 1 / 3, 1 / 3)
    assert [subtask.weighted_score for subtask in result.subtasks] == [3.33, 3.33, 3.33]
    assert result.score == 10.0


@pytest.mark.parametrize(
    ("whats", "verdict", "score"),
    [
        ((1.0, 1.0, 1.0), Verdict.AC, 100.0),
        ((1.0, 1.0, 0.5), Verdict.PA, 70.0),
        ((1.0, Verdict.TLE, 0.5), Verdict.TLE, 30.0),
        ((1.0, Verdict.TLE, Verdict.WA), Verdict.WA, 0.0),
        ((0.0, 1.0, 1.0), Verdict.WA, 100.0),
        ((1.0, Verdict.RE, Verdict.JE), Verdict.JE, None),
        ((Verdict.JE, 1.0, 1.0), Verdict.JE, None),
    ],
)
def test_submission_verdict_is_the_worst_of_its_subtasks(
    whats: tuple[Verdict | float, ...], verdict: Verdict, score: float | None
) -> None:
    """The worst subtask names the submission's verdict; a JE that matters leaves no total."""
    result = judge(make_problem((0, "a"), (40, "b"), (60, "c")), *whats)
    assert (result.verdict, result.score) == (verdict, score)


def test_judge_error_behind_a_zero_does_not_reach_the_total() -> None:
    """A JE is a judge error of the submission only where it leaves a score open."""
    problem = make_problem((40, "ab"), (60, "bc"))
    result = judge(problem, 1.0, Verdict.JE, Verdict.TLE)
    assert [subtask.score for subtask in result.subtasks] == [None, 0.0]
    assert (result.verdict, result.score) == (Verdict.JE, None)
    result = judge(problem, 0.0, Verdict.JE, Verdict.TLE)
    assert (result.verdict, result.score) == (Verdict.WA, 0.0)


@pytest.mark.parametrize("verdict", [Verdict.CE, Verdict.NC])
def test_without_program_every_subtask_is_zero(verdict: Verdict) -> None:
    """Code that does not compile, or is not there, scores 0 in every subtask, with nothing run."""
    problem = make_problem((0, "a"), (100, "abc"))
    asked = Submission(id="s", problem=KEY, code=None)
    result = submission_result(problem, asked, CompileOutcome(verdict=verdict), {}, target="t")
    assert (result.verdict, result.score, result.target) == (verdict, 0.0, "t")
    for subtask in result.subtasks:
        assert (subtask.verdict, subtask.score, subtask.weighted_score) == (verdict, 0.0, 0.0)
        assert set(verdicts(subtask.tests)) == {Verdict.SKIPPED}


def test_judge_error_while_compiling_is_no_score() -> None:
    """A compilation that failed for our reasons leaves every score open."""
    problem = make_problem((100, "ab"))
    asked = Submission(id="s", problem=KEY, code="…")
    result = submission_result(problem, asked, CompileOutcome(verdict=Verdict.JE), {}, isolation=Isolation.FULL)
    assert (result.verdict, result.score, result.isolation) == (Verdict.JE, None, Isolation.FULL)
    assert [(s.verdict, s.score, s.weighted_score) for s in result.subtasks] == [(Verdict.JE, None, None)]


def test_subtasks_not_asked_for_stay_open_whatever_ran() -> None:
    """A shared test that failed elsewhere must not decide a subtask that nobody asked for."""
    problem = make_problem((40, "a"), (60, "ab"))
    asked = Submission(id="s", problem=KEY, code="…")
    result = submission_result(problem, asked, COMPILED, outcomes("a", 0.0), skip_subtasks={"01"})
    assert [subtask.verdict for subtask in result.subtasks] == [Verdict.WA, Verdict.SKIPPED]
    assert (result.verdict, result.score) == (Verdict.SKIPPED, None)


def test_every_verdict_has_its_rank() -> None:
    """A verdict that is added one day must be given its place."""
    assert sorted(WORST_FIRST) == sorted(Verdict)


scores = st.sampled_from([0.0, 1e-9, 0.25, 1 / 3, 0.9999, 1.0])
whats = st.one_of(scores, st.sampled_from([*ZEROS, Verdict.JE]))


@given(st.lists(whats, min_size=1, max_size=6))
def test_subtask_never_claims_more_than_is_known(tests: list[Verdict | float]) -> None:
    """However a JE's test might have scored, the subtask's score would have been the one given, if one is."""
    names = "abcdef"[: len(tests)]
    problem = make_problem((10, names))
    ran = outcomes(names, *tests)
    result = subtask_result(problem, problem.subtasks[0], ran)
    bounds = []
    for truth in (0.0, 0.5, 1.0):
        maybe = (ran[name].score for name in names)
        bounds.append(min(truth if score is None else score for score in maybe))
    if result.score is None:
        assert result.verdict is Verdict.JE
        assert len(set(bounds)) > 1
    else:
        assert set(bounds) == {result.score}
        assert (result.verdict is Verdict.AC) == result.solved


# --------------------------------------------------------------------------- contest


def test_contest_score_takes_the_best_of_each_subtask() -> None:
    """Since 2017 a contestant keeps the best of each subtask over all submissions."""
    problem = make_problem((0, "a"), (40, "b"), (60, "c"))
    results = [
        judge(problem, 1.0, 1.0, 0.0, submission="first"),
        judge(problem, 1.0, 0.5, 0.25, submission="second"),
        judge(problem, 1.0, 1.0, 0.25, submission="third"),
    ]
    best = best_by_subtask(problem, iter(results))
    assert best.score == 55.0
    assert [subtask.submission for subtask in best.subtasks] == ["first", "first", "second"]
    assert best.undecided == 0


def test_contest_score_rounds_once() -> None:
    """As a submission's total, a problem's score is rounded from the unrounded sum."""
    problem = make_problem((10, "a"), (10, "b"), (10, "c"))
    assert best_by_subtask(problem, [judge(problem, 1 / 3, 1 / 3, 1 / 3)]).score == 10.0


def test_contest_score_with_judge_errors_is_a_marked_lower_bound() -> None:
    """A submission that could not be judged might have raised the best, unless that is full marks already."""
    problem = make_problem((40, "a"), (60, "b"))
    open_one = judge(problem, Verdict.JE, Verdict.JE)
    best = best_by_subtask(problem, [open_one, judge(problem, 1.0, 0.5)])
    assert best.score == 70.0
    assert [subtask.undecided for subtask in best.subtasks] == [0, 1]
    assert best.undecided == 1
    nothing = best_by_subtask(problem, [open_one])
    assert nothing.score is None
    assert [subtask.score for subtask in nothing.subtasks] == [None, None]


def test_contest_score_of_nothing_is_zero() -> None:
    """Who submits nothing gets nothing."""
    best = best_by_subtask(make_problem((40, "a"), (60, "b")), [])
    assert (best.score, best.undecided) == (0.0, 0)
    assert {subtask.submission for subtask in best.subtasks} == {None}


def test_contest_score_refuses_other_problems() -> None:
    """Ids repeat over the years: a result of another year's problem is not mixed in."""
    problem = make_problem((100, "a"))
    other = judge(make_problem((100, "a"), key=ProblemKey(year=2023, id="nile")), 1.0)
    with pytest.raises(InputError, match="2023/nile"):
        best_by_subtask(problem, [other])
    with pytest.raises(InputError, match="score problems apart"):
        best_by_subtask(problem, [judge(make_problem((50, "a"), (50, "b")), 1.0, 1.0)])


@given(st.permutations(range(4)), st.data())
def test_contest_score_does_not_depend_on_order(order: list[int], data: st.DataObject) -> None:
    """The sum of best subtasks is a property of the set of submissions, and no submission beats it."""
    problem = make_problem((40, "a"), (60, "ab"))
    results = [judge(problem, data.draw(whats), data.draw(whats), submission=str(number)) for number in range(4)]
    best = best_by_subtask(problem, results)
    again = best_by_subtask(problem, [results[place] for place in order])
    assert [(s.score, s.undecided) for s in best.subtasks] == [(s.score, s.undecided) for s in again.subtasks]
    assert best.score == again.score
    assert all(r.score is None or (best.score is not None and r.score <= best.score) for r in results)


def test_contest_points_add_problems() -> None:
    """A contest is the sum of its problems, without float dust; one without a score leaves it open."""
    problem = make_problem((100, "a"))
    problems = [best_by_subtask(problem, [judge(problem, score)]) for score in (0.101, 0.202, 0.303)]
    assert contest_points(problems) == 60.6
    assert contest_points([*problems, best_by_subtask(problem, [judge(problem, Verdict.JE)])]) is None
    assert contest_points([]) == 0.0


# --------------------------------------------------------------------------- pass@k


SMALL = [(n, c, k) for n in range(1, 7) for c in range(n + 1) for k in range(1, n + 1)]


@pytest.mark.parametrize(("n", "c", "k"), SMALL)
def test_pass_at_k_is_the_share_of_lucky_draws(n: int, c: int, k: int) -> None:
    """The estimator is the exact share of k-subsets that hold a right sample."""
    draws = list(combinations([True] * c + [False] * (n - c), k))
    expected = Fraction(sum(map(any, draws)), len(draws))
    assert pass_at_k([(n, c)], k) == pytest.approx(float(expected), abs=1e-12)


def test_pass_at_k_known_values() -> None:
    """Values from the closed form, at sizes where binomials overflow a float."""
    assert pass_at_k([(200, 10)], 1) == pytest.approx(0.05)
    expected = 1 - Fraction(math.comb(190_000, 100), math.comb(200_000, 100))
    assert pass_at_k([(200_000, 10_000)], 100) == pytest.approx(float(expected), rel=1e-9)


def test_pass_at_k_is_the_mean_over_problems() -> None:
    """Each problem counts once, however many samples it has."""
    assert pass_at_k([(1, 1), (1000, 0)], 1) == 0.5


def test_pass_at_k_needs_k_samples_everywhere() -> None:
    """With fewer than k samples of any problem there is no pass@k, and none of nothing."""
    assert pass_at_k([(10, 5), (4, 4)], 5) is None
    assert pass_at_k([], 1) is None


@pytest.mark.parametrize(("counts", "k"), [([(3, 1)], 0), ([(3, 1)], -1), ([(3, 4)], 1), ([(3, -1)], 1)])
def test_pass_at_k_refuses_nonsense(counts: list[tuple[int, int]], k: int) -> None:
    """Impossible counts and k below 1 are errors of the call."""
    with pytest.raises(InputError):
        pass_at_k(counts, k)


@given(st.lists(st.tuples(st.integers(5, 300), st.floats(0, 1)), min_size=1, max_size=8))
def test_pass_at_k_is_a_probability_that_grows_with_k(drawn: list[tuple[int, float]]) -> None:
    """More draws never hurt, and the value never leaves [0, 1], not by a rounding error either."""
    counts = [(n, round(n * share)) for n, share in drawn]
    values = [pass_at_k(counts, k) for k in range(1, 6)]
    known = [value for value in values if value is not None]
    assert len(known) == 5
    assert known == sorted(known)
    assert all(0.0 <= value <= 1.0 for value in known)


@pytest.mark.parametrize(
    ("whats", "score", "verdict"),
    [
        ((1.0, 0.5, 0.5), 0.25, Verdict.PA),
        ((1.0, 1.0, 1.0), 1.0, Verdict.AC),
        ((0.5, Verdict.TLE, 0.5), 0.0, Verdict.TLE),
        ((0.5, Verdict.JE, 0.5), None, Verdict.JE),
        ((Verdict.JE, 0.0, 0.5), 0.0, Verdict.WA),
    ],
)
def test_group_mul_is_the_product(whats: tuple[Verdict | float, ...], score: float | None, verdict: Verdict) -> None:
    """Zeros and judge errors count as they do for the minimum; the verdict is that of the lowest test."""
    problem = replace(make_problem((100.0, "abc")), score_type=ScoreType.GROUP_MUL)
    result = judge(problem, *whats).subtasks[0]
    assert (result.score, result.verdict) == (score, verdict)
    deciding = deciding_test(result)
    assert score is None or (deciding is not None and deciding.verdict is verdict)
