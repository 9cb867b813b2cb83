"""Comparison of our results with results of others, in the columns of the reference. Pure.

`docs/validation.md`, "What others' results state", has the columns, and the statuses that agree although they differ.

**Points** agree if they are equal at the problem's precision. The reference rounds more than once: `score` is rounded
before it is multiplied by the points, and the total is a sum of rounded numbers. Numbers derived from rounded numbers
are compared only at the precision of those.

**The status of a subtask** is the worst of the tests that ran, and the reference stops at another test than we do. If
the statuses of tests are stated, that rule is applied to our outcomes of the same tests; otherwise our verdict is
compared. Results of our own, recognised by their columns, have our verdicts and our rule.

Source: `ioi/run_tests/scoring.py` of huggingface/ioi (`SubtaskResult`, `_extract_single_status`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ioi_eval.expectations import deciding_test
from ioi_eval.model import Problem, SubmissionResult, SubtaskResult, Verdict
from ioi_eval.problems.row import Row
from ioi_eval.report.rows import is_of_results

READ_AS: Mapping[Verdict, tuple[str, ...]] = {
    Verdict.AC: ("AC",),
    Verdict.PA: ("PA",),
    Verdict.WA: ("WA",),  # and RE, if the message is not CMS's
    Verdict.TLE: ("TLE",),
    Verdict.MLE: ("MLE", "RE"),
    Verdict.OLE: ("TLE", "RE"),
    Verdict.SV: ("RE",),
    Verdict.RE: ("RE",),
    Verdict.CE: ("CE",),
}
"""For each verdict of ours, the reference's statuses. Without code (NC) the reference has only SKIPPED."""

STATUSES = ("CE", "RE", "WA", "MLE", "TLE", "PA", "AC")
"""The reference's statuses, the worst first."""

_STANDARD_WRONG = "Output isn't correct"
STATED_RESULT_COLUMNS = ("all_subtasks_points", "all_subtasks_results", "fingerprint", "duplicate_of", "verdict")
"""The columns that are read; the last three show that results are ours, and whether a row of ours was judged."""

TOTAL = "(total)"
_NOT_COMPARED = frozenset({"SKIPPED", "JE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedSubtask:
    """What is stated of a subtask.

    Args:
        tolerance: by how much our points may differ.
        status: the stated status; `None` if none is stated.
        tests: for each test that ran, its status; empty if none are stated.
    """

    points: float | None
    tolerance: float
    status: str | None
    tests: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedResult:
    """What is stated of a submission.

    Args:
        tolerance: by how much our total may differ.
        is_ours: whether the statuses are our verdicts.
    """

    subtasks: Mapping[str, StatedSubtask]
    total: float | None
    tolerance: float
    is_ours: bool

    @property
    def statements(self) -> int:
        """The number of statements."""
        stated = [value for subtask in self.subtasks.values() for value in (subtask.points, subtask.status)]
        return sum(value is not None for value in (*stated, self.total))


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference between what is stated and our result.

    Args:
        where: the name of the subtask, `(whole)` or `(total)`.
        stated, seen: both results, as text.
        subtask: the subtask with the test that decided; `None` if there is none.
        test: the first test with another status, if known.
        by_memory: whether the memory of a test decides, and not its time.
    """

    where: str
    stated: str
    seen: str
    subtask: SubtaskResult | None = None
    test: str | None = None
    by_memory: bool = False


def was_refused(row: Row) -> bool:
    """Whether it is a row of our results that was not judged. It states nothing, and may lack an id or a problem."""
    return is_of_results(row.values) and row.values.get("verdict", "") is None


def stated_result(row: Row, problem: Problem) -> StatedResult:
    """What a row of results states. A row that was not judged (null) states nothing, nor does a score of JE: it is not
    known, also where it is written as 0 (`--unscored-as zero`).

    Raises:
        RowError: it names subtasks that the problem does not have, or its columns have another form.
    """
    is_ours = is_of_results(row.values)
    names = {subtask.name for subtask in problem.subtasks}
    subtasks: dict[str, StatedSubtask] = {}
    has_total = row.has("all_subtasks_points")
    is_listed = row.has("all_subtasks_results") or not any(column in row.values for column in STATED_RESULT_COLUMNS[:2])
    entries = row.items("all_subtasks_results") if is_listed else ()
    for number, item in enumerate(entries, 1):
        if not isinstance(item, Mapping):
            raise row.error(f"entry {number} of all_subtasks_results is not an object")
        values = Row(source=row.source, number=row.number, values=item)
        name = values.identifier("subtask")
        if name not in names:
            existing = ", ".join(sorted(names))
            raise row.error(f"all_subtasks_results names {name}, but problem {problem.key} has the subtasks {existing}")
        subtasks[name] = _stated_subtask(values, problem.score_precision, is_ours=is_ours)
        has_total = has_total and item.get("status") != Verdict.JE
    half = _half_digit(problem.score_precision)
    return StatedResult(
        subtasks=subtasks,
        total=row.number_of("all_subtasks_points") if has_total else None,
        tolerance=half if is_ours else half * max(1, len(problem.subtasks)),
        is_ours=is_ours,
    )


def _stated_subtask(values: Row, precision: int, *, is_ours: bool) -> StatedSubtask:
    points, tolerance = None, _half_digit(precision)
    if values.has("weighted_score"):
        points = values.number_of("weighted_score")
    elif values.has("score") and values.has("points"):
        worth = values.number_of("points")
        points, tolerance = values.number_of("score") * worth, tolerance * max(1.0, worth)
    status = values.optional_text("status")
    return StatedSubtask(
        points=None if status == Verdict.JE else points,
        tolerance=tolerance,
        status=None if status in _NOT_COMPARED else status,
        tests={} if is_ours or not values.has("test_results") else _test_statuses(values),
    )


def _test_statuses(values: Row) -> dict[str, str]:
    statuses = {}
    for item in values.items("test_results"):
        if not isinstance(item, Mapping):
            raise values.error(f"test_results holds {item!r:.60}; it must hold objects only")
        name, status = item.get("test_name"), item.get("status")
        if isinstance(name, str) and isinstance(status, str) and status not in _NOT_COMPARED:
            statuses[sys.intern(name)] = sys.intern(status)  # there may be a million texts, but few different ones
    return statuses


def differences(stated: StatedResult, result: SubmissionResult) -> Iterator[Difference | None]:
    """For each statement a difference, or `None` if it agrees; nothing if we failed to judge."""
    for subtask in result.subtasks:
        statement = stated.subtasks.get(subtask.subtask)
        if statement is None:
            continue
        if statement.points is not None and subtask.score is not None:
            points = subtask.score * subtask.points
            agrees = abs(points - statement.points) <= statement.tolerance
            texts = f"{statement.points:g} points", f"{points:.6g} points"
            yield None if agrees else _difference(statement, subtask, *texts)
        if statement.status is not None:
            yield from _status_difference(statement, statement.status, subtask, is_ours=stated.is_ours)
    if stated.total is not None and result.score is not None:
        agrees = abs(result.score - stated.total) <= stated.tolerance + 1e-9
        texts = f"{stated.total:g} points", f"{result.score:g} points"
        yield None if agrees else Difference(where=TOTAL, stated=texts[0], seen=texts[1])


def _difference(statement: StatedSubtask, subtask: SubtaskResult, stated: str, seen: str) -> Difference:
    other = _first_other_test(statement, subtask)
    return Difference(where=subtask.subtask, stated=stated, seen=seen, subtask=subtask, test=other)


def _status_difference(
    statement: StatedSubtask, status: str, subtask: SubtaskResult, *, is_ours: bool
) -> Iterator[Difference | None]:
    if subtask.verdict in (Verdict.JE, Verdict.SKIPPED):
        return
    ran = [test for test in subtask.tests if test.test in statement.tests]
    if is_ours:
        agrees = subtask.verdict.value == status
    elif not ran or subtask.verdict in (Verdict.CE, Verdict.NC):
        deciding = deciding_test(subtask)
        agrees = status in read_as(subtask.verdict, "" if deciding is None else deciding.message)
    elif any(test.verdict in (Verdict.JE, Verdict.SKIPPED) for test in ran):
        return
    else:
        agrees = _can_be_worst(status, [read_as(test.verdict, test.message) for test in ran])
    yield None if agrees else _difference(statement, subtask, status, subtask.verdict.value)


def read_as(verdict: Verdict, message: str) -> tuple[str, ...]:
    """The reference's statuses that agree with an outcome of ours."""
    statuses = READ_AS.get(verdict, ())
    return (*statuses, "RE") if verdict is Verdict.WA and _STANDARD_WRONG not in message else statuses


def _can_be_worst(status: str, tests: Sequence[tuple[str, ...]]) -> bool:
    """Whether this status can be the worst, if each test has one of its possible statuses."""
    if status not in STATUSES:
        return False
    rank = STATUSES.index(status)
    return any(status in test for test in tests) and all(
        any(STATUSES.index(other) >= rank for other in test) for test in tests
    )


def _first_other_test(statement: StatedSubtask, subtask: SubtaskResult) -> str | None:
    for test in subtask.tests:
        status = statement.tests.get(test.test)
        known = test.verdict not in (Verdict.JE, Verdict.SKIPPED)
        if status is not None and known and status not in read_as(test.verdict, test.message):
            return test.test
    return None


def _half_digit(precision: int) -> float:
    """Half a unit of the last decimal, plus a little for rounding errors of floats."""
    return math.ldexp(10.0**-precision, -1) * (1 + 1e-6) + 1e-9
