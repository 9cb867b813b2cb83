"""The summary of results for APPS, made again from the result files: `ioi-eval report` writes it to `summary.json`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ioi_eval.apps.result_rows import reason_of
from ioi_eval.apps.summary import AppsSummary
from ioi_eval.model import Verdict
from ioi_eval.report.compact import TEST_RESULTS
from ioi_eval.report.groups import Grouping
from ioi_eval.report.result_sets import ResultSet
from ioi_eval.report.result_values import NamedRow
from ioi_eval.report.summary_from_rows import grouping_of_runs, values_of_rows
from ioi_eval.selection import ResultRow


def apps_summary_from_rows(
    rows: Iterable[NamedRow], results: Sequence[ResultSet], grouping: Grouping | None
) -> dict[str, Any]:
    """The summary of the rows of some results, with their tests; by default with the groups of the runs.

    Raises:
        InputError: a row is not a result for APPS.
    """
    options = results[0].options if len(results) == 1 else {}
    summary = AppsSummary(options.get("pass_at"), grouping=grouping or grouping_of_runs(results))
    judged_by: dict[str, None] = {}

    def add(_: str, row: ResultRow) -> None:
        judged_by[str(row["judged_by"])] = None
        errors = [test.get("message", "") for test in row.get(TEST_RESULTS) or ()]
        summary.add(row, row, reason=reason_of(row, Verdict(row["verdict"]), row["extraction"]), errors=errors)

    remade = values_of_rows(summary, rows, add, results)
    remade["judged_by"] = ", ".join(judged_by) or remade["judged_by"]
    return remade
