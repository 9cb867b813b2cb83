"""`ioi-eval merge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ioi_eval.cli.grouped import argument, option
from ioi_eval.cli.messages import tell

_NAMED = 20  # how many conflicts are shown


def merge(
    directories: Annotated[
        list[Path], argument("DIR", "Result directories (the --out of a run), each with a journal.")
    ],
    out: Annotated[Path, option("--out DIR", "The directory for the joined journal.")],
) -> int:
    """Join the journals of several runs into one.

    The runs may be of parts of a dump, or of several dumps. Afterwards run the command that judged them, with all rows
    and this --out DIR. It judges what no journal has, and what was judged on other targets or by other limits or rules,
    and writes the results. If two runs disagree about a program, both results are printed, that of the directory named
    first counts, and the exit code is 1.
    """
    from ioi_eval.journal import merging
    from ioi_eval.report.texts import counted

    merged = merging.merge(directories, out)
    tell(*merged.notes, *merged.conflicts[:_NAMED])
    if (more := len(merged.conflicts) - _NAMED) > 0:
        tell(f"and {counted(more, 'conflict')} more")
    print(
        f"{out}: {counted(merged.results, 'result')}, {merged.copies} {'copy' if merged.copies == 1 else 'copies'}, "
        f"{counted(merged.failures, 'failure')} of judge programs; left out, because they were there already: "
        f"{merged.left_out}"
    )
    if merged.unknown:
        print(f"Copies of programs that no run has judged: {merged.unknown}. The next run judges them.")
    if merged.conflicts:
        print(f"{counted(len(merged.conflicts), 'conflict')}: the directory that is named first counts.")
    print(f"Now start `{merged.command or merging.CONTEST}` with all rows and --out {out}: it writes the results.")
    return 1 if merged.conflicts else 0
