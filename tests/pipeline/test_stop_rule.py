"""When a run ends because nothing can be judged."""

from __future__ import annotations

from ioi_eval.journal import RecordKind
from ioi_eval.pipeline.dump_judge import MAX_FAILED_PROBLEMS, MAX_FAILURES, StopRule
from ioi_eval.pipeline.family import ResultFacts
from ioi_eval.report.totals import CpuSplit


def facts(*, kind: RecordKind | None = None, is_sandbox_failure: bool = False) -> ResultFacts:
    """The facts about a result. The rule reads two of them."""
    return ResultFacts(
        verdict="",
        cpu=CpuSplit(),
        record_kind=kind,
        is_sandbox_failure=is_sandbox_failure,
        ran=0,
        score=None,
        error=None,
    )


RESULT, SANDBOX_FAILURE, OUR_BUG = facts(kind=RecordKind.RESULT), facts(is_sandbox_failure=True), facts()


def sandbox_fails(rule: StopRule, times: int) -> list[str | None]:
    """The answers of the rule to this number of sandbox failures."""
    return [rule.observe(SANDBOX_FAILURE, bug_in_problem=None, was_in_sandbox=True) for _ in range(times)]


def test_the_sandbox_may_fail_a_hundred_times_in_a_row() -> None:
    """The hundredth failure ends the run. A result resets the count, unless it needed no sandbox."""
    rule = StopRule()
    assert not any(sandbox_fails(rule, MAX_FAILURES - 1))
    assert rule.observe(RESULT, bug_in_problem=None, was_in_sandbox=True) is None
    assert not any(sandbox_fails(rule, MAX_FAILURES - 1))
    assert rule.observe(RESULT, bug_in_problem=None, was_in_sandbox=False) is None
    assert sandbox_fails(rule, 1) == ["100 submissions in a row could not be judged"]


def test_failures_of_the_problem_do_not_count() -> None:
    """A checker that crashes, or a problem that no target can judge."""
    rule = StopRule()
    sandbox_fails(rule, MAX_FAILURES - 1)
    assert rule.observe(facts(), bug_in_problem=None, was_in_sandbox=True) is None
    assert sandbox_fails(rule, 1) != [None]


def test_bugs_on_fifty_problems_in_a_row_end_the_run() -> None:
    """Each problem counts once, because all rows of one problem may be odd."""
    rule = StopRule()

    def fail(problem: int) -> str | None:
        return rule.observe(OUR_BUG, bug_in_problem=problem, was_in_sandbox=True)

    for problem in range(MAX_FAILED_PROBLEMS - 1):
        assert [fail(problem) for _ in range(3)] == [None] * 3
    assert rule.observe(RESULT, bug_in_problem=None, was_in_sandbox=True) is None
    for problem in range(MAX_FAILED_PROBLEMS - 1):
        assert fail(problem) is None
    assert fail(-1) == "rows of 50 problems in a row could not be judged: ioi-eval failed"
