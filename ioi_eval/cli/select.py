"""`ioi-eval select`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ioi_eval.cli import options
from ioi_eval.cli.grouped import argument, option
from ioi_eval.selection import SelectionMethod


def select(
    directory: Annotated[Path, argument("DIR", "Results of contest problems: those of score, or of huggingface/ioi.")],
    *,
    selection: Annotated[
        list[SelectionMethod] | None,
        option(
            "--selection METHOD",
            "single, all, round-robin, first, random, oracle, or reference (as the code of huggingface/ioi chooses);"
            " may be repeated. All but reference by default.",
        ),
    ] = None,
    limit: Annotated[int, option("--limit N", "How many submissions count for each problem.", min=1)] = 50,
    seeds: Annotated[int, option("--seeds K", "How often --selection random draws.", min=1)] = 100,
    standings: options.StandingsFile = None,
    by: options.By = None,
    id_column: options.IdColumnOfRun = None,
    as_json: options.AsJson = False,
) -> int:
    """Print the scores if only N submissions count for each problem.

    Several methods choose these submissions. With --standings it also prints which medal and rank their points would
    get among the contestants.
    """
    import json
    from dataclasses import asdict

    from ioi_eval.cli.sources import opened_results
    from ioi_eval.report.groups import grouping_of
    from ioi_eval.report.selection_table import DEFAULT_METHODS, selection_table, selection_text
    from ioi_eval.report.standings import no_contest, read_standings
    from ioi_eval.rows import open_source

    methods = tuple(dict.fromkeys(selection or DEFAULT_METHODS))
    [results] = opened_results(directory, id_column=id_column)
    grouping = grouping_of([open_source(results.path)], by)
    beside = read_standings(standings)
    groups = selection_table(results, methods, limit=limit, seeds=seeds, grouping=grouping, standings=beside)
    if standings is not None and not any(group["contests"] for group in groups):
        raise no_contest(standings, beside, str(results.path))
    if as_json:
        print(json.dumps({"limit": limit, "seeds": seeds, "groups": groups}, default=asdict, indent=2))
    else:
        print(selection_text(groups, methods, limit=limit))
    return 0
