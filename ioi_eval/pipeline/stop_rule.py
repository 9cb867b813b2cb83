"""Decides when a run ends because the sandbox, or our own code, fails every time. Pure."""

from __future__ import annotations

from ioi_eval.pipeline.family import ResultFacts

MAX_FAILURES = 100
"""If the sandbox fails on so many submissions in a row, it is broken."""

MAX_FAILED_PROBLEMS = 50
"""If our own code fails on rows of so many problems in a row, the cause is not in the rows."""


class StopRule:
    """Counts the failures since the last result that shows that submissions can be judged."""

    def __init__(self) -> None:
        self._failures = 0
        self._failed_problems: set[object] = set()

    def observe(self, facts: ResultFacts, *, bug_in_problem: object | None, was_in_sandbox: bool) -> str | None:
        """Include a result.

        Args:
            facts: about the result.
            bug_in_problem: the problem, if our own code failed on the row.
            was_in_sandbox: whether there was a program to run; otherwise the result does not show that anything works.

        Returns:
            Why the run must end; `None` if it goes on.
        """
        if bug_in_problem is not None:
            self._failed_problems.add(bug_in_problem)
        elif facts.is_sandbox_failure:
            self._failures += 1
        elif facts.kind is not None and was_in_sandbox:
            self._failures = 0
            self._failed_problems.clear()
        if len(self._failed_problems) >= MAX_FAILED_PROBLEMS:
            return f"rows of {MAX_FAILED_PROBLEMS} problems in a row could not be judged: ioi-eval failed"
        return f"{MAX_FAILURES} submissions in a row could not be judged" if self._failures >= MAX_FAILURES else None
