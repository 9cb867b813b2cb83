"""Solutions with what their authors state about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ioi_eval.errors import ODD_DATA, InputError, RowError, internal_error_text
from ioi_eval.expectations import Expectation
from ioi_eval.model import Problem, ProblemKey, Submission
from ioi_eval.pipeline.contest_dump import RowSelection
from ioi_eval.problems.first_rows import PROGRAMS_ADVICE, Need, check_first_rows
from ioi_eval.problems.ioi import ProblemSet
from ioi_eval.problems.row import Row, Source, is_finite
from ioi_eval.problems.submissions import (
    OPTIONAL_COLUMNS,
    PROGRAM_COLUMNS,
    fitted,
    problem_of,
    submission_columns,
    submission_from_row,
)
from ioi_eval.report.rows import name_in
from ioi_eval.validate.results import STATED_RESULT_COLUMNS, StatedResult, stated_result, was_refused

COLUMNS = ("expected_subtasks", "expected_total", "expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedSolution:
    """A solution and what is stated about it.

    Args:
        name: what the column for names has, else its label or id.
        subtasks: the statements about single subtasks.
        whole: the statement about the whole solution, if there are none about subtasks.
        total: the lowest and the highest stated points.
        others_result: another judge's result of it, if there is one.
    """

    name: str
    problem: Problem
    submission: Submission
    subtasks: Mapping[str, Expectation]
    whole: Expectation | None
    total: tuple[float, float] | None
    others_result: StatedResult | None

    @property
    def statements(self) -> int:
        """The number of statements."""
        others = 0 if self.others_result is None else self.others_result.statements
        return len(self.subtasks) + (self.whole is not None) + (self.total is not None) + others


@dataclass(slots=True, kw_only=True)
class StatedSolutions:
    """The contents of a data set of solutions.

    Args:
        refused: rows that cannot be judged, with the reason.
        unstated: the rows that state nothing: problem and solution, or the row's place if it cannot be judged.
        unmatched: the number of stated results without a solution.
    """

    solutions: list[StatedSolution] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    unstated: list[str] = field(default_factory=list)
    unmatched: int = 0


_ALL_ROWS = RowSelection()


def read_solutions(
    source: Source,
    problems: ProblemSet,
    *,
    id_column: str | None = None,
    against: Source | None = None,
    selection: RowSelection = _ALL_ROWS,
) -> StatedSolutions:
    """Read solutions and what is stated about them.

    Args:
        source: rows with `code`, `label` or an id, and `expected_subtasks`, `expected_total` or `expected`.
        id_column: the column that names a solution; by default `label`, or `uuid` if a row has no label.
        against: results of others, with the same names; may be `source` itself.

    Raises:
        RowError: a statement is not valid.
        InputError: no row is selected, none of these states anything, or none has a result of others although there are
            such results.
    """
    results = {} if against is None else _stated_results(against, problems, id_column)
    unmatched = dict(results)
    stated = StatedSolutions()
    optional = (*COLUMNS, *OPTIONAL_COLUMNS)
    read = (*optional, *submission_columns(_id_column(id_column)))
    check_first_rows(source.iterate(), source.describe(), _needs(id_column), optional=optional, read=read)
    for row, _ in selection.rows(source):
        try:
            problem, submission = _submission_of(row, problems, id_column)
        except RowError as error:
            name = row.values.get("label") or row.values.get(_id_column(id_column))
            where = f"{error.source}, row {error.row} ({name})"
            if name and against is None and not any(map(row.states, COLUMNS)):
                stated.unstated.append(where)
            else:
                stated.refused.append(f"{where}: {error.problem}" if name else str(error))
            continue
        except ODD_DATA as error:
            stated.refused.append(str(row.error(internal_error_text(error, "reading this row"))))
            continue
        name = _name(row, id_column)
        solution = _solution(row, name, problem, submission, unmatched.pop((problem.key, name), None))
        if solution.statements:
            stated.solutions.append(solution)
        else:
            stated.unstated.append(f"{problem.key}, {name}")
    if not stated.solutions and not stated.refused:
        raise InputError(_nothing_stated(source, against) if stated.unstated else selection.no_row_in(source))
    if against is not None and stated.solutions and len(unmatched) == len(results):
        raise InputError(_nothing_stated(source, against))
    stated.unmatched = sum(selection.wants(key) for key, _ in unmatched)
    return stated


def _needs(id_column: str | None) -> tuple[Need, ...]:
    return (
        Need(columns=PROGRAM_COLUMNS, advice=f"{PROGRAMS_ADVICE}. Or are SOLUTIONS and --problems or --tests swapped?"),
        Need(columns=("problem_id",), advice="Add it to the rows: it says which problem a solution is for"),
        Need(columns=("label", _id_column(id_column)), advice="Each solution needs a name: add a label"),
    )


def _submission_of(row: Row, problems: ProblemSet, id_column: str | None) -> tuple[Problem, Submission]:
    named_by = _first_of(row, (name_in(row.values, _id_column(id_column)), "label"))
    submission = submission_from_row(row, id_column=named_by, problems=problems.problems)
    problem = problems.problems.get(submission.problem)
    if problem is None:
        raise row.error(str(problems.unusable.get(submission.problem, f"unknown problem {submission.problem}")))
    return problem, fitted(submission, row, problem)


def _nothing_stated(source: Source, against: Source | None) -> str:
    if against is None:
        return f"{source.describe()} states nothing to compare with; columns that would: {', '.join(COLUMNS)}"
    return (
        f"{against.describe()} has no results of the solutions in {source.describe()};"
        " they are matched by year, problem_id and name (label, else uuid; or the column of --id-column)"
    )


def _name(row: Row, id_column: str | None) -> str:
    column = name_in(row.values, _id_column(id_column))
    return row.identifier(_first_of(row, ("label", column) if id_column is None else (column, "label")))


def _id_column(wanted: str | None) -> str:
    return wanted or "uuid"


def _first_of(row: Row, columns: tuple[str, str]) -> str:
    """The first of these columns that the row has."""
    for column in columns:
        if row.states(column):
            return column
    raise row.error(
        f"the solution has no name: {' and '.join(sorted(columns))} are missing or null; the row has: {row.columns}."
        " Add a label, or name another column with --id-column"
    )


def _stated_results(
    against: Source, problems: ProblemSet, id_column: str | None
) -> dict[tuple[ProblemKey, str], StatedResult]:
    """The results of others by problem and name, without those for problems that we do not have."""
    named_by = _id_column(id_column)
    columns = ("year", "problem_id", "label", named_by, f"dump_{named_by}", *STATED_RESULT_COLUMNS)
    results: dict[tuple[ProblemKey, str], StatedResult] = {}
    for row in against.iterate(columns):
        if was_refused(row):
            continue
        key = problem_of(row)
        problem = problems.problems.get(key)
        if problem is None:
            continue
        name = _name(row, id_column)
        if (key, name) in results:
            raise row.error(f"there are two results of {name} for {key}; keep one")
        results[key, name] = stated_result(row, problem)
    return results


def _solution(
    row: Row, name: str, problem: Problem, submission: Submission, others_result: StatedResult | None
) -> StatedSolution:
    subtasks = _subtasks(row, problem)
    label = None if subtasks else row.optional_text("expected") or None
    total = _total(row) if row.states("expected_total") else None
    return StatedSolution(
        name=name,
        problem=problem,
        submission=submission,
        subtasks=subtasks,
        whole=None if label is None else _expectation(row, label),
        total=total,
        others_result=others_result,
    )


def _total(row: Row) -> tuple[float, float]:
    """The lowest and the highest points, from a number or from a list of both."""
    if isinstance(row.values["expected_total"], int | float):
        points = row.number_of("expected_total")
        return points, points
    stated = row.values["expected_total"]
    ends = () if isinstance(stated, str | Mapping) else row.items("expected_total")
    if len(ends) != 2 or not all(map(is_finite, ends)):
        raise row.error("expected_total must be points, or a list of two: the least and the most")
    least, most = map(float, ends)
    if least > most:
        raise row.error("expected_total has the most points before the least")
    return least, most


def _subtasks(row: Row, problem: Problem) -> dict[str, Expectation]:
    if not row.states("expected_subtasks"):
        return {}
    stated = row.values["expected_subtasks"]
    if not isinstance(stated, Mapping):
        raise row.error("expected_subtasks must be an object: subtask → verdict")
    names = [subtask.name for subtask in problem.subtasks]
    unknown = sorted(set(stated) - set(names))
    unknown = [name for name in unknown if stated[name] is not None]  # tables fill missing values with null
    if unknown:
        has = f"problem {problem.key} has the subtasks {', '.join(names)}"
        raise row.error(f"expected_subtasks names {', '.join(unknown)}, but {has}")
    return {name: _expectation(row, stated[name]) for name in names if stated.get(name) is not None}


def _expectation(row: Row, text: object) -> Expectation:
    try:
        return Expectation.parse(str(text))
    except InputError as error:
        raise row.error(str(error)) from error
