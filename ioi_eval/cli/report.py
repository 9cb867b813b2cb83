"""`ioi-eval report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ioi_eval.cli import options
from ioi_eval.cli.grouped import argument, option


def report(
    directories: Annotated[list[Path], argument("DIR", "Result directories (the --out of score or apps score).")],
    out: Annotated[
        Path | None, option("--out DIR", "The directory for the report; needed for several DIR, else DIR itself.")
    ] = None,
    by: Annotated[
        list[str] | None,
        option(
            "--by COLUMN",
            "Report all numbers also for each group of rows with the same values in these columns "
            "(model,temperature; a.b for a field). By default, those of the existing summary.json. `--by none`: no "
            "groups.",
        ),
    ] = None,
    standings: options.StandingsFile = None,
    id_column: options.IdColumnOfRun = None,
) -> int:
    """Make the reports again from results, without judging.

    They are summary.json, report.md and report.html. Several directories become one report. Its groups are the models
    that rows name; a model that occurs in several directories is a group in each of them (to join parts of one run, use
    merge). Rows that name no model are grouped by directory. All must be of `score`, or all of `apps score`.
    """
    from ioi_eval.cli.reporting import remake
    from ioi_eval.report.result_files import directory_of

    return remake(list(map(directory_of, directories)), out, id_column, by=by, standings=standings)
