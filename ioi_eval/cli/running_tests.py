"""What `run-tests` does: name the results of each data set, score all of them, write reports, push."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ioi_eval.cli import scoring
from ioi_eval.cli.dump_run import push
from ioi_eval.cli.messages import tell
from ioi_eval.cli.outputs import SCORE, EarlierResults
from ioi_eval.cli.run_tests import RunTestsCall
from ioi_eval.cli.score import ScoreCall
from ioi_eval.errors import InputError
from ioi_eval.events import Events
from ioi_eval.journal import options_of_first_run
from ioi_eval.pipeline import DumpOutcome
from ioi_eval.pipeline.writing import write_text
from ioi_eval.report.hub import HubResults, check_name
from ioi_eval.report.markdown_pages import INDEX, overview_page, write_pages
from ioi_eval.report.result_files import SUMMARY
from ioi_eval.report.texts import counted
from ioi_eval.rows import named_sources, result_names

RUN_TESTS = "ioi-eval run-tests"
REPORTS = "reports"
"""The directory of reports, here and on the Hub. Source: the reference."""


def run_tests(call: RunTestsCall, *, dry_run: bool = False) -> int:
    """Score all data sets, each into a directory of its own; with `dry_run` only print what would be judged."""
    if call.results_dataset_name is not None:
        check_name(call.results_dataset_name, advice="; the directory for results is named by --local_results_path")
    elif call.public:
        raise InputError("--public needs RESULTS, the data set on the Hub: name it, or leave --public out")
    calls = _calls(call)
    dumps = [each.dump for each in calls]
    tell(f"{counted(len(calls), 'data set')}: {', '.join(dumps)}")
    if dry_run:
        return scoring.dry_run_all(calls)
    return call.watch.run(
        RUN_TESTS,
        {"dumps": dumps, **call.as_dict()},
        lambda events: _score_all(call, calls, events),
        read=(*dumps, call.problems, call.tests),
    )


def _score_all(call: RunTestsCall, calls: Sequence[ScoreCall], events: Events) -> int:
    name = call.results_dataset_name
    hub = None if name is None else HubResults.open(name, public=call.public)
    return scoring.score_all(calls, after=partial(_add_pages, hub, call), events=events)


def _calls(call: RunTestsCall) -> tuple[ScoreCall, ...]:
    sources, common = named_sources(call.datasets_to_evaluate), call.common
    names = result_names(sources, {REPORTS: "", **_occupied(common.out)})
    return tuple(replace(common, dumps=[source], out=common.out / names[source]) for source in sources)


def _occupied(directory: Path) -> dict[str, str]:
    """The directories that already have results, or the journal of a run that was killed, each with its data set."""
    paths = directory.iterdir() if directory.is_dir() else ()
    runs = {path.name: EarlierResults.of(path).options or options_of_first_run(path) for path in paths if path.is_dir()}
    return {name: str(options["dump"]) for name, options in runs.items() if options.get("dump")}


def _add_pages(hub: HubResults | None, command: RunTestsCall, call: ScoreCall, outcome: DumpOutcome) -> int:
    """Write the reports of a finished data set and the overview; push them with its results, if there is a `hub`."""
    name, reports = call.out.name, command.local_results_path / REPORTS
    written = write_pages(reports / name, call.out, id_column=call.id_column)
    directories = [
        path for path in sorted(command.local_results_path.iterdir()) if EarlierResults.of(path).command == SCORE
    ]
    finished = {path.name: path for path in directories if (path / SUMMARY).is_file()}
    write_text(reports / INDEX, overview_page(finished))
    print(f"Pages:   {reports / name / INDEX} and {len(written) - 1} more", flush=True)
    if hub is None:
        return 0
    pages = {f"{REPORTS}/{name}/{path.name}": path for path in written}
    pages[f"{REPORTS}/{INDEX}"] = reports / INDEX
    return push(hub, name, call, outcome, pages=pages, replace=command.override)
