"""Finds the submissions (followers) that wait for the result of another one with the same program (their leader)."""

from __future__ import annotations

from typing import Generic

from ioi_eval.journal import Journal
from ioi_eval.pipeline.window import CandidateT


class Leaders(Generic[CandidateT]):
    """The leaders of a run and their followers.

    Args:
        journal: has the results of leaders that were judged.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._followers: dict[bytes, list[CandidateT]] = {}  # of each leader that is being judged
        self._on_other_kinds: dict[bytes, int] = {}  # leaders that another kind of target judged than expected
        self.waiting = 0  # how many followers there are

    def offset(self, candidate: CandidateT) -> int | None:
        """The record of the result of the same program; `None` if it was not judged yet."""
        return self._journal.leader_offset(candidate.keys) or self._on_other_kinds.get(candidate.keys.program)

    def lead(self, candidate: CandidateT) -> bool:
        """Make a submission a leader; `False` if it follows another one that is being judged."""
        if (followers := self._followers.get(candidate.keys.program)) is None:
            self._followers[candidate.keys.program] = []
            return True
        followers.append(candidate)
        self.waiting += 1
        return False

    def finish(self, leader: CandidateT, fingerprint: str, offset: int | None) -> list[CandidateT]:
        """End the wait of a leader's followers, which are returned.

        Args:
            leader: it was judged.
            fingerprint: for the kind of target that judged it; empty if none did.
            offset: of its record; `None` if followers must not take the result over.
        """
        if offset is not None and fingerprint not in ("", leader.fingerprint):
            self._on_other_kinds[leader.keys.program] = offset
        followers = self._followers.pop(leader.keys.program, [])
        self.waiting -= len(followers)
        return followers
