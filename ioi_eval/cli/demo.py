"""`ioi-eval demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ioi_eval.cli import options


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the results go.")] = Path("ioi-eval-demo"),
    workers: options.Workers = None,
    progress: options.Bar = None,
) -> int:
    """Score the sample contest: four small tasks, and what a model might have written for them."""
    from ioi_eval import sample
    from ioi_eval.cli import scoring
    from ioi_eval.cli.sandboxes import Place

    return scoring.score(
        scoring.Call(
            dumps=(str(sample.dump()),),
            problems=str(sample.problems()),
            tests=str(sample.tests()),
            out=out,
            place=Place(workers=workers),
            bar=progress,
        )
    )
