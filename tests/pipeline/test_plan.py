"""The dry run."""

from __future__ import annotations

from scripted import NILE, Contest, ScriptedJudge, programs

from ioi_eval.journal import peek
from ioi_eval.pipeline import plan
from ioi_eval.pipeline.plan import ProblemPlan


def test_a_plan_says_what_a_run_then_does(contest: Contest, judge: ScriptedJudge) -> None:
    """To judge, to copy, judged before, refused; and nothing is written."""
    contest.write(*programs("1", "0.5", "1 1 final"))
    contest.run(judge)
    contest.write(
        *programs("1", "0.5", "1 1 final", "1", "new", "new", None), {"uuid": "x", "problem_id": "nil", "code": "1"}
    )
    before = {path: path.read_bytes() for path in contest.out.iterdir()}
    index, _ = peek(contest.out)
    planned = plan(contest.intake(judge), index)
    assert planned.problems == {NILE.key: ProblemPlan(to_judge=2, copies=2, resumed=3)}
    assert plan(contest.intake(judge), index, retry_failed=True).problems[NILE.key].to_judge == 3
    assert plan(contest.intake(judge), index, dedupe=False).problems[NILE.key].copies == 0
    text = planned.describe()
    assert "unknown problem 2024/nil" in text
    assert text.splitlines()[2].split() == ["2024/nile", "2", "2", "3"]
    assert {path: path.read_bytes() for path in contest.out.iterdir()} == before
    judge.judged.clear()
    outcome = contest.run(judge)
    assert len(judge.judged) == 2
    assert outcome.summary["this_run"]["copies"] == 2
