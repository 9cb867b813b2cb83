"""The summary of results for APPS, from the results alone: what `ioi-eval report` writes into `summary.json`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ioi_eval.apps.catalog import Listed
from ioi_eval.apps.codec import milliseconds
from ioi_eval.apps.intake import AppsCandidate, JudgeableSample
from ioi_eval.apps.outcomes import AppsResult
from ioi_eval.apps.results import AppsSummary
from ioi_eval.errors import InputError
from ioi_eval.journal import keys_of
from ioi_eval.model import Isolation, Report, Returned, TestOutcome, Verdict
from ioi_eval.pipeline.intake import Refused
from ioi_eval.pipeline.ledger import Found
from ioi_eval.problems.apps_submissions import AppsSubmission, Sample
from ioi_eval.problems.row import Row as SourceRow
from ioi_eval.report.groups import Grouping
from ioi_eval.report.remade import OF_THE_RUN, facts_of, grouping_of_runs, take_from_run

_PLACE = re.compile(r"^.*?, row \d+: ")

Row = Mapping[str, Any]


def remade_apps_summary(
    rows: Iterable[Row],
    *,
    summaries: Sequence[Row],
    directories: Sequence[str],
    grouping: Grouping | None = None,
) -> dict[str, Any]:
    """What the rows of some directories come to.

    Args:
        rows: of `results.jsonl`, with their tests.
        summaries: the summaries that stand beside them; an empty one where there is none.
        directories: their names.
        grouping: by which columns of these rows; by default those of the runs.

    Raises:
        InputError: a row is none of results for APPS.
    """
    ks = [int(k) for one in summaries for line in one.get("difficulties", ()) for k in line.get("pass_at_k", ())]
    summary = AppsSummary(
        tuple(sorted(set(ks))) if len(summaries) == 1 and ks else None,
        grouping=grouping or grouping_of_runs(summaries),
    )
    judged_by: dict[str, None] = {}
    for number, row in enumerate(rows, 1):
        try:
            if row["verdict"] is None:
                error = str(row["error"])
                summary.refuse(Refused(row=_source_row(row), kind=_PLACE.sub("", error), message=error))
            else:
                judged_by[str(row["judged_by"])] = None
                summary.add(*_judged(row))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"row {number} of {', '.join(directories)} is no row of results ({type(error).__name__}: {error})"
            ) from error
    summary.pending = sum((one.get("submissions") or {}).get("pending", 0) for one in summaries)
    values = summary.as_dict(facts_of(summaries, directories))
    values["judged_by"] = ", ".join(judged_by) or None
    before = summaries[0]
    if len(summaries) == 1 and all(values[name] == before.get(name) for name in ("submissions", "verdicts")):
        names = (*OF_THE_RUN, "judged_by", "difficulties", "invalid_problems")
        take_from_run(values, before, names, regrouped=grouping is not None)
    return values


def _judged(row: Row) -> tuple[JudgeableSample, Found[AppsResult]]:
    """The submission of a row, and what became of it."""
    problem = str(row["problem_id"])
    submission = AppsSubmission(id=row["submission"], problem=problem, code=None, extraction=row["extraction"])
    listed = Listed(
        id=problem,
        instance_id=row["instance_id"],
        difficulty=row["difficulty"] or "",
        tests=row["total"],
        digest="",
        fault=None,
        refusal="",
        offset=0,
        size=0,
    )
    candidate = AppsCandidate(
        listed=listed,
        submission=submission,
        fingerprint=row["fingerprint"],
        keys=keys_of(problem, submission.id, row["fingerprint"]),
        most_s=0.0,
    )
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
    entry = JudgeableSample(
        row=_source_row(row),
        sample=Sample(column="code", value=None, number=None),
        candidate=candidate,
    )
    return entry, Found(result=result, duplicate_of=row["duplicate_of"])


def _source_row(row: Row) -> SourceRow:
    return SourceRow(source="results.jsonl", number=1, values=row)


def _test(test: Row) -> TestOutcome:
    time_s = test.get("time_s")
    return TestOutcome(
        test=str(test["test"]),
        verdict=Verdict(test["verdict"]),
        score=float(test.get("passed") is True),
        cpu_ms=None if time_s is None else milliseconds(time_s),
        near_limit=bool(test.get("near_limit")),
        returned=Returned(report=Report(error=test.get("message", ""))),
    )
