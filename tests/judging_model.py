"""Submissions that are judged without a sandbox: a problem, how programs do on it, and what any judge would say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from hypothesis import strategies as st
from small_problems import small_problem

from ioi_eval.jobs.bundled import PlannedTest
from ioi_eval.judging import Judging, bundles
from ioi_eval.model import (
    CompileOutcome,
    Problem,
    ProblemKey,
    ScoreType,
    Submission,
    SubmissionResult,
    Subtask,
    TestCase,
    TestOutcome,
    Verdict,
)
from ioi_eval.scores import submission_result

SUBMISSION = Submission(id="s", problem=ProblemKey(year=2024, id="tree"), code="…")


def make_problem(*subtasks: str) -> Problem:
    """A problem whose subtasks list tests that are named by letters."""
    return small_problem(
        key=SUBMISSION.problem,
        name="Tree",
        memory_limit_bytes=2**30,
        subtasks=tuple(
            Subtask(name=f"{number:02}", points=10.0 + number, tests=tuple(tests))
            for number, tests in enumerate(subtasks)
        ),
        tests={name: TestCase(name=name, input=b"12345", answer=b"67890") for name in "abcdefgh"},
    )


def scored_as(problem: Problem, score_type: ScoreType, threshold: float) -> Problem:
    """The problem with another score type."""
    subtasks = tuple(replace(subtask, threshold=threshold) for subtask in problem.subtasks)
    return replace(problem, score_type=score_type, subtasks=subtasks)


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
            run_all = exhaustive or not problem.score_type.zero_decides
            boxes += [Box(bundle, way, behaviours, run_all=run_all) for bundle in started]
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
subtask_lists = st.lists(
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6, unique=True).map("".join), min_size=1, max_size=4
)
problems = st.builds(
    lambda subtasks, score_type, threshold: scored_as(make_problem(*subtasks), score_type, threshold),
    subtask_lists,
    st.sampled_from(ScoreType),
    st.sampled_from([0.25, 1.0]),
)


def names(planned: tuple[PlannedTest, ...]) -> str:
    """The names of planned tests, as one word."""
    return "".join(plan.test for plan in planned)
