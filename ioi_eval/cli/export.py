"""`ioi-eval export`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ioi_eval.cli import options
from ioi_eval.cli.grouped import grouped


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportCall:
    """What the user asks for: a group of options."""

    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Results, as score or apps score wrote them.")]
    to: Annotated[
        str,
        typer.Option("--to", metavar="FORMAT", help="parquet, junit, inspect, eval-results or every-eval-ever."),
    ]
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="PATH", help="The file, or the folder of files; by default one in DIR."),
    ] = None
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the format (model=o3); may be repeated."),
    ] = None
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="COLUMN",
            help="Write one file for each group of rows with the same values in these columns (model,temperature; a.b "
            "for a field); junit: add the group to the names of classes. By default, the column that names the model, "
            "if there is one. `--by none`: no groups.",
        ),
    ] = None
    id_column: options.IdColumnOfRun = None


@grouped(call=ExportCall)
def export(call: ExportCall) -> int:
    """Write results in another program's format.

    Nothing is judged. parquet: one table of all rows. junit: XML for a CI, one suite per problem. One file for each
    model: inspect (a log for `inspect view`), eval-results (YAML for the model's page on the Hub), every-eval-ever
    (JSON for its datastore).
    """
    from ioi_eval.cli.exporting import write_export

    return write_export(call)
