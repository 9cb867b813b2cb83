"""Reads the whole dump of submissions to contest problems once, before anything is judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ioi_eval.errors import ODD_DATA, InputError, RowError
from ioi_eval.model import Language, ProblemKey
from ioi_eval.pipeline.contest import RowSelection
from ioi_eval.problems.first_rows import PROGRAMS_ADVICE, Need, check_first_rows
from ioi_eval.problems.row import Row, Source
from ioi_eval.problems.samples import SAMPLE_COLUMNS, sample_rows
from ioi_eval.problems.submissions import (
    OPTIONAL_COLUMNS,
    PROGRAM_COLUMNS,
    problem_of,
    stated_language,
    submission_columns,
)


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
        without_year = without_year or (key is not None and not row.has("year"))
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
    """What every row of a dump must have."""
    how = f"add {id_column}, or name the column that contains it with --id-column"
    return (
        Need(columns=PROGRAM_COLUMNS, advice=f"{PROGRAMS_ADVICE}. Or are DUMP and --problems or --tests swapped?"),
        Need(columns=("problem_id",), advice="Add it to the rows: it says which problem a program is for"),
        Need(columns=(id_column,), advice=f"Each row needs an id: {how}"),
    )
