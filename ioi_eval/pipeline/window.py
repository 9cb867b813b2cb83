"""What to judge next: the longest expected among the next rows of the dump. Pure.

Judging in the dump's order leaves cores idle at the end, while the last long one runs alone. Sorting all of a
dump of a million rows needs all of it in memory. So a window of the next rows is looked ahead, and the longest of
them goes first: cheap ones stay behind and fill the end.

How long a submission takes is not known before. What others of its problem took, in the mean, is the best guess;
before there are any, it is the limit times the number of tests.

Source: longest processing time first, at most 4/3 − 1/(3m) of the best (Graham 1969); in a window it is a heuristic.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from ioi_eval.journal import Keys, keys_of
from ioi_eval.model import ProblemKey
from ioi_eval.records import record

ROWS = 256
CODE_BYTES = 64 * 1024 * 1024  # a dump may hold programs of megabytes; the window must not hold gigabytes


P = TypeVar("P")
S = TypeVar("S")


@record
class Candidate(Generic[P, S]):
    """A submission that is to be judged, whatever it is for.

    Args:
        problem: on what.
        submission: what it holds.
        family: the problem's key: others of it take about as long.
        id: the submission's, unique within the problem.
        found_by: how its program was found and changed.
        size: how much of it must be held to judge it, in characters or bytes; `None` where there is nothing to judge.
        most_s: how much CPU time it may take, in seconds.
        fingerprint: of all that determines the outcome.
        keys: of its record in the journal.
    """

    problem: P
    submission: S
    family: ProblemKey | str
    id: str
    found_by: tuple[str, ...] = ()
    size: int | None
    most_s: float
    fingerprint: str
    keys: Keys

    def keys_under(self, fingerprint: str) -> Keys:
        """The keys of its record where it was judged in another way than was expected."""
        return keys_of(self.family, self.id, fingerprint, found_by=self.found_by)

    @property
    def names(self) -> Mapping[str, Any]:
        """What its record says of it: `submission`, its id, and the problem's."""
        if isinstance(self.family, str):
            return {"submission": self.id, "problem": self.family}
        return {"submission": self.id, "year": self.family.year, "problem": self.family.id}


W = TypeVar("W", bound=Candidate[Any, Any])


class Costs:
    """What a submission of a problem is expected to cost, in seconds of CPU."""

    def __init__(self) -> None:
        self._count: Counter[ProblemKey | str] = Counter()
        self._sum: dict[ProblemKey | str, float] = {}

    def observe(self, family: ProblemKey | str, cpu_s: float) -> None:
        """Take in what one submission took."""
        self._count[family] += 1
        self._sum[family] = self._sum.get(family, 0.0) + cpu_s

    def expected(self, candidate: Candidate[Any, Any]) -> float:
        """The mean of what was observed, else the most it may take; nothing where there is nothing to judge."""
        if candidate.size is None:
            return 0.0
        count = self._count[candidate.family]
        return self._sum[candidate.family] / count if count else candidate.most_s


class Window(Generic[W]):
    """The next submissions.

    Args:
        costs: what each is expected to cost.
        rows: how many are looked ahead.
        code_bytes: how much code they may hold together; one is let in whatever its size.
    """

    def __init__(self, costs: Costs, *, rows: int = ROWS, code_bytes: int = CODE_BYTES) -> None:
        self._costs = costs
        self._rows, self._code_bytes = rows, code_bytes
        self._waiting: list[W] = []
        self._held_bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether no more should be put in for now."""
        return len(self._waiting) >= self._rows or self._held_bytes >= self._code_bytes

    def put(self, candidate: W) -> None:
        """Let one wait."""
        self._waiting.append(candidate)
        self._held_bytes += candidate.size or 0

    def take(self) -> W | None:
        """The one that is expected to take longest, of equals the one that came first; `None` if none waits."""
        best, at = -math.inf, -1
        for place, candidate in enumerate(self._waiting):
            cost = self._costs.expected(candidate)
            if cost > best:
                best, at = cost, place
        if at < 0:
            return None
        chosen = self._waiting.pop(at)
        self._held_bytes -= chosen.size or 0
        return chosen
