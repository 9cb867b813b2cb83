"""How results get into the journal and out again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

import orjson

from ioi_eval.journal import Journal, Keys, RecordKind, TemporaryRecords
from ioi_eval.pipeline.window import Candidate
from ioi_eval.records import record
from ioi_eval.report.totals import CpuSplit

R = TypeVar("R")

TESTS_HELD = 50_000
"""Of leaders' results; about 20 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format(Generic[R]):
    """How results of a family of problems are kept.

    Args:
        encode: a result as plain values.
        decode: the result that `encode` wrote.
        kind: as what a result is kept; `None` where it says nothing about the submission, so that it is not kept.
        tests: how many tests a result holds: of those that copies share, so many are kept in memory.
        cpu: what it took.
        ran: how many tests were run.
        score: points, or the share of the tests that passed; `None` where it is not known.
        error: why it has no score, in our words; `None` if it has one.
        blames_sandbox: whether one that is not kept says that the sandbox failed, rather than that one program could
            not be judged in it.
    """

    encode: Callable[[R], Mapping[str, Any]]
    decode: Callable[[Mapping[str, Any]], R]
    kind: Callable[[R], RecordKind | None]
    tests: Callable[[R], int]
    cpu: Callable[[R], CpuSplit]
    ran: Callable[[R], int]
    score: Callable[[R], float | None]
    error: Callable[[R], str | None]
    blames_sandbox: Callable[[R], bool]


@record
class Found(Generic[R]):
    """A submission's result, read back.

    Args:
        result: of the submission, or of the one that was judged in its place.
        duplicate_of: that one's id.
        offset: of the record that holds the result; `None` for one of this run only.
    """

    result: R
    duplicate_of: str | None = None
    offset: int | None = None


class Ledger(Generic[R]):
    """The journal, and beside it what is only of this run.

    Args:
        journal: results, and final failures of judge programs.
        spool: failures of ours. They say nothing about a submission: the next run judges it again.
        form: how results are written.
    """

    def __init__(self, journal: Journal, spool: TemporaryRecords, form: Format[R]) -> None:
        self.journal = journal
        self.spool = spool
        self._form = form
        self._leader_of = lru_cache(maxsize=1024)(self._read_leader)
        self._results: OrderedDict[int, R] = OrderedDict()
        self._tests_held = 0

    def record(self, candidate: Candidate[Any, Any], result: R, fingerprint: str = "") -> int | None:
        """Write a result down.

        Args:
            candidate: whose it is.
            result: what it is.
            fingerprint: of how it was judged; empty for just as was expected.

        Returns:
            Where copies of the program find it; `None` if they must not take it over (JE).
        """
        fingerprint, keys = self._way(candidate, fingerprint)
        values = {"fingerprint": fingerprint, **candidate.names, **self._form.encode(result)}
        body = _json(values)
        kind = self._form.kind(result)
        if kind is None:
            self.spool.append(keys, body)
            return None
        offset = self.journal.append(kind, keys, body)
        return offset if kind is RecordKind.RESULT else None

    def record_copies(self, copies: Iterable[tuple[Candidate[Any, Any], int]]) -> None:
        """Write down that submissions have the program of another one, whose record is at that offset."""
        for candidate, leader in copies:
            submission, fingerprint, program = self._leader_of(leader)
            fingerprint, keys = self._way(candidate, fingerprint)
            if keys.program != program:
                continue  # somebody has changed the file: what stands there now is of another program
            body = {"fingerprint": fingerprint, **candidate.names, "duplicate_of": submission}
            self.journal.append(RecordKind.COPY, keys, _json(body))

    def standing(self, keys: Keys) -> int:
        """How much is known under these keys: 3 also for a failure of this run, else as `Index.standing`."""
        return 3 if keys in self.spool else self.journal.standing(keys)

    def find(self, candidate: Candidate[Any, Any]) -> Found[R] | None:
        """What became of a submission, in this run or an earlier one."""
        keys = candidate.keys
        failed = self.spool.find(keys)
        if failed is not None:
            return Found(result=self._form.decode(failed))
        stored = self.journal.find(keys)
        if stored is None:
            return None
        if not stored.copied:
            record = self.journal.read_stored(stored, keys)
            return None if record is None else Found(result=self._form.decode(record.body), offset=stored.offset)
        copied, _, program = self._leader_of(stored.offset)
        if program != keys.program:
            return None
        # it is no copy of another one where there is no program, or another rule found the same submission's then
        own = candidate.size is None or copied == candidate.id
        result = self._result_at(stored.offset)
        return Found(result=result, duplicate_of=None if own else copied, offset=stored.offset)

    def _way(self, candidate: Candidate[Any, Any], fingerprint: str) -> tuple[str, Keys]:
        """The fingerprint and the keys of a record, where a submission was judged otherwise than was expected."""
        if fingerprint in ("", candidate.fingerprint):
            return candidate.fingerprint, candidate.keys
        return fingerprint, candidate.keys_under(fingerprint)

    def _read_leader(self, offset: int) -> tuple[str, str, bytes]:
        """A leader's id, its fingerprint and its program key, which is nobody's where that is no result."""
        record = self.journal.read(offset)
        if record.kind is not RecordKind.RESULT:
            return "", "", b""
        return str(record.body["submission"]), str(record.body["fingerprint"]), record.keys.program

    def _result_at(self, offset: int) -> R:
        """A leader's result; those that were asked for last are kept, as long as they have few tests together."""
        known = self._results.get(offset)
        if known is not None:
            self._results.move_to_end(offset)
            return known
        result = self._results[offset] = self._form.decode(self.journal.read(offset).body)
        self._tests_held += self._form.tests(result)
        while self._tests_held > TESTS_HELD and len(self._results) > 1:
            self._tests_held -= self._form.tests(self._results.popitem(last=False)[1])
        return result


def _json(values: Mapping[str, Any]) -> bytes:
    """A record's body. Halves of characters, which a row's own names can hold, become question marks."""
    try:
        return orjson.dumps(values)
    except TypeError:
        return orjson.dumps(_written(values))


def _written(value: Any) -> Any:
    if isinstance(value, str):
        return str(value).encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_written(key): _written(item) for key, item in value.items()}
    return [_written(item) for item in value] if isinstance(value, list | tuple) else value
