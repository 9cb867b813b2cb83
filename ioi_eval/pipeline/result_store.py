"""Stores the results of a run's submissions, and finds them again.

What is stored is a record, of one of three kinds:

- a result, or a final JE, in the journal;
- that of a copy, in the journal: it only says that the submission has the same program as another one, the leader,
  whose result is taken when it is read. So equal results are stored once;
- a failure of ours, in a temporary file: it is needed for the result files of this run, and the next run judges again.

A record in the journal is found by its keys, and referred to by its *offset*, where it begins. The keys contain
the fingerprint of the kind of target that judged the submission, which need not be the one that was expected
(`Candidate.fingerprint`). When the dump is read for the result files, each candidate has the fingerprint under which
its record was stored (`DumpReading.keys`), so `find` needs only `Candidate.keys`. A failure of ours is found by the
names of problem and submission: perhaps no target could judge it, and one that can was found later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.journal import Journal, RecordKind, TemporaryRecords, name_key
from ioi_eval.model import JudgedResult
from ioi_eval.pipeline.window import Candidate, CandidateT
from ioi_eval.recent_values import RecentValues
from ioi_eval.report.rows import to_json

ResultT = TypeVar("ResultT", bound=JudgedResult)

TESTS_HELD = 50_000
"""How many tests, in the results of leaders, are kept in memory: about 20 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultCodec(Generic[ResultT]):
    """How the results of a family of problems are stored: functions of a result.

    Args:
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
        offset: of the result, in the journal; `None` for a failure of ours.
        duplicate_of: the id of the first submission of the dump with this result, if that is another one. (It need not
            be the one that was judged: the dump may have changed since.)
    """

    result: ResultT
    offset: int | None = None
    duplicate_of: str | None = None


class _Leader(NamedTuple):
    """The submission at an offset to which copies refer; all empty if the record there is no result."""

    submission: str
    fingerprint: str
    program: bytes


class ResultStore(Generic[ResultT]):
    """The results of a run, and of the earlier runs in the same directory.

    Args:
        journal: has results, final JEs and copies.
        our_failures: the temporary file, for failures of ours.
    """

    def __init__(self, journal: Journal, our_failures: TemporaryRecords, codec: ResultCodec[ResultT]) -> None:
        self.journal = journal
        self.our_failures = our_failures
        self._codec = codec
        self._leader_at = lru_cache(maxsize=1024)(self._read_leader)
        self._results: RecentValues[int, ResultT] = RecentValues(TESTS_HELD)

    def record(self, candidate: Candidate[Any, Any], result: ResultT, kind: RecordKind | None) -> int | None:
        """Store a result.

        Args:
            kind: of the record; `None` for a failure of ours.

        Returns:
            The result's offset, for copies; `None` if they must not take it over: a JE, except where the other grader
            of `--compat` itself fails on the row.
        """
        fingerprint, keys = candidate.judged_under(result.fingerprint)
        body = _json({"fingerprint": fingerprint, **candidate.names, **self._codec.encode(result)})
        if kind is None:
            self.our_failures.append(name_key(candidate.problem_key, candidate.id), body)
            return None
        offset = self.journal.append(kind, keys, body)
        return offset if kind is RecordKind.RESULT else None

    def record_copies(self, copies: Iterable[tuple[CandidateT, int]]) -> list[CandidateT]:
        """Store copies: for each submission, the offset of the result of the same program.

        Returns:
            Those that were stored. If the record there is of another program, the file was changed from outside.
        """
        recorded: list[CandidateT] = []
        for candidate, leader_offset in copies:
            leader = self._leader_at(leader_offset)
            fingerprint, keys = candidate.judged_under(leader.fingerprint)
            if keys.program != leader.program:
                continue
            body = {"fingerprint": fingerprint, **candidate.names, "duplicate_of": leader.submission}
            self.journal.append(RecordKind.COPY, keys, _json(body))
            recorded.append(candidate)
        return recorded

    def find(self, candidate: Candidate[Any, Any]) -> RecordedResult[ResultT] | None:
        """The result of a submission, of this run or an earlier one."""
        keys = candidate.keys
        failed = self.our_failures.find(name_key(candidate.problem_key, candidate.id))
        if failed is not None:
            return RecordedResult(result=self._codec.decode(failed))
        stored = self.journal.index.find(keys)
        if stored is None:
            return None
        if not stored.copied:
            record = self.journal.read_stored(stored, keys)
            if record is None:
                return None
            return RecordedResult(result=self._codec.decode(record.body), offset=stored.offset)
        if self._leader_at(stored.offset).program != keys.program:
            return None
        return RecordedResult(result=self._result_at(stored.offset), offset=stored.offset)

    def _read_leader(self, offset: int) -> _Leader:
        record = self.journal.read(offset)
        if record.kind is not RecordKind.RESULT:
            return _Leader("", "", b"")
        return _Leader(str(record.body["submission"]), str(record.body["fingerprint"]), record.keys.program)

    def _result_at(self, offset: int) -> ResultT:
        """The result at an offset. The results used last are kept in memory, up to `TESTS_HELD` tests."""
        if (known := self._results.get(offset)) is not None:
            return known
        result = self._codec.decode(self.journal.read(offset).body)
        return self._results.put(offset, result, self._codec.tests(result))


def _json(values: dict[str, Any]) -> bytes:
    """A record's body. Lone surrogates, which a row's names may contain, become question marks."""
    return to_json(values).removesuffix(b"\n")
