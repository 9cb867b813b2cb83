"""What is run, and in what order it ends, never changes what a submission is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioi_eval.errors import InputError
from ioi_eval.jobs.bundled import PlannedTest
from ioi_eval.judging import Judging, bundles
from ioi_eval.model import (
    Blob,
    CompileOutcome,
    Problem,
    ProblemKey,
    Submission,
    SubmissionResult,
    Subtask,
    TaskType,
    TestCase,
    TestOutcome,
    Verdict,
)
from ioi_eval.scores import submission_result

SUBMISSION = Submission(id="s", problem=ProblemKey(year=2024, id="tree"), code="…")


def make_problem(*subtasks: str) -> Problem:
    """A problem whose subtasks list tests that are named by letters."""
    return Problem(
        key=SUBMISSION.problem,
        name="Tree",
        task_type=TaskType.BATCH,
        time_limit_s=1.0,
        memory_limit_bytes=2**30,
        subtasks=tuple(
            Subtask(name=f"{number:02}", points=10.0 + number, tests=tuple(tests))
            for number, tests in enumerate(subtasks)
        ),
        tests={name: TestCase(name=name, input=b"12345", answer=b"67890") for name in "abcdefgh"},
        cxx_std="gnu++20",
    )


KINDS: Mapping[str, TestOutcome] = {
    "AC": TestOutcome(test="", verdict=Verdict.AC, score=1.0),
    "PA": TestOutcome(test="", verdict=Verdict.PA, score=0.5),
    "WA": TestOutcome(test="", verdict=Verdict.WA, score=0.0),
    "RE": TestOutcome(test="", verdict=Verdict.RE, score=0.0),
    "TLE": TestOutcome(test="", verdict=Verdict.TLE, score=0.0),
    "near": TestOutcome(test="", verdict=Verdict.TLE, score=0.0, near_limit=True),
    "checker": TestOutcome(test="", verdict=Verdict.JE, score=None, judge_program="checker"),
    "manager": TestOutcome(test="", verdict=Verdict.JE, score=None, judge_program="manager"),
    "runner": TestOutcome(test="", verdict=Verdict.JE, score=None, judge_program="runner"),
    "sandbox": TestOutcome(test="", verdict=Verdict.JE, score=None),
}


@dataclass(frozen=True)
class Behaviour:
    """How a submission does on one test: usually, alone on the machine, and again in a clean box."""

    usual: str
    alone: str = "AC"
    clean: str = "AC"

    def settled(self, test: str) -> TestOutcome:
        """A plain model of what stands after all repetitions."""
        way, kind, had_alone, had_clean = "usual", self.usual, False, False
        before = kind
        while True:
            if kind == "near" and not had_alone:
                way, before, kind = "alone", kind, self.alone
                had_alone = KINDS[kind].verdict is not Verdict.JE
            elif kind in ("checker", "manager", "runner") and not had_clean:
                way, before, kind = "clean", kind, self.clean
                had_clean = True
            else:
                final = way == "clean" and kind == before and kind in ("checker", "manager")
                return replace(KINDS[kind], test=test, reran=way == "alone", final=final)


Behaviours = Mapping[str, Behaviour]


class Box:
    """A job under way: its lines are settled when it starts, and arrive one by one. It stops as PROTOCOL.md says."""

    def __init__(self, bundle: tuple[PlannedTest, ...], way: str, behaviours: Behaviours, *, run_all: bool) -> None:
        self.tests = [planned.test for planned in bundle]
        self.lines: list[TestOutcome] = []
        first_zero: dict[int, int] = {}
        for planned in bundle:
            alive = any(position < first_zero.get(group, 10**9) for group, position in planned.at)
            if not (alive or run_all):
                continue
            line = replace(KINDS[getattr(behaviours[planned.test], way)], test=planned.test)
            self.lines.append(line)
            if line.score == 0.0:
                for group, position in planned.at:
                    first_zero[group] = min(position, first_zero.get(group, position))


def result_of(problem: Problem, outcomes: Mapping[str, TestOutcome], *, keep_all: bool = False) -> SubmissionResult:
    """The submission's result from these outcomes."""
    return submission_result(problem, SUBMISSION, CompileOutcome(verdict=None), outcomes, keep_all=keep_all)


def exhaustive_model(problem: Problem, behaviours: Behaviours, *, keep_all: bool = False) -> SubmissionResult:
    """What a judge says that runs everything, one by one, and only then looks."""
    return result_of(problem, {test: how.settled(test) for test, how in behaviours.items()}, keep_all=keep_all)


def wanted(judging: Judging, under_way: set[str]) -> Iterator[tuple[str, tuple[PlannedTest, ...]]]:
    """The three lists of what to run, those that are not empty."""
    for way, planned in (
        ("alone", judging.near_limit_reruns(under_way=under_way)),
        ("clean", judging.judge_fault_reruns(under_way=under_way)),
        ("usual", judging.pending(under_way=under_way)),
    ):
        if planned:
            yield way, planned


def drive(problem: Problem, behaviours: Behaviours, data: st.DataObject, *, exhaustive: bool = False) -> Judging:
    """Judge with bundles of any size, any number at once, lines in any order, and some answers lost on the way."""
    judging = Judging(problem, exhaustive=exhaustive)
    boxes: list[Box] = []
    losses = data.draw(st.integers(0, 2))
    while not judging.done:
        under_way = {test for box in boxes for test in box.tests}
        starts = list(wanted(judging, under_way))
        choice = data.draw(st.integers(0, len(starts) + len(boxes) - 1))
        if choice < len(starts):
            way, planned = starts[choice]
            cut = bundles(problem, planned, max_tests=data.draw(st.integers(1, 8)))
            started = cut[: data.draw(st.integers(1, len(cut)))]
            boxes += [Box(bundle, way, behaviours, run_all=exhaustive) for bundle in started]
            continue
        box = boxes[choice - len(starts)]
        if losses and data.draw(st.booleans()):
            losses -= 1
            box.lines.clear()
        if box.lines:
            judging.record(box.lines.pop(0))
        if not box.lines:
            boxes.remove(box)
    before = result_of(problem, judging.outcomes())
    for box in boxes:
        for line in box.lines:
            judging.record(line)
    assert result_of(problem, judging.outcomes()) == before, "what arrived after the end changed the result"
    return judging


def drive_one_by_one(problem: Problem, behaviours: Behaviours) -> tuple[Judging, list[tuple[str, str]]]:
    """Judge with one test at a time, repetitions first; also tells what was run, and how."""
    judging = Judging(problem)
    runs: list[tuple[str, str]] = []
    while not judging.done:
        way, planned = next(wanted(judging, set()))
        test = planned[0].test
        runs.append((way, test))
        judging.record(replace(KINDS[getattr(behaviours[test], way)], test=test))
    return judging, runs


kinds = st.sampled_from(["AC", "AC", "AC", *KINDS])
all_behaviours = st.fixed_dictionaries({name: st.builds(Behaviour, kinds, kinds, kinds) for name in "abcdefgh"})
problems = st.lists(
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6, unique=True).map("".join), min_size=1, max_size=4
).map(lambda subtasks: make_problem(*subtasks))


# --------------------------------------------------------------------------- the promise


@settings(max_examples=400)
@given(problems, all_behaviours, st.data())
def test_no_schedule_changes_the_result(problem: Problem, behaviours: Behaviours, data: st.DataObject) -> None:
    """Any bundle sizes, parallelism and order of ends give exactly the result of exhaustive judging."""
    assert result_of(problem, drive(problem, behaviours, data).outcomes()) == exhaustive_model(problem, behaviours)


@given(problems, all_behaviours, st.data())
def test_exhaustive_judging_runs_and_settles_everything(
    problem: Problem, behaviours: Behaviours, data: st.DataObject
) -> None:
    """Exhaustive judging settles every test that a subtask lists, and gives the same result."""
    outcomes = drive(problem, behaviours, data, exhaustive=True).outcomes()
    listed = {test for subtask in problem.subtasks for test in subtask.tests}
    assert outcomes == {test: behaviours[test].settled(test) for test in listed}
    assert result_of(problem, outcomes, keep_all=True) == exhaustive_model(problem, behaviours, keep_all=True)


@given(problems, all_behaviours)
def test_one_by_one_nothing_runs_in_vain(problem: Problem, behaviours: Behaviours) -> None:
    """One test at a time, only what stands up to the first zero of some subtask is run, and hardly ever repeated."""
    expected = exhaustive_model(problem, behaviours)
    judging, runs = drive_one_by_one(problem, behaviours)
    assert result_of(problem, judging.outcomes()) == expected
    counted = {shown.test for s in expected.subtasks for shown in s.tests if shown.verdict is not Verdict.SKIPPED}
    assert sorted(test for way, test in runs if way == "usual") == sorted(counted)
    assert {test for _, test in runs} == counted
    assert max(Counter(test for _, test in runs).values()) <= 4


@given(problems, all_behaviours)
def test_outcomes_are_listed_in_order_of_appearance(problem: Problem, behaviours: Behaviours) -> None:
    """What is written down does not depend on which box ended first."""
    forward, backward = Judging(problem, exhaustive=True), Judging(problem, exhaustive=True)
    tests = [planned.test for planned in forward.pending()]
    for test in tests:
        forward.record(replace(KINDS[behaviours[test].usual], test=test))
    for test in reversed(tests):
        backward.record(replace(KINDS[behaviours[test].usual], test=test))
    assert list(forward.outcomes()) == list(backward.outcomes()) == tests
    assert list(forward.outcomes().values()) == list(backward.outcomes().values())


# --------------------------------------------------------------------------- plan and stop


def record(judging: Judging, test: str, kind: str) -> None:
    """Record an outcome of one of `KINDS`."""
    judging.record(replace(KINDS[kind], test=test))


def names(planned: tuple[PlannedTest, ...]) -> str:
    """The names of planned tests, as one word."""
    return "".join(plan.test for plan in planned)


def test_plan_lists_tests_once_with_all_their_positions() -> None:
    """A test that several subtasks share is planned once, at its first place, with every position."""
    judging = Judging(make_problem("ab", "cb", "bd"))
    assert names(judging.pending()) == "abcd"
    assert [plan.at for plan in judging.pending()] == [((0, 0),), ((0, 1), (1, 1), (2, 0)), ((1, 0),), ((2, 1),)]


def test_zero_ends_its_subtask_only() -> None:
    """A shared test stays planned for the subtask that is still alive, at its place there only."""
    judging = Judging(make_problem("ab", "cb"))
    record(judging, "a", "WA")
    assert judging.pending() == (PlannedTest(test="c", at=((1, 0),)), PlannedTest(test="b", at=((1, 1),)))
    record(judging, "c", "RE")
    assert judging.done


def test_zero_at_a_later_position_keeps_earlier_tests_needed() -> None:
    """A zero found out of order does not hide an earlier zero, which would have been the verdict."""
    judging = Judging(make_problem("abc"))
    record(judging, "c", "RE")
    assert names(judging.pending()) == "ab"
    record(judging, "b", "WA")
    assert names(judging.pending()) == "a"
    assert not judging.needed("c")
    assert judging.needed("b")
    record(judging, "a", "AC")
    assert judging.done
    assert result_of(make_problem("abc"), judging.outcomes()).verdict is Verdict.WA


def test_judge_error_stops_nothing() -> None:
    """Tests behind a JE are run, as one of them may be a zero, which decides."""
    judging = Judging(make_problem("abc"))
    record(judging, "a", "sandbox")
    assert names(judging.pending()) == "bc"


def test_what_is_under_way_is_not_planned_twice() -> None:
    """Tests in running boxes are left out of every list, and keep judging from being done."""
    judging = Judging(make_problem("abc"))
    assert names(judging.pending(under_way={"b"})) == "ac"
    record(judging, "a", "near")
    record(judging, "b", "checker")
    assert names(judging.near_limit_reruns(under_way={"a"})) == ""
    assert not judging.done


def test_skipped_subtasks_are_not_planned() -> None:
    """Only tests of subtasks that are asked for run, and groups keep their numbers."""
    judging = Judging(make_problem("ab", "cb"), skip_subtasks=["00"])
    assert judging.pending() == (PlannedTest(test="c", at=((1, 0),)), PlannedTest(test="b", at=((1, 1),)))
    with pytest.raises(InputError, match="no subtask 02; it has 00, 01"):
        Judging(make_problem("ab", "cb"), skip_subtasks=["02"])


# --------------------------------------------------------------------------- repetitions


def test_near_limit_tle_waits_until_it_decides() -> None:
    """A near-limit TLE is repeated only once it is certain to be the first zero of a subtask."""
    judging = Judging(make_problem("abc"))
    record(judging, "b", "near")
    assert judging.near_limit_reruns() == ()
    record(judging, "a", "AC")
    assert names(judging.near_limit_reruns()) == "b"
    assert not judging.done


def test_a_program_that_ended_by_itself_is_timed_alone() -> None:
    """However late it was: what others did to the caches may have made it so. One that was stopped is not."""
    judging = Judging(make_problem("ab"))
    late = TestOutcome(test="a", verdict=Verdict.TLE, score=0.0, near_limit=False)
    judging.record(replace(late, in_time_score=1.0))
    assert names(judging.near_limit_reruns()) == "a"
    judging.record(TestOutcome(test="a", verdict=Verdict.AC, score=1.0))
    judging.record(replace(late, test="b"))
    assert judging.done
    assert [judging.outcomes()[name].verdict for name in "ab"] == [Verdict.AC, Verdict.TLE]


def test_near_limit_tle_behind_a_zero_is_let_be() -> None:
    """An idle machine is not spent on a test that cannot matter."""
    judging = Judging(make_problem("ab"))
    record(judging, "b", "near")
    record(judging, "a", "WA")
    assert judging.done


def test_no_second_guess_for_a_wrong_output() -> None:
    """A run that was too late and wrong is not repeated: a program that guesses would guess twice."""
    judging = Judging(make_problem("ab"))
    judging.record(replace(KINDS["near"], test="a", in_time_score=0.0))
    assert judging.done
    assert judging.outcomes()["a"].verdict is Verdict.TLE


@pytest.mark.parametrize(
    ("first", "second", "stands"), [(0.5, 1.0, 0.5), (0.5, 0.25, 0.25), (1.0, 1.0, 1.0), (1.0, 0.0, 0.0)]
)
def test_repetition_decides_about_time_only(first: float, second: float, stands: float) -> None:
    """The repetition's score stands, but for what exceeds the first run's."""
    judging = Judging(make_problem("a"))
    judging.record(replace(KINDS["near"], test="a", in_time_score=first))
    kind = {0.0: Verdict.WA, 1.0: Verdict.AC}.get(second, Verdict.PA)
    judging.record(TestOutcome(test="a", verdict=kind, score=second))
    outcome = judging.outcomes()["a"]
    assert (outcome.score, outcome.reran) == (stands, True)
    assert outcome.verdict is {0.0: Verdict.WA, 1.0: Verdict.AC}.get(stands, Verdict.PA)


def test_a_judge_fault_on_the_way_lifts_no_bound() -> None:
    """Late with 0.3, then a checker that fails, then 1.0 in a clean box: worth 0.3, as the first output was."""
    judging = Judging(make_problem("a"))
    judging.record(replace(KINDS["near"], test="a", in_time_score=0.3))
    record(judging, "a", "checker")
    record(judging, "a", "AC")
    assert judging.outcomes()["a"].score == 0.3


def test_overturned_tle_brings_back_the_tests_behind_it() -> None:
    """If the repetition alone ends in time, what the TLE had stopped is needed again."""
    judging = Judging(make_problem("abc"))
    record(judging, "a", "near")
    assert judging.pending() == ()
    record(judging, "a", "AC")
    assert names(judging.pending()) == "bc"
    assert judging.outcomes()["a"].reran


def test_result_of_the_repetition_stands() -> None:
    """Near the limit again is over it: there is no third run."""
    judging = Judging(make_problem("a"))
    record(judging, "a", "near")
    record(judging, "a", "near")
    assert judging.done
    assert judging.outcomes()["a"] == replace(KINDS["near"], test="a", reran=True)


def test_tle_beyond_the_margin_is_not_repeated() -> None:
    """Only a TLE within the margin is in doubt."""
    judging = Judging(make_problem("ab"))
    record(judging, "a", "TLE")
    assert judging.done


@pytest.mark.parametrize(
    ("first", "second", "final"),
    [
        ("checker", "checker", True),
        ("manager", "manager", True),
        ("checker", "manager", False),
        ("checker", "sandbox", False),
        ("runner", "runner", False),
    ],
)
def test_judge_fault_is_final_when_it_repeats(first: str, second: str, final: bool) -> None:
    """The same judge program failing twice is a fact about the task; anything else may go better another day."""
    judging = Judging(make_problem("a"))
    record(judging, "a", first)
    assert names(judging.judge_fault_reruns()) == "a"
    record(judging, "a", second)
    assert judging.done
    assert judging.outcomes()["a"].final is final


def test_judge_fault_that_does_not_repeat_is_forgotten() -> None:
    """The outcome in a clean box stands, and stops what it must stop."""
    judging = Judging(make_problem("ab"))
    record(judging, "a", "checker")
    record(judging, "a", "WA")
    assert judging.done
    assert judging.outcomes()["a"] == replace(KINDS["WA"], test="a")


def test_sandbox_fault_stands() -> None:
    """What the sandbox could not run has been retried by the one who drives this machine."""
    judging = Judging(make_problem("a"))
    record(judging, "a", "sandbox")
    assert judging.done


def test_judge_fault_in_a_run_alone_does_not_use_up_that_run() -> None:
    """A checker that failed while the program was alone has left the time in doubt."""
    judging = Judging(make_problem("a"))
    record(judging, "a", "near")
    record(judging, "a", "checker")
    assert names(judging.judge_fault_reruns()) == "a"
    record(judging, "a", "near")
    assert names(judging.near_limit_reruns()) == "a"
    record(judging, "a", "PA")
    assert judging.done
    assert judging.outcomes()["a"].score == 0.5


@pytest.mark.parametrize("kind", ["AC", "WA", "TLE", "sandbox"])
def test_settled_outcomes_are_not_replaced(kind: str) -> None:
    """A second outcome that nobody asked for is a bug, and must not silently win or lose."""
    judging = Judging(make_problem("a"))
    record(judging, "a", kind)
    with pytest.raises(ValueError, match="settled"):
        record(judging, "a", "AC")


@pytest.mark.parametrize("verdict", [Verdict.CE, Verdict.NC, Verdict.SKIPPED])
def test_only_what_a_run_can_give_is_recorded(verdict: Verdict) -> None:
    """Verdicts of compiling and judging are no outcomes of tests; unknown tests have none."""
    judging = Judging(make_problem("a"))
    with pytest.raises(ValueError, match="cannot be recorded"):
        judging.record(TestOutcome(test="a", verdict=verdict, score=None))
    with pytest.raises(ValueError, match="'x'"):
        judging.record(TestOutcome(test="x", verdict=Verdict.AC, score=1.0))


# --------------------------------------------------------------------------- bundles


def planned(tests: str) -> tuple[PlannedTest, ...]:
    """Tests of a plan; where they stand does not matter here."""
    return tuple(PlannedTest(test=test, at=((0, 0),)) for test in tests)


@pytest.mark.parametrize(
    ("limits", "cut"),
    [
        ({}, "abcdefgh"),
        ({"max_tests": 3}, "abc def gh"),
        ({"max_tests": 8}, "abcdefgh"),
        ({"max_bytes": 20}, "ab cd ef gh"),
        ({"max_bytes": 29}, "ab cd ef gh"),
        ({"max_bytes": 5}, "a b c d e f g h"),
        ({"max_wall_ms": 900, "wall_ms_per_test": 300}, "abc def gh"),
        ({"max_wall_ms": 100, "wall_ms_per_test": 300}, "a b c d e f g h"),
        ({"max_tests": 2, "max_wall_ms": 900, "wall_ms_per_test": 300}, "ab cd ef gh"),
        ({"max_tests": 5, "max_bytes": 40}, "abcd efgh"),
    ],
)
def test_bundles_keep_every_limit(limits: dict[str, int], cut: str) -> None:
    """No bundle is over a limit, but for a single test that is too large by itself."""
    made = bundles(make_problem("a"), planned("abcdefgh"), **limits)
    assert " ".join(names(bundle) for bundle in made) == cut


def test_bundles_count_what_lies_on_disk() -> None:
    """Blobs count with their size, and a missing answer with none."""
    problem = make_problem("a")
    blob = Blob(path=Path("/nowhere"), size=90, sha256="")
    large = replace(problem, tests={**problem.tests, "b": TestCase(name="b", input=blob, answer=None)})
    made = bundles(large, planned("abc"), max_bytes=100)
    assert " ".join(names(bundle) for bundle in made) == "ab c"


def test_bundles_of_nothing_and_with_room_for_nothing() -> None:
    """No tests make no bundle; room for no test is refused rather than taken for all or none."""
    assert bundles(make_problem("a"), ()) == ()
    with pytest.raises(InputError, match="at most -1 tests"):
        bundles(make_problem("a"), planned("a"), max_tests=-1)


@given(st.text("abcdefgh", max_size=30), st.integers(1, 9), st.integers(1, 50))
def test_bundles_lose_nothing_and_keep_the_order(tests: str, max_tests: int, max_bytes: int) -> None:
    """Put together again, the bundles are the plan."""
    made = bundles(make_problem("a"), planned(tests), max_tests=max_tests, max_bytes=max_bytes)
    assert sum(made, ()) == planned(tests)
    assert all(len(bundle) <= max_tests and (len(bundle) == 1 or 10 * len(bundle) <= max_bytes) for bundle in made)
