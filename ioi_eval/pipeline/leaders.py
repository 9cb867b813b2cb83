"""Judges each program once: submissions with the same program get the result of the first one, their *leader*.

Submissions have the same program if their program keys (`Keys.program`) are equal: then their problem, and everything
that determines the outcome, is the same. The first is judged. Those that come while it waits or is judged *follow* it:
they get copies of its result. Those that come later get copies immediately.

At any time at most one submission with a program leads, and every follower is in the list of one leader. A result is
referred to by its *offset*, where its record begins in the journal.
"""

from __future__ import annotations

from typing import Generic

from ioi_eval.journal import Journal
from ioi_eval.pipeline.window import CODE_BYTES, CandidateT

FOLLOWERS = 4096


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
