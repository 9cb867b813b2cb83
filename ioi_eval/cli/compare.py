"""`ioi-eval compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ioi_eval.cli import options
from ioi_eval.cli.grouped import argument, option


def compare(
    before: Annotated[Path, argument("A", "Results, as score or apps score wrote them.")],
    after: Annotated[Path, argument("B", "Results to compare with A; may be A, with --only-a and --only-b.")],
    *,
    by_problem: Annotated[
        bool,
        option("--by-problem", "Compare the means of problems; pair no submissions. For two models, or other samples."),
    ] = False,
    only_before: Annotated[str | None, option("--only-a COLUMN=VALUE", "Only these rows of A (model=o3).")] = None,
    only_after: Annotated[str | None, option("--only-b COLUMN=VALUE", "Only these rows of B.")] = None,
    id_column: options.IdColumnOfRun = None,
    fail_on_regression: Annotated[
        bool,
        option(
            "--fail-on-regression",
            "Exit code 1 if a submission is worse in B: a lower score, no longer AC, not judged, or missing; with"
            " --by-problem if the mean score fell by more than chance.",
        ),
    ] = False,
    as_json: options.AsJson = False,
    most: Annotated[int, option("--limit N", "List at most N changes.", min=1)] = 50,
) -> int:
    """Compare two sets of results.

    It lists the submissions whose verdict or score changed, with what else differs. Below are the means with intervals,
    and McNemar's test; if a run is not complete, the means only.
    """
    import json

    from ioi_eval.cli.exits import FAILED
    from ioi_eval.cli.sources import opened_results
    from ioi_eval.errors import InputError
    from ioi_eval.estimates import LEAST_PROBLEMS
    from ioi_eval.report.two_runs import RowFilter, compare_runs
    from ioi_eval.report.two_runs_text import comparison_json, comparison_text, names_of

    only_a, only_b = (RowFilter() if text is None else RowFilter.parse(text) for text in (only_before, only_after))
    a, b = opened_results(before, after, id_column=id_column)
    if fail_on_regression and (a.pending or b.pending):
        raise InputError("--fail-on-regression needs complete runs: judge the rest, then compare again")
    comparison = compare_runs(a, b, only=(only_a, only_b), by_problem=by_problem)
    if fail_on_regression and by_problem and comparison.with_points < LEAST_PROBLEMS:
        raise InputError(
            f"--fail-on-regression with --by-problem needs at least {LEAST_PROBLEMS} problems: with fewer, a difference"
            f" may be chance, and these have {comparison.with_points} in common"
            + " that are worth points"
            * (comparison.with_points < comparison.problems)
        )
    if as_json:
        print(json.dumps(comparison_json(comparison), indent=2))
    else:
        print(comparison_text(comparison, most=most, names=names_of(only_a, only_b)))
    return FAILED if fail_on_regression and comparison.regressed else 0
