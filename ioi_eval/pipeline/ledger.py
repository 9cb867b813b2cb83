"""How results get into the journal and out again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

import orjson

from ioi_eval.journal import Journal, Keys, Kind, Spool
from ioi_eval.pipeline.window import Waiting

R = TypeVar("R")


class Format(Protocol[R]):
    """How results of a family of problems are kept."""

    def encode(self, result: R) -> Mapping[str, Any]:
        """The result as plain values."""
        ...

    def decode(self, values: Mapping[str, Any]) -> R:
        """The result that `encode` wrote."""
        ...

    def kind(self, result: R) -> Kind | None:
        """As what it is kept; `None` where it says nothing about the submission, so that it is not kept."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Generic[R]):
    """A submission's result, read back.

    Args:
        result: of the submission, or of the one that was judged in its place.
        duplicate_of: that one's id.
    """

    result: R
    duplicate_of: str | None = None


class Ledger(Generic[R]):
    """The journal, and beside it what is only of this run.

    Args:
        journal: results, and final failures of judge programs.
        spool: failures of ours. They say nothing about a submission: the next run judges it again.
        form: how results are written.
    """

    def __init__(self, journal: Journal, spool: Spool, form: Format[R]) -> None:
        self.journal = journal
        self.spool = spool
        self._form = form
        self._leader_id = lru_cache(maxsize=1024)(self._read_id)
        self._result_at = lru_cache(maxsize=64)(self._read_result)

    def record(self, candidate: Waiting, result: R) -> int | None:
        """Write a result down.

        Returns:
            Where copies of the program find it; `None` if they must not take it over (JE).
        """
        values = {"fingerprint": candidate.fingerprint, **candidate.names, **self._form.encode(result)}
        body = orjson.dumps(values)
        kind = self._form.kind(result)
        if kind is None:
            self.spool.append(candidate.keys, body)
            return None
        offset = self.journal.append(kind, candidate.keys, body)
        return offset if kind is Kind.RESULT else None

    def record_copies(self, copies: Iterable[tuple[Waiting, int]]) -> None:
        """Write down that submissions have the program of another one, whose record is at that offset."""
        for candidate, leader in copies:
            body = {
                "fingerprint": candidate.fingerprint,
                **candidate.names,
                "duplicate_of": self._leader_id(leader),
                "leader": leader,
            }
            self.journal.append(Kind.COPY, candidate.keys, orjson.dumps(body))

    def find(self, keys: Keys) -> Found[R] | None:
        """What became of a submission, in this run or an earlier one."""
        failed = self.spool.find(keys)
        if failed is not None:
            return Found(result=self._form.decode(failed))
        stored = self.journal.find(keys)
        if stored is None:
            return None
        record = self.journal.read(stored.offset)
        if record.kind is not Kind.COPY:
            return Found(result=self._form.decode(record.body))
        leader = record.body["leader"]
        return Found(result=self._result_at(leader), duplicate_of=self._leader_id(leader))

    def _read_id(self, offset: int) -> str:
        return str(self.journal.read(offset).body["submission"])

    def _read_result(self, offset: int) -> R:
        return self._form.decode(self.journal.read(offset).body)
