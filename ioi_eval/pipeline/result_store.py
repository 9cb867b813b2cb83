"""Writes results to the journal, and reads them back."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.journal import Journal, Keys, RecordKind, StoredLevel, TemporaryRecords
from ioi_eval.pipeline.window import Candidate, CandidateT
from ioi_eval.pipeline.writing import to_json

ResultT = TypeVar("ResultT")

TESTS_HELD = 50_000
"""How many tests, in the results of leaders, are kept in memory: about 20 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultCodec(Generic[ResultT]):
    """How the results of a family of problems are stored: functions of a result.

    Args:
        encode: the result as plain values.
        decode: reads what `encode` wrote.
        tests: how many tests it contains, which is its size in memory.
    """

    encode: Callable[[ResultT], Mapping[str, Any]]
    decode: Callable[[Mapping[str, Any]], ResultT]
    tests: Callable[[ResultT], int]


@fast_dataclass
class RecordedResult(Generic[ResultT]):
    """A submission's result, read back.

    Args:
        result: of the submission, or of another one with the same program.
        duplicate_of: the id of that other one.
        offset: of the record with the result; `None` for a failure of ours, which is stored for this run only.
        is_final_je: whether the record is a final JE: a judge program failed twice, or does not compile.
    """

    result: ResultT
    duplicate_of: str | None = None
    offset: int | None = None
    is_final_je: bool = False


class ResultStore(Generic[ResultT]):
    """The results of a run: in the journal, and in a temporary file those that only this run needs.

    Args:
        journal: has results, and final failures of judge programs.
        our_failures: records that say nothing about a submission, so the next run judges it again.
        codec: how results are written.
    """

    def __init__(self, journal: Journal, our_failures: TemporaryRecords, codec: ResultCodec[ResultT]) -> None:
        self.journal = journal
        self.our_failures = our_failures
        self._codec = codec
        self._leader_of = lru_cache(maxsize=1024)(self._read_leader)
        self._results: OrderedDict[int, ResultT] = OrderedDict()
        self._tests_held = 0

    def record(
        self, candidate: Candidate[Any, Any], result: ResultT, kind: RecordKind | None, fingerprint: str = ""
    ) -> int | None:
        """Store a result.

        Args:
            candidate: the submission.
            result: its result.
            kind: of the record; `None` if it says nothing about the submission: only this run needs it.
            fingerprint: for the kind of target that judged it; empty if none did.

        Returns:
            The record's offset, for copies of the program; `None` if they must not take the result over (JE).
        """
        fingerprint, keys = self._fingerprint_and_keys(candidate, fingerprint)
        values = {"fingerprint": fingerprint, **candidate.names, **self._codec.encode(result)}
        body = _json(values)
        if kind is None:
            self.our_failures.append(keys, body)
            return None
        offset = self.journal.append(kind, keys, body)
        return offset if kind is RecordKind.RESULT else None

    def record_copies(self, copies: Iterable[tuple[CandidateT, int]]) -> list[CandidateT]:
        """Record that submissions have the same program as another one, whose record is at this offset.

        Returns:
            Those that were recorded. The record of another program is not copied: the file was changed from outside.
        """
        recorded: list[CandidateT] = []
        for candidate, leader_offset in copies:
            submission, fingerprint, program = self._leader_of(leader_offset)
            fingerprint, keys = self._fingerprint_and_keys(candidate, fingerprint)
            if keys.program != program:
                continue
            body = {"fingerprint": fingerprint, **candidate.names, "duplicate_of": submission}
            self.journal.append(RecordKind.COPY, keys, _json(body))
            recorded.append(candidate)
        return recorded

    def stored_level(self, keys: Keys) -> StoredLevel:
        """How much there is for these keys. A failure of this run is a result, too."""
        return StoredLevel.RESULT if keys in self.our_failures else self.journal.index.stored_level(keys)

    def find(self, candidate: Candidate[Any, Any]) -> RecordedResult[ResultT] | None:
        """The result of a submission, of this run or an earlier one."""
        keys = candidate.keys
        failed = self.our_failures.find(keys)
        if failed is not None:
            return RecordedResult(result=self._codec.decode(failed))
        stored = self.journal.index.find(keys)
        if stored is None:
            return None
        if not stored.copied:
            record = self.journal.read_stored(stored, keys)
            if record is None:
                return None
            return RecordedResult(
                result=self._codec.decode(record.body), offset=stored.offset, is_final_je=stored.is_final_je
            )
        copied, _, program = self._leader_of(stored.offset)
        if program != keys.program:
            return None
        # not shown as a copy if the row has no program, or if the record is this submission's own, from a run that
        # extracted the same program by another rule
        own = candidate.size is None or copied == candidate.id
        result = self._result_at(stored.offset)
        return RecordedResult(result=result, duplicate_of=None if own else copied, offset=stored.offset)

    def _fingerprint_and_keys(self, candidate: Candidate[Any, Any], fingerprint: str) -> tuple[str, Keys]:
        """A record's fingerprint and keys: those expected, or those of another kind of target if that judged it."""
        if fingerprint in ("", candidate.fingerprint):
            return candidate.fingerprint, candidate.keys
        return fingerprint, candidate.keys_under(fingerprint)

    def _read_leader(self, offset: int) -> tuple[str, str, bytes]:
        """A leader's id, fingerprint and program key; all empty if the record is not a result."""
        record = self.journal.read(offset)
        if record.kind is not RecordKind.RESULT:
            return "", "", b""
        return str(record.body["submission"]), str(record.body["fingerprint"]), record.keys.program

    def _result_at(self, offset: int) -> ResultT:
        """A leader's result. The results used last are kept in memory, up to `TESTS_HELD` tests."""
        known = self._results.get(offset)
        if known is not None:
            self._results.move_to_end(offset)
            return known
        result = self._results[offset] = self._codec.decode(self.journal.read(offset).body)
        self._tests_held += self._codec.tests(result)
        while self._tests_held > TESTS_HELD and len(self._results) > 1:
            self._tests_held -= self._codec.tests(self._results.popitem(last=False)[1])
        return result


def _json(values: dict[str, Any]) -> bytes:
    """A record's body. Lone surrogates, which a row's names may contain, become question marks."""
    return to_json(values).removesuffix(b"\n")
