"""`ioi-eval validate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ioi_eval.cli import options
from ioi_eval.cli.grouped import grouped
from ioi_eval.cli.options import ContestRules, time_scale_of
from ioi_eval.cli.sandboxes import Place, place_of
from ioi_eval.cli.watching import Watch

Solutions = Annotated[
    str | None, typer.Argument(metavar="SOLUTIONS", help="Rows with expected_subtasks, expected_total or expected.")
]
Against = Annotated[
    str | None,
    typer.Option(
        "--against", metavar="RESULTS", help="Results to compare with; without SOLUTIONS their programs are judged."
    ),
]
OutOrNone = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Write validation.json, validation.md and results.jsonl there, with a journal: after an interruption "
        "the same command continues.",
    ),
]


@grouped(rules=ContestRules, place=place_of, watch=Watch)
def validate(
    solutions: Solutions = None,
    *,
    problems: options.Problems,
    tests: options.Tests,
    against: Against = None,
    out: OutOrNone = None,
    no_resume: options.NoResume = False,
    id_column: options.IdColumn = "uuid",
    year: options.Years = None,
    problem: options.ProblemIds = None,
    place: Place,
    rules: ContestRules,
    keep_programs: options.KeepPrograms = None,
    watch: Watch,
) -> int:
    """Compare our verdicts with those that authors state.

    Official solutions are judged on every test, and compared with what their authors state, or with RESULTS of others.
    These have the columns all_subtasks_points and all_subtasks_results, as `score` and huggingface/ioi write them;
    their rows are matched by year, problem_id and label (or --id-column). Exit code 1 if a statement is contradicted,
    or a solution could not be judged.
    """
    from ioi_eval.cli import validating

    return validating.validate_solutions(
        validating.ValidateCall(
            solutions=solutions,
            against=against,
            problems=problems,
            tests=tests,
            out=out,
            resume=not no_resume,
            place=place,
            id_column=id_column,
            years=frozenset(year or ()),
            ids=frozenset(problem or ()),
            rules=rules,
            keep_programs=keep_programs,
            time_scale=time_scale_of(rules.time_scale, here=place.is_here),
            watch=watch,
        )
    )
