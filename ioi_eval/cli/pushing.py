"""Pushing results to the Hub: `--push-to-hub` of `score` and `apps score`, and RESULTS of `run-tests`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ioi_eval.cli.exits import FAILED
from ioi_eval.cli.messages import tell
from ioi_eval.errors import InputError
from ioi_eval.report.frame import PAGE, REPORT, SUMMARY
from ioi_eval.report.hub import HubResults
from ioi_eval.report.texts import counted

if TYPE_CHECKING:
    from ioi_eval.cli.run_call import RunOptions
    from ioi_eval.pipeline import DumpOutcome

_REPORTS = (REPORT, PAGE, SUMMARY)


def push(
    hub: HubResults,
    config: str,
    call: RunOptions,
    outcome: DumpOutcome,
    *,
    pages: Mapping[str, Path] | None = None,
    replace: bool = False,
) -> int:
    """Push what a run has written, unless it ended early. Returns the exit code: 1 if that failed.

    Args:
        config: the configuration of that data set that gets the rows; each dump has one.
        pages: the files that are pushed too, by their paths there; by default the run's reports.
        replace: remove the rows there that are not in this dump.
    """
    kept = ", and keeps the rows that RESULTS already has" if replace else ""
    if outcome.interrupted or outcome.stopped_by:
        reason = "interrupted" if outcome.interrupted else f"stopped early ({outcome.stopped_by})"
        tell(f"{reason}: {config} is not pushed to {hub.name}; a run that continues this one pushes it{kept}")
        return 0
    if pages is None:
        paths = {name: call.out / name for name in _REPORTS}
        pages = {f"reports/{config}/{name}": path for name, path in paths.items() if path.is_file()}
    try:
        others = hub.push(config, call.out, pages, id_column=call.id_column, replace=replace)
    except InputError as error:
        without = " without --no-resume (of run-tests, --override)" if call.no_resume else ""
        again = f"the same command{without} pushes them without judging again{kept}"
        tell(f"{error}; the results are in {call.out}, and {again}")
        return FAILED
    more = f"; kept there: {counted(others, 'row')} not of this dump" if others else ""
    print(f"Pushed:  {hub.name}, configuration {config}{more}", flush=True)
    return 0
