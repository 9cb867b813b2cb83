"""Reads the rows of a dump of Python programs as submissions, in the same way for judging and for the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ioi_eval.apps.catalog import Catalog, CatalogEntry
from ioi_eval.apps.settings import TIME_LIMIT_S
from ioi_eval.errors import ODD_DATA, RowError
from ioi_eval.pipeline.dump_reader import DumpReader, DumpReading, Judgeable, Refused, or_refused
from ioi_eval.pipeline.window import Candidate
from ioi_eval.problems.apps_submissions import (
    PROBLEM_COLUMNS,
    PROGRAM_COLUMNS,
    AppsSubmission,
    Extractor,
    our_extractor,
    problem_of,
    samples_of,
    submission,
    submission_columns,
)
from ioi_eval.problems.first_rows import PROGRAMS_ADVICE, Need, check_first_rows
from ioi_eval.problems.row import Row, Source

AppsCandidate: TypeAlias = Candidate[CatalogEntry, AppsSubmission]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemUnusable(Refused):
    """A row of the dump, refused because its problem is unusable."""

    catalog_entry: CatalogEntry


_NEEDS = (
    Need(columns=PROGRAM_COLUMNS, advice=f"{PROGRAMS_ADVICE}. Or are DUMP and --dataset swapped?"),
    Need(columns=PROBLEM_COLUMNS, advice="Add it to the rows: it says which problem a program is for"),
)


def survey(source: Source, *, id_column: str = "uuid") -> Mapping[str | None, int]:
    """How many programs there are for each problem; a row that cannot be used counts as one.

    `None` stands for rows that name no problem.

    Args:
        id_column: the column with the programs' names; only `uuid` may be missing in all rows.

    Raises:
        InputError: the dump cannot be read, contains no programs, or does not have this column.
        RowError: a row cannot be read.
    """
    named = Need(columns=(id_column,), advice="Name one of them with --id-column, or leave it out")
    needs = _NEEDS if id_column == "uuid" else (*_NEEDS, named)
    rows, read = source.iterate(PROBLEM_COLUMNS), submission_columns(id_column)
    check_first_rows(rows, source.describe(), needs, optional=(id_column, "language"), read=read)
    counts: Counter[str | None] = Counter()
    for row in source.iterate((id_column, *PROBLEM_COLUMNS, *PROGRAM_COLUMNS)):
        problem, count = None, 1
        try:
            problem = problem_of(row)
            count = len(samples_of(row, id_column))
        except (RowError, *ODD_DATA):
            pass  # it is refused later, with the reason
        counts[problem] += count
    return counts


class AppsDumpReader(DumpReader[AppsCandidate]):
    """Reads a dump's rows as submissions to APPS problems.

    Args:
        catalog: the selected problems.
        fingerprints: returns hashes of all that determines a submission's outcome, from the problem's digest and the
            submission: one for each kind of target that may judge it.
        test_s: the limit of CPU time for one test, in seconds: it bounds the time of a program.
        id_column: the column that names a row within its problem; a row without it is named by its place among the
            samples for its problem.

    Attributes:
        skipped_rows: how many rows the last reading has skipped, because they are for problems that were not selected.
    """

    def __init__(
        self,
        source: Source,
        catalog: Catalog,
        *,
        fingerprints: Callable[[str, AppsSubmission], Sequence[str]],
        test_s: float = TIME_LIMIT_S,
        id_column: str = "uuid",
        extractor: Extractor = our_extractor,
    ) -> None:
        super().__init__(source, id_column, submission_columns(id_column))
        self.catalog = catalog
        self.skipped_rows = 0
        self._fingerprints, self._test_s, self._extractor = fingerprints, test_s, extractor

    def problem_signatures(self) -> Iterator[str]:
        """For each problem, everything on which its results depend, as texts."""
        for catalog_entry in self.catalog.entries.values():
            probe = AppsSubmission(id="", problem=catalog_entry.id, code="", extraction="")
            yield f"{catalog_entry!r} {self._fingerprints(catalog_entry.digest, probe)}"

    def _entries(
        self, reading: DumpReading, columns: Sequence[str] | None
    ) -> Iterator[Judgeable[AppsCandidate] | Refused]:
        self.skipped_rows = 0
        counts: Counter[str] = Counter()  # of the programs for each problem so far
        for row in self.source.iterate(columns):
            found = or_refused(row, self._samples, row)
            if found is None:
                self.skipped_rows += 1
            elif isinstance(found, Refused):
                yield found
            else:
                problem, samples = found
                catalog_entry = self.catalog.entries.get(self.catalog.id_of(problem))
                if catalog_entry is None or catalog_entry.unusable:
                    yield from (self._without_problem(sample, problem, catalog_entry) for sample in samples)
                    continue
                for number, sample in enumerate(samples, counts[catalog_entry.id]):
                    yield or_refused(sample, self._entry, sample, catalog_entry, number, reading)
                counts[catalog_entry.id] += len(samples)

    def _samples(self, row: Row) -> tuple[str, Sequence[Row]] | None:
        """A row's problem, as the dump names it, and its programs; `None` if the problem was not selected."""
        problem = problem_of(row)
        if self.catalog.id_of(problem) not in self.catalog.entries and self.catalog.knows(problem):
            return None
        return problem, samples_of(row, self.id_column)

    def _without_problem(self, row: Row, problem: str, catalog_entry: CatalogEntry | None) -> Refused:
        if catalog_entry is None:
            kind = f"unknown problem {problem}: it is not in {self.catalog.source}"
            return Refused(row=row, kind=kind, message=str(row.error(kind)))
        kind = f"the problem's own row cannot be judged: {catalog_entry.fault or 'not for this comparator'}"
        message = str(row.error(f"problem {problem} cannot be judged: {catalog_entry.unusable}"))
        return ProblemUnusable(row=row, kind=kind, message=message, catalog_entry=catalog_entry)

    def _entry(
        self, row: Row, catalog_entry: CatalogEntry, number: int, reading: DumpReading
    ) -> Judgeable[AppsCandidate] | Refused:
        own_id = row.has(self.id_column)
        name = row.identifier(self.id_column) if own_id else f"{catalog_entry.id}/{number}"
        submitted = submission(row, name=name, problem=catalog_entry.id, extractor=self._extractor)
        if repeated := reading.refuse_repeated_id(row, name, catalog_entry.id):
            return repeated
        found_by = (submitted.extraction,)
        fingerprints = self._fingerprints(catalog_entry.digest, submitted)
        fingerprint, keys = reading.keys(catalog_entry.id, name, fingerprints, found_by=found_by)
        candidate = Candidate(
            problem=catalog_entry,
            submission=submitted,
            problem_key=catalog_entry.id,
            id=name,
            found_by=found_by,
            size=None if submitted.code is None else len(submitted.code),
            max_s=self._test_s * catalog_entry.tests,
            fingerprint=fingerprint,
            keys=keys,
        )
        return Judgeable(row=row, candidate=candidate)
