"""How the rows of a dump become submissions to contest problems: which are wanted, what is found before judging
(`survey`), and how they are read (`ContestDumpReader`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ioi_eval.errors import ODD_DATA, InputError, RowError, listed
from ioi_eval.model import DEFAULT_YEAR, Language, Problem, ProblemKey, Submission
from ioi_eval.pipeline.dump_reader import DumpReader, DumpReading, Judgeable, Refused, or_refused
from ioi_eval.pipeline.window import Candidate
from ioi_eval.problems.first_rows import PROGRAMS_ADVICE, Need, check_first_rows
from ioi_eval.problems.ioi import ProblemSet
from ioi_eval.problems.loading import LoadingProblems
from ioi_eval.problems.row import Row, Source
from ioi_eval.problems.samples import SAMPLE_COLUMNS, sample_rows
from ioi_eval.problems.submissions import (
    OPTIONAL_COLUMNS,
    PROGRAM_COLUMNS,
    fitted,
    problem_of,
    stated_language,
    submission_columns,
    submission_from_row,
    target_subtask,
    with_includes,
)

ContestCandidate: TypeAlias = Candidate[Problem, Submission]

_SIMILAR = 3  # how many similar problem ids a message names


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSelection:
    """Which rows of the dump are wanted.

    Args:
        years, problems: only rows of these; all if empty. Problems are named as by `ProblemKey.is_among`.
        limit: only this many of them, from the start.
    """

    years: frozenset[int] = frozenset()
    problems: frozenset[str] = frozenset()
    limit: int | None = None

    def rows(self, source: Source, columns: Collection[str] | None = None) -> Iterator[tuple[Row, ProblemKey | None]]:
        """The wanted rows, each with its problem; `None` if the row does not name it correctly."""
        count = 0
        for row in source.iterate(None if columns is None else tuple(columns)):
            key = _problem_of(row)
            if key is not None and not self.wants(key):
                continue
            if count == self.limit:
                return
            count += 1
            yield row, key

    def wants(self, key: ProblemKey) -> bool:
        """Whether rows for this problem are wanted."""
        return (not self.years or key.year in self.years) and (not self.problems or key.is_among(self.problems))

    def no_row_in(self, source: Source) -> str:
        """The message if no row of a source is wanted: it names the problems that the source has."""
        wanted = [f"--year {year}" for year in sorted(self.years)]
        wanted += [f"--problem {problem}" for problem in sorted(self.problems)]
        everything = Counter(key for _, key in RowSelection().rows(source, ("year", "problem_id")) if key is not None)
        existing = listed(f"{key} ({count})" for key, count in everything.most_common())
        return f"{source.describe()} has no row for {' '.join(wanted)}; it has {existing}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What was found when the dump was read for the first time.

    Args:
        counts: how many programs there are for each problem; `None` stands for rows that name no problem.
        languages: the languages that rows state: compilers and interpreters must be known before anything is judged.
        without_year: whether a row names its problem without a year.
        misspelled: what `warn_of_misspelled` returns for the dump.
    """

    counts: Mapping[ProblemKey | None, int]
    languages: frozenset[Language]
    without_year: bool
    misspelled: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """The number of programs in all wanted rows."""
        return sum(self.counts.values())

    @property
    def problems(self) -> tuple[ProblemKey, ...]:
        """The problems that are needed."""
        return tuple(key for key in self.counts if key is not None)


def survey(source: Source, selection: RowSelection, *, id_column: str = "uuid") -> Survey:
    """Read the whole dump once, before judging.

    So a row that cannot be read (of a table, in the columns that judging needs) ends the run before hours of judging,
    only the needed problems are loaded, and the time that is left can be estimated.

    Raises:
        InputError: the dump cannot be read, none of its rows is wanted, or the first of these all lack a column that a
            submission needs.
        RowError: a row cannot be read, or no row names its problem correctly.
    """
    first = (row for row, _ in selection.rows(source, (id_column, "year", "problem_id", *PROGRAM_COLUMNS)))
    misspelled = check_first_rows(
        first, source.describe(), _needs(id_column), optional=OPTIONAL_COLUMNS, read=submission_columns(id_column)
    )
    counts: Counter[ProblemKey | None] = Counter()
    languages: set[Language] = set()
    without_year = False
    for row, key in selection.rows(source, (id_column, "year", "problem_id", "language", *SAMPLE_COLUMNS)):
        counts[key] += _samples(row, id_column)
        without_year = without_year or (key is not None and not row.states("year"))
        if (language := stated_language(row.values)) is not None:
            languages.add(language)
    if not counts:
        raise InputError(selection.no_row_in(source))
    if counts.keys() == {None}:
        row, _ = next(selection.rows(source, ("year", "problem_id")))
        problem_of(row)  # raises what is wrong with it
    return Survey(counts=counts, languages=frozenset(languages), without_year=without_year, misspelled=misspelled)


def _samples(row: Row, id_column: str) -> int:
    """How many programs a row contains; a row that cannot be used counts as one."""
    try:
        return len(sample_rows(row, id_column))
    except (RowError, *ODD_DATA):
        return 1


def _needs(id_column: str) -> tuple[Need, ...]:
    how = f"add {id_column}, or name the column that contains it with --id-column"
    return (
        Need(columns=PROGRAM_COLUMNS, advice=f"{PROGRAMS_ADVICE}. Or are DUMP and --problems or --tests swapped?"),
        Need(columns=("problem_id",), advice="Add it to the rows: it says which problem a program is for"),
        Need(columns=(id_column,), advice=f"Each row needs an id: {how}"),
    )


class ContestDumpReader(DumpReader[ContestCandidate]):
    """Reads a dump's rows as submissions to contest problems.

    Args:
        problems: a row waits until the tests of its problem have been read.
        fingerprints: returns a hash of everything that determines a submission's outcome, for each kind of target
            that may judge it.
    """

    def __init__(
        self,
        source: Source,
        selection: RowSelection,
        problems: LoadingProblems,
        *,
        fingerprints: Callable[[Problem, Submission], Sequence[str]],
        id_column: str = "uuid",
        with_includes: bool = False,
    ) -> None:
        super().__init__(source, id_column, submission_columns(id_column))
        self.problems, self.selection = problems, selection
        self._fingerprints, self._with_includes = fingerprints, with_includes

    @property
    def may_wait(self) -> bool:
        """Whether tests are still being read."""
        return self.problems.is_loading

    def _entries(
        self, reading: DumpReading, columns: Sequence[str] | None
    ) -> Iterator[Judgeable[ContestCandidate] | Refused]:
        for row, key in self.selection.rows(self.source, columns):
            problems = self.problems.so_far() if key is None else self.problems.wait_for(key)
            samples = or_refused(row, sample_rows, row, self.id_column)
            if isinstance(samples, Refused):
                yield samples
                continue
            for sample in samples:
                yield or_refused(sample, self._entry, sample, key, problems, reading)

    def problem_signatures(self) -> Iterator[str]:
        """For each problem its notes, and the fingerprints of an empty program in each language. It waits for all."""
        problems = self.problems.wait_for_all()
        for key, problem in sorted(problems.problems.items(), key=_key_text):
            yield f"{key} {problem.name} {problem.day} {problem.notes}"
            for language in Language:
                probe = Submission(id="", problem=key, code="", language=language)
                yield from self._fingerprints(problem, probe)
        yield from (f"{key}: {error}" for key, error in sorted(problems.unusable.items(), key=_key_text))

    def _entry(
        self, row: Row, key: ProblemKey | None, problems: ProblemSet, reading: DumpReading
    ) -> Judgeable[ContestCandidate] | Refused:
        submission = submission_from_row(row, id_column=self.id_column, problem=key, problems=problems.problems)
        target_subtask(row)  # if it is not a name, the row is refused
        problem = problems.problems.get(submission.problem)
        if problem is None:
            return _without_problem(row, submission.problem, problems)
        submission = fitted(submission, row, problem)
        if self._with_includes:
            submission = with_includes(submission, problem)
        if repeated := reading.refuse_repeated_id(row, submission.id, problem.key):
            return repeated
        found_by = (submission.extraction, *submission.fixes)
        fingerprints = self._fingerprints(problem, submission)
        fingerprint, keys = reading.keys(problem.key, submission.id, fingerprints, found_by=found_by)
        candidate = Candidate(
            problem=problem,
            submission=submission,
            problem_key=problem.key,
            id=submission.id,
            found_by=found_by,
            size=None if submission.is_empty else submission.size,
            max_s=problem.time_limit_s * len(problem.tests),
            fingerprint=fingerprint,
            keys=keys,
        )
        return Judgeable(row=row, candidate=candidate)


def _without_problem(row: Row, key: ProblemKey, problems: ProblemSet) -> Refused:
    unusable = problems.unusable.get(key)
    if unusable is not None:
        kind = str(unusable)
    else:
        kind = f"unknown problem {key}: it is not in --problems"
        if not row.states("year"):
            kind += f" (a row without a year is for {DEFAULT_YEAR})"
        if similar := problems.similar_to(key):
            kind += f". Did you mean {' or '.join(map(str, similar[:_SIMILAR]))}?"
    return Refused(row=row, kind=kind, message=str(row.error(kind)))


def _key_text(item: tuple[ProblemKey, object]) -> str:
    return str(item[0])


def _problem_of(row: Row) -> ProblemKey | None:
    try:
        return problem_of(row)
    except RowError:
        return None
