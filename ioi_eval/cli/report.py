"""`ioi-eval report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    directories: Annotated[list[Path], typer.Argument(metavar="DIR...", help="What was given as --out to score.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Where the report goes: needed for several DIR, else DIR itself."),
    ] = None,
    id_column: Annotated[
        str,
        typer.Option("--id-column", metavar="C", help="The column that names a submission, where no summary says it."),
    ] = "uuid",
) -> int:
    """Make summary.json, report.md and report.html again, of results alone; nothing is judged.

    Several directories become one report, in which they, or the models that their rows name, are the groups. They are
    all of `score`, or all of `apps score`.
    """
    from ioi_eval.cli.reporting import remake

    return remake([path.parent if path.name == "results.jsonl" else path for path in directories], out, id_column)
