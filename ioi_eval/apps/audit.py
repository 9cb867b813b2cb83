"""Finds broken rows of a data set: its reference solutions are judged like any dump.

For each row there are three cases. No solution passes: the tests are wrong, or accept only one of several right
answers, so their verdicts on other programs mean nothing either. Some pass: those that fail are wrong, or print another
right answer. All pass, or there are none: no fault of the row is known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ioi_eval.apps.catalog import CatalogEntry
from ioi_eval.apps.summary import AppsSummary
from ioi_eval.errors import InputError
from ioi_eval.model import Verdict
from ioi_eval.problems.apps import problem_id, solutions_of
from ioi_eval.problems.row import Row, Source
from ioi_eval.report.compact import TEST_RESULTS
from ioi_eval.selection import ResultRow

ID_COLUMN = "uuid"
_FAILURES = 5  # how many of a row's failures are reported
_MESSAGE_CHARS = 300


class RowFindingKind(StrEnum):
    """What is wrong with a row."""

    ROW = "row"  # the row cannot be judged
    TESTS = "tests"  # no reference solution passes
    SOLUTIONS = "solutions"  # some solutions do not pass, or they cannot be read
    UNDECIDED = "undecided"  # judging failed, or was interrupted


@dataclass(slots=True)
class SolutionTally:
    """The results of one problem's solutions."""

    solutions: int = 0  # how many were judged
    passed: int = 0
    undecided: str = ""  # why one could not be judged; empty if all could
    failures: list[tuple[str, str, str]] = field(default_factory=list)  # the first: number, verdict and message


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFinding:
    """A row that cannot be judged, or whose reference solutions do not all pass or were not all judged."""

    entry: CatalogEntry
    kind: RowFindingKind
    reason: str
    tally: SolutionTally

    def as_row(self) -> dict[str, Any]:
        """As `apps score --exclude` reads it. Rows with a solution that passes are not excluded."""
        return {
            "problem_id": self.entry.id,
            "instance_id": self.entry.instance_id,
            "difficulty": self.entry.difficulty,
            "exclude": self.kind in (RowFindingKind.ROW, RowFindingKind.TESTS),
            "kind": self.kind,
            "reason": self.reason,
            "solutions": self.tally.solutions,
            "passed": self.tally.passed,
            "failures": [
                dict(zip(("solution", "verdict", "message"), failure, strict=True)) for failure in self.tally.failures
            ],
        }


class ReferenceSolutions(Source):
    """The reference solutions of a data set, as a dump: for the wanted problems, and at most so many of each."""

    def __init__(self, dataset: Source, wanted: Collection[str], most: int | None) -> None:
        self._dataset, self._wanted, self._most = dataset, wanted, most
        self.broken: dict[str, str] = {}
        self.without = 0

    def describe(self) -> str:
        """The data set of the solutions."""
        return f"the reference solutions of {self._dataset.describe()}"

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:  # noqa: ARG002 - there are just three
        """One row for each solution, at least one. `broken` has the reasons why solutions could not be read."""
        self.broken, self.without, found = {}, 0, False
        for index, row in enumerate(self._dataset.iterate(("problem_id", "id", "solutions"))):
            problem = problem_id(row, index)
            if problem not in self._wanted:
                continue
            solutions, fault = solutions_of(row)
            if fault:
                self.broken[problem] = fault
            self.without += not solutions
            for number, code in enumerate(solutions[: self._most]):
                values = {"problem_id": problem, ID_COLUMN: str(number), "code": code}
                found = True
                yield Row(source=row.source, number=row.number, values=values)
        if not found:
            why = ": no row has any in its column `solutions`"
            if self.broken:
                problem, fault = next(iter(self.broken.items()))
                why = f" that can be read; problem {problem}: {fault}"
            raise InputError(f"{self._dataset.describe()} has no reference solutions{why}")


class AuditSummary(AppsSummary):
    """Sums up results by problem, in addition to the summary of the whole run."""

    def __init__(self) -> None:
        super().__init__(ks=(1,))
        self._tallies: dict[str, SolutionTally] = {}

    def add(self, row: ResultRow, dump_row: Mapping[str, Any], *, reason: str, errors: Iterable[str]) -> None:
        """Add a solution."""
        super().add(row, dump_row, reason=reason, errors=errors)
        tally, verdict = self._tallies.setdefault(row["problem_id"], SolutionTally()), row["verdict"]
        if verdict == Verdict.JE:
            tally.undecided = row["message"] or "judging failed"
            return
        tally.solutions += 1
        if verdict == Verdict.AC:
            tally.passed += 1
            return
        if len(tally.failures) < _FAILURES:
            tally.failures.append((row["submission"], str(verdict), _why_not_passed(row)))

    def findings(self, entries: Mapping[str, CatalogEntry], broken: Mapping[str, str]) -> list[RowFinding]:
        """The rows with faults, in the data set's order."""
        result = []
        for problem, entry in entries.items():
            tally = self._tallies.get(problem, SolutionTally())
            if entry.unusable:
                kind, reason = RowFindingKind.ROW, entry.unusable
            elif tally.undecided:
                kind, reason = RowFindingKind.UNDECIDED, f"judging failed: {tally.undecided}"
            elif problem in self.pending_problems:
                kind, reason = RowFindingKind.UNDECIDED, "some of its reference solutions are not judged yet"
            elif problem in broken:
                kind, reason = RowFindingKind.SOLUTIONS, broken[problem]
            elif tally.failures:
                kind = RowFindingKind.SOLUTIONS if tally.passed else RowFindingKind.TESTS
                reason = f"{tally.passed} of {tally.solutions} reference solutions pass"
            else:
                continue
            result.append(RowFinding(entry=entry, kind=kind, reason=reason, tally=tally))
        return result


def _why_not_passed(row: ResultRow) -> str:
    """The message of the first test that failed."""
    first = next((test for test in row[TEST_RESULTS] if not test["passed"]), None)
    message: str = row["message"] if first is None else f"test {first['test']}: {first['message']}"
    return message[:_MESSAGE_CHARS]
