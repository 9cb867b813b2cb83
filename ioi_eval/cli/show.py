"""`ioi-eval show`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from ioi_eval.cli import options
from ioi_eval.cli.grouped import OptionGroup, grouped
from ioi_eval.cli.sandboxes import SandboxOptions, sandbox_options_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCall:
    """What the user asks for: a group of options."""

    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Results, as score or apps score wrote them.")]
    submission: Annotated[
        str | None, typer.Argument(metavar="ID", help="The submission; without one, all are listed.")
    ] = None
    test: Annotated[
        str | None,
        typer.Option("--test", metavar="T", help="The test to look at; by default the one that gave the verdict."),
    ] = None
    problem: Annotated[
        str | None,
        typer.Option("--problem", metavar="P", help="Only submissions for this problem (nile, or 2024/nile)."),
    ] = None
    verdict: Annotated[
        str | None, typer.Option("--verdict", metavar="V", help="List only submissions with this verdict.")
    ] = None
    rerun: Annotated[
        bool, typer.Option("--rerun", help="Judge it again and show what it prints; the results are not changed.")
    ] = False
    problems: Annotated[
        str | None,
        typer.Option("--problems", "--dataset", metavar="SRC", help="Where the problems are now, if they have moved."),
    ] = None
    tests: Annotated[
        str | None, typer.Option("--tests", metavar="SRC", help="Where the tests are now, if they have moved.")
    ] = None
    id_column: options.IdColumnOfRun = None
    most: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="List at most N submissions.")] = 50
    sandbox: Annotated[SandboxOptions, OptionGroup(sandbox_options_of)] = field(default_factory=SandboxOptions)


@grouped(call=ShowCall)
def show(call: ShowCall) -> int:
    """Show one submission, or list the submissions.

    For one submission it shows the program, the compiler's message and every test; of a failing test the input, the
    expected output, and the first difference if the output is known. Inputs and expected outputs are read from the
    sources of the run. The beginning of an output is known if the run kept it (`score --keep`), or with --rerun, which
    judges the program again.
    """
    from ioi_eval.cli.showing import show as show_submission

    return show_submission(call)
