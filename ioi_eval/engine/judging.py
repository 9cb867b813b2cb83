"""What to run next for one submission, and when to stop. Pure: no clock, no I/O.

Theory of operation
===================

The tests are in **groups**: the subtasks of a contest problem, of which this text speaks. For APPS, all tests are one
group.

Under GroupMin (the last paragraph is about the other types) a subtask's score is the minimum over its tests, and its
verdict is that of its first zero in *listed* order (`scores.py`). So a test can still change the result if at least one
subtask lists it at a position before which no zero is known. Such a test is **needed**. The other rules follow from
this one:

- `pending` are the needed tests that have no outcome yet: subtask by subtask, in listed order, each at the first
  position at which it is needed. If tests run one after the other, none that follows a zero runs needlessly.
- A `PlannedTest` says at which positions it is needed (`at`). The runner applies the same rule inside its box to
  the zeros that it sees there, so a large bundle wastes no runs. Positions behind a known zero are not sent: the box
  may not know of that zero, and would run the test for them.
- Bundles may run in parallel, and end in any order. The outcome of a test that ran although it was no longer needed
  changes nothing. A test that its box left out because of a zero is either not needed, or in `pending` again.

**Two kinds of outcome are provisional**: the test is run once more before its outcome counts. `docs/verdicts.md`, "What
is run once more", has these rules and their reasons. They are the same for contest problems and for APPS. `TestHistory`
has the rules about the runs of one test, `Judging` those about which tests can change the result. For the order of runs
this means:

- A *late run that may be in time* (`may_be_in_time`) counts as the zero that it probably is, so tests behind it wait.
  If it turns out not to be a zero, they are needed again, and appear in `pending`. It is run alone only if it certainly
  decides something. Usually this is so once it is the first zero of a subtask, and all tests before it have outcomes
  (`_decides`). If every test is needed (`exhaustive`), such runs wait until all tests have had their first runs, and
  their repetitions for machine faults. Then those that decide a subtask are repeated together; if there are none, the
  fastest, `LATE_RERUNS_IN_A_ROW` at a time (`_begin_round`).
- After a *machine fault* (a JE that names the runner as the program that failed) the test is repeated in a job of its
  own, also alone, while it is needed. It is repeated even if a test behind it is known to score 0: whether that is
  known yet depends on the order in which tests ran, which must not affect results. A JE that names a checker or manager
  is final. One that names no program comes from the sandbox. The caller has retried it already, so it is not repeated.

A test runs at most four times (first; alone, because it was late; in a job of its own, because the machine failed on
that; alone again, because it was late there too), plus once for each of the `near_limit_repeats` above 1. A run alone
that ends in JE does not count as a measurement: after the run in a job of its own the test may run alone once more. The
score of a repetition is at most that of each late run before it, had that been in time (`_at_most`).

**Why the result is that of exhaustive judging.** A test's outcome is *settled* when no repetition is left; it does not
depend on when the test ran. When a judging `is_done`, let z be the first position of a subtask with a known zero. No
zero is known before z, so all of 1…z are needed; as the judging `is_done`, they have outcomes, and these are settled.
So z is the first zero of the settled outcomes too, and the subtask's result, which depends on positions 1…z only, is
the same. If no zero is known, this holds for all positions. `tests/engine/test_judging_schedules.py` checks it with
bundle sizes and interleavings that hypothesis generates.

This holds for the minimum, the product and the threshold: one zero makes each of them 0. For a sum every test is
needed, whatever the others score. Which of them are repeated depends on the outcomes of all runs before that, not on
the order in which these ended.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum

from ioi_eval.jobs.run_job import PlannedTest
from ioi_eval.model import TestOutcome, Verdict

PlannedTests = tuple[PlannedTest, ...]

LATE_RERUNS_IN_A_ROW = 3
"""A program is too slow for certain if this many late tests in a row are late again when they run alone."""

_NEVER_RECORDED = frozenset({Verdict.CE, Verdict.NC, Verdict.SKIPPED})
_JUDGE_PROGRAMS = frozenset({"checker", "manager"})


class Rerun(Enum):
    """How a test is run once more."""

    ALONE = "alone"  # with nothing else of ours on the machine: its time is in doubt
    OWN_JOB = "own job"  # the same, in a job of its own: the machine failed on it


class TestHistory:
    """The runs of one test: the outcome that counts, and how it is to be run once more. See the module."""

    __test__ = False

    def __init__(self, near_limit_repeats: int) -> None:
        self.outcome: TestOutcome | None = None
        self._max_alone = near_limit_repeats
        self._had_alone = 0
        self._had_own_job = False
        self._score_cap = 1.0  # the lowest score that a late run so far would have had in time

    @property
    def rerun(self) -> Rerun | None:
        """How it is to be run once more; `None` if its outcome is settled, or it has none yet."""
        outcome = self.outcome
        if outcome is None:
            return None
        may_be_better = self._had_alone < self._max_alone and outcome.near_limit  # though it was late alone
        if outcome.may_be_in_time and (self._had_alone == 0 or may_be_better):
            return Rerun.ALONE
        at_fault = outcome.failed_program is not None and not outcome.final
        return Rerun.OWN_JOB if at_fault and not self._had_own_job else None

    def record(self, outcome: TestOutcome) -> None:
        """Record the outcome of its first run, or of the repetition that was asked for: see `Judging.record`.

        Of several runs alone that were late, the fastest counts.
        """
        earlier, rerun = self.outcome, self.rerun
        if earlier is not None and rerun is None:
            raise ValueError(f"test {outcome.test!r} has a settled outcome already: {earlier.verdict}")
        outcome = replace(outcome, final=outcome.failed_program in _JUDGE_PROGRAMS)
        if earlier is None:
            self.outcome = outcome
        elif rerun is Rerun.ALONE:
            self._record_alone(earlier, outcome)
        else:
            self._had_own_job = True
            self.outcome = replace(_at_most(outcome, self._score_cap), reran=earlier.reran)

    def _record_alone(self, earlier: TestOutcome, outcome: TestOutcome) -> None:
        if outcome.verdict is not Verdict.JE:  # a machine that failed has measured nothing
            self._had_alone += 1
        known = [run.in_time_score for run in (earlier, outcome) if run.in_time_score is not None]
        self._score_cap = min([self._score_cap, *known])
        both_late = earlier.reran and outcome.verdict is Verdict.TLE
        # If the slower run would have scored 0 in time, it counts although the earlier one was faster: `_score_cap` is
        # 0 now, so no later run can score, and with this outcome the test is not repeated.
        if both_late and (earlier.cpu_ms or 0.0) < (outcome.cpu_ms or 0.0) and outcome.in_time_score != 0.0:
            return
        self.outcome = replace(_at_most(outcome, self._score_cap), reran=True)


class Judging:
    """The judging of one submission: ask what to run, record the outcomes, until `is_done`.

    The caller keeps track of the tests that are running, because only the caller knows when a job was lost.

    Args:
        groups: the tests of each group, in listed order. A test may be in several.
        zero_decides: whether one test with score 0 makes its group's score 0.
        exhaustive: every test is needed, whatever its groups score already. This is always so if a zero does not
            decide a group.
        near_limit_repeats: how many runs alone may measure a late test's time; the fastest counts.
    """

    def __init__(
        self,
        groups: Iterable[Sequence[str]],
        *,
        zero_decides: bool,
        exhaustive: bool = False,
        near_limit_repeats: int = 1,
    ) -> None:
        self.exhaustive = exhaustive or not zero_decides
        self._zero_decides = zero_decides
        self._groups = tuple(groups)
        self._positions: dict[str, list[tuple[int, int]]] = {}
        for group, tests in enumerate(self._groups):
            for position, test in enumerate(tests):
                self._positions.setdefault(test, []).append((group, position))
        self._first_zero = [len(tests) for tests in self._groups]
        self._histories = {test: TestHistory(near_limit_repeats) for test in self._positions}
        self._round: list[str] = []  # late tests that are repeated together, if each test counts by itself
        self._late_in_a_row = 0

    # ------------------------------------------------------------------- what to run

    def pending(self, *, under_way: Collection[str] = ()) -> PlannedTests:
        """The tests to run for the first time, in the order to run them, each with the positions where it is needed.

        Those that are running already (`under_way`) are left out.
        """
        missing = (test for test, history in self._histories.items() if history.outcome is None)
        return self._planned(test for test in missing if test not in under_way)

    def late_reruns(self) -> PlannedTests:
        """The tests to run once more with nothing else of ours on the machine, maybe in one job: their TLE matters."""
        late = self._wanting(Rerun.ALONE)
        return self._planned(test for test in late if (test in self._round if self.exhaustive else self._decides(test)))

    def machine_fault_reruns(self) -> PlannedTests:
        """The tests to run once more, each alone in a job of its own, because the machine failed on them."""
        return self._planned(self._wanting(Rerun.OWN_JOB))

    def is_done(self) -> bool:
        """Whether no test that is still to be run, or is running, can change the result."""
        return not (self.pending() or self.late_reruns() or self.machine_fault_reruns())

    # ------------------------------------------------------------------- outcomes

    def record(self, outcome: TestOutcome) -> None:
        """Record a test's outcome: its first, or that of a repetition which was asked for.

        The earlier outcome decides which of the two it is, and so `reran`. `final` is set too: whether a checker or
        manager failed. ValueError for a bug of the caller's: an outcome that this test cannot have now.
        """
        test = outcome.test
        if test not in self._positions or outcome.verdict in _NEVER_RECORDED:
            raise ValueError(f"{outcome.verdict} for test {test!r} cannot be recorded here")
        history = self._histories[test]
        history.record(outcome)
        for group, position in self._positions[test]:
            if history.outcome is not None and history.outcome.score == 0.0:
                self._first_zero[group] = min(self._first_zero[group], position)
            elif self._first_zero[group] == position:
                self._first_zero[group] = self._find_first_zero(group)
        if self.exhaustive and all(history.outcome is not None for history in self._histories.values()):
            self._begin_round()

    def outcomes(self) -> Mapping[str, TestOutcome]:
        """The outcome that counts for each test that ran, in order of first appearance, needed or not."""
        return {test: history.outcome for test, history in self._histories.items() if history.outcome is not None}

    # ------------------------------------------------------------------- the rules

    def _planned(self, tests: Iterable[str]) -> PlannedTests:
        """Those of the tests that are needed, with their positions, sorted by these."""
        planned = []
        for test in tests:
            at = tuple(
                (group, position)
                for group, position in self._positions[test]
                if self.exhaustive or position <= self._first_zero[group]
            )
            if at:
                planned.append(PlannedTest(test=test, at=at))
        return tuple(sorted(planned, key=lambda plan: plan.at[0]))

    def _decides(self, test: str) -> bool:
        """Whether the test is the first zero of a subtask, and all tests before it have outcomes."""
        return any(
            self._first_zero[group] == position
            and all(self._histories[earlier].outcome is not None for earlier in self._groups[group][:position])
            for group, position in self._positions[test]
        )

    def _wanting(self, rerun: Rerun) -> list[str]:
        return [test for test, history in self._histories.items() if history.rerun is rerun]

    def _begin_round(self) -> None:
        """Choose the late tests that are repeated next, if those of the last round and machine faults were repeated."""
        late = self._wanting(Rerun.ALONE)
        if self._wanting(Rerun.OWN_JOB) or any(test in late for test in self._round):
            return
        for test in self._round:
            outcome = self._histories[test].outcome
            if outcome is not None and outcome.verdict is not Verdict.JE:
                self._late_in_a_row = self._late_in_a_row + 1 if outcome.verdict is Verdict.TLE else 0
        deciding = [test for test in late if self._zero_decides and self._decides(test)]
        outcomes = self.outcomes()
        fastest_first = sorted(late, key=lambda test: outcomes[test].cpu_ms or 0.0)
        self._round = deciding or fastest_first[: max(0, LATE_RERUNS_IN_A_ROW - self._late_in_a_row)]

    def _find_first_zero(self, group: int) -> int:
        tests = self._groups[group]
        known = ((index, self._histories[test].outcome) for index, test in enumerate(tests))
        return next((index for index, outcome in known if outcome and outcome.score == 0.0), len(tests))


def _at_most(outcome: TestOutcome, score: float) -> TestOutcome:
    """The outcome of a repetition, with a score no higher than the late runs before it would have had in time."""
    if outcome.score is None or outcome.score <= score:
        return outcome
    message = f"{outcome.message} (an earlier run of the same test gave a worse output)".strip()
    verdict = Verdict.PA if score > 0 else Verdict.WA
    return replace(outcome, score=score, verdict=verdict, message=message)
