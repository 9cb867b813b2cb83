"""Makes `Problem`s from rows as in `open-r1/ioi` (one per subtask) and `open-r1/ioi-test-cases` (one per test).

A problem that cannot be judged correctly is not judged at all: `ProblemSet.unusable` names it with the reason, and the
other problems are judged. Only a source that cannot be read, or a row that does not say to which problem it belongs,
ends the run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache

from ioi_eval.blobs import BlobStore
from ioi_eval.errors import DoubtfulDataWarning, InputError, RowError
from ioi_eval.model import Interactive, JudgeProgram, Problem, ProblemKey, Subtask, Tokens, WhiteDiff
from ioi_eval.problems.ioi_rules import SharedColumns, problem_from, read_shared_columns
from ioi_eval.problems.limits import long_limit_notes
from ioi_eval.problems.output_files import with_kind_argument
from ioi_eval.problems.row import Row, Source, misspelling, problem_key, warn_of_misspelled
from ioi_eval.problems.submissions import PROGRAM_COLUMNS
from ioi_eval.problems.testcases import TestData, collect_tests
from ioi_eval.problems.token_rules import check_token_flags

PROBLEM_COLUMNS = (
    *("year", "id", "subtask", "score", "threshold", "test_names", "validator_flags"),
    *(column.name for column in fields(SharedColumns)),
)

_MAX_POINTS = 1e9  # sums of larger ones could be too large for a float. Chosen: tasks have 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemSet:
    """The problems of a data set: those that can be judged, in the order of the rows; and the others, with the reasons,
    whose submissions have no score, rather than 0."""

    problems: Mapping[ProblemKey, Problem]
    unusable: Mapping[ProblemKey, InputError]
    others: Collection[ProblemKey] = ()  # the caller did not ask for them, or their tests have not been read yet

    def similar_to(self, key: ProblemKey) -> tuple[ProblemKey, ...]:
        """The problems whose id (or year and id) equals a key's id but for case, blanks and punctuation; those of its
        year first."""
        known, wanted = {*self.problems, *self.unusable, *self.others}, _spelling(key.id)
        similar = (other for other in known if wanted in map(_spelling, (other.id, str(other))) and other != key)
        return tuple(sorted(similar, key=lambda other: (other.year != key.year, other.year, other.id)))


@lru_cache(maxsize=10_000)  # asked for each problem, for each row without one
def _spelling(name: str) -> str:
    """The letters and digits of an id; its other characters if it has none."""
    return "".join(filter(str.isalnum, name.casefold())) or name.strip()


@dataclass(slots=True)
class _ProblemRows:
    """The rows of one problem."""

    where: str  # the place of the first row, or of the one with the `error`
    names: Sequence[str]  # the columns of the first row
    shared: SharedColumns | None = None
    subtasks: list[Subtask] = field(default_factory=list)  # one for each row
    repeated: RowError | None = None  # a subtask names a test twice; raised if the score type counts both
    error: InputError | None = None  # the first error in the rows


def load_problems(
    problem_source: Source,
    test_source: Source,
    blobs: BlobStore,
    *,
    years: Collection[int] | None = None,
    ids: Collection[str] | None = None,
) -> ProblemSet:
    """Read problems and their tests.

    Args:
        problem_source: one row per subtask. (year, id) identifies a problem, because ids are reused in other years.
        test_source: one row per test; only tests that a subtask names are kept.
        blobs: stores the test data; nothing large stays in memory.
        years: only problems of these years.
        ids: only problems with these ids; `2024/nile` is that problem of that year.

    Returns:
        `problems`, by their keys; and `unusable`, the reasons why others cannot be judged.

    Raises:
        InputError: a source cannot be read, or is not an open source.
        RowError: a row does not say which problem or test it is.
    """
    for source in (problem_source, test_source):
        if not isinstance(source, Source):
            raise InputError(f"{source!r:.200} is not a source of rows; open it first: ioi_eval.open_source(path)")
    return with_tests(problems_without_tests(problem_source, years=years, ids=ids), test_source, blobs)


def problems_without_tests(
    problem_source: Source, *, years: Collection[int] | None, ids: Collection[str] | None
) -> ProblemSet:
    """Read problems, but not their tests; arguments and errors as of `load_problems`."""
    groups, others = _grouped(problem_source.iterate(PROBLEM_COLUMNS), years, ids)
    drafts: dict[ProblemKey, Problem] = {}
    unusable: dict[ProblemKey, InputError] = {}
    for key, group in groups.items():
        try:
            draft = _draft(key, group)
        except InputError as error:
            unusable[key] = _placed(key, error, group)
        else:
            misspelled = warn_of_misspelled(problem_source.describe(), group.names, PROBLEM_COLUMNS, PROBLEM_COLUMNS)
            drafts[key] = replace(draft, notes=(*draft.notes, *misspelled))
            _warn(problem_source, key, long_limit_notes(draft.time_limit_s, draft.task_type))
    return ProblemSet(problems=drafts, unusable=unusable, others=others)


def with_tests(
    drafts: ProblemSet,
    test_source: Source,
    blobs: BlobStore,
    *,
    when_complete: Callable[[Problem], None] = lambda _problem: None,
) -> ProblemSet:
    """Read the tests of problems; arguments and errors as of `load_problems`.

    `when_complete` is called with a problem when all of its tests have been read. A later row of tests may still make
    the problem unusable.
    """

    def report_problem(key: ProblemKey, data: TestData) -> None:
        with suppress(InputError):  # found again below, where the problem becomes unusable
            when_complete(_with_tests(drafts.problems[key], data))
            _warn(test_source, key, _notes_on_answers(drafts.problems[key], data))

    wanted = {key: draft.subtasks for key, draft in drafts.problems.items()}
    tests = collect_tests(test_source, wanted, blobs, when_complete=report_problem)
    problems: dict[ProblemKey, Problem] = {}
    unusable = dict(drafts.unusable)
    for key, draft in drafts.problems.items():
        try:
            problems[key] = _with_tests(draft, tests[key])
        except InputError as error:
            unusable[key] = _placed(key, error)
    return replace(drafts, problems=problems, unusable=unusable)


def _warn(source: Source, key: ProblemKey, notes: Iterable[str]) -> None:
    """Warn of what is doubtful in the rows of a problem: the notes of results come too late for that."""
    for note in notes:
        warnings.warn(f"{source.describe()}: problem {key}: {note}", DoubtfulDataWarning, stacklevel=1)


def draft_problem(rows: Iterable[Row]) -> Problem:
    """The problem of some rows (with `PROBLEM_COLUMNS`), without its tests. This finds every error in the rows; only a
    `RowError` names the row."""
    ((key, group),) = _grouped(rows, None, None)[0].items()
    return _draft(key, group)


def _grouped(
    rows: Iterable[Row], years: Collection[int] | None, ids: Collection[str] | None
) -> tuple[dict[ProblemKey, _ProblemRows], set[ProblemKey]]:
    """The rows of the wanted problems, and the keys of the others."""
    groups: dict[ProblemKey, _ProblemRows] = {}
    others: set[ProblemKey] = set()
    for row in rows:
        if "id" not in row.values and "test_name" in row.names:
            raise row.error(f"this looks like a test: are --problems and --tests swapped? The row has: {row.columns}")
        if "id" not in row.values and not set(PROGRAM_COLUMNS).isdisjoint(row.names):
            raise row.wrong_kind("a program", needed="problems")
        if "year" not in row.values and "input_output" in row.names:
            raise row.error(
                "this is a problem in the format of APPS: use ioi-eval apps score, with --dataset in place of "
                "--problems and --tests"
            )
        key = problem_key(row.integer("year"), row.identifier("id"))
        if (years is not None and key.year not in years) or (ids is not None and not key.is_among(ids)):
            others.add(key)
            continue
        where = f"{row.source}, row {row.number}"
        group = groups.setdefault(key, _ProblemRows(where, row.names))
        if group.error is None:
            try:
                _add(group, row)
            except InputError as error:
                group.error, group.where = error, where
    return groups, others


def _add(group: _ProblemRows, row: Row) -> None:
    shared = read_shared_columns(row)
    if group.shared is None:
        group.shared = shared
    for column in fields(SharedColumns):
        if column.compare and getattr(shared, column.name) != getattr(group.shared, column.name):
            raise row.error(f"{column.name} differs from that of the problem's first row")
    name = row.identifier("subtask")
    points = row.number_of("score")
    tests = row.texts("test_names")
    if any(name == other.name for other in group.subtasks):
        raise row.error(f"subtask {name} occurs twice: this problem has another row for it; leave out one of them")
    if not 0 <= points <= _MAX_POINTS:
        raise row.error(
            f"subtask {name} is worth {points:g} points; a subtask must be worth 0 or more, and at most 10^9"
        )
    if not tests:
        raise row.error(f"subtask {name} has no tests: its test_names is empty")
    unique = tuple(dict.fromkeys(tests))
    if unique != tests:
        twice = next(test for test in unique if tests.count(test) > 1)
        group.repeated = row.error(f"subtask {name} names the test {twice} twice, and both count; name it once")
    group.subtasks.append(Subtask(name=name, points=points, tests=unique, threshold=_threshold(row)))


def _threshold(row: Row) -> float | None:
    if not row.has("threshold"):
        return None
    threshold = row.number_of("threshold")
    if not 0 < threshold <= 1:
        raise row.error(f"threshold is {threshold:g}; it must be a score above 0 and at most 1")
    return threshold


def _draft(key: ProblemKey, group: _ProblemRows) -> Problem:
    if group.error is not None or group.shared is None:
        raise group.error or InputError("has no rows")
    problem = problem_from(key, group.shared, tuple(group.subtasks))
    if group.repeated and problem.score_type.counts_repeats:
        raise group.repeated
    return problem


def _with_tests(draft: Problem, data: TestData) -> Problem:
    if data.error is not None:
        raise data.error
    if isinstance(draft.method.check, WhiteDiff | Tokens):
        answers = [case.answer for case in data.cases.values()]
        if None in answers or not any(answers):
            raise InputError(
                "has no checker, and its tests have no test_output to compare with; add checker/checker.cpp to "
                f"grader_files, or test_output to the tests{_columns_without_answer(data)}"
            )
    if isinstance(draft.method.check, Tokens):
        for flags, name in {case.checker_args: case.name for case in data.cases.values()}.items():
            check_token_flags(flags, f"test {name}: ")
    notes = (*draft.notes, *data.notes, *_notes_on_answers(draft, data))
    return replace(draft, tests=with_kind_argument(draft, data.cases), notes=notes)


def _notes_on_answers(draft: Problem, data: TestData) -> tuple[str, ...]:
    """A note if no test has an official output for the judge program. Some need none; others reject everything."""
    without = [name for name, case in data.cases.items() if case.answer is None]
    is_checked = isinstance(draft.method.check, JudgeProgram)
    if not without or not (is_checked or isinstance(draft.method, Interactive)):
        return ()
    judge = "checker" if is_checked else "interactor"
    if len(without) == len(data.cases):
        return (f"its tests have no test_output, so its {judge} gets an empty answer{_columns_without_answer(data)}",)
    more = f" (nor {len(without) - 1} more)" if without[1:] else ""
    raise InputError(
        f"the test {without[0]} has no test_output{more}, but other tests have one; its {judge} would get an empty "
        "answer there. Add it, or an empty text if that is meant"
    )


def _columns_without_answer(data: TestData) -> str:
    """The columns of the tests, for messages, if none is `test_output`: another one may be meant."""
    return "" if "test_output" in data.names else f"; the rows of tests have: {', '.join(data.names)}"


def _placed(key: ProblemKey, error: InputError, rows: _ProblemRows | None = None) -> InputError:
    """The error with the problem's key and rows added; a row's error already names the place."""
    if isinstance(error, RowError):
        return error
    if rows is None:
        return type(error)(f"problem {key}: {error}")
    unknown = [name for name in rows.names if name not in PROBLEM_COLUMNS]
    missing = (column for column in PROBLEM_COLUMNS if column not in rows.names and column in str(error))
    similar = next(filter(None, (misspelling(column, unknown) for column in missing)), "")
    return type(error)(f"problem {key} ({rows.where}): {error}{similar}")
