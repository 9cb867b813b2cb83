"""`ioi-eval merge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_NAMED = 20  # how many conflicts are shown


def merge(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="What was given as --out, each with a journal.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the journal of all goes.")],
) -> int:
    """Put what several runs have judged into one directory: shards of a dump, or several dumps.

    Then score all rows with --out DIR, by the command that judged them: it judges only what none of them has, and
    writes the results. Where two runs disagree about a program, the directory that is named first counts, both are
    shown, and the exit code is 1.
    """
    from ioi_eval.cli.sandboxes import tell
    from ioi_eval.journal import merging
    from ioi_eval.report.terminal import counted

    merged = merging.merge(directories, out)
    tell(*merged.notes, *merged.conflicts[:_NAMED])
    if more := len(merged.conflicts) - _NAMED:
        tell(*[f"and {counted(more, 'conflict')} more"] * (more > 0))
    print(
        f"{out}: {counted(merged.results, 'result')}, {merged.copies} copies, {merged.failures} failures of judge "
        f"programs; {merged.known} were there twice"
    )
    if merged.unknown:
        print(f"Of {merged.unknown} copies nobody has judged the program: they are judged by the next run.")
    if merged.conflicts:
        print(f"{counted(len(merged.conflicts), 'conflict')}: the directory that is named first counts.")
    print(f"Now start `{merged.command or merging.CONTEST}` with all rows and --out {out}: it writes the results.")
    return 1 if merged.conflicts else 0
