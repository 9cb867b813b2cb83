"""Solutions with what their authors state of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ioi_eval.errors import InputError, RowError
from ioi_eval.expectations import Expectation
from ioi_eval.model import Problem, Submission
from ioi_eval.problems.ioi import ProblemSet
from ioi_eval.problems.row import Row, RowSource
from ioi_eval.problems.submissions import submission_from_row

COLUMNS = ("expected_subtasks", "expected_total", "expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """A solution and what is stated of it.

    Args:
        name: its label, else its id.
        problem: what it is for.
        submission: what is judged.
        subtasks: what is stated of single subtasks.
        whole: what is stated of it as a whole, where nothing is of subtasks.
        total: the points that are stated.
    """

    name: str
    problem: Problem
    submission: Submission
    subtasks: Mapping[str, Expectation] = field(default_factory=dict)
    whole: Expectation | None = None
    total: float | None = None

    @property
    def statements(self) -> int:
        """How many."""
        return len(self.subtasks) + (self.whole is not None) + (self.total is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a data set of solutions comes to.

    Args:
        solutions: those that state something, in order.
        refused: rows that cannot be judged, with the reason.
        silent: how many rows state nothing.
    """

    solutions: tuple[Solution, ...]
    refused: tuple[str, ...]
    silent: int


def read_solutions(
    source: RowSource,
    problems: ProblemSet,
    *,
    id_column: str = "uuid",
    years: Collection[int] = (),
    ids: Collection[str] = (),
) -> Reading:
    """Read solutions and what is stated of them.

    Args:
        source: rows with `code`, `label` or an id, and `expected_subtasks`, `expected_total` or `expected`.
        problems: what they are for.
        id_column: names a solution that has no label.
        years, ids: only solutions to these problems; to all if empty.

    Raises:
        RowError: what is stated makes no sense.
        InputError: no row states anything.
    """
    solutions: list[Solution] = []
    refused: list[str] = []
    silent = 0
    for row in source.iterate():
        try:
            submission = submission_from_row(row, id_column=id_column if row.has(id_column) else "label")
        except RowError as error:
            refused.append(str(error))
            continue
        if (years and submission.problem.year not in years) or (ids and submission.problem.id not in ids):
            continue
        problem = problems.problems.get(submission.problem)
        if problem is None:
            reason = problems.unusable.get(submission.problem, f"unknown problem {submission.problem}")
            refused.append(str(row.error(str(reason))))
            continue
        solution = _solution(row, problem, submission)
        if solution.statements:
            solutions.append(solution)
        else:
            silent += 1
    if not solutions and not refused:
        raise InputError(
            f"{source.describe()} states nothing to compare with; columns that would: {', '.join(COLUMNS)}"
        )
    return Reading(solutions=tuple(solutions), refused=tuple(refused), silent=silent)


def _solution(row: Row, problem: Problem, submission: Submission) -> Solution:
    subtasks = _subtasks(row, problem)
    label = None if subtasks else row.optional_text("expected")
    total = row.number_of("expected_total") if row.has("expected_total") else None
    return Solution(
        name=row.identifier("label") if row.has("label") else submission.id,
        problem=problem,
        submission=submission,
        subtasks=subtasks,
        whole=None if label is None else _expectation(row, label),
        total=total,
    )


def _subtasks(row: Row, problem: Problem) -> dict[str, Expectation]:
    if not row.has("expected_subtasks"):
        return {}
    stated = row.values["expected_subtasks"]
    if not isinstance(stated, Mapping):
        raise row.error("expected_subtasks must be an object: subtask → verdict")
    names = [subtask.name for subtask in problem.subtasks]
    unknown = sorted(set(stated) - set(names))
    unknown = [name for name in unknown if stated[name] is not None]  # tables fill up with nulls
    if unknown:
        there = f"problem {problem.key} has the subtasks {', '.join(names)}"
        raise row.error(f"expected_subtasks names {', '.join(unknown)}, but {there}")
    return {name: _expectation(row, stated[name]) for name in names if stated.get(name) is not None}


def _expectation(row: Row, text: object) -> Expectation:
    try:
        return Expectation.parse(str(text))
    except InputError as error:
        raise row.error(str(error)) from error
