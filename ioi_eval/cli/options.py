"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ioi_eval.model.terms import Isolation

_SOURCE = "a .jsonl, .jsonl.gz or .parquet file, a folder of them, a saved data set, or a Hub id"

Problems = Annotated[str, typer.Option("--problems", metavar="P", help=f"The problems: {_SOURCE} (open-r1/ioi).")]
Tests = Annotated[str, typer.Option("--tests", metavar="T", help=f"Their tests: {_SOURCE} (open-r1/ioi-test-cases).")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        help="Jobs at once; by default the processors (of a container its quota), or a cluster's slots.",
    ),
]
IdColumn = Annotated[
    str, typer.Option("--id-column", metavar="C", help="The column that names a submission within its problem.")
]
NoResume = Annotated[
    bool, typer.Option("--no-resume", help="Start over; the journal of earlier runs is kept beside the new one.")
]
Years = Annotated[
    list[int] | None, typer.Option("--year", metavar="Y", help="Only problems of this year; may be repeated.")
]
ProblemIds = Annotated[
    list[str] | None, typer.Option("--problem", metavar="ID", help="Only this problem; may be repeated.")
]
LeastIsolation = Annotated[
    Isolation | None,
    typer.Option(
        "--isolation", help="The weakest isolation that is accepted, reduced by default; none is for trusted code only."
    ),
]
Std = Annotated[
    str | None,
    typer.Option("--std", metavar="S", help="A C++ standard (gnu++20) for all, instead of each problem's own."),
]
Python = Annotated[
    str,
    typer.Option("--python", metavar="EXE", help="The interpreter of submissions in Python, where they are run."),
]
TimeScale = Annotated[
    str,
    typer.Option(
        "--time-scale",
        metavar="auto|X",
        help="Multiply time limits by X; auto: by what `doctor --calibrate` measured on this machine.",
    ),
]
NearLimitRepeats = Annotated[
    int,
    typer.Option(
        "--near-limit-repeats",
        metavar="N",
        min=1,
        max=100,
        help="Of a program that is late by 10 % of the limit or less the best of up to N times alone counts.",
    ),
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the results go; made if absent.")]
Bar = Annotated[
    bool | None,
    typer.Option("--progress/--no-progress", help="A progress bar; on a terminal by default, else a line a minute."),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="Give all numbers also for each group of rows that have the same there (model,temperature; a.b for a"
        " field). By default a column that names the model, if there is one; none for no groups.",
    ),
]
