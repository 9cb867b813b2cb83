"""The submissions of a dump that wait: what a run knows of each (`Candidate`), those that are to be judged (`Window`),
and those with the same program (`Leaders`).

Submissions are put into the window in the order of the dump. The one that is expected to take longest is taken first,
of equals the first one. If a dump were judged in its order, cores would be idle at the end, while the last long
submission runs alone. Sorting a dump of a million rows would need all of it in memory. So a window holds only the next
rows.

How long a submission takes is not known in advance. The estimate is the mean of other submissions to its problem; if
there are none yet, the time limit times the number of tests.

Source: longest processing time first takes at most 4/3 − 1/(3m) of the shortest time on m machines (Graham 1969). In a
window it is a heuristic.

Each program is judged once: its first submission, the *leader*. Others get copies of the result (`dump_judge.py`): they
have the same program if their program keys (`Keys.program`) are equal, because then their problem, and everything that
determines the outcome, is the same. At any time at most one submission with a program leads, and every follower is in
the list of one leader. A result is referred to by its *offset*, where its record begins in the journal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.journal import Journal, Keys, keys_of
from ioi_eval.model import ProblemKey

ROWS = 256
CODE_BYTES = 64 * 1024 * 1024  # a dump may have programs of megabytes; the window must not need gigabytes
FOLLOWERS = 4096

ProblemT = TypeVar("ProblemT")
SubmissionT = TypeVar("SubmissionT")


@fast_dataclass
class Candidate(Generic[ProblemT, SubmissionT]):
    """A submission of a dump, of any family of problems.

    Args:
        problem_key: the problem's key: submissions with the same key take about equally long.
        id: the submission's id, unique within the problem.
        found_by: how its program was found and changed.
        size: how much memory it needs while it waits, in characters or bytes; `None` if there is nothing to judge.
        max_s: how much CPU time it may take, in seconds.
        fingerprint: a hash of everything that determines the outcome on the kind of target that will probably judge.
        keys: of its record in the journal, if it is judged under this fingerprint.
    """

    problem: ProblemT
    submission: SubmissionT
    problem_key: ProblemKey | str
    id: str
    found_by: tuple[str, ...] = ()
    size: int | None
    max_s: float
    fingerprint: str
    keys: Keys

    def judged_under(self, fingerprint: str) -> tuple[str, Keys]:
        """The fingerprint and keys of its record if it was judged under this one; the expected ones if empty."""
        if fingerprint in ("", self.fingerprint):
            return self.fingerprint, self.keys
        return fingerprint, keys_of(self.problem_key, self.id, fingerprint, found_by=self.found_by)

    @property
    def names(self) -> Mapping[str, Any]:
        """The names in its record: its id as `submission`, and the problem's."""
        if isinstance(self.problem_key, str):
            return {"submission": self.id, "problem": self.problem_key}
        return {"submission": self.id, "year": self.problem_key.year, "problem": self.problem_key.id}


CandidateT = TypeVar("CandidateT", bound=Candidate[Any, Any])


class Window(Generic[CandidateT]):
    """The next submissions, all with a program; at most `ROWS`, and about `CODE_BYTES` of code."""

    def __init__(self) -> None:
        self._waiting: list[CandidateT] = []
        self._held_bytes = 0
        self._judged: Counter[ProblemKey | str] = Counter()
        self._cpu_s: dict[ProblemKey | str, float] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether no more should be put in for now."""
        return len(self._waiting) >= ROWS or self._held_bytes >= CODE_BYTES

    def put(self, candidate: CandidateT) -> None:
        """Add a submission."""
        self._waiting.append(candidate)
        self._held_bytes += candidate.size or 0

    def take(self) -> CandidateT | None:
        """Remove the submission that is expected to take longest, of equals the first; `None` if there is none."""
        waiting = self._waiting
        if not waiting:
            return None
        chosen = waiting.pop(max(range(len(waiting)), key=lambda index: self.expected_s(waiting[index])))
        self._held_bytes -= chosen.size or 0
        return chosen

    def observe(self, problem_key: ProblemKey | str, cpu_s: float) -> None:
        """Record how long one submission to a problem took."""
        self._judged[problem_key] += 1
        self._cpu_s[problem_key] = self._cpu_s.get(problem_key, 0.0) + cpu_s

    def expected_s(self, candidate: CandidateT) -> float:
        """The CPU time that a submission is expected to take: the mean of observed times, else the most it may take."""
        count = self._judged[candidate.problem_key]
        return self._cpu_s[candidate.problem_key] / count if count else candidate.max_s


class Leaders(Generic[CandidateT]):
    """The leaders that are not judged yet, with their followers.

    Args:
        journal: has the results of leaders that were judged.
        enabled: whether programs are judged once; otherwise every submission leads, and has no followers.
    """

    def __init__(self, journal: Journal, *, enabled: bool) -> None:
        self._journal, self._enabled = journal, enabled
        self._followers: dict[bytes, list[CandidateT]] = {}  # by the program key of their leader
        # by the program key that was expected: the offset of the leader's result, if another kind of target judged it
        self._unexpected: dict[bytes, int] = {}
        self._waiting = self._held_bytes = 0  # how many followers there are, and how much memory they need

    @property
    def full(self) -> bool:
        """Whether no more followers should come for now: there are `FOLLOWERS`, or about `CODE_BYTES` of their code."""
        return self._waiting >= FOLLOWERS or self._held_bytes >= CODE_BYTES

    def result_offset(self, candidate: CandidateT) -> int | None:
        """The offset of the result of the same program; `None` if there is none yet."""
        if not self._enabled:
            return None
        return self._journal.index.leader_offset(candidate.keys) or self._unexpected.get(candidate.keys.program)

    def lead(self, candidate: CandidateT) -> bool:
        """Make a submission a leader; `False` if its program has one already, which it now follows."""
        if not self._enabled:
            return True
        if (followers := self._followers.get(candidate.keys.program)) is None:
            self._followers[candidate.keys.program] = []
            return True
        followers.append(candidate)
        self._waiting += 1
        self._held_bytes += candidate.size or 0
        return False

    def finish(self, leader: CandidateT, fingerprint: str, offset: int | None) -> list[CandidateT]:
        """Remove a leader that was judged, and return its followers.

        Args:
            fingerprint: the one under which it was judged.
            offset: of its result; `None` if the followers must not take it over.
        """
        if offset is not None and fingerprint not in ("", leader.fingerprint):
            self._unexpected[leader.keys.program] = offset
        followers = self._followers.pop(leader.keys.program, [])
        self._waiting -= len(followers)
        self._held_bytes -= sum(follower.size or 0 for follower in followers)
        return followers
