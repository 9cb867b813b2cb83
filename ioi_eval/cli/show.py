"""`ioi-eval show`."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from ioi_eval.cli import options
from ioi_eval.cli.grouped import OptionGroup, argument, option
from ioi_eval.cli.sandboxes import SandboxGroup, SandboxOptions
from ioi_eval.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCall:
    """What the user asks for: a group of options."""

    directory: Annotated[Path, argument("DIR", "Results, as score or apps score wrote them.")]
    submission: Annotated[
        str | None, argument("ID", "The submission; without one, submissions are listed, at most --limit.")
    ] = None
    test: Annotated[
        str | None, option("--test T", "The test to look at; by default the one that gave the verdict.")
    ] = None
    problem: Annotated[
        str | None,
        option("--problem P", "Only submissions for this problem (nile, or 2024/nile)."),
    ] = None
    verdict: Annotated[str | None, option("--verdict V", "List only submissions with this verdict.")] = None
    rerun: Annotated[
        bool, option("--rerun", "Judge the program again and show what it prints; the results are not changed.")
    ] = False
    problems: Annotated[
        str | None, option("--problems --dataset SRC", "Where the problems are now, if they have moved.")
    ] = None
    tests: Annotated[str | None, option("--tests SRC", "Where the tests are now, if they have moved.")] = None
    id_column: options.IdColumnOfRun = None
    most: Annotated[int, option("--limit N", "List at most N submissions.", min=1)] = 50
    sandbox: SandboxGroup = field(default_factory=SandboxOptions)


def show(context: typer.Context, call: Annotated[ShowCall, OptionGroup()]) -> int:
    """Show one submission, or list the submissions.

    For one submission it shows the program, the compiler's message and every test; of a failing test the input, the
    expected output, and the first difference if the output is known. Inputs and expected outputs are read from the
    sources of the run. The beginning of an output is known if the run kept it (`score --keep`), or with --rerun, which
    judges the program again.
    """
    from ioi_eval.cli.showing import show as show_submission

    if not call.rerun:
        _refuse_sandbox_options(context)
    return show_submission(call)


def _refuse_sandbox_options(context: typer.Context) -> None:
    """Refuse options of the sandbox that the user typed. Those of `ioi-eval.toml` are meant for calls with --rerun."""
    of_sandbox = inspect.signature(SandboxOptions).parameters
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in of_sandbox and source is not None and source.name == "COMMANDLINE":
            raise InputError(f"{parameter.opts[0]} has an effect only with --rerun: add --rerun, or leave it out")
