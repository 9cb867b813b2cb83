"""A submission's score: subtasks, totals and score types, by the rules of docs/verdicts.md."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from operator import add

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ioi_eval.expectations import deciding_test
from ioi_eval.importers.score_parameters import subtasks_of
from ioi_eval.model import CompileOutcome, Isolation, ScoreType, Submission, TestOutcome, Verdict
from ioi_eval.scores import WORST_FIRST, submission_result, subtask_result
from tests.scored import KEY, any_result, judge, make_problem, outcomes, verdicts


@pytest.mark.parametrize(
    ("results", "verdict", "score", "shown"),
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
    results: str, verdict: Verdict, score: float | None, shown: str
) -> None:
    """The score is the minimum. The verdict is that of the first test with the lowest score. A zero beats a JE before
    or after it.
    """
    problem = make_problem((40, "abc"))
    found = [Verdict(word) if word.isalpha() else float(word) for word in results.split()]
    result = subtask_result(problem, problem.subtasks[0], outcomes("abc", *found))
    assert (result.verdict, result.score) == (verdict, score)
    assert " ".join(verdicts(result.tests)) == shown
    assert result.weighted_score == (None if score is None else round(40 * score, 2))


def test_subtask_verdict_goes_by_listed_order() -> None:
    """The order in which a subtask lists its tests decides, not the order of their names or of the mapping."""
    problem = make_problem((10, "cab"))
    result = subtask_result(problem, problem.subtasks[0], outcomes("abc", Verdict.RE, Verdict.MLE, Verdict.TLE))
    assert result.verdict is Verdict.TLE
    assert [test.test for test in result.tests] == ["c", "a", "b"]
    assert verdicts(result.tests) == [Verdict.TLE, Verdict.SKIPPED, Verdict.SKIPPED]


def test_first_of_several_lowest_partial_scores_gives_the_verdict() -> None:
    """Of several tests with the lowest score, the first in listed order decides the verdict."""
    problem = make_problem((10, "abc"))
    odd = TestOutcome(test="b", verdict=Verdict.WA, score=0.25)
    result = subtask_result(problem, problem.subtasks[0], {**outcomes("abc", 1.0, 1.0, 0.25), "b": odd})
    assert (result.verdict, result.score) == (Verdict.WA, 0.25)


def test_outcomes_after_the_first_zero_are_not_shown() -> None:
    """Tests after the first zero are SKIPPED even if they ran, so that two runs of one dump give equal results."""
    problem = make_problem((10, "ab"))
    ran = outcomes("ab", 0.0, Verdict.RE)
    assert subtask_result(problem, problem.subtasks[0], ran) == subtask_result(
        problem, problem.subtasks[0], {"a": ran["a"]}
    )


def test_keep_all_shows_what_ran_and_scores_the_same() -> None:
    """Exhaustive judging can show every outcome. Verdict and score do not change."""
    problem = make_problem((10, "abc"))
    ran = outcomes("ab", 0.0, Verdict.RE)
    plain = subtask_result(problem, problem.subtasks[0], ran)
    full = subtask_result(problem, problem.subtasks[0], ran, keep_all=True)
    assert (full.verdict, full.score, full.weighted_score) == (plain.verdict, plain.score, plain.weighted_score)
    assert verdicts(full.tests) == [Verdict.WA, Verdict.RE, Verdict.SKIPPED]


@pytest.mark.parametrize("missing", [{}, {"b": TestOutcome(test="b", verdict=Verdict.SKIPPED, score=None)}])
def test_needed_test_without_outcome_is_an_error(missing: dict[str, TestOutcome]) -> None:
    """A missing outcome of a test that can still change the result raises an error, because it is a bug."""
    problem = make_problem((10, "abc"))
    with pytest.raises(ValueError, match=r"'b' of subtask '00'"):
        subtask_result(problem, problem.subtasks[0], {**outcomes("ac", 1.0, 0.0), **missing})


def test_solved_means_a_score_of_exactly_1() -> None:
    """With 0.9999 a subtask has full points after rounding, but it is not solved."""
    problem = make_problem((10, "a"), precision=1)
    nearly = subtask_result(problem, problem.subtasks[0], outcomes("a", 0.9999))
    assert nearly.weighted_score == 10.0
    assert nearly.score != 1.0
    assert subtask_result(problem, problem.subtasks[0], outcomes("a", 1.0)).score == 1.0


def test_total_is_rounded_from_the_unrounded_sum() -> None:
    """If each subtask were rounded first, three times a third of a hundredth would be lost."""
    problem = make_problem((10, "a"), (10, "b"), (10, "c"))
    result = judge(problem, 1 / 3, 1 / 3, 1 / 3)
    assert [subtask.weighted_score for subtask in result.subtasks] == [3.33, 3.33, 3.33]
    assert result.score == 10.0


@pytest.mark.parametrize(
    ("results", "verdict", "score"),
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
    results: tuple[Verdict | float, ...], verdict: Verdict, score: float | None
) -> None:
    """The submission's verdict is that of its worst subtask. A JE that can change the score leaves no total."""
    result = judge(make_problem((0, "a"), (40, "b"), (60, "c")), *results)
    assert (result.verdict, result.score) == (verdict, score)


def test_judge_error_behind_a_zero_does_not_reach_the_total() -> None:
    """The submission's verdict is JE only if a JE leaves a score open."""
    problem = make_problem((40, "ab"), (60, "bc"))
    result = judge(problem, 1.0, Verdict.JE, Verdict.TLE)
    assert [subtask.score for subtask in result.subtasks] == [None, 0.0]
    assert (result.verdict, result.score) == (Verdict.JE, None)
    result = judge(problem, 0.0, Verdict.JE, Verdict.TLE)
    assert (result.verdict, result.score) == (Verdict.WA, 0.0)


@pytest.mark.parametrize("verdict", [Verdict.CE, Verdict.NC])
def test_without_program_every_subtask_is_zero(verdict: Verdict) -> None:
    """Code that is missing or does not compile scores 0 in every subtask. Nothing is run."""
    problem = make_problem((0, "a"), (100, "abc"))
    asked = Submission(id="s", problem=KEY, code=None)
    result = submission_result(problem, asked, CompileOutcome(verdict=verdict), {}, target="t")
    assert (result.verdict, result.score, result.target) == (verdict, 0.0, "t")
    for subtask in result.subtasks:
        assert (subtask.verdict, subtask.score, subtask.weighted_score) == (verdict, 0.0, 0.0)
        assert set(verdicts(subtask.tests)) == {Verdict.SKIPPED}


@pytest.mark.parametrize("final", [True, False])
def test_tests_of_a_submission_that_was_not_judged_are_je(final: bool) -> None:
    """If a checker does not compile, the tests are JE and not SKIPPED, so that counts of verdicts show the failure."""
    asked = Submission(id="s", problem=KEY, code="x")
    failure = CompileOutcome(verdict=Verdict.JE, message="the checker does not compile", final=final)
    result = submission_result(make_problem((0, "a"), (100, "abc")), asked, failure, {})
    assert (result.verdict, result.score) == (Verdict.JE, None)
    for subtask in result.subtasks:
        assert [(one.verdict, one.score, one.final) for one in subtask.tests] == [
            (Verdict.JE, None, final) for _ in subtask.tests
        ]


def test_judge_error_while_compiling_is_no_score() -> None:
    """If a compilation failed for our reasons, every score is open."""
    problem = make_problem((100, "ab"))
    asked = Submission(id="s", problem=KEY, code="…")
    result = submission_result(problem, asked, CompileOutcome(verdict=Verdict.JE), {}, isolation=Isolation.FULL)
    assert (result.verdict, result.score, result.isolation) == (Verdict.JE, None, Isolation.FULL)
    assert [(s.verdict, s.score, s.weighted_score) for s in result.subtasks] == [(Verdict.JE, None, None)]


@pytest.mark.parametrize("score_type", ScoreType)
def test_compile_error_is_zero_under_every_score_type(score_type: ScoreType) -> None:
    """A submission that does not compile has 0 points, also where the points are those of its tests (`Sum`)."""
    problem = replace(make_problem((60.0, "ab"), (40.0, "c")), score_type=score_type)
    asked = Submission(id="s", problem=KEY, code="x")
    result = submission_result(problem, asked, CompileOutcome(verdict=Verdict.CE), {})
    assert (result.verdict, result.score) == (Verdict.CE, 0.0)
    assert [subtask.weighted_score for subtask in result.subtasks] == [0.0, 0.0]


def test_every_verdict_has_its_rank() -> None:
    """Every verdict is in the order of verdicts; a new verdict must be added there."""
    assert sorted(WORST_FIRST) == sorted(Verdict)


@given(st.lists(any_result, min_size=1, max_size=6))
def test_subtask_score_is_right_for_any_score_of_a_je_test(tests: list[Verdict | float]) -> None:
    """If a subtask with a JE has a score, it would have the same score whatever the score of the JE's test."""
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
        assert (result.verdict is Verdict.AC) == (result.score == 1.0)


@pytest.mark.parametrize(
    ("results", "score", "verdict"),
    [
        ((1.0, 0.5, 0.5), 0.25, Verdict.PA),
        ((1.0, 1.0, 1.0), 1.0, Verdict.AC),
        ((0.5, Verdict.TLE, 0.5), 0.0, Verdict.TLE),
        ((0.5, Verdict.JE, 0.5), None, Verdict.JE),
        ((Verdict.JE, 0.0, 0.5), 0.0, Verdict.WA),
    ],
)
def test_group_mul_is_the_product(results: tuple[Verdict | float, ...], score: float | None, verdict: Verdict) -> None:
    """Zeros and judge errors count as with the minimum. The verdict is that of the test with the lowest score."""
    problem = replace(make_problem((100.0, "abc")), score_type=ScoreType.GROUP_MUL)
    result = judge(problem, *results).subtasks[0]
    assert (result.score, result.verdict) == (score, verdict)
    deciding = deciding_test(result)
    assert score is None or (deciding is not None and deciding.verdict is verdict)


@pytest.mark.parametrize(
    ("results", "threshold", "score", "verdict"),
    [
        ((0.5, 0.25, 0.5), 0.5, 1.0, Verdict.AC),
        ((1.0, 1.0, 1.0), 1.0, 1.0, Verdict.AC),
        ((0.5, 0.75, 0.5), 0.5, 0.0, Verdict.WA),
        ((0.5, Verdict.TLE, 0.75), 0.5, 0.0, Verdict.TLE),
        ((0.75, 0.25, Verdict.TLE), 0.5, 0.0, Verdict.WA),
        ((0.5, Verdict.JE, 0.5), 0.5, None, Verdict.JE),
        ((Verdict.JE, 0.75, 0.5), 0.5, 0.0, Verdict.WA),
    ],
)
def test_group_threshold_is_all_or_nothing(
    results: tuple[Verdict | float, ...], threshold: float, score: float | None, verdict: Verdict
) -> None:
    """The score is 1 if every test's score is above 0 and at most the threshold. Otherwise the first other test decides
    the verdict.
    """
    problem = make_problem((100.0, "abc"))
    subtask = replace(problem.subtasks[0], threshold=threshold)
    problem = replace(problem, score_type=ScoreType.GROUP_THRESHOLD, subtasks=(subtask,))
    result = judge(problem, *results).subtasks[0]
    assert (result.score, result.verdict) == (score, verdict)


@pytest.mark.parametrize("score_type", ScoreType)
@pytest.mark.parametrize("scores", [(0.0, 0.5, 1.0), (0.5, 0.5, 1.0)])
def test_every_order_of_the_tests_has_the_same_score(score_type: ScoreType, scores: tuple[float, ...]) -> None:
    """If a zero decides, the score is 0 whatever the other tests score. Each score type is in `_REDUCTIONS`."""
    problem = make_problem((100.0, "abc"))
    subtask = replace(problem.subtasks[0], threshold=1.0)
    problem = replace(problem, score_type=score_type, subtasks=(subtask,))
    assert len({judge(problem, *order).score for order in itertools.permutations(scores)}) == 1


def test_a_sum_counts_tests_after_a_zero() -> None:
    """Each test adds its part. All tests are shown, and the verdict is that of the test with the lowest score."""
    problem = replace(make_problem((30.0, "abc")), score_type=ScoreType.SUM)
    result = judge(problem, 1.0, Verdict.TLE, 0.5)
    assert (result.score, result.verdict) == (15.0, Verdict.TLE)
    assert [test.verdict for test in result.subtasks[0].tests] == ["AC", "TLE", "PA"]
    assert judge(problem, 1.0, Verdict.TLE, Verdict.JE).score is None
    assert judge(problem, 1.0, 1.0, 1.0).subtasks[0].score == 1.0


def cms_sum(products: Iterable[float], precision: int) -> float:
    """The total of CMS, which adds floats one after the other."""
    return round(reduce(add, products, 0.0), precision)


@given(
    scores=st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.49, 0.5, 0.575, 0.73, 1.0]), min_size=1, max_size=26),
    parameter=st.integers(1, 6000).map(lambda hundredths: hundredths / 100),
    precision=st.integers(0, 3),
)
@example(scores=[1.0] * 5 + [0.0], parameter=0.7, precision=0)
@example(scores=[1.0] * 5 + [0.0], parameter=1.3, precision=0)
def test_a_sum_is_that_of_cms(scores: list[float], parameter: float, precision: int) -> None:
    """The sum equals that of CMS to the last digit, also where the mean as a float would round a half the other way (3
    of 40 tests at 2.5), or where the points of all tests are no multiple of the parameter as floats (6 tests at 0.7).
    """
    names = "abcdefghijklmnopqrstuvwxyz"[: len(scores)]
    (subtask,) = subtasks_of(ScoreType.SUM, parameter, names)
    wanted = cms_sum([score * parameter for score in scores], precision)
    for points in (subtask.points, parameter * len(names)):  # the second: as earlier versions stored them
        problem = replace(make_problem((points, names), precision=precision), score_type=ScoreType.SUM)
        result = judge(problem, *scores)
        assert result.score == result.subtasks[0].weighted_score == wanted


def test_a_total_is_that_of_cms() -> None:
    """The points are 18.55, 31.5 and 6.9 of 100. CMS's sum is a little less than 56.95 and is rounded to 56.9; the
    exact sum of the same floats would be rounded to 57.
    """
    result = judge(make_problem((35.0, "a"), (50.0, "b"), (15.0, "c"), precision=1), 0.53, 0.63, 0.46)
    assert result.score == cms_sum([subtask.points * (subtask.score or 0.0) for subtask in result.subtasks], 1) == 56.9


def test_a_total_of_sums_is_that_of_cms() -> None:
    """CMS adds the products of all tests, and rounds once: to 1.28. With the mean of each subtask as a float in place
    of its tests, the total would be 1.29.
    """
    problem = replace(make_problem((4.5, "abc"), (3.0, "def")), score_type=ScoreType.SUM)
    scores = (0.7, 0.005, 0.015, 0.005, 0.1, 0.1)
    parameters = (1.5, 1.5, 1.5, 1.0, 1.0, 1.0)
    wanted = cms_sum([score * parameter for score, parameter in zip(scores, parameters, strict=True)], 2)
    assert judge(problem, *scores).score == wanted == 1.28
