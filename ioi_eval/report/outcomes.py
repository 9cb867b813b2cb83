"""What the tests of a result come to, whatever subtasks they stand in."""

from __future__ import annotations

from ioi_eval.model import SubmissionResult, TestOutcome, Verdict


def distinct_outcomes(result: SubmissionResult) -> list[TestOutcome]:
    """Every test that was run, once, though several subtasks list it."""
    found: dict[str, TestOutcome] = {}
    for subtask in result.subtasks:
        for outcome in subtask.tests:
            if outcome.verdict is not Verdict.SKIPPED:
                found[outcome.test] = outcome
    return list(found.values())


def judge_error(result: SubmissionResult) -> str | None:
    """Why a result has no score: the first failure of ours, or of a judge program; `None` if it has one."""
    if result.score is not None:
        return None
    if result.compile.verdict is Verdict.JE:
        return result.compile.message or "judge error while compiling"
    for subtask in result.subtasks:
        for outcome in subtask.tests:
            if subtask.score is None and outcome.verdict is Verdict.JE:
                return f"test {outcome.test}: {outcome.message or 'judge error'}"
    return None
