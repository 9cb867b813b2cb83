"""What to run next for one submission, and when to stop. Pure: no clock, no I/O.

Theory of operation
===================

A subtask is worth the minimum over its tests, and its verdict is that of its first zero in *listed* order
(`scores.py`). So a test can still matter as long as, in at least one subtask that lists it, no test at an earlier
position is known to score 0. Such a test is **needed**. Everything in this file follows from that one word:

- `pending` are the needed tests that have no outcome yet, in the order in which they first appear where they are
  needed: subtask by subtask, in listed order. So a zero costs no run but its own, if tests run one after the other.
- A `PlannedTest` says at which positions it is needed (`at`). The runner applies the same rule inside its box to
  the zeros it sees there, so a bundle can be large without wasting runs. Positions that are dead already are not
  sent: a box that does not know of a zero elsewhere must not keep a test alive for it.
- Bundles may run in parallel, and end in any order. A test that ran though it was not needed any more has an
  outcome that nobody looks at. A test that its box left out because of a zero is either not needed, or comes back
  in `pending`.

**Two kinds of outcome are provisional**, and run once more before they are believed. The rules are the same for contest
problems and for APPS (whose rows are one subtask in which each test counts), and stand in `TestState`:

- A *late run that may be in time*, alone on its machine: a TLE of a program that ended by itself, so not much later
  than the limit. Until then it counts as the zero that it probably is, so tests behind it wait. Should it turn out to
  be none, they are needed again, and simply appear in `pending`. It is repeated only where that is certain to matter:
  see below. What is asked for with `alone_runs` above 1 is the best of so many runs: another one follows as long as
  the last was late by no more than 10 % of the limit.
- A *judge fault*: a JE that names the program that failed. It is repeated in a clean box while its test is needed,
  whether there is a zero behind it or not: to know of that zero already is a matter of the order of running, which
  must decide nothing. If the same checker or manager fails again the JE is final, and is not retried for ever. Faults
  of the runner (a machine too loaded to judge) get the same second chance, and are never final. A JE that names no
  program is the sandbox's: whoever drives this machine has retried it already, and it stands.

A test runs once; once more for a judge fault; and alone until that gave something other than a JE. That is four
times at the very worst, and once more for each of the `alone_runs` above 1.

**A repetition decides about time only.** It gives the time and the output of the same run; and what it scores is at
most what every late run before it would have scored in time. So a run whose output was wrong is not repeated, and
whoever knows that he is run once more (by the clock) gains nothing by doing something else: to be right he must have
been right each time, and in time in the run that stands. Else a program that guesses, and burns a little more than the
limit after a bad guess, would guess twice. A program that was stopped for sleeping is not repeated either: nobody
knows what it would have said. (Where a judge program failed on a late output, its worth is not known, and it is
repeated once, as other judge faults are.) The memory that the first run had is made ready for it: where a virtual
machine asks its host for each page, the program pays.

**Where a repetition matters.** Where a zero decides, a late test that is the first zero of a subtask, and before which
all tests have outcomes. Where each test counts by itself (a sum, APPS, or all tests are shown), first those that decide
a subtask, then the others, once all tests have had their usual runs: the least late first, `CONFIRMED` at a time, until
so many in a row were late again. A program that is right, and is late for the machine only, is never late again, so all
of its tests are repeated. One that is too slow is so for certain by then, and those of its tests that are left, which
were later still, stay TLE: the machine is not spent on a hundred of them.

**Why the result is that of exhaustive judging.** Call *settled* what a test's outcome is after its repetitions; it
does not depend on when it ran. When `done`, take a subtask, and the first position z that has a known zero. No zero
is known before z, so all of 1…z are needed; done means that they have outcomes, and that these are settled. So z is
the first zero of the settled outcomes too, and the subtask's result, which is a function of positions 1…z, is the
same. Without any zero known the same holds of all positions. `tests/engine/test_judging_schedules.py` tries it with
every bundle size and interleaving that hypothesis can think of.

This holds for the minimum, the product and the threshold, of all of which a zero makes a zero. For a sum every test is
needed, whatever the others score. Which of them are repeated follows from the outcomes of all usual runs, not from the
order in which these ended.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Protocol

from ioi_eval.jobs.run_job import PlannedTest
from ioi_eval.model import ScoreType, Subtask, TestOutcome, Verdict

Bundle = tuple[PlannedTest, ...]

CONFIRMED = 3
"""So many late tests in a row that are late again when they are alone show that a program is too slow."""

_NEVER_RECORDED = frozenset({Verdict.CE, Verdict.NC, Verdict.SKIPPED})
_JUDGE_PROGRAMS = frozenset({"checker", "manager"})


class Repetition(Enum):
    """How a test is run once more."""

    ALONE = "alone"  # with nothing else of ours on the machine: its time is in doubt
    CLEAN = "clean"  # in a clean box: a judge program failed on it


class TestState:
    """The runs of one test: what stands, and how it is to be run once more. See the module.

    Args:
        alone_runs: how many runs alone may measure its time.
    """

    __test__ = False

    def __init__(self, alone_runs: int = 1) -> None:
        self.outcome: TestOutcome | None = None
        self._most_alone = alone_runs
        self._had_alone = 0
        self._had_clean = False
        self._most_score = 1.0  # what all late runs so far would have scored in time, at the least

    @property
    def repetition(self) -> Repetition | None:
        """How it is to be run once more; `None` if what stands is settled."""
        outcome = self.outcome
        if outcome is None:
            return None
        if outcome.may_be_in_time and (self._had_alone == 0 or self._may_be_better(outcome)):
            return Repetition.ALONE
        at_fault = outcome.verdict is Verdict.JE and outcome.judge_program is not None
        return Repetition.CLEAN if at_fault and not self._had_clean else None

    def record(self, outcome: TestOutcome) -> bool:
        """Take the outcome of its first run, or of the repetition that was asked for.

        Returns:
            Whether it stands now: of several runs alone that were late the fastest does.

        Raises:
            ValueError: what stands is settled.
        """
        standing, repetition = self.outcome, self.repetition
        if standing is not None and repetition is None:
            raise ValueError(f"test {outcome.test!r} has a settled outcome already: {standing.verdict}")
        if standing is None:
            self.outcome = outcome
        elif repetition is Repetition.ALONE:
            return self._time(standing, outcome)
        else:
            self._had_clean = True
            same = outcome.judge_program == standing.judge_program and outcome.judge_program in _JUDGE_PROGRAMS
            self.outcome = replace(_at_most(outcome, self._most_score), final=same)
        return True

    def _may_be_better(self, outcome: TestOutcome) -> bool:
        """Whether another run alone is wanted of what was late alone: never where nobody knows what it was worth."""
        return self._had_alone < self._most_alone and outcome.near_limit and outcome.in_time_score is not None

    def _time(self, standing: TestOutcome, outcome: TestOutcome) -> bool:
        """Take in a run alone; whether it stands."""
        if outcome.verdict is not Verdict.JE:  # a judge that failed has measured nothing
            self._had_alone += 1
        known = [run.in_time_score for run in (standing, outcome) if run.in_time_score is not None]
        self._most_score = min([self._most_score, *known])
        both_late = standing.reran and outcome.verdict is Verdict.TLE
        if both_late and (standing.cpu_ms or 0.0) < (outcome.cpu_ms or 0.0) and outcome.in_time_score != 0.0:
            return False
        self.outcome = replace(_at_most(outcome, self._most_score), reran=True)
        return True


class Grouped(Protocol):
    """What judging needs to know of a problem: its subtasks' tests, and whether a zero decides."""

    @property
    def subtasks(self) -> Sequence[Subtask]:
        """In order, with their tests in listed order."""
        ...

    @property
    def score_type(self) -> ScoreType:
        """What a subtask makes of the scores of its tests."""
        ...


class Judging:
    """One submission's way through its tests: ask what to run, record what came out, until `done`.

    The caller keeps track of what is under way and says so, as it is the one who knows when a job was lost.

    Args:
        problem: gives the subtasks and their tests.
        exhaustive: every test is needed, whatever its subtasks score already. So it is, asked for or not, where a zero
            does not decide a subtask.
        alone_runs: how many runs alone may measure a late test's time; the best of them stands.
    """

    def __init__(self, problem: Grouped, *, exhaustive: bool = False, alone_runs: int = 1) -> None:
        self.exhaustive = exhaustive or not problem.score_type.zero_decides
        self._zero_decides = problem.score_type.zero_decides
        self._groups = tuple(subtask.tests for subtask in problem.subtasks)
        self._places: dict[str, list[tuple[int, int]]] = {}
        for group, tests in enumerate(self._groups):
            for position, test in enumerate(tests):
                self._places.setdefault(test, []).append((group, position))
        self._first_zero = [len(tests) for tests in self._groups]
        self._states = {test: TestState(alone_runs) for test in self._places}
        self._round: list[str] = []  # late tests that are repeated together, where each counts by itself
        self._late_in_a_row = 0

    # ------------------------------------------------------------------- what to run

    def pending(self, *, under_way: Collection[str] = ()) -> Bundle:
        """The tests to run for the first time, in the order to run them, each with the positions where it is needed.

        Args:
            under_way: names of tests that are running already.
        """
        missing = (test for test, state in self._states.items() if state.outcome is None)
        return self._planned(test for test in missing if test not in under_way)

    def near_limit_reruns(self) -> Bundle:
        """The tests to run once more with nothing else of ours on the machine, as their TLE is in doubt and matters.

        They may run in one job.
        """
        late = self._wanting(Repetition.ALONE)
        if not self.exhaustive:
            return self._planned(test for test in late if self._decides(test))
        if not any(test in late for test in self._round) and not self.pending() and not self.judge_fault_reruns():
            self._begin_round(late)
        return self._planned(test for test in self._round if test in late)

    def judge_fault_reruns(self) -> Bundle:
        """The tests to run once more in a clean box, as a program of the judge failed on them."""
        return self._planned(self._wanting(Repetition.CLEAN))

    @property
    def done(self) -> bool:
        """Whether nothing that is still to be run, or under way, can change the result."""
        return not (self.pending() or self.near_limit_reruns() or self.judge_fault_reruns())

    # ------------------------------------------------------------------- what came out

    def record(self, outcome: TestOutcome) -> TestOutcome | None:
        """Take a test's outcome: its first, or that of a repetition which was asked for.

        Which of the two it is follows from what stood before; so do `reran` and `final`, which are set here.

        Returns:
            It, as it stands now; `None` where an earlier one does: of several that were late alone the fastest does.

        Raises:
            ValueError: the test is not one of this judging's, has a settled outcome already, or the verdict is none
                that a test can have. A bug of the caller's.
        """
        test = outcome.test
        if test not in self._places or outcome.verdict in _NEVER_RECORDED:
            raise ValueError(f"{outcome.verdict} for test {test!r} cannot be recorded here")
        state = self._states[test]
        stands = state.record(outcome)
        for group, position in self._places[test]:
            if state.outcome is not None and state.outcome.score == 0.0:
                self._first_zero[group] = min(self._first_zero[group], position)
            elif self._first_zero[group] == position:
                self._first_zero[group] = self._find_first_zero(group)
        return state.outcome if stands else None

    def outcomes(self) -> Mapping[str, TestOutcome]:
        """All outcomes that stand, in order of first appearance; with those that turned out not to be needed."""
        return {test: state.outcome for test, state in self._states.items() if state.outcome is not None}

    # ------------------------------------------------------------------- the rules

    def _live_places(self, test: str) -> tuple[tuple[int, int], ...]:
        return tuple(
            (group, position)
            for group, position in self._places[test]
            if self.exhaustive or position <= self._first_zero[group]
        )

    def _planned(self, tests: Iterable[str]) -> Bundle:
        planned = (PlannedTest(test=test, at=self._live_places(test)) for test in tests)
        return tuple(sorted((plan for plan in planned if plan.at), key=lambda plan: plan.at[0]))

    def _decides(self, test: str) -> bool:
        """Whether the test is for certain the first zero of a subtask, as far as outcomes go."""
        return any(
            self._first_zero[group] == position
            and all(self._states[earlier].outcome is not None for earlier in self._groups[group][:position])
            for group, position in self._places[test]
        )

    def _wanting(self, repetition: Repetition) -> list[str]:
        """The tests that are to be repeated so, where it matters."""
        return [test for test, state in self._states.items() if state.repetition is repetition]

    def _begin_round(self, late: Sequence[str]) -> None:
        """Choose the late tests that are repeated next, now that those of the last round have been."""
        for test in self._round:
            outcome = self._states[test].outcome
            if outcome is not None and outcome.verdict is not Verdict.JE:
                self._late_in_a_row = self._late_in_a_row + 1 if outcome.verdict is Verdict.TLE else 0
        deciding = [test for test in late if self._zero_decides and self._decides(test)]
        others = sorted(late, key=self._lateness)[: max(0, CONFIRMED - self._late_in_a_row)]
        self._round = deciding or others

    def _lateness(self, test: str) -> float:
        outcome = self._states[test].outcome
        return 0.0 if outcome is None else outcome.cpu_ms or 0.0

    def _find_first_zero(self, group: int) -> int:
        tests = self._groups[group]
        known = ((place, self._states[test].outcome) for place, test in enumerate(tests))
        return next((place for place, outcome in known if outcome and outcome.score == 0.0), len(tests))


def _at_most(outcome: TestOutcome, score: float) -> TestOutcome:
    """The outcome of a repetition, worth no more than late runs before it."""
    if outcome.score is None or outcome.score <= score:
        return outcome
    words = f"{outcome.message} (an earlier run of the same test gave a worse output)".strip()
    verdict = Verdict.PA if score > 0 else Verdict.WA
    return replace(outcome, score=score, verdict=verdict, message=words)
