"""Reads the rows of a dump as submissions, in the same way for judging, for the results and for a dry run.

Iterating twice gives the same entries in the same order, so a result can be put beside its row without keeping rows
in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias

from ioi_eval.errors import ODD_DATA, InputError, RowError, internal_error_text
from ioi_eval.journal import Keys, keys_of, name_key
from ioi_eval.model import Language, Problem, ProblemKey, Submission
from ioi_eval.pipeline.window import Candidate, W
from ioi_eval.problems.first_rows import PROGRAMS_ADVICE, Need, check_first_rows
from ioi_eval.problems.ioi import ProblemSet
from ioi_eval.problems.row import DumpSource, Row, RowSource
from ioi_eval.problems.samples import SAMPLE_COLUMNS, sample_rows
from ioi_eval.problems.submissions import (
    DEFAULT_YEAR,
    PROGRAM_COLUMNS,
    fitted,
    problem_of,
    stated_language,
    submission_columns,
    submission_from_row,
    target_subtask,
    with_includes,
)
from ioi_eval.records import record

ContestCandidate: TypeAlias = Candidate[Problem, Submission]

_SIMILAR = 3  # how many similar problem ids a message names

OWN_FAULT = "a fault in ioi-eval itself: its message says where"


@record
class Judgeable(Generic[W]):
    """A row that can be judged, or one of its programs.

    Args:
        row: as in the dump.
        candidate: its submission.
    """

    row: Row
    candidate: W


@record
class JudgeableRow(Judgeable[ContestCandidate]):
    """A row for a contest problem that can be judged.

    Args:
        target_subtask: the subtask that the program was written for, if the row says so.
    """

    target_subtask: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A row that cannot be judged.

    Args:
        row: as in the dump.
        kind: the reason, the same for all rows that it applies to.
        message: the reason, with the row's place and what to do.
    """

    row: Row
    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSelection:
    """Which rows of the dump are wanted.

    Args:
        years, problems: only rows of these; all if empty.
        limit: only this many of them, from the start.
    """

    years: frozenset[int] = frozenset()
    problems: frozenset[str] = frozenset()
    limit: int | None = None

    def rows(
        self, source: RowSource, columns: Collection[str] | None = None
    ) -> Iterator[tuple[Row, ProblemKey | None]]:
        """The wanted rows, each with its problem; `None` if the row does not name it correctly."""
        count = 0
        for row in source.iterate(None if columns is None else tuple(columns)):
            key = _problem_of(row)
            if key is not None and not self._wants(key):
                continue
            if count == self.limit:
                return
            count += 1
            yield row, key

    def _wants(self, key: ProblemKey) -> bool:
        return (not self.years or key.year in self.years) and (not self.problems or key.id in self.problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What was found when the dump was read for the first time.

    Args:
        counts: how many programs there are for each problem; `None` stands for rows that name no problem.
        languages: the languages that rows state: compilers and interpreters must be known before anything is judged.
    """

    counts: Mapping[ProblemKey | None, int]
    languages: frozenset[Language]

    @property
    def rows(self) -> int:
        """The number of programs in all wanted rows."""
        return sum(self.counts.values())

    @property
    def problems(self) -> tuple[ProblemKey, ...]:
        """The problems that are needed."""
        return tuple(key for key in self.counts if key is not None)


def survey(source: RowSource, selection: RowSelection, *, id_column: str = "uuid") -> Survey:
    """Read the whole dump once, before judging.

    So a row that cannot be read ends the run before hours of judging, only the needed problems are loaded, and the time
    that is left can be estimated.

    Raises:
        InputError: the dump cannot be read, none of its rows is wanted, or the first of these all lack a column that a
            submission needs.
        RowError: a row cannot be read.
    """
    first = (row for row, _ in selection.rows(source, (id_column, "problem_id")))
    check_first_rows(first, source.describe(), _needs(id_column))
    counts: Counter[ProblemKey | None] = Counter()
    languages: set[Language] = set()
    for row, key in selection.rows(source, (id_column, "year", "problem_id", "language", *SAMPLE_COLUMNS)):
        counts[key] += _samples(row, id_column)
        if (language := stated_language(row)) is not None:
            languages.add(language)
    if not counts:
        wanted = [f"--year {year}" for year in sorted(selection.years)]
        wanted += [f"--problem {problem}" for problem in sorted(selection.problems)]
        everything = Counter(key for _, key in RowSelection().rows(source, ("year", "problem_id")))
        there = ", ".join(f"{key} ({count})" for key, count in everything.most_common(10))
        raise InputError(f"{source.describe()} has no row for {' '.join(wanted)}; it has {there}")
    return Survey(counts=counts, languages=frozenset(languages))


def _samples(row: Row, id_column: str) -> int:
    """How many programs a row contains; a row that cannot be used counts as one."""
    try:
        return len(sample_rows(row, id_column))
    except (RowError, *ODD_DATA):
        return 1


def _needs(id_column: str) -> tuple[Need, ...]:
    """What every row of a dump must have."""
    return (
        Need(columns=PROGRAM_COLUMNS, advice=f"{PROGRAMS_ADVICE}, or are DUMP and --problems or --tests swapped?"),
        Need(columns=("problem_id",), advice="It says which problem a program is for: add it to the rows"),
        Need(columns=(id_column,), advice="It names a submission: name the column that does with --id-column"),
    )


class Reading:
    """One reading of a dump, from its first row to its last.

    Args:
        id_column: the column that names a submission.
        standing: returns how much the journal has for these keys; if `None`, the first way to judge is used.
    """

    def __init__(self, id_column: str, standing: Callable[[Keys], int] | None) -> None:
        self._id_column, self._standing = id_column, standing
        self._taken: dict[bytes, tuple[str, int]] = {}  # source and number of the row that has an id

    def taken_before(self, row: Row, name: str, problem: ProblemKey | str) -> Refused | None:
        """Refuse a row if an earlier row for the same problem has its id; `None` if it is the first with this id.

        The programs of one row have different ids.
        """
        place = (row.source, row.number)
        first = self._taken.setdefault(name_key(problem, name), place)
        if first == place:
            return None
        where = f"row {first[1]}" if first[0] == row.source else f"{first[0]}, row {first[1]}"
        message = (
            f"{self._id_column} {name!r} of problem {problem} stands in {where} already, which is the one that counts; "
            "make the ids unique, or give another --id-column"
        )
        kind = f"the same {self._id_column} and problem as an earlier row"
        return Refused(row=row, kind=kind, message=str(row.error(message)))

    def best_known(
        self, fingerprints: Sequence[str], problem: ProblemKey | str, name: str, found_by: Sequence[str]
    ) -> tuple[str, Keys]:
        """Of the ways in which a submission may be judged, the one for which the journal has most.

        Args:
            fingerprints: one for each way; of equals the first is used.
            problem, name: the problem, and the submission's id.
            found_by: how its program was found and changed.

        Returns:
            The fingerprint of that way, and its keys.
        """
        if self._standing is None or len(fingerprints) == 1:
            return fingerprints[0], keys_of(problem, name, fingerprints[0], found_by=found_by)
        ways = {keys_of(problem, name, fingerprint, found_by=found_by): fingerprint for fingerprint in fingerprints}
        keys = max(ways, key=self._standing)
        return ways[keys], keys


class DumpReader(ABC, Generic[W]):
    """Reads a dump's rows as submissions.

    Args:
        source: the dump.
        id_column: the column that names a submission.
    """

    def __init__(self, source: DumpSource, id_column: str) -> None:
        self.source, self.id_column = source, id_column

    @abstractmethod
    def ways(self) -> Iterator[str]:
        """For each problem, everything on which its results depend, as texts."""

    @abstractmethod
    def entries(
        self, *, whole_rows: bool = False, standing: Callable[[Keys], int] | None = None
    ) -> Iterator[Judgeable[W] | Refused]:
        """One entry for each program, in the order of the rows; one for a row that cannot be used.

        Args:
            whole_rows: read all columns; else only those that judging needs.
            standing: returns how much the journal has for these keys. If a submission may be judged in several ways,
                its entry is for the one for which the journal has most; of equals, for the first.
        """

    def candidates(self, standing: Callable[[Keys], int] | None = None) -> Iterator[W | Refused]:
        """The same entries, without their rows."""
        for entry in self.entries(standing=standing):
            yield entry if isinstance(entry, Refused) else entry.candidate


class Intake(DumpReader[ContestCandidate]):
    """Reads a dump's rows as submissions to contest problems.

    Args:
        source: the dump.
        selection: which of its rows.
        problems: the problems, and those that cannot be used.
        fingerprints: returns a hash of everything that determines a submission's outcome, for each way in which it may
            be judged.
        id_column: the column that names a submission.
        with_includes: add the includes that models forget.
    """

    def __init__(
        self,
        source: DumpSource,
        selection: RowSelection,
        problems: ProblemSet,
        *,
        fingerprints: Callable[[Problem, Submission], Sequence[str]],
        id_column: str = "uuid",
        with_includes: bool = False,
    ) -> None:
        super().__init__(source, id_column)
        self.problems = problems
        self.selection = selection
        self._fingerprints, self._with_includes = fingerprints, with_includes

    def entries(
        self, *, whole_rows: bool = False, standing: Callable[[Keys], int] | None = None
    ) -> Iterator[JudgeableRow | Refused]:
        """One entry for each program, in the order of the rows; one for a row that cannot be used."""
        columns = None if whole_rows else submission_columns(self.id_column)
        reading = Reading(self.id_column, standing)
        for row, problem in self.selection.rows(self.source, columns):
            try:
                samples = sample_rows(row, self.id_column)
            except RowError as error:
                yield refused(row, error)
                continue
            except ODD_DATA as error:
                yield faulty(row, error)
                continue
            for sample in samples:
                try:
                    entry = self._entry(sample, problem, reading)
                except ODD_DATA as error:
                    entry = faulty(sample, error)
                yield entry

    def ways(self) -> Iterator[str]:
        """For each problem, its notes and the fingerprints of an empty program in each language."""
        for key, problem in sorted(self.problems.problems.items(), key=str):
            yield f"{key} {problem.name} {problem.day} {problem.notes}"
            for language in Language:
                probe = Submission(id="", problem=key, code="", language=language)
                yield from self._fingerprints(problem, probe)
        yield from (f"{key}: {error}" for key, error in sorted(self.problems.unusable.items(), key=str))

    def _entry(self, row: Row, key: ProblemKey | None, reading: Reading) -> JudgeableRow | Refused:
        problems = self.problems.problems
        try:
            submission = submission_from_row(row, id_column=self.id_column, problem=key, problems=problems)
            target = target_subtask(row)
        except InputError as error:
            return refused(row, error)
        problem = problems.get(submission.problem)
        if problem is None:
            return self._without_problem(row, submission.problem)
        try:
            submission = fitted(submission, row, problem)
        except RowError as error:
            return refused(row, error)
        if self._with_includes:
            submission = with_includes(submission, problem)
        if repeated := reading.taken_before(row, submission.id, problem.key):
            return repeated
        found_by = (submission.extraction, *submission.fixes)
        fingerprints = self._fingerprints(problem, submission)
        fingerprint, keys = reading.best_known(fingerprints, problem.key, submission.id, found_by)
        candidate = Candidate(
            problem=problem,
            submission=submission,
            family=problem.key,
            id=submission.id,
            found_by=found_by,
            size=None if submission.is_empty else submission.size,
            most_s=problem.time_limit_s * len(problem.tests),
            fingerprint=fingerprint,
            keys=keys,
        )
        return JudgeableRow(row=row, candidate=candidate, target_subtask=target)

    def _without_problem(self, row: Row, key: ProblemKey) -> Refused:
        unusable = self.problems.unusable.get(key)
        if unusable is not None:
            kind = str(unusable)
        else:
            kind = f"unknown problem {key}: it is not in --problems"
            if not row.has("year"):
                kind += f" (a row without a year is for {DEFAULT_YEAR})"
            if similar := self.problems.similar_to(key):
                kind += f"; did you mean {' or '.join(map(str, similar[:_SIMILAR]))}?"
        return Refused(row=row, kind=kind, message=str(row.error(kind)))


def refused(row: Row, error: InputError) -> Refused:
    """A row that cannot be judged, for this reason."""
    return Refused(row=row, kind=error.problem if isinstance(error, RowError) else str(error), message=str(error))


def faulty(row: Row, error: BaseException) -> Refused:
    """A row that we failed to read because of a bug of ours."""
    return Refused(row=row, kind=OWN_FAULT, message=str(row.error(internal_error_text(error, "reading this row"))))


def _problem_of(row: Row) -> ProblemKey | None:
    try:
        return problem_of(row)
    except RowError:
        return None
