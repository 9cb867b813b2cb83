"""Options that the commands of `ioi-eval apps` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Dump = Annotated[
    str,
    typer.Argument(
        metavar="DUMP",
        help="The programs: rows with problem_id and code, generation or messages (or lists of them); a solution.py"
        " (with -t ID); a folder of ID/solution.py.",
    ),
]
Dumps = Annotated[
    list[str],
    typer.Argument(
        metavar="DUMP...",
        help="The programs: rows with problem_id and code, generation or messages (or lists of them); a solution.py"
        " (with -t ID); a folder of ID/solution.py; or several of these.",
    ),
]
Dataset = Annotated[
    str,
    typer.Option(
        "--dataset",
        metavar="SRC",
        help="The problems: a .jsonl, .jsonl.gz or .parquet file, a folder of them, a saved data set, or a Hugging Face"
        " Hub id (codeparrot/apps).",
    ),
]
Split = Annotated[
    str | None,
    typer.Option("--split", metavar="S", help="The split to read; by default test if there is one, else train."),
]
Difficulties = Annotated[
    list[str] | None,
    typer.Option("--filter-difficulty", metavar="D", help="Only problems of this difficulty; may be repeated."),
]
Tasks = Annotated[
    list[str] | None,
    typer.Option("-t", "--task", metavar="ID", help="Only this problem (42 or apps_42); may be repeated."),
]
SampleSize = Annotated[int | None, typer.Option("-n", "--sample", metavar="N", min=1, help="Only N of these problems.")]
SamplingHow = Annotated[
    str | None,
    typer.Option(
        "--sampling",
        metavar="HOW",
        help="How to choose N problems: sequential (the first N; default), random, or stratified by difficulty.",
    ),
]
Seed = Annotated[
    int | None, typer.Option("--seed", metavar="S", help="Seed for --sampling random or stratified; 0 by default.")
]
HowCompared = Annotated[
    str,
    typer.Option(
        "--comparator",
        metavar="C",
        help="How to compare an output with the answer: exact, lines, tokens, float:ABS[:REL], case-insensitive,"
        " unordered-lines, or checker:FILE.",
    ),
]
Compat = Annotated[
    str | None,
    typer.Option(
        "--compat",
        metavar="P",
        help="Give another grader's verdicts: hendrycks, eval-protocol, eval-protocol-page, livecodebench or mcpbr.",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout", metavar="S", help="CPU seconds for a test; by default 10, or the limit of the grader in --compat."
    ),
]
Memory = Annotated[int, typer.Option("--memory", metavar="MIB", help="Resident memory for a test, in MiB.")]
Python = Annotated[
    str,
    typer.Option(
        "--python", metavar="EXE", help="The Python to run programs with, as found on the machine that runs them."
    ),
]
Exclude = Annotated[
    list[Path] | None,
    typer.Option(
        "--exclude", metavar="FILE", help="Leave out the problems that this list excludes; apps audit writes it."
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "-c",
        "--config",
        metavar="YAML",
        help="A configuration file of mcpbr: its sample_size, timeout_seconds, filter_difficulty, task_ids,"
        " sampling_strategy, random_seed are used. Options of the command take precedence.",
    ),
]
FailFast = Annotated[
    bool,
    typer.Option("--fail-fast", help="Stop at a program's first failed test; its other tests count as not passed."),
]
Conventions = Annotated[
    bool,
    typer.Option(
        "--conventions",
        help="Run programs as the data set's own solutions need it: a top-level return ends the program, and "
        "__starting_point is called.",
    ),
]
PassAt = Annotated[
    list[int] | None,
    typer.Option("--pass-at", metavar="K", min=1, help="Report pass@K; may be repeated. By default all possible K."),
]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Judge programs again at which the comparator's checker failed.")
]
