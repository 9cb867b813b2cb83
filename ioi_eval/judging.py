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

**Two kinds of outcome are provisional**, and run once more before they are believed:

- A *near-limit TLE*, alone on its machine: one within 10 % of the limit, or of a program that ended by itself, so not
  much later. Until then it counts as the zero that it probably is, so tests behind it wait. Should it turn out to be
  none, they are needed again, and simply appear in `pending`. It is repeated only once it is certain to matter: it is
  the first zero of a subtask, and all tests before it have outcomes. For less, an idle machine costs too much. The
  repetition decides about time only: a run whose output was wrong is not repeated, and none gains by it more than the
  first run would have got in time. Else a program that guesses, and burns a little more than the limit after a bad
  guess, would guess twice. The memory that the first run had is made ready for it: where a virtual machine asks its
  host for each page, the program pays.
- A *judge fault*: a JE that names the program that failed. It is repeated in a clean box while its test is needed,
  whether there is a zero behind it or not: to know of that zero already is a matter of the order of running, which
  must decide nothing. If the same checker or manager fails again the JE is final, and is not retried for ever. Faults
  of the runner (a machine too loaded to judge) get the same second chance, and are never final. A JE that names no
  program is the sandbox's: whoever drives this machine has retried it already, and it stands.

A test runs once; once more for a judge fault; and alone until that gave something other than a JE. That is four
times at the very worst.

**Why the result is that of exhaustive judging.** Call *settled* what a test's outcome is after its repetitions; it
does not depend on when it ran. When `done`, take a subtask, and the first position z that has a known zero. No zero
is known before z, so all of 1…z are needed; done means that they have outcomes, and that these are settled. So z is
the first zero of the settled outcomes too, and the subtask's result, which is a function of positions 1…z, is the
same. Without any zero known the same holds of all positions. `tests/test_judging_schedules.py` tries it with every
bundle size and interleaving that hypothesis can think of.

This holds for the minimum, the product and the threshold, of all of which a zero makes a zero. For a sum every test is
needed, whatever the others score.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from ioi_eval.errors import InputError
from ioi_eval.jobs.bundled import PlannedTest, size
from ioi_eval.model import Content, Problem, TestOutcome, Verdict

Bundle = tuple[PlannedTest, ...]

_NEVER_RECORDED = frozenset({Verdict.CE, Verdict.NC, Verdict.SKIPPED})
_JUDGE_PROGRAMS = frozenset({"checker", "manager"})


class Judging:
    """One submission's way through its tests: ask what to run, record what came out, until `done`.

    The caller keeps track of what is under way and says so, as it is the one who knows when a job was lost.

    Args:
        problem: gives the subtasks and their tests.
        exhaustive: every test is needed, whatever its subtasks score already. So it is, asked for or not, where a zero
            does not decide a subtask.
    """

    def __init__(self, problem: Problem, *, exhaustive: bool = False) -> None:
        self.exhaustive = exhaustive or not problem.score_type.zero_decides
        self._groups = tuple(subtask.tests for subtask in problem.subtasks)
        self._places: dict[str, list[tuple[int, int]]] = {}
        for group, tests in enumerate(self._groups):
            for position, test in enumerate(tests):
                self._places.setdefault(test, []).append((group, position))
        self._first_zero = [len(tests) for tests in self._groups]
        self._outcomes: dict[str, TestOutcome] = {}
        self._had_clean_run: set[str] = set()
        self._in_time: dict[str, float] = {}
        self._had_run_alone: set[str] = set()

    # ------------------------------------------------------------------- what to run

    def pending(self, *, under_way: Collection[str] = ()) -> Bundle:
        """The tests to run for the first time, in the order to run them, each with the positions where it is needed.

        Args:
            under_way: names of tests that are running already.
        """
        return self._planned(test for test in self._places if test not in self._outcomes and test not in under_way)

    def near_limit_reruns(self, *, under_way: Collection[str] = ()) -> Bundle:
        """The tests to run once more with nothing else of ours on the machine, as their TLE was close and decides."""
        return self._planned(
            test
            for test, outcome in self._outcomes.items()
            if self._wants_run_alone(outcome) and test not in under_way and self._decides(test)
        )

    def judge_fault_reruns(self, *, under_way: Collection[str] = ()) -> Bundle:
        """The tests to run once more in a clean box, as a program of the judge failed on them."""
        return self._planned(
            test for test, outcome in self._outcomes.items() if self._wants_clean_run(outcome) and test not in under_way
        )

    @property
    def done(self) -> bool:
        """Whether nothing that is still to be run, or under way, can change the result."""
        return not (self.pending() or self.near_limit_reruns() or self.judge_fault_reruns())

    # ------------------------------------------------------------------- what came out

    def record(self, outcome: TestOutcome) -> None:
        """Take a test's outcome: its first, or that of a repetition which was asked for.

        Which of the two it is follows from what stood before; so do `reran` and `final`, which are set here.

        Raises:
            ValueError: the test is not one of this judging's, has a settled outcome already, or the verdict is none
                that a test can have. A bug of the caller's.
        """
        test = outcome.test
        if test not in self._places or outcome.verdict in _NEVER_RECORDED:
            raise ValueError(f"{outcome.verdict} for test {test!r} cannot be recorded here")
        standing = self._outcomes.get(test)
        if standing is not None:
            outcome = self._repeated(standing, outcome)
        self._outcomes[test] = outcome
        for group, position in self._places[test]:
            if outcome.score == 0.0:
                self._first_zero[group] = min(self._first_zero[group], position)
            elif self._first_zero[group] == position:
                self._first_zero[group] = self._find_first_zero(group)

    def outcomes(self) -> Mapping[str, TestOutcome]:
        """All outcomes that stand, in order of first appearance; with those that turned out not to be needed."""
        return {test: self._outcomes[test] for test in self._places if test in self._outcomes}

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
        return self.exhaustive or any(
            self._first_zero[group] == position
            and all(earlier in self._outcomes for earlier in self._groups[group][:position])
            for group, position in self._places[test]
        )

    def _wants_run_alone(self, outcome: TestOutcome) -> bool:
        return outcome.may_be_in_time and outcome.test not in self._had_run_alone

    def _wants_clean_run(self, outcome: TestOutcome) -> bool:
        at_fault = outcome.verdict is Verdict.JE and outcome.judge_program is not None
        return at_fault and outcome.test not in self._had_clean_run

    def _repeated(self, standing: TestOutcome, outcome: TestOutcome) -> TestOutcome:
        """The outcome of a repetition, marked as what it is."""
        if self._wants_run_alone(standing):
            # A judge that failed while the program was alone has measured nothing: that chance is not used up.
            if outcome.verdict is not Verdict.JE:
                self._had_run_alone.add(outcome.test)
            if standing.in_time_score is not None:
                self._in_time[outcome.test] = standing.in_time_score
            return replace(_at_most(outcome, standing.in_time_score), reran=True)
        if self._wants_clean_run(standing):
            self._had_clean_run.add(outcome.test)
            same = outcome.judge_program == standing.judge_program and outcome.judge_program in _JUDGE_PROGRAMS
            return replace(_at_most(outcome, self._in_time.get(outcome.test)), final=same)
        raise ValueError(f"test {outcome.test!r} has a settled outcome already: {standing.verdict}")

    def _find_first_zero(self, group: int) -> int:
        tests = self._groups[group]
        known = ((place, self._outcomes.get(test)) for place, test in enumerate(tests))
        return next((place for place, outcome in known if outcome and outcome.score == 0.0), len(tests))


def _at_most(outcome: TestOutcome, score: float | None) -> TestOutcome:
    """The outcome of a repetition, worth no more than the first run's output; `None` is no bound."""
    if score is None or outcome.score is None or outcome.score <= score:
        return outcome
    words = f"{outcome.message} (an earlier run of the same test gave a worse output)".strip()
    return replace(outcome, score=score, verdict=Verdict.PA, message=words)


def bundles(
    problem: Problem,
    pending: Sequence[PlannedTest],
    *,
    outputs: Mapping[str, Content] | None = None,
    max_tests: int | None = None,
    max_bytes: int | None = None,
    max_wall_ms: int | None = None,
    wall_ms_per_test: int = 0,
) -> tuple[Bundle, ...]:
    """Cut tests into bundles of consecutive ones, none over a limit; `None` is no limit.

    A test that is over a limit all by itself gets a bundle of its own: the sandbox will say in its own words that
    it is too large, which nobody could learn from a test that was never sent.

    Args:
        problem: gives the sizes of inputs and answers.
        pending: in the order in which they are to run.
        outputs: what was submitted for some of them, by test.
        max_tests: tests in a bundle.
        max_bytes: bytes of inputs, answers and outputs in a bundle, before any encoding.
        max_wall_ms: the longest that a bundle may take.
        wall_ms_per_test: the longest that one test is expected to take (`jobs.bundled.usual_wall_ms`).

    Raises:
        InputError: `max_tests` is below 1.
    """
    if max_tests is not None and max_tests < 1:
        raise InputError(f"bundles of at most {max_tests} tests cannot hold one; give 1 or more, or no limit")
    if max_wall_ms is not None and wall_ms_per_test > 0:
        by_time = max(1, max_wall_ms // wall_ms_per_test)
        max_tests = by_time if max_tests is None else min(max_tests, by_time)
    cut: list[Bundle] = []
    bundle: list[PlannedTest] = []
    bundle_bytes = 0
    for planned in pending:
        case = problem.tests[planned.test]
        carried = (case.input, case.answer, (outputs or {}).get(planned.test))
        added = sum(size(content) for content in carried if content is not None)
        full = len(bundle) == max_tests or (max_bytes is not None and bundle_bytes + added > max_bytes)
        if bundle and full:
            cut.append(tuple(bundle))
            bundle, bundle_bytes = [], 0
        bundle.append(planned)
        bundle_bytes += added
    return (*cut, tuple(bundle)) if bundle else ()
