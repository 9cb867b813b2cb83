"""How results get into the journal and out again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

import orjson

from ioi_eval.journal import Journal, Keys, Kind, Spool, decode_result, encode_result
from ioi_eval.model import SubmissionResult, TestOutcome, Verdict
from ioi_eval.pipeline.window import Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A submission's result, read back.

    Args:
        result: under the submission's own id.
        duplicate_of: id of the submission that was judged in its place.
    """

    result: SubmissionResult
    duplicate_of: str | None = None


class Ledger:
    """The journal, and beside it what is only of this run.

    Args:
        journal: results, and final failures of judge programs.
        spool: failures of ours. They say nothing about a submission: the next run judges it again.
    """

    def __init__(self, journal: Journal, spool: Spool) -> None:
        self.journal = journal
        self.spool = spool
        self._leader_id = lru_cache(maxsize=1024)(self._read_id)
        self._result_at = lru_cache(maxsize=64)(self._read_result)

    def record(self, candidate: Candidate, result: SubmissionResult) -> int | None:
        """Write a result down.

        Returns:
            Where copies of the program find it; `None` if they must not take it over (JE).
        """
        body = orjson.dumps({"fingerprint": candidate.fingerprint, **encode_result(result)})
        kind = kind_of(result)
        if kind is None:
            self.spool.append(candidate.keys, body)
            return None
        offset = self.journal.append(kind, candidate.keys, body)
        return offset if kind is Kind.RESULT else None

    def record_copies(self, copies: Iterable[tuple[Candidate, int]]) -> None:
        """Write down that submissions have the program of another one, whose record is at that offset."""
        for candidate, leader in copies:
            body = {
                "fingerprint": candidate.fingerprint,
                "submission": candidate.submission.id,
                "year": candidate.problem.key.year,
                "problem": candidate.problem.key.id,
                "duplicate_of": self._leader_id(leader),
                "leader": leader,
            }
            self.journal.append(Kind.COPY, candidate.keys, orjson.dumps(body))

    def find(self, keys: Keys, submission: str) -> Found | None:
        """What became of a submission, in this run or an earlier one.

        Args:
            keys: of its record.
            submission: its id.
        """
        failed = self.spool.find(keys)
        if failed is not None:
            return Found(result=decode_result(failed))
        stored = self.journal.find(keys)
        if stored is None:
            return None
        record = self.journal.read(stored.offset)
        if record.kind is not Kind.COPY:
            return Found(result=decode_result(record.body))
        leader = self._result_at(record.body["leader"])
        return Found(result=replace(leader, submission=submission), duplicate_of=leader.submission)

    def _read_id(self, offset: int) -> str:
        return str(self.journal.read(offset).body["submission"])

    def _read_result(self, offset: int) -> SubmissionResult:
        return decode_result(self.journal.read(offset).body)


def kind_of(result: SubmissionResult) -> Kind | None:
    """As what a result is kept: RESULT, FAILED (a judge program's fault, final), or not at all (ours, `None`)."""
    if result.score is not None:
        return Kind.RESULT
    if result.compile.verdict is Verdict.JE:
        return Kind.FAILED if result.compile.final else None
    errors = [outcome for outcome in _undecided(result) if outcome.verdict is Verdict.JE]
    return Kind.FAILED if errors and all(outcome.final for outcome in errors) else None


def blames_the_sandbox(result: SubmissionResult) -> bool:
    """Whether a judge error says that the sandbox failed, rather than that one program could not be judged in it."""
    if result.compile.verdict is Verdict.JE:
        return True
    errors = [outcome for outcome in _undecided(result) if outcome.verdict is Verdict.JE]
    return any(outcome.judge_program is None for outcome in errors)


def _undecided(result: SubmissionResult) -> Iterable[TestOutcome]:
    return (outcome for subtask in result.subtasks if subtask.score is None for outcome in subtask.tests)
