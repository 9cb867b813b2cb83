"""Failures in a run: of the sandbox, of judge programs, of single rows, and our own bugs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ioi_eval.config import Unscored
from ioi_eval.errors import InputError
from ioi_eval.journal import Journal, Keys, RecordKind
from ioi_eval.pipeline.dump_judge import MAX_FAILURES
from ioi_eval.report.markdown import markdown_report
from ioi_eval.report.result_sets import Family, ResultSet
from ioi_eval.report.summary_from_rows import summary_from_rows
from ioi_eval.report.terminal import terminal_report
from tests.pipeline.scripted import Contest, ScriptedScorer, programs


def test_a_je_has_no_score_and_is_judged_again(contest: Contest, scorer: ScriptedScorer) -> None:
    """It is in the results and the exit code of this run, but not in the journal."""
    contest.write(*programs("1", "JE"))
    outcome = contest.run(scorer)
    assert outcome.exit_code == 1
    failed = contest.results()[1]
    assert (failed["verdict"], failed["total_score"], failed["code_compiles"]) == ("JE", None, None)
    assert failed["error"] == "the answer was cut off"
    assert [s["score"] for s in failed["all_subtasks_results"]] == [None] * 3
    assert outcome.summary["submissions"] == {
        "rows": 2, "scored": 1, "undecided": 1, "refused": 0, "pending": 0, "copies": 0,
    }  # fmt: skip
    assert outcome.summary["undecided"] == [
        {"submission": "u1", "problem": "2024/nile", "error": "the answer was cut off"}
    ]
    assert b"cut off" not in (contest.out / "journal").read_bytes()
    contest.run(scorer)
    assert scorer.judged == ["u0", "u1", "u1"]


def test_a_failure_of_a_judge_program_is_final(contest: Contest, scorer: ScriptedScorer) -> None:
    """A repetition would fail again. With `--retry-failed` it is judged again."""
    contest.write(*programs("1 1 final", "1"))
    assert contest.run(scorer).exit_code == 1
    row = contest.results()[0]
    assert (row["verdict"], row["total_score"]) == ("JE", None)
    assert row["error"] == "test 2-01: checker crashed"
    assert [s["score"] for s in row["all_subtasks_results"]] == [1, 1, None]
    assert contest.run(scorer).exit_code == 1
    assert scorer.judged == ["u0", "u1"]
    contest.run(scorer, retry_failed=True)
    assert scorer.judged == ["u0", "u1", "u0"]


def test_unknown_scores_can_be_written_as_zero(contest: Contest, scorer: ScriptedScorer) -> None:
    """For training loops that need numbers. The verdict is still JE, and so is the exit code of the run."""
    contest.write(*programs("1 1 final"))
    assert contest.run(scorer, unscored=Unscored.ZERO).exit_code == 1
    row = contest.results()[0]
    assert (row["verdict"], row["total_score"], row["all_subtasks_points"]) == ("JE", 40, 40)
    assert [s["weighted_score"] for s in row["all_subtasks_results"]] == [0, 40, 0]


def test_a_run_can_be_resumed_after_all_endpoints_failed(contest: Contest, scorer: ScriptedScorer) -> None:
    """Without an endpoint the run ends. The remaining submissions are left for the next run."""
    contest.write(*programs("1", "gone", *(f"1 // {n}" for n in range(500))))
    outcome = contest.run(scorer, jobs_at_once=1)
    assert outcome.exit_code == 1
    assert outcome.stopped_by == "no endpoint left for 60 s"
    assert outcome.summary["interrupted"]
    assert terminal_report(outcome.summary).startswith("Stopped early: no endpoint left for 60 s.\nThe numbers are of")
    assert "stopped early; repeat the command of the run" in markdown_report(outcome.summary)
    rows = [(row["uuid"], row) for row in contest.results()]
    results = ResultSet(directory=Path("a"), family=Family.CONTEST, summary=dict(outcome.summary), id_column="uuid")
    for several in ([results], [results] * 2):
        again = summary_from_rows(rows, several)
        assert again["this_run"]["stopped_by"] == "no endpoint left for 60 s"
    assert outcome.summary["submissions"]["pending"] > 200
    contest.write(*programs("1", "1 // again", *(f"1 // {n}" for n in range(500))))
    assert contest.run(scorer).exit_code == 0
    assert len(contest.results()) == 502


def test_a_sandbox_that_always_fails_ends_the_run(contest: Contest, scorer: ScriptedScorer) -> None:
    """Otherwise a million rows could all be JE."""
    contest.write(*programs(*(f"JE // {n}" for n in range(1000))))
    outcome = contest.run(scorer)
    assert outcome.exit_code == 1
    assert 100 <= len(scorer.judged) <= 105
    assert "100 submissions in a row" in str(outcome.stopped_by)


def test_rows_without_a_program_do_not_count_as_successes(contest: Contest, scorer: ScriptedScorer) -> None:
    """They need no sandbox, so they do not reset the count of failures."""
    texts = [f"JE // {number}" if number % 5 == 0 else None for number in range(3000)]  # 51 in a batch
    contest.write(*programs(*texts))
    outcome = contest.run(scorer, jobs_at_once=1, dedupe=False)
    assert "100 submissions in a row" in str(outcome.stopped_by)


def test_failures_with_results_between_them_do_not_end_the_run(contest: Contest, scorer: ScriptedScorer) -> None:
    """A sandbox that judges one submission in sixty is slow, and not broken."""
    failing = [f"JE // {number}" for number in range(120)]
    contest.write(*programs(*failing[:60], "1", *failing[60:], "0.5"))
    outcome = contest.run(scorer, jobs_at_once=1)
    assert (outcome.stopped_by, outcome.exit_code) == (None, 1)
    assert len(scorer.judged) == 122


def test_unsupported_problems_do_not_end_the_run(contest: Contest, scorer: ScriptedScorer) -> None:
    """If no target is suitable for a problem, the sandbox has not failed: later submissions to others are judged."""
    contest.write(*programs(*(f"unsuitable // {n}" for n in range(150)), "1"))
    outcome = contest.run(scorer, jobs_at_once=1)
    assert (outcome.stopped_by, outcome.exit_code) == (None, 1)
    assert len(scorer.judged) == 151
    assert outcome.summary["submissions"]["scored"] == 1


def test_a_bug_of_ours_ends_the_run(contest: Contest, scorer: ScriptedScorer) -> None:
    """It is never a verdict. Results from before it stay stored."""
    contest.write(*programs("1", "bug"))
    with pytest.raises(ExceptionGroup) as caught:
        contest.run(scorer, jobs_at_once=1)
    assert caught.group_contains(AssertionError)
    contest.write(*programs("1", "0.5"))
    contest.run(scorer)
    assert scorer.judged == ["u0", "u1", "u1"]


def test_a_bug_caused_by_one_row_is_that_row_s_je(contest: Contest, scorer: ScriptedScorer) -> None:
    """The row has no score and a message with the place of the bug, and is judged again. The run continues, with any
    number of such rows.
    """
    contest.write(*programs("1", *(f"odd // {n}" for n in range(MAX_FAILURES + 10)), "0.5"))
    outcome = contest.run(scorer, jobs_at_once=1)
    assert outcome.exit_code == 1
    found = contest.results()
    assert [found[place]["total_score"] for place in (0, 1, -2, -1)] == [100, None, None, 50]
    assert found[1]["verdict"] == "JE"
    words = (
        r"judging this row failed in ioi-eval itself( \(\w+\.py, line \d+\))?: ValueError: an odd row; please report"
    )
    assert re.match(words, found[1]["error"])
    scorer.judged.clear()
    contest.run(scorer, jobs_at_once=1)
    assert len(scorer.judged) == MAX_FAILURES + 10


def test_a_result_that_cannot_be_stored_is_je(contest: Contest, scorer: ScriptedScorer) -> None:
    """Only the row of that result fails."""
    contest.write(*programs("1", "0.5 // huge", "0.5"))

    class Picky(Journal):
        def append(self, kind: RecordKind, keys: Keys, body: bytes) -> int:
            if b'"u1"' in body:
                raise TypeError("integer exceeds 64 bits")
            return super().append(kind, keys, body)

    assert contest.run(scorer, journal=Picky).exit_code == 1
    found = contest.results()
    assert [row["total_score"] for row in found] == [100, None, 50]
    assert "recording this row failed in ioi-eval itself" in found[1]["error"]


def test_a_truncated_dump_is_an_error_with_its_line(contest: Contest, scorer: ScriptedScorer) -> None:
    """Also if it is noticed only after the run has begun."""
    contest.write(*programs("1", "1 //b"))
    with contest.dump.open("ab") as file:
        file.write(b'{"uuid": "torn", "ye')
    with pytest.raises(InputError, match="row 3: is not JSON"):
        contest.run(scorer)


def test_a_dump_that_is_damaged_during_the_run(contest: Contest) -> None:
    """The error says that nothing is judged again. A second run writes the results."""
    contest.write(*programs("1", "1 //b"))
    whole = contest.dump.read_bytes()

    def damage(_: object) -> None:
        contest.dump.write_bytes(whole[:-5])

    with pytest.raises(InputError, match="row 2: is not JSON") as caught:
        contest.run(ScriptedScorer(before=damage))
    [note] = caught.value.__notes__
    assert f"what was judged is stored in {contest.out / 'journal'}" in note
    contest.dump.write_bytes(whole)
    second = ScriptedScorer()
    assert contest.run(second).exit_code == 0
    assert second.judged == []
