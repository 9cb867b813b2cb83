"""Reads the rows of a dump as submissions, in the same way for judging, for the results and for a dry run.

Iterating twice gives the same entries in the same order, so a result can be put beside its row without keeping rows
in memory. `contest_dump.py` reads rows for contest problems.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, ParamSpec, TypeVar

from ioi_eval.errors import ODD_DATA, InputError, RowError, internal_error_text
from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.journal import Keys, StoredLevel, keys_of, name_key
from ioi_eval.model import ProblemKey
from ioi_eval.pipeline.window import CandidateT
from ioi_eval.problems.row import Row, Source

P = ParamSpec("P")
ReadT = TypeVar("ReadT")

OWN_FAULT = "a fault in ioi-eval itself: its message says where"


@fast_dataclass
class Judgeable(Generic[CandidateT]):
    """A row of the dump that can be judged, or one of its programs."""

    row: Row
    candidate: CandidateT


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A row of the dump that cannot be judged.

    Args:
        kind: the reason, the same for all rows that it applies to.
        message: the reason, with the row's place and what to do.
    """

    row: Row
    kind: str
    message: str


class DumpReading:
    """One reading of a dump, from its first row to its last: which ids are taken, and the keys of its submissions.

    Args:
        stored_level: returns how much the journal has for these keys. Of several fingerprints, a submission gets the
            one for which the journal has most, of equals the first. `None`: it gets the first.
    """

    def __init__(self, id_column: str, stored_level: Callable[[Keys], StoredLevel] | None) -> None:
        self._id_column, self._stored_level = id_column, stored_level
        self._taken: dict[bytes, tuple[str, int]] = {}  # source and number of the row that has an id

    def refuse_repeated_id(self, row: Row, name: str, problem: ProblemKey | str) -> Refused | None:
        """Refuse a row if an earlier row for the same problem has its id; `None` if it is the first with this id.

        The programs of one row have different ids.
        """
        here = (row.source, row.number)
        first = self._taken.setdefault(name_key(problem, name), here)
        if first == here:
            return None
        where = f"row {first[1]}" if first[0] == row.source else f"{first[0]}, row {first[1]}"
        message = (
            f"{self._id_column} {name!r} of problem {problem} is already in {where}, and only that one counts; "
            "make the ids unique, or give another --id-column"
        )
        kind = f"the same {self._id_column} and problem as an earlier row"
        return Refused(row=row, kind=kind, message=str(row.error(message)))

    def keys(
        self, problem: ProblemKey | str, name: str, fingerprints: Sequence[str], *, found_by: tuple[str, ...]
    ) -> tuple[str, Keys]:
        """Of the fingerprints for each kind of target that may judge a submission, the one to use, with its keys."""
        keys = {keys_of(problem, name, each, found_by=found_by): each for each in fingerprints}
        best = next(iter(keys)) if self._stored_level is None or len(keys) == 1 else max(keys, key=self._stored_level)
        return keys[best], best


class DumpReader(ABC, Generic[CandidateT]):
    """Reads a dump's rows as submissions. `columns` are those that judging needs."""

    def __init__(self, source: Source, id_column: str, columns: Sequence[str]) -> None:
        self.source, self.id_column, self._columns = source, id_column, columns

    @property
    def may_wait(self) -> bool:
        """Whether reading a row may wait until the tests of its problem are there."""
        return False

    @abstractmethod
    def problem_signatures(self) -> Iterator[str]:
        """For each problem, texts that change if its results could change."""

    def entries(
        self, stored_level: Callable[[Keys], StoredLevel] | None = None, *, whole_rows: bool = False
    ) -> Iterator[Judgeable[CandidateT] | Refused]:
        """One entry for each program, in the order of the rows; one for a row that cannot be used.

        Args:
            stored_level: as in `DumpReading`.
            whole_rows: read all columns; else only those that judging needs.
        """
        return self._entries(DumpReading(self.id_column, stored_level), None if whole_rows else self._columns)

    @abstractmethod
    def _entries(
        self, reading: DumpReading, columns: Sequence[str] | None
    ) -> Iterator[Judgeable[CandidateT] | Refused]:
        """The entries of all rows, of which only these columns are read."""


def or_refused(row: Row, read: Callable[P, ReadT], /, *args: P.args, **kwargs: P.kwargs) -> ReadT | Refused:
    """What is read from a row; if that fails, because of the row or because of a bug of ours, a refused row."""
    try:
        return read(*args, **kwargs)
    except InputError as error:
        kind = error.problem if isinstance(error, RowError) else str(error)
        return Refused(row=row, kind=kind, message=str(error))
    except ODD_DATA as error:
        message = str(row.error(internal_error_text(error, "reading this row")))
        return Refused(row=row, kind=OWN_FAULT, message=message)
