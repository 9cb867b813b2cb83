"""Submissions that several kinds of targets may judge (a mixed cluster): a record is found by the fingerprint of the
kind that judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ioi_eval.model import Problem, Submission, SubmissionResult
from ioi_eval.pipeline.dump_judge import BATCH_ROWS
from ioi_eval.pipeline.window import ROWS
from tests.pipeline.scripted import Contest, ScriptedScorer, programs


class Mixed(ScriptedScorer):
    """Judges on targets of the kinds `old` and `new`. `taken` says on which.

    Args:
        kinds: the available kinds; the first one is expected.
        taken: the kind on which it judges.
        held: as in `ScriptedScorer`.
    """

    def __init__(self, *kinds: str, taken: str, held: Mapping[str, str] | None = None) -> None:
        super().__init__(held=held)
        self.kinds, self.taken = kinds, taken

    def fingerprints(self, problem: Problem, submission: Submission) -> tuple[str, ...]:
        """One fingerprint for each kind."""
        (plain,) = super().fingerprints(problem, submission)
        return tuple(f"{kind}:{plain}" for kind in self.kinds)

    async def score(self, problem: Problem, submission: Submission, *, exhaustive: bool = False) -> SubmissionResult:
        """The result is the same on each kind except for its fingerprint."""
        result = await super().score(problem, submission, exhaustive=exhaustive)
        (plain,) = super().fingerprints(problem, submission)
        return replace(result, fingerprint=f"{self.taken}:{plain}")


def test_a_result_from_an_unexpected_kind_is_found(contest: Contest) -> None:
    """It is found in the results of its own run and when the run is resumed. Each result names its kind."""
    contest.write(*programs("1 1 1", "0 1 1"))
    first = Mixed("old", "new", taken="new")
    assert contest.run(first).exit_code == 0
    assert [row["fingerprint"].split(":")[0] for row in contest.results()] == ["new", "new"]
    again = Mixed("old", "new", taken="old")
    assert contest.run(again).exit_code == 0
    assert again.judged == []
    assert [row["verdict"] for row in contest.results()] == ["AC", "WA"]


def test_results_of_an_absent_kind_are_judged_again(contest: Contest) -> None:
    """Without the worker that judged it, a submission is judged again, because another kind may give another result."""
    contest.write(*programs("1 1 1"))
    contest.run(Mixed("old", "new", taken="new"))
    alone = Mixed("old", taken="old")
    assert contest.run(alone).exit_code == 0
    assert len(alone.judged) == 1
    assert contest.results()[0]["fingerprint"].startswith("old:")


def test_copies_follow_their_leader_on_whatever_kind_it_was_judged(contest: Contest) -> None:
    """Identical programs are judged once, in one run and in two."""
    contest.write(*programs(*["1 1 1"] * 40))
    scorer = Mixed("old", "new", taken="new")
    assert contest.run(scorer).exit_code == 0
    assert len(scorer.judged) == 1
    assert {row["fingerprint"] for row in contest.results()} == {contest.results()[0]["fingerprint"]}
    contest.write(*programs(*["1 1 1"] * 50))
    later = Mixed("old", "new", taken="old")
    assert contest.run(later).exit_code == 0
    assert later.judged == []


def test_a_copy_that_waited_for_space_finds_its_leader(contest: Contest) -> None:
    """It was read, and expected on one kind, before its leader was judged on the other."""
    # the last row of those that are read while there is no space for more
    last = -(-(ROWS + 2) // BATCH_ROWS) * BATCH_ROWS - 1
    contest.write(*programs("1 1 1", *(f"1 1 1 // {number}" for number in range(1, last)), "1 1 1"))
    scorer = Mixed("old", "new", taken="new", held={"u0": f"u{last}"})
    assert contest.run(scorer, jobs_at_once=1).exit_code == 0
    assert contest.results()[last]["duplicate_of"] == "u0"
    assert len(scorer.judged) == last


class Joined(Mixed):
    """While it judges, targets of the kind `new` replace all others."""

    async def score(self, problem: Problem, submission: Submission, *, exhaustive: bool = False) -> SubmissionResult:
        """Judge, with other fingerprints from now on."""
        self.kinds = ("new",)
        return await super().score(problem, submission, exhaustive=exhaustive)


def test_a_failure_is_shown_although_other_kinds_may_judge_since(contest: Contest) -> None:
    """Its row is there, with the reason: it was judged, and does not wait."""
    contest.write(*programs("JE"))
    outcome = contest.run(Joined("old", taken="old"))
    assert outcome.exit_code == 1
    assert [(row["verdict"], row["error"]) for row in contest.results()] == [("JE", "the answer was cut off")]
    assert outcome.summary["submissions"]["pending"] == 0


class Mended(Mixed):
    """Only targets of the kind `new` have a checker that works."""

    async def _score(self, problem: Problem, submission: Submission, exhaustive: bool) -> SubmissionResult:
        code = (submission.code or "").replace("final", "") if self.taken == "new" else submission.code
        return await super()._score(problem, replace(submission, code=code), exhaustive)


def test_the_result_of_a_retry_on_another_kind_counts(contest: Contest) -> None:
    """Its score counts, also for copies. The submission is not judged again."""
    contest.write(*programs(*["1 1 1 final"] * 3))
    assert contest.run(Mended("old", "new", taken="old")).exit_code == 1
    assert contest.run(Mended("old", "new", taken="new"), retry_failed=True).exit_code == 0
    assert [row["verdict"] for row in contest.results()] == ["AC"] * 3
    again = Mended("old", "new", taken="new")
    assert contest.run(again, retry_failed=True).exit_code == 0
    assert again.judged == []
    contest.write(*programs(*["1 1 1 final"] * 4))
    assert contest.run(again).exit_code == 0
    assert again.judged == [], "what is new is a copy of the one that has a score"
