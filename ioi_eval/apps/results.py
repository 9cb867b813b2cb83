"""A result as a row: the dump's own columns and ours; and the numbers that such rows add up to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ioi_eval.apps import mcpbr
from ioi_eval.apps.intake import Invalid, JudgeableSample
from ioi_eval.apps.outcomes import AppsResult
from ioi_eval.apps.summary import ALL, JudgedProgram, Line, summarize
from ioi_eval.errors import RowError
from ioi_eval.model import TestOutcome, Verdict
from ioi_eval.model.apps import AppsProblem
from ioi_eval.pipeline.intake import Refused
from ioi_eval.pipeline.ledger import Found
from ioi_eval.problems.apps_submissions import PROGRAM_COLUMNS, problem_of
from ioi_eval.report.groups import Grouping, Groups
from ioi_eval.report.rows import own_columns
from ioi_eval.report.summary import EXAMPLES, Refusals, RunFacts, heading
from ioi_eval.report.tally import KS
from ioi_eval.report.terminal import counted

FORMAT = 1
RESULT_COLUMNS = (
    "submission",
    "extraction",
    "verdict",
    "score",
    "passed",
    "total",
    "resolved",
    "message",
    "judged_by",
    "near_limit",
    "codes",
    "rules",
    "test_results",
    "tests_id",
    "python",
    "target",
    "isolation",
    "duplicate_of",
    "fingerprint",
    "error",
)
"""What is ours in a row; the other columns (the problem's, the program's) have the meaning that they have in a dump."""

_LACKS = re.compile(r"ModuleNotFoundError\(\"No module named '(\w+)")
_MOST_MODULES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A submission as a row of results and as mcpbr's record."""

    row: Mapping[str, Any]
    record: Mapping[str, Any]


def shown(entry: JudgeableSample, found: Found[AppsResult]) -> Shown:
    """What is written of a submission that was judged, or that we failed to judge."""
    return Shown(row=_row(entry, found), record=mcpbr.under(_record(entry, found.result), found.result.judged_by))


def refused_rows(entry: Refused, judged_by: str = "") -> Shown:
    """What is written of a row that was not judged: nothing that its dump says of itself stands for a result.

    Args:
        entry: the row.
        judged_by: by which rules the others were judged.
    """
    empty: dict[str, Any] = dict.fromkeys(RESULT_COLUMNS)
    row = {**empty, **own_columns(entry.row.values, RESULT_COLUMNS), "test_results": [], "error": entry.message}
    if isinstance(entry, Invalid):
        fault, refusal = entry.listed.fault, entry.listed.refusal
        words = refusal if fault is None else mcpbr.row_words(fault, refusal)
        return Shown(row=row, record=mcpbr.under(mcpbr.error_record(entry.listed, words), judged_by))
    try:
        problem = problem_of(entry.row)
    except RowError:
        problem = "unknown"
    record = mcpbr.error_record(AppsProblem(id=problem, index=0), entry.message)
    return Shown(row=row, record=mcpbr.under(record, judged_by))


def _row(entry: JudgeableSample, found: Found[AppsResult]) -> dict[str, Any]:
    result, candidate = found.result, entry.candidate
    kept = {name: value for name, value in entry.row.values.items() if name not in PROGRAM_COLUMNS}
    given = {} if entry.sample.column == "code" else {entry.sample.column: entry.sample.value}
    return {
        **own_columns(kept, RESULT_COLUMNS),
        **given,
        "submission": candidate.submission.id,
        "problem_id": candidate.listed.id,
        "instance_id": candidate.listed.instance_id,
        "difficulty": candidate.listed.difficulty,
        "code": candidate.submission.code,
        "extraction": candidate.submission.extraction,
        **judged_columns(result),
        "duplicate_of": found.duplicate_of,
        "fingerprint": candidate.fingerprint,
        "error": error_of(result),
    }


def error_of(result: AppsResult) -> str | None:
    """Why there is no score; `None` where there is one."""
    return result.message if result.score is None else None


def judged_columns(result: AppsResult) -> dict[str, Any]:
    """The columns of a row that say what its program is worth, with its tests."""
    graded = result.graded
    return {
        "verdict": result.verdict,
        "score": result.score,
        "passed": result.passed if result.score is not None else None,
        "total": result.total,
        "resolved": _resolved(result),
        "message": result.message,
        "judged_by": result.judged_by,
        "near_limit": _is_near_limit(result),
        "codes": None if graded is None else list(graded.codes),
        "rules": None if graded is None else list(graded.rules),
        "test_results": [_test(test, result) for test in result.tests],
        "tests_id": None,
        "python": result.python,
        "target": result.target,
        "isolation": result.isolation,
    }


def _test(test: TestOutcome, result: AppsResult) -> dict[str, Any]:
    row: dict[str, Any] = {
        "test": int(test.test),
        "verdict": test.verdict,
        "passed": test.passed,
        "time_s": test.time_s,
        "wall_s": test.wall_s,
        "memory_bytes": test.memory_bytes,
        "near_limit": test.near_limit,
        "reran": test.reran,
        "message": test.message,
    }
    row["output"] = test.shown
    if test.passed is not True:
        row["stderr"] = test.evidence
    if (code := result.code_of(test)) is not None:
        row["code"] = code
    return row


def _is_near_limit(result: AppsResult) -> bool:
    """Whether the time of a test was so close to the limit that this machine decides."""
    return any(test.near_limit for test in result.tests)


def _resolved(result: AppsResult) -> bool | None:
    """Whether all tests pass; `None` where that is not known."""
    return None if result.score is None else result.verdict is Verdict.AC


def _record(entry: JudgeableSample, result: AppsResult) -> dict[str, Any]:
    """The record in mcpbr's shape."""
    candidate = entry.candidate
    if candidate.submission.refused:
        return mcpbr.unwritten_record(candidate.listed, candidate.submission.refused)
    if result.score is None:
        return mcpbr.error_record(candidate.listed, result.message[: mcpbr.SHOWN_ERROR])
    if not result.total:
        return mcpbr.error_record(candidate.listed, mcpbr.row_words(candidate.listed.fault, ""))
    return mcpbr.counted_record(candidate.listed, result.passed, result.total)


# --------------------------------------------------------------------------- together


class AppsSummary:
    """Adds up results as they stream by.

    Args:
        ks: of pass@k; `None` for those of a fixed list that the numbers of samples allow.
        grouping: by which columns of the dump all of it is given for each group too.
    """

    def __init__(self, ks: Sequence[int] | None = None, *, grouping: Grouping | None = None) -> None:
        self._groups: Groups[AppsSummary] = Groups(grouping or Grouping(), lambda: AppsSummary(ks))
        self.refused = Refusals()
        self.pending = 0
        self.ks = ks
        self._solutions: list[JudgedProgram] = []
        self._invalid: dict[str, str] = {}
        self._verdicts: Counter[str] = Counter()
        self._extraction: Counter[str] = Counter()
        self._isolation: Counter[str] = Counter()
        self._targets: Counter[str] = Counter()
        self._pythons: Counter[str] = Counter()
        self._undecided: list[dict[str, Any]] = []
        self._failures = Refusals()
        self._lacking: Counter[str] = Counter()
        self._copies = 0
        self._near_limit = 0
        self._cpu_s = 0.0

    def add(self, entry: JudgeableSample, found: Found[AppsResult]) -> None:
        """Take in a submission."""
        if (group := self._groups.of(entry.row.values)) is not None:
            group.add(entry, found)
        result, listed = found.result, entry.candidate.listed
        self._solutions.append(_solution(listed.id, listed.difficulty, result))
        self._verdicts[result.verdict] += 1
        self._extraction[entry.candidate.submission.extraction] += 1
        self._copies += found.duplicate_of is not None
        self._near_limit += _is_near_limit(result)
        self._lacking.update({lacks[1] for test in result.tests if (lacks := _LACKS.match(test.returned.report.error))})
        if result.score is None:
            name = entry.candidate.submission.id
            if len(self._undecided) < EXAMPLES:
                self._undecided.append({"submission": name, "problem": listed.id, "error": result.message})
            self._failures.add(result.message, f"{name} (problem {listed.id})")
        if found.duplicate_of is None:
            self._isolation.update([result.isolation] if result.isolation else [])
            self._targets.update([result.target] if result.target else [])
            self._pythons.update([result.python] if result.python else [])
            self._cpu_s += sum(test.time_s or 0.0 for test in result.tests)

    def refuse(self, entry: Refused) -> None:
        """Take in a row that was not judged."""
        if (group := self._groups.of(entry.row.values)) is not None:
            group.refuse(entry)
        if isinstance(entry, Invalid):  # of the problem, not of the row: it is said once
            self._invalid[entry.listed.id] = entry.listed.difficulty
            self.refused.add(entry.kind, f"problem {entry.listed.id} cannot be judged: {entry.listed.refusal}")
        else:
            self.refused.add(entry.kind, entry.message)

    @property
    def by(self) -> tuple[str, ...]:
        """The columns by which programs are grouped."""
        return self._groups.grouping.columns

    def postpone(self, row: Mapping[str, Any]) -> None:
        """Take in a program of a row that is not judged yet."""
        self.pending += 1
        if (group := self._groups.of(row)) is not None:
            group.pending += 1

    @property
    def undecided(self) -> int:
        """Submissions that we failed to judge."""
        return sum(solution.passed is None for solution in self._solutions)

    @property
    def complete(self) -> bool:
        """Whether every row of the dump has been judged."""
        return not (self.undecided or self.pending or self.refused.counts)

    def as_dict(self, run: RunFacts) -> dict[str, Any]:
        """All of it, for JSON."""
        lines = self._lines()
        return {
            **heading(FORMAT, run, complete=self.complete),
            "judged_by": run.options.get("judged_by"),
            **self._scores(lines),
            "undecided": self._undecided,
            "failures": self._failures.as_list(),
            "refused": self.refused.as_list(),
            "invalid_problems": sorted(self._invalid),
            "extraction": dict(self._extraction),
            "isolation": dict(self._isolation),
            "targets": dict(self._targets),
            "interpreters": dict(self._pythons),
            "near_limit": self._near_limit,
            "cpu_s": round(self._cpu_s, 3),
            "this_run": this_run(run),
            "options": dict(run.options),
            "by": list(self.by),
            "groups": self._groups.as_list(lambda group: group._scores(group._lines())),
            "notes": [*run.notes, *self._missing_ks(lines), *self._missing_modules(), *self._groups.notes],
        }

    def _lines(self) -> tuple[Line, ...]:
        return summarize(self._solutions, ks=self._chosen_ks(), invalid=Counter(self._invalid.values()))

    def _scores(self, lines: Sequence[Line]) -> dict[str, Any]:
        """What all programs, or those of a group, are worth."""
        refused = self.refused.counts.total()
        return {
            "submissions": {
                "rows": len(self._solutions) + refused + self.pending,
                "scored": len(self._solutions) - self.undecided,
                "undecided": self.undecided,
                "refused": refused,
                "pending": self.pending,
                "copies": self._copies,
            },
            "verdicts": {v.value: self._verdicts[v] for v in Verdict if self._verdicts[v]},
            "difficulties": [_line(line) for line in lines],
        }

    def _chosen_ks(self) -> tuple[int, ...]:
        """Those that were asked for; else those for which the problem with the fewest samples has enough."""
        if self.ks is not None:
            return tuple(dict.fromkeys(self.ks))
        counts = Counter(solution.problem for solution in self._solutions if solution.passed is not None)
        least = min(counts.values(), default=1)
        return tuple(k for k in KS if k == 1 or k <= least)

    def _missing_modules(self) -> list[str]:
        """What programs import and the interpreter has not: it may be no fault of theirs."""
        return [
            f"{counted(count, 'program')} failed because there is no module {name}: if it should be there, install it "
            "where programs are run, or give another interpreter with --python"
            for name, count in self._lacking.most_common(_MOST_MODULES)
        ]

    def _missing_ks(self, lines: Sequence[Line]) -> list[str]:
        """Why a pass@k that was asked for is not there."""
        if self.ks is None:
            return []
        whole = next((line for line in lines if line.difficulty == ALL), None)
        if whole is None or not whole.problems:
            return []
        counts = Counter(solution.problem for solution in self._solutions if solution.passed is not None)
        problem, least = min(counts.items(), key=lambda item: item[1])
        return [
            f"pass@{k} is not reported: each problem must have {k} judged programs, and {problem} has {least}"
            for k, estimate in whole.pass_at.items()
            if estimate is None
        ]


def this_run(run: RunFacts) -> dict[str, Any]:
    """What a run did and took."""
    return {
        "judged": run.judged,
        "copies": run.copies,
        "resumed": run.resumed,
        "workers": run.workers,
        "wall_s": round(run.wall_s, 3),
        "cpu_s": round(run.cpu.total, 3),
    }


def _solution(problem: str, difficulty: str, result: AppsResult) -> JudgedProgram:
    """For the table; where a grader passes or fails a row without a test, that is one test."""
    if result.score is None:
        return JudgedProgram(problem=problem, difficulty=difficulty, passed=None, total=result.total)
    if not result.total:
        return JudgedProgram(problem=problem, difficulty=difficulty, passed=int(result.verdict is Verdict.AC), total=1)
    return JudgedProgram(problem=problem, difficulty=difficulty, passed=result.passed, total=result.total)


def _line(line: Line) -> dict[str, Any]:
    return {
        "difficulty": line.difficulty,
        "problems": line.problems,
        "submissions": line.solutions,
        "undecided": line.unjudged,
        "invalid_problems": line.invalid,
        "test_case_average": line.test_case_average and line.test_case_average.as_dict(),
        "strict_accuracy": line.strict_accuracy and line.strict_accuracy.as_dict(),
        "pass_at_k": {str(k): value.as_dict() for k, value in line.pass_at.items() if value is not None},
    }
