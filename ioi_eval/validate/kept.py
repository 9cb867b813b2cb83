"""Results of exhaustive judging in a journal, so that an interrupted validation can continue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import orjson

from ioi_eval.journal import Journal, Keys, RecordKind, decode_result, encode_result, keys_of
from ioi_eval.model import ProblemKey, SubmissionResult


class Kept:
    """Stored results, by problem and fingerprint. Results without a score are not stored, so they are judged again.

    Args:
        journal: the journal. It may be that of `score`: results of `score` are not exhaustive, and have other keys.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def find(self, problem: ProblemKey, fingerprints: Sequence[str]) -> SubmissionResult | None:
        """The stored result of a program with one of these fingerprints, under the id of the submission judged then."""
        for fingerprint in fingerprints:
            keys = _keys(problem, fingerprint)
            stored = self._journal.find(keys)
            if stored is not None and (record := self._journal.read_stored(stored, keys)) is not None:
                return replace(decode_result(record.body), fingerprint=fingerprint)
        return None

    def add(self, result: SubmissionResult, fingerprint: str) -> None:
        """Store a result if it has a score. After this returns, it is not lost if the process is killed."""
        if result.score is not None:
            body = orjson.dumps({"fingerprint": fingerprint, **encode_result(result)})
            self._journal.append(RecordKind.RESULT, _keys(result.problem, fingerprint), body)


def _keys(problem: ProblemKey, fingerprint: str) -> Keys:
    return keys_of(problem, "", f"exhaustive {fingerprint}")
