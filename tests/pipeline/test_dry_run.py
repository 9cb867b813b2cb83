"""The plan that `--dry-run` prints."""

from __future__ import annotations

from ioi_eval.journal import read_index
from ioi_eval.pipeline.dry_run import COPIES, JUDGED_BEFORE, TO_JUDGE, plan
from tests.pipeline.scripted import NILE, Contest, ScriptedScorer, programs


def test_a_plan_agrees_with_the_run(contest: Contest, scorer: ScriptedScorer) -> None:
    """It has the numbers of rows to judge, to copy, judged before and refused. Nothing is written."""
    contest.write(*programs("1", "0.5", "1 1 final"))
    contest.run(scorer)
    contest.write(
        *programs("1", "0.5", "1 1 final", "1", "new", "new", None), {"uuid": "x", "problem_id": "nil", "code": "1"}
    )
    before = {path: path.read_bytes() for path in contest.out.iterdir()}
    index, _ = read_index(contest.out)
    planned = plan(contest.dump_reader(scorer), index)
    assert planned.problems == {NILE.key: {TO_JUDGE: 2, COPIES: 2, JUDGED_BEFORE: 3}}
    assert plan(contest.dump_reader(scorer), index, retry_failed=True).problems[NILE.key][TO_JUDGE] == 3
    assert plan(contest.dump_reader(scorer), index, dedupe=False).problems[NILE.key][COPIES] == 0
    text = planned.describe()
    assert "unknown problem 2024/nil" in text
    assert text.splitlines()[2].split() == ["2024/nile", "2", "2", "3"]
    assert {path: path.read_bytes() for path in contest.out.iterdir()} == before
    scorer.judged.clear()
    outcome = contest.run(scorer)
    assert len(scorer.judged) == 2
    assert outcome.summary["this_run"]["copies"] == 2


def test_a_plan_tells_that_stored_results_do_not_count(contest: Contest, scorer: ScriptedScorer) -> None:
    """For example of other targets: then all is judged again. Nothing is told if nothing is to be judged."""
    contest.write(*programs("1", "0.5", "1 1 final", "1"))
    contest.run(scorer)
    index, _ = read_index(contest.out)
    unused = "Of 4 stored results, 4 fit no row: they are of other rows, programs, targets, limits, rules or versions"
    assert unused in plan(contest.dump_reader(ScriptedScorer(version="2")), index).describe()
    for retry_failed in (False, True):
        same = plan(contest.dump_reader(scorer), index, retry_failed=retry_failed)
        assert (same.stored, same.unmatched) == (4, 0)
    contest.write(*programs("1"))
    fewer = plan(contest.dump_reader(scorer), index)
    assert (fewer.unmatched, "stored" in fewer.describe()) == (3, False)


def test_a_plan_names_no_report(contest: Contest, scorer: ScriptedScorer) -> None:
    """A long list of refused rows is cut. It does not refer to a report, because none is written."""
    contest.write(*({"uuid": f"x{n}", "problem_id": "nil", "code": "1"} for n in range(30)))
    text = plan(contest.dump_reader(scorer), read_index(contest.out)[0]).describe()
    assert "… and 25 more" in text
    assert "report.md" not in text
    assert "results.jsonl" not in text
