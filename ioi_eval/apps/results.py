"""The rows of `results.jsonl`, with the dump's columns and ours; and the summary of all results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ioi_eval.apps.catalog import Listed
from ioi_eval.apps.dump_reader import JudgeableSample
from ioi_eval.apps.outcomes import AppsResult
from ioi_eval.apps.summary import DifficultyTable
from ioi_eval.model import Language, TestOutcome, Verdict
from ioi_eval.pipeline.dump_reader import Refused
from ioi_eval.pipeline.result_store import RecordedResult
from ioi_eval.problems.apps_submissions import PROGRAM_COLUMNS, AppsSubmission, Sample, text_of
from ioi_eval.report.compact import TEST_RESULTS
from ioi_eval.report.failure_reasons import failure_reason
from ioi_eval.report.groups import Grouping
from ioi_eval.report.rows import dump_columns
from ioi_eval.report.run_summary import Refusals, RunFacts, RunSummary, verdict_counts
from ioi_eval.report.tally import KS
from ioi_eval.report.texts import counted

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
"""Our columns of a row; the others (the problem's, the program's) have the same meaning as in a dump."""
_RESULTS = frozenset(RESULT_COLUMNS)

_LACKS = re.compile(r"ModuleNotFoundError\(\"No module named '(\w+)")
_MAX_MODULES = 5


def refused_row(entry: Refused) -> dict[str, Any]:
    """The row of a submission that was not judged: our columns are empty, even if the dump has values for them."""
    empty: dict[str, Any] = dict.fromkeys(RESULT_COLUMNS)
    return {**empty, **dump_columns(entry.row.values, _RESULTS), TEST_RESULTS: [], "error": entry.message}


def result_row(entry: JudgeableSample, judged: RecordedResult[AppsResult]) -> dict[str, Any]:
    """The row of a submission, with its tests."""
    result, candidate = judged.result, entry.candidate
    columns = {name: value for name, value in entry.row.values.items() if name not in PROGRAM_COLUMNS}
    given = {} if entry.sample.column == "code" else {entry.sample.column: entry.sample.value}
    message = result.message
    if result.verdict is Verdict.NC and (reason := failure_reason_of(Verdict.NC, candidate.submission, entry.sample)):
        message = ": ".join(filter(None, (message, reason)))
    return {
        **dump_columns(columns, _RESULTS),
        **given,
        "submission": candidate.submission.id,
        "problem_id": candidate.problem.id,
        "instance_id": candidate.problem.instance_id,
        "difficulty": candidate.problem.difficulty,
        "code": candidate.submission.code,
        "extraction": candidate.submission.extraction,
        **judged_columns(result),
        "message": message,
        "duplicate_of": judged.duplicate_of,
        "fingerprint": candidate.fingerprint,
        "error": error_of(result),
    }


def failure_reason_of(verdict: Verdict, submission: AppsSubmission, sample: Sample) -> str:
    """Why a sample has no program, or none that compiles; empty if the row does not show it."""
    if verdict not in {Verdict.NC, Verdict.CE} or submission.extraction not in {"none", "column:code"}:
        return ""
    is_code = sample.column == "code"
    return failure_reason(
        verdict,
        code=sample.value if is_code else None,
        text=None if is_code else text_of(sample),
        language=Language.PYTHON,
        source="as all programs for APPS",
    )


def error_of(result: AppsResult) -> str | None:
    """Why there is no score; `None` if there is one."""
    return result.message if result.score is None else None


def judged_columns(result: AppsResult) -> dict[str, Any]:
    """The columns of a row with the program's result and tests."""
    graded = result.graded
    return {
        "verdict": result.verdict,
        "score": result.score,
        "passed": result.passed if result.score is not None else None,
        "total": result.total,
        "resolved": None if result.score is None else result.verdict is Verdict.AC,
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
    row["output"] = test.printed_text
    if test.passed is not True:
        row["stderr"] = test.stderr
    if (code := result.code_of(test)) is not None:
        row["code"] = code
    return row


def _is_near_limit(result: AppsResult) -> bool:
    """Whether the time of a test was so close to the limit that another machine may decide otherwise."""
    return any(test.near_limit for test in result.tests)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSample:
    """A program and its result.

    Args:
        problem: the problem's id.
        difficulty: of the problem.
        submission: the program.
        result: the result; a copy has that of the submission that was judged in its place.
        reason: why it has no program, or none that compiles; empty if that is not known, or there is one.
        duplicate_of: the id of that submission; `None` if this is not a copy.
    """

    problem: str
    difficulty: str
    submission: AppsSubmission
    result: AppsResult
    reason: str = ""
    duplicate_of: str | None = None


class AppsSummary(RunSummary):
    """Sums up results of programs for APPS.

    Args:
        ks: of pass@k; `None` for those of a fixed list for which there are enough samples.
        grouping: the columns of the dump by which the summary has groups too.
    """

    def __init__(self, ks: Sequence[int] | None = None, *, grouping: Grouping | None = None) -> None:
        super().__init__(lambda: AppsSummary(ks), grouping)
        self.ks = ks
        self.passed_over: Callable[[], int] = lambda: 0  # rows for problems that were not selected
        self._table = DifficultyTable()
        self._invalid: dict[str, str] = {}
        self._verdicts: Counter[Verdict] = Counter()
        self._pythons: Counter[str] = Counter()
        self._failures = Refusals()
        self._lacking: Counter[str] = Counter()
        self._cpu_s = 0.0

    def add(self, judged: JudgedSample, row: Mapping[str, Any]) -> None:
        """Add a submission.

        Args:
            judged: the submission and its result.
            row: its row in the dump.
        """
        if (group := self._groups.of(row)) is not None:
            group.add(judged, row)
        result, problem, name = judged.result, judged.problem, judged.submission.id
        self._take(
            result,
            (name, problem),
            extraction=judged.submission.extraction,
            near_limit=_is_near_limit(result),
            reason=judged.reason,
            error=error_of(result),
            is_copy=judged.duplicate_of is not None,
        )
        passed, total = result.passed, result.total
        if not total:  # a grader judged a row without tests: this counts as one test
            passed, total = int(result.verdict is Verdict.AC), 1
        self._table.add(problem, judged.difficulty, passed=None if result.score is None else passed, total=total)
        self._verdicts[result.verdict] += 1
        self._lacking.update({lacks[1] for test in result.tests if (lacks := _LACKS.match(test.returned.report.error))})
        if result.score is None:
            self._failures.add(result.message, f"{name} (problem {problem})")
        if judged.duplicate_of is None:
            self._pythons.update([result.python] if result.python else [])
            self._cpu_s += sum(test.time_s or 0.0 for test in result.tests)

    def refuse_problem(self, listed: Listed, kind: str, row: Mapping[str, Any]) -> None:
        """Add a row for a problem that cannot be judged. The message is about the problem, so it is reported once."""
        self.refuse(kind, f"problem {listed.id} cannot be judged: {listed.refusal}", row)
        for summary in self._with_group(row):
            summary._invalid[listed.id] = listed.difficulty

    def _own(self, run: RunFacts) -> dict[str, Any]:
        return {
            "judged_by": run.options.get("judged_by"),
            "failures": self._failures.as_list(),
            "invalid_problems": sorted(self._invalid),
            "interpreters": dict(self._pythons),
            "cpu_s": round(self._cpu_s, 3),
        }

    def _notes(self) -> list[str]:
        over = self.passed_over()
        passed_over = [f"{counted(over, 'row')} skipped, for problems that were not selected"] if over else []
        return [*passed_over, *self._missing_ks(), *self._missing_modules()]

    def _scores(self, *, intervals: bool) -> dict[str, Any]:
        lines = self._table.lines(self._chosen_ks(), Counter(self._invalid.values()), intervals=intervals)
        return {"verdicts": verdict_counts(self._verdicts), "difficulties": lines}

    def _chosen_ks(self) -> tuple[int, ...]:
        """The given ks; else those for which every problem has enough samples."""
        if self.ks is not None:
            return tuple(dict.fromkeys(self.ks))
        least = min(self._table.judged.values(), default=1)
        return tuple(k for k in KS if k == 1 or k <= least)

    def _missing_modules(self) -> list[str]:
        """Modules that programs import but the interpreter does not have: this may not be the programs' fault."""
        return [
            f"{counted(count, 'program')} failed because there is no module {name}: if it should be there, install it "
            "where programs are run, or give another interpreter with --python"
            for name, count in self._lacking.most_common(_MAX_MODULES)
        ]

    def _missing_ks(self) -> list[str]:
        """Why a requested pass@k is missing."""
        counts = self._table.judged
        if self.ks is None or not counts:
            return []
        problem, least = min(counts.items(), key=lambda item: item[1])
        return [
            f"pass@{k} is not reported: each problem must have {k} judged programs, and {problem} has {least}"
            for k in self._chosen_ks()
            if k > least
        ]
