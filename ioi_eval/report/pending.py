"""Submissions of a run that are not judged yet, because the run was stopped: means of the others are biased."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BIASED = "those without code are judged first, so means are biased"
"""Why the results of a part of a run do not represent the whole. Source: a program runs in a job, the others do not."""

CONTINUE = "repeat the command of the run (without --no-resume)"
"""How a run that ended early is continued; `report`, which is another command, says it too. `judge_dump` prints the
other name of the option, in `run-tests`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """How many submissions of a run are not judged yet. It is false if there are none.

    Args:
        rows: the number of all submissions; 0 if unknown.
    """

    count: int = 0
    rows: int = 0

    def __bool__(self) -> bool:
        return self.count > 0

    @classmethod
    def of(cls, summary: Mapping[str, Any]) -> Pending:
        """The numbers of the run with this summary, which may be empty."""
        counts = summary.get("submissions")
        found = [counts.get(name) if isinstance(counts, Mapping) else None for name in ("pending", "rows")]
        count, rows = (value if isinstance(value, int) else 0 for value in found)
        return cls(count=count, rows=rows)

    def warning(self, name: str) -> str:
        """One sentence without a full stop: that the run with this name is not complete, and what follows from that."""
        of = f" of {self.rows}" if self.rows else ""
        some = f"{self.count}{of} submission{'s' * (max(self.count, self.rows) != 1)}"
        return f"{name} is not complete: {some} {'is' if self.count == 1 else 'are'} still to be judged; {BIASED}"
