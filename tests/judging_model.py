"""Judging without a sandbox: a problem, the behaviour of programs, and the results that every judge must give."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from ioi_eval.engine.judging import Judging
from ioi_eval.jobs.run_job import PlannedTest
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
from tests.small_problems import judging_of, small_problem

SUBMISSION = Submission(id="s", problem=ProblemKey(year=2024, id="tree"), code="…")


def make_problem(*subtasks: str) -> Problem:
    """A problem whose subtasks list tests; each test is named by a letter."""
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
    "near": TestOutcome(test="", verdict=Verdict.TLE, score=0.0, near_limit=True, in_time_score=1.0),
    "checker": TestOutcome(test="", verdict=Verdict.JE, score=None, failed_program="checker"),
    "manager": TestOutcome(test="", verdict=Verdict.JE, score=None, failed_program="manager"),
    "runner": TestOutcome(test="", verdict=Verdict.JE, score=None, failed_program="runner"),
    "sandbox": TestOutcome(test="", verdict=Verdict.JE, score=None),
}


@dataclass(frozen=True)
class Behaviour:
    """What a submission does on one test: in the first run, alone on the machine, and in a job with only this test."""

    usual: str
    alone: str = "AC"
    clean: str = "AC"
    cpu_ms: float = 1000.0

    def line(self, test: str, way: str) -> TestOutcome:
        """The runner's result line for a run of this kind."""
        return replace(KINDS[getattr(self, way)], test=test, cpu_ms=self.cpu_ms)

    def settled(self, test: str) -> TestOutcome:
        """The final outcome after all repetitions, by a plain model."""
        runs = Runs(self)
        while runs.repeat("clean") or runs.repeat("alone"):
            pass
        return runs.outcome(test)


class Runs:
    """The runs of one test, one after the other, by the simplest rules."""

    def __init__(self, how: Behaviour) -> None:
        self.how = how
        self.way, self.kind, self.had = "usual", how.usual, set[str]()
        self.was_late = False

    def wants(self, way: str) -> bool:
        """Whether the test must be run once more in this way."""
        return self.kind == ("near" if way == "alone" else "runner") and way not in self.had

    def repeat(self, way: str) -> bool:
        """Run the test once more in this way, if that is wanted."""
        wanted = self.wants(way)
        if wanted:
            self.way, self.kind = way, getattr(self.how, way)
            self.was_late |= way == "alone"
            if way == "clean" or KINDS[self.kind].verdict is not Verdict.JE:
                self.had.add(way)
        return wanted

    def outcome(self, test: str) -> TestOutcome:
        """The present outcome."""
        final = self.kind in ("checker", "manager")
        return replace(self.how.line(test, self.way), reran=self.was_late, final=final)


Behaviours = Mapping[str, Behaviour]


class RunningJob:
    """A running job. Its lines are fixed when it starts, and arrive one by one. It stops as PROTOCOL.md says."""

    def __init__(self, bundle: tuple[PlannedTest, ...], way: str, behaviours: Behaviours, *, run_all: bool) -> None:
        self.tests = [planned.test for planned in bundle]
        self.lines: list[TestOutcome] = []
        first_zero: dict[int, int] = {}
        for planned in bundle:
            alive = any(position < first_zero.get(group, 10**9) for group, position in planned.at)
            if not (alive or run_all):
                continue
            line = behaviours[planned.test].line(planned.test, way)
            self.lines.append(line)
            if line.score == 0.0:
                for group, position in planned.at:
                    first_zero[group] = min(position, first_zero.get(group, position))


def result_of(problem: Problem, outcomes: Mapping[str, TestOutcome], *, keep_all: bool = False) -> SubmissionResult:
    """The submission's result for these outcomes."""
    return submission_result(problem, SUBMISSION, CompileOutcome(verdict=None), outcomes, keep_all=keep_all)


def exhaustive_model(problem: Problem, behaviours: Behaviours, *, keep_all: bool = False) -> SubmissionResult:
    """The result of a judge that runs all tests one by one before it looks at any outcome."""
    if keep_all or not problem.score_type.zero_decides:
        return result_of(problem, round_model(problem, behaviours), keep_all=keep_all)
    return result_of(problem, {test: how.settled(test) for test, how in behaviours.items()})


def round_model(problem: Problem, behaviours: Behaviours) -> dict[str, TestOutcome]:
    """The outcomes if each test counts: all tests run once, then late tests are repeated, three a round, least late
    first.
    """
    listed = list(dict.fromkeys(test for subtask in problem.subtasks for test in subtask.tests))
    runs = {test: Runs(behaviours[test]) for test in listed}
    confirmed = 0
    while True:
        for one in runs.values():
            one.repeat("clean")
        late = sorted((test for test in listed if runs[test].wants("alone")), key=lambda test: behaviours[test].cpu_ms)
        chosen = _deciding(problem, runs, late) or late[: max(0, 3 - confirmed)]
        if not chosen:
            return {test: one.outcome(test) for test, one in runs.items()}
        for test in chosen:
            while runs[test].repeat("alone") or runs[test].repeat("clean"):
                pass
            verdict = KINDS[runs[test].kind].verdict
            confirmed = confirmed if verdict is Verdict.JE else confirmed + 1 if verdict is Verdict.TLE else 0


def _deciding(problem: Problem, runs: Mapping[str, Runs], late: list[str]) -> list[str]:
    """The late tests that are the first zero of a subtask, in listed order; empty if a zero decides no subtask."""
    first = set()
    for subtask in problem.subtasks:
        zeros = (test for test in subtask.tests if KINDS[runs[test].kind].score == 0.0)
        first.add(next(zeros, None))
    return [test for test in runs if test in late and test in first] if problem.score_type.zero_decides else []


def wanted(judging: Judging, under_way: set[str]) -> Iterator[tuple[str, tuple[PlannedTest, ...]]]:
    """The kinds of runs that are wanted (alone, clean, usual) with their tests. Kinds without tests are left out."""
    for way, planned in (
        ("alone", judging.late_reruns()),
        ("clean", judging.machine_fault_reruns()),
        ("usual", judging.pending(under_way=under_way)),
    ):
        if left := tuple(one for one in planned if one.test not in under_way):
            yield way, left


def drive(problem: Problem, behaviours: Behaviours, data: st.DataObject, *, exhaustive: bool = False) -> Judging:
    """Judge with bundles of any size, any number of jobs at once, lines in any order, and up to two lost answers."""
    judging = judging_of(problem, exhaustive=exhaustive)
    jobs: list[RunningJob] = []
    losses = data.draw(st.integers(0, 2))
    while not judging.is_done():
        under_way = {test for job in jobs for test in job.tests}
        starts = list(wanted(judging, under_way))
        choice = data.draw(st.integers(0, len(starts) + len(jobs) - 1))
        if choice < len(starts):
            way, planned = starts[choice]
            most = data.draw(st.integers(1, 8))
            cut = [planned[first : first + most] for first in range(0, len(planned), most)]
            started = cut[: data.draw(st.integers(1, len(cut)))]
            run_all = exhaustive or not problem.score_type.zero_decides
            jobs += [RunningJob(bundle, way, behaviours, run_all=run_all) for bundle in started]
            continue
        job = jobs[choice - len(starts)]
        if losses and data.draw(st.booleans()):
            losses -= 1
            job.lines.clear()
        if job.lines:
            judging.record(job.lines.pop(0))
        if not job.lines:
            jobs.remove(job)
    before = result_of(problem, judging.outcomes())
    for job in jobs:
        for line in job.lines:
            judging.record(line)
    assert result_of(problem, judging.outcomes()) == before, "what arrived after the end changed the result"
    return judging


def drive_one_by_one(problem: Problem, behaviours: Behaviours) -> tuple[Judging, list[tuple[str, str]]]:
    """Judge with one test at a time, repetitions first. Also returns which tests were run, and in which way."""
    judging = judging_of(problem)
    runs: list[tuple[str, str]] = []
    while not judging.is_done():
        way, planned = next(wanted(judging, set()))
        test = planned[0].test
        runs.append((way, test))
        judging.record(behaviours[test].line(test, way))
    return judging, runs


def behaviours_of(kinds: Sequence[str]) -> st.SearchStrategy[Behaviours]:
    """Behaviours in which each run has one of these kinds. (Each test's behaviour is one choice, which is drawn sooner
    than four.)
    """
    each = [Behaviour(*choice) for choice in itertools.product(kinds, kinds, kinds, (1010.0, 1050.0, 1090.0))]
    return st.fixed_dictionaries({name: st.sampled_from(each) for name in "abcdefgh"})


all_behaviours = behaviours_of(["AC", "AC", "AC", *KINDS])
late_behaviours = behaviours_of(["near", "near", "near", "AC", "checker", "runner"])
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
    """The names of planned tests, joined to one string."""
    return "".join(plan.test for plan in planned)
