"""Results of exhaustive judging in a journal, so that a validation that was stopped goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import orjson

from ioi_eval.journal import Journal, Keys, RecordKind, decode_result, encode_result, keys_of
from ioi_eval.model import ProblemKey, SubmissionResult


class Kept:
    """What was judged, by problem and fingerprint. What has no score is not kept: it is judged again.

    Args:
        journal: where it is. One of `score` may be the same: what is judged there, not exhaustively, has other keys.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def find(self, problem: ProblemKey, fingerprints: Sequence[str]) -> SubmissionResult | None:
        """The result of a program, judged in one of these ways; as that of the submission it was judged for."""
        for fingerprint in fingerprints:
            keys = _keys(problem, fingerprint)
            stored = self._journal.find(keys)
            if stored is not None and (record := self._journal.read_stored(stored, keys)) is not None:
                return replace(decode_result(record.body), fingerprint=fingerprint)
        return None

    def add(self, result: SubmissionResult, fingerprint: str) -> None:
        """Keep a result, if it has a score; once this returns, a killed process does not lose it."""
        if result.score is not None:
            body = orjson.dumps({"fingerprint": fingerprint, **encode_result(result)})
            self._journal.append(RecordKind.RESULT, _keys(result.problem, fingerprint), body)


def _keys(problem: ProblemKey, fingerprint: str) -> Keys:
    return keys_of(problem, "", f"exhaustive {fingerprint}")
