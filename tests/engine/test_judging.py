"""Which tests are planned, when judging of a subtask stops, and which tests are run once more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ioi_eval.engine.judging import Judging
from ioi_eval.jobs.run_job import PlannedTest
from ioi_eval.model import ScoreType, TestOutcome, Verdict
from tests.judging_model import KINDS, make_problem, names, result_of, scored_as
from tests.small_problems import judging_of


def record(judging: Judging, test: str, kind: str) -> None:
    """Record an outcome of one of `KINDS`."""
    judging.record(replace(KINDS[kind], test=test))


def test_plan_lists_tests_once_with_all_their_positions() -> None:
    """A test that several subtasks share is planned once, at its first position, with all positions."""
    judging = judging_of(make_problem("ab", "cb", "bd"))
    assert names(judging.pending()) == "abcd"
    assert [plan.at for plan in judging.pending()] == [((0, 0),), ((0, 1), (1, 1), (2, 0)), ((1, 0),), ((2, 1),)]


def test_zero_ends_its_subtask_only() -> None:
    """A shared test stays planned for the subtask without a zero, with its position there only."""
    judging = judging_of(make_problem("ab", "cb"))
    record(judging, "a", "WA")
    assert judging.pending() == (PlannedTest(test="c", at=((1, 0),)), PlannedTest(test="b", at=((1, 1),)))
    record(judging, "c", "RE")
    assert judging.is_done()


def test_zero_at_a_later_position_keeps_earlier_tests_needed() -> None:
    """A zero at a later position does not hide an earlier zero, which would decide the verdict."""
    judging = judging_of(make_problem("abc"))
    record(judging, "c", "RE")
    assert names(judging.pending()) == "ab"
    record(judging, "b", "WA")
    assert names(judging.pending()) == "a"
    record(judging, "a", "AC")
    assert judging.is_done()
    assert result_of(make_problem("abc"), judging.outcomes()).verdict is Verdict.WA


def test_judge_error_does_not_end_a_subtask() -> None:
    """Tests after a JE are run, because one of them may be a zero, which decides the subtask."""
    judging = judging_of(make_problem("abc"))
    record(judging, "a", "sandbox")
    assert names(judging.pending()) == "bc"


def test_running_tests_are_not_planned_again() -> None:
    """Tests in running jobs are not listed. Judging is not done before they end."""
    judging = judging_of(make_problem("abc"))
    assert names(judging.pending(under_way={"b"})) == "ac"
    assert not judging.is_done()


# --------------------------------------------------------------------------- repetitions


def test_near_limit_tle_is_repeated_if_it_decides() -> None:
    """A near-limit TLE is repeated only when it is certain to be the first zero of a subtask."""
    judging = judging_of(make_problem("abc"))
    record(judging, "b", "near")
    assert judging.late_reruns() == ()
    record(judging, "a", "AC")
    assert names(judging.late_reruns()) == "b"
    assert not judging.is_done()


def test_a_program_that_ended_by_itself_is_timed_alone() -> None:
    """It is repeated however late it was: other programs may have slowed it down through the caches. A program that was
    stopped is not repeated.
    """
    judging = judging_of(make_problem("ab"))
    late = TestOutcome(test="a", verdict=Verdict.TLE, score=0.0, near_limit=False)
    judging.record(replace(late, in_time_score=1.0))
    assert names(judging.late_reruns()) == "a"
    judging.record(TestOutcome(test="a", verdict=Verdict.AC, score=1.0))
    judging.record(replace(late, test="b"))
    assert judging.is_done()
    assert [judging.outcomes()[name].verdict for name in "ab"] == [Verdict.AC, Verdict.TLE]


def test_near_limit_tle_after_a_zero_is_not_repeated() -> None:
    """It cannot change the result, so the machine is not kept idle for it."""
    judging = judging_of(make_problem("ab"))
    record(judging, "b", "near")
    record(judging, "a", "WA")
    assert judging.is_done()


def test_a_late_run_with_a_wrong_output_is_not_repeated() -> None:
    """Otherwise a program that guesses would have a second guess."""
    judging = judging_of(make_problem("ab"))
    judging.record(replace(KINDS["near"], test="a", in_time_score=0.0))
    assert judging.is_done()
    assert judging.outcomes()["a"].verdict is Verdict.TLE


@pytest.mark.parametrize(
    ("first", "second", "expected"), [(0.5, 1.0, 0.5), (0.5, 0.25, 0.25), (1.0, 1.0, 1.0), (1.0, 0.0, 0.0)]
)
def test_repetition_decides_about_time_only(first: float, second: float, expected: float) -> None:
    """The repetition decides about time. Its score counts, but at most the score of the first run's output."""
    judging = judging_of(make_problem("a"))
    judging.record(replace(KINDS["near"], test="a", in_time_score=first))
    kind = {0.0: Verdict.WA, 1.0: Verdict.AC}.get(second, Verdict.PA)
    judging.record(TestOutcome(test="a", verdict=kind, score=second))
    outcome = judging.outcomes()["a"]
    assert (outcome.score, outcome.reran) == (expected, True)
    assert outcome.verdict is {0.0: Verdict.WA, 1.0: Verdict.AC}.get(expected, Verdict.PA)


def test_a_machine_fault_between_runs_keeps_the_bound() -> None:
    """Late with 0.3, then a failure of the machine, then 1.0 in a job of its own: the score is 0.3, as of the first
    output.
    """
    judging = judging_of(make_problem("a"))
    judging.record(replace(KINDS["near"], test="a", in_time_score=0.3))
    record(judging, "a", "runner")
    record(judging, "a", "AC")
    assert judging.outcomes()["a"].score == 0.3
    assert judging.outcomes()["a"].reran


def test_a_machine_fault_between_late_runs_does_not_hide_the_fastest() -> None:
    """Late, then a failure of the machine, then late alone twice: the faster of the two runs alone counts."""
    judging = judging_of(make_problem("a"))
    judging.record(late("a", 1060.0))
    record(judging, "a", "runner")
    judging.record(late("a", 1010.0))
    judging.record(late("a", 1020.0))
    assert judging.is_done()
    assert judging.outcomes()["a"] == replace(late("a", 1010.0), reran=True)


def test_the_least_of_all_late_runs_is_the_bound() -> None:
    """Late with 0.3, a machine fault, late with 1.0, then in time with 1.0: the score is 0.3."""
    judging = judging_of(make_problem("a"))
    judging.record(replace(KINDS["near"], test="a", in_time_score=0.3))
    record(judging, "a", "runner")
    judging.record(replace(KINDS["near"], test="a", in_time_score=1.0))
    record(judging, "a", "AC")
    assert judging.outcomes()["a"].score == 0.3


def test_a_program_stopped_for_idle_time_is_not_repeated() -> None:
    """A program that uses its time and then sleeps has no output, so it is not repeated, even if its CPU time is near
    the limit.
    """
    judging = judging_of(make_problem("ab"))
    judging.record(replace(KINDS["near"], test="a", limit="idle", in_time_score=None))
    assert judging.is_done()


def late(test: str, cpu_ms: float, worth: float | None = 1.0, *, near: bool = True) -> TestOutcome:
    """A TLE of a program that ended by itself."""
    return TestOutcome(
        test=test, verdict=Verdict.TLE, score=0.0, cpu_ms=cpu_ms, near_limit=near, in_time_score=worth, limit="cpu"
    )


def test_the_best_of_several_runs_alone() -> None:
    """With three runs alone, the third may be in time. If all are late, the best time is in the outcome."""
    for last, expected in ((TestOutcome(test="a", verdict=Verdict.AC, score=1.0, cpu_ms=990.0), Verdict.AC),
                           (late("a", 1030.0), Verdict.TLE)):  # fmt: skip
        judging = judging_of(make_problem("a"), near_limit_repeats=3)
        for outcome in (late("a", 1060.0), late("a", 1020.0), late("a", 1010.0)):
            judging.record(outcome)
            assert names(judging.late_reruns()) == "a"
        judging.record(last)
        assert judging.is_done()
        outcome = judging.outcomes()["a"]
        assert (outcome.verdict, outcome.reran) == (expected, True)
        assert outcome.cpu_ms == (990.0 if expected is Verdict.AC else 1010.0)


@pytest.mark.parametrize(
    ("alone", "why"),
    [
        (late("a", 1200.0, near=False), "it was not close"),
        (late("a", 1050.0, 0.0), "it was wrong"),
        (late("a", 1050.0, None), "nobody knows what it was worth"),
        (replace(late("a", 1050.0, None), limit="idle"), "it slept"),
    ],
)
def test_runs_alone_end_if_a_run_is_wrong_or_too_slow(alone: TestOutcome, why: str) -> None:
    """Even if nine runs alone are allowed."""
    judging = judging_of(make_problem("a"), near_limit_repeats=9)
    judging.record(late("a", 1060.0))
    judging.record(alone)
    assert judging.is_done(), why


def test_the_score_of_a_slower_run_alone_is_a_bound_too() -> None:
    """The time of the faster run counts, and its score is at most that of the slower run."""
    judging = judging_of(make_problem("a"), near_limit_repeats=3)
    for outcome in (late("a", 1060.0), late("a", 1010.0), late("a", 1020.0, 0.25)):
        judging.record(outcome)
    record(judging, "a", "AC")
    assert judging.outcomes()["a"].score == 0.25


def test_a_slower_run_alone_with_a_wrong_output_ends_the_runs() -> None:
    """The score is 0 whatever a further run gives, so there is none, although an earlier run alone was faster."""
    judging = judging_of(make_problem("a"), near_limit_repeats=9)
    for run in (late("a", 1100.0), late("a", 1050.0), late("a", 1080.0, 0.0)):
        judging.record(run)
    assert judging.is_done()


def summed(tests: str) -> Judging:
    """Judging of a problem in which each test counts by itself (Sum)."""
    return judging_of(scored_as(make_problem(tests), ScoreType.SUM, 1.0))


def test_where_each_test_counts_the_least_late_are_repeated_first() -> None:
    """Three tests are repeated after all tests have run. If all three are late again, no others are repeated."""
    judging = summed("abcdefgh")
    for place, test in enumerate("abcdefg"):
        judging.record(late(test, 1100.0 - place))
        assert judging.late_reruns() == ()
    record(judging, "h", "AC")
    assert names(judging.late_reruns()) == "efg"
    for test in "efg":
        judging.record(late(test, 1050.0))
    assert judging.is_done()
    assert [judging.outcomes()[test].reran for test in "abcdefgh"] == [False] * 4 + [True] * 3 + [False]


def test_where_each_test_counts_all_late_tests_of_a_right_program_are_repeated() -> None:
    """If a repeated test is in time, the next three are repeated, until no late test is left."""
    judging = summed("abcdefgh")
    for place, test in enumerate("abcdefgh"):
        judging.record(late(test, 1100.0 + place))
    rounds = []
    while not judging.is_done():
        rounds.append(names(judging.late_reruns()))
        for test in rounds[-1]:
            record(judging, test, "AC")
    assert rounds == ["abc", "def", "gh"]


def test_consecutive_late_repetitions_are_counted_across_rounds() -> None:
    """In time, late, late: one more late repetition makes three in a row."""
    judging = summed("abcdefgh")
    for place, test in enumerate("abcdefgh"):
        judging.record(late(test, 1100.0 + place))
    assert names(judging.late_reruns()) == "abc"
    record(judging, "a", "AC")
    for test in "bc":
        judging.record(late(test, 1100.0))
    assert names(judging.late_reruns()) == "d"
    judging.record(late("d", 1100.0))
    assert judging.is_done()


def test_a_failed_repetition_does_not_count_among_consecutive_late_ones() -> None:
    """Late, late, not run: one more late repetition makes three in a row."""
    judging = summed("abcdefgh")
    for place, test in enumerate("abcdefgh"):
        judging.record(late(test, 1100.0 + place))
    for test in "ab":
        judging.record(late(test, 1100.0))
    record(judging, "c", "sandbox")
    assert names(judging.late_reruns()) == "d"


def test_the_first_zero_is_repeated_even_if_other_tests_are_late() -> None:
    """In exhaustive judging where a zero decides, the first zero of each subtask is repeated first."""
    judging = judging_of(make_problem("abcdef", "ghf"), exhaustive=True)
    for place, test in enumerate("abcdefgh"):
        judging.record(late(test, 1100.0 - place))
    assert names(judging.late_reruns()) == "ag"
    record(judging, "a", "AC")
    judging.record(late("g", 1100.0))
    assert names(judging.late_reruns()) == "b", "the first zero now"


def test_overturned_tle_brings_back_the_tests_behind_it() -> None:
    """If the repetition is in time, the tests after it, which the TLE had made unnecessary, are needed again."""
    judging = judging_of(make_problem("abc"))
    record(judging, "a", "near")
    assert judging.pending() == ()
    record(judging, "a", "AC")
    assert names(judging.pending()) == "bc"
    assert judging.outcomes()["a"].reran


def test_result_of_the_repetition_stands() -> None:
    """If the repetition is near the limit and late, it stays TLE. There is no third run."""
    judging = judging_of(make_problem("a"))
    record(judging, "a", "near")
    record(judging, "a", "near")
    assert judging.is_done()
    assert judging.outcomes()["a"] == replace(KINDS["near"], test="a", reran=True)


def test_tle_beyond_the_margin_is_not_repeated() -> None:
    """Only a TLE within the margin is repeated."""
    judging = judging_of(make_problem("ab"))
    record(judging, "a", "TLE")
    assert judging.is_done()


@pytest.mark.parametrize("kind", ["checker", "manager"])
@pytest.mark.parametrize("earlier", [(), ("near",), ("runner",)])
def test_a_failure_of_a_judge_program_is_final(kind: str, earlier: tuple[str, ...]) -> None:
    """The program is not run again, so it has one guess only."""
    judging = judging_of(make_problem("a"))
    for first in earlier:
        record(judging, "a", first)
    record(judging, "a", kind)
    assert judging.is_done()
    assert judging.outcomes()["a"].final


@pytest.mark.parametrize(("second", "final"), [("runner", False), ("sandbox", False), ("checker", True)])
def test_a_machine_fault_is_repeated_once(second: str, final: bool) -> None:
    """The JE of a machine that fails twice is not final: the machine may work in a later run."""
    judging = judging_of(make_problem("a"))
    record(judging, "a", "runner")
    assert names(judging.machine_fault_reruns()) == "a"
    assert not judging.is_done()
    record(judging, "a", second)
    assert judging.is_done()
    assert judging.outcomes()["a"].final is final


def test_a_machine_fault_that_does_not_repeat_is_forgotten() -> None:
    """The outcome in a job of its own counts, and ends its subtask if it is a zero."""
    judging = judging_of(make_problem("ab"))
    record(judging, "a", "runner")
    record(judging, "a", "WA")
    assert judging.is_done()
    assert judging.outcomes()["a"] == replace(KINDS["WA"], test="a")


def test_sandbox_failure_is_not_repeated() -> None:
    """The sandbox has already retried the job before this outcome."""
    judging = judging_of(make_problem("a"))
    record(judging, "a", "sandbox")
    assert judging.is_done()


def test_a_machine_fault_in_a_run_alone_does_not_use_up_that_run() -> None:
    """A machine that fails in a run alone leaves the time in doubt, so the test is run alone again."""
    judging = judging_of(make_problem("a"))
    record(judging, "a", "near")
    record(judging, "a", "runner")
    assert names(judging.machine_fault_reruns()) == "a"
    record(judging, "a", "near")
    assert names(judging.late_reruns()) == "a"
    record(judging, "a", "PA")
    assert judging.is_done()
    assert judging.outcomes()["a"].score == 0.5


@pytest.mark.parametrize("kind", ["AC", "WA", "TLE", "sandbox"])
def test_an_unrequested_outcome_is_an_error(kind: str) -> None:
    """A second outcome that was not requested is a bug. It must not replace the first one silently."""
    judging = judging_of(make_problem("a"))
    record(judging, "a", kind)
    with pytest.raises(ValueError, match="settled"):
        record(judging, "a", "AC")


@pytest.mark.parametrize("verdict", [Verdict.CE, Verdict.NC, Verdict.SKIPPED])
def test_only_outcomes_of_known_tests_are_recorded(verdict: Verdict) -> None:
    """Verdicts of compiling, verdicts of judging and unknown tests are refused."""
    judging = judging_of(make_problem("a"))
    with pytest.raises(ValueError, match="cannot be recorded"):
        judging.record(TestOutcome(test="a", verdict=verdict, score=None))
    with pytest.raises(ValueError, match="'x'"):
        judging.record(TestOutcome(test="x", verdict=Verdict.AC, score=1.0))
