"""Makes the summary of results for APPS from the result files alone, for `ioi-eval report`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ioi_eval.apps.result import AppsResult, milliseconds
from ioi_eval.apps.result_rows import failure_reason_of
from ioi_eval.apps.summary import AppsSummary, JudgedSample
from ioi_eval.model import HarnessReport, Isolation, RunDetails, TestOutcome, Verdict
from ioi_eval.problems.apps_submissions import AppsSubmission, Sample
from ioi_eval.report.groups import Grouping
from ioi_eval.report.remade import OF_THE_RUN, add_up, are_the_same, facts_of, grouping_of_runs, take_from_run

Row = Mapping[str, Any]


def remade_apps_summary(
    rows: Iterable[Row],
    *,
    summaries: Sequence[Row],
    directories: Sequence[str],
    grouping: Grouping | None = None,
) -> dict[str, Any]:
    """The summary of the rows of one or more directories.

    Args:
        rows: of `results.jsonl`, with their tests.
        summaries: the summaries in the same directories; an empty one if there is none.
        directories: their names.
        grouping: the columns of these rows that make groups; by default those of the runs.

    Raises:
        InputError: a row is not a result for APPS.
    """
    ks = [int(k) for each in summaries for line in each.get("difficulties", ()) for k in line.get("pass_at_k", ())]
    summary = AppsSummary(
        tuple(sorted(set(ks))) if len(summaries) == 1 and ks else None,
        grouping=grouping or grouping_of_runs(summaries),
    )
    judged_by: dict[str, None] = {}

    def add(row: Row) -> None:
        judged_by[str(row["judged_by"])] = None
        summary.add(_judged(row), row)

    add_up(summary, rows, add, summaries=summaries, directories=directories)
    values = summary.as_dict(facts_of(summaries, directories))
    values["judged_by"] = ", ".join(judged_by) or None
    if len(summaries) == 1 and are_the_same(values, summaries[0]):
        names = (*OF_THE_RUN, "judged_by", "difficulties", "invalid_problems")
        take_from_run(values, summaries[0], names, regrouped=grouping is not None)
    return values


def _judged(row: Row) -> JudgedSample:
    """The submission of a row, with its result."""
    problem = str(row["problem_id"])
    result = AppsResult(
        problem=problem,
        verdict=Verdict(row["verdict"]),
        passed=row["passed"] or 0,
        total=row["total"],
        tests=tuple(_test(test) for test in row.get("test_results") or ()),
        judged_by=row["judged_by"],
        message=row["message"] or "",
        isolation=None if row["isolation"] is None else Isolation(row["isolation"]),
        target=row["target"] or "",
        python=row["python"] or "",
    )
    submission = AppsSubmission(id=row["submission"], problem=problem, code=None, extraction=row["extraction"])
    column = next((name for name in ("generation", "messages") if row.get(name) is not None), "code")
    sample = Sample(column=column, value=row.get(column), number=None)
    return JudgedSample(
        problem=problem,
        difficulty=row["difficulty"] or "",
        submission=submission,
        result=result,
        reason=failure_reason_of(result.verdict, submission, sample),
        duplicate_of=row["duplicate_of"],
    )


def _test(test: Row) -> TestOutcome:
    time_s = test.get("time_s")
    return TestOutcome(
        test=str(test["test"]),
        verdict=Verdict(test["verdict"]),
        score=float(test.get("passed") is True),
        cpu_ms=None if time_s is None else milliseconds(time_s),
        near_limit=bool(test.get("near_limit")),
        returned=RunDetails(report=HarnessReport(error=test.get("message", ""))),
    )
