"""Scoring a dump of Python programs: what `apps score` does."""

from __future__ import annotations

import asyncio

from ioi_eval.apps.catalog import Catalog
from ioi_eval.apps.dump_reader import AppsDumpReader, survey
from ioi_eval.apps.family import AppsFamily
from ioi_eval.apps.report import terminal_report
from ioi_eval.apps.solution_files import open_dump
from ioi_eval.apps.summary import AppsSummary
from ioi_eval.cli.apps import AppsScoreCall
from ioi_eval.cli.apps_executor import opened_executor
from ioi_eval.cli.dump_run import end_run, judge_dump
from ioi_eval.cli.messages import tell
from ioi_eval.cli.outputs import APPS_SCORE, check_out
from ioi_eval.cli.sources import tell_hub_names
from ioi_eval.errors import InputError, listed
from ioi_eval.events import Events
from ioi_eval.pipeline import DumpOutcome
from ioi_eval.problems.apps_submissions import EXTRACTORS, our_extractor, submission_columns
from ioi_eval.report.groups import grouping_of
from ioi_eval.report.texts import counted
from ioi_eval.rows import KeptColumns, Source, joined_dumps


def score(call: AppsScoreCall) -> int:
    """Score a dump and show the result."""
    return call.watch.run(APPS_SCORE, call.as_dict(), lambda events: _score_all(call, events), read=call.sources)


def _score_all(call: AppsScoreCall, events: Events) -> int:
    directory = check_out(call.out, read=(*call.dumps, *call.problems.read_whole), command=APPS_SCORE)
    push = call.open_hub()
    configuration = call.problems.configuration
    if configuration.unused:
        tell(f"{call.problems.config}: not used, because not about scoring: {', '.join(configuration.unused)}")
    dumps = [open_dump(name, call.problems.selection.ids) for name in call.dumps]
    dump = KeptColumns(
        joined_dumps(list(zip(call.dumps, dumps, strict=True))), submission_columns(call.id_column), directory
    )
    dataset = call.problems.source
    tell_hub_names(call.sources)
    counts = survey(dump, id_column=call.id_column)
    grouping = grouping_of(dumps, call.by)
    needed = {problem for problem in counts if problem is not None}
    unnamed = counts.get(None, 0)
    others = f", {counted(unnamed, 'row')} without a problem" if unnamed else ""
    counted_text = f"{counted(sum(counts.values()) - unnamed, 'program')} for {counted(len(needed), 'problem')}{others}"
    tell(f"{counted_text}; reading {dataset.describe()}")
    with call.problems.catalog(call.settings, needed=needed, directory=directory) as catalog:
        rows = sum(count for problem, count in counts.items() if _counts(catalog, problem))
        if not rows:
            raise InputError(
                f"{dump.describe()} has no program for any of the problems that were asked for; it has programs for "
                f"{listed(sorted(needed))}"
            )
        if not any(problem is None or catalog.knows(problem) for problem in counts):
            raise InputError(
                f"{catalog.source} has none of the problems of {dump.describe()}, which asks for "
                f"{listed(sorted(needed))}; it has {listed(catalog.all_ids)}. Check --dataset"
            )
        summary = AppsSummary(tuple(call.pass_at) if call.pass_at else None, grouping=grouping)
        outcome = asyncio.run(_score(call, dump, catalog, summary, rows=rows, events=events))
    end_run(call.out, outcome.summary, events, terminal_report(outcome.summary))
    return max(outcome.exit_code, push(call, outcome))


def _counts(catalog: Catalog, problem: str | None) -> bool:
    """Whether rows for a problem are judged or refused; other rows are skipped."""
    return problem is None or catalog.id_of(problem) in catalog.entries or not catalog.knows(problem)


async def _score(
    call: AppsScoreCall, dump: Source, catalog: Catalog, summary: AppsSummary, *, rows: int, events: Events
) -> DumpOutcome:
    settings = call.settings
    advice = " (--compat NAME for another grader's)"
    async with opened_executor(call.sandbox, settings, events, advice=advice) as (entered, executor):
        compat = settings.compat
        dump_reader = AppsDumpReader(
            dump,
            catalog,
            fingerprints=executor.fingerprints,
            test_s=settings.cpu_s,
            id_column=call.id_column,
            extractor=EXTRACTORS.get(compat.name, our_extractor) if compat is not None else our_extractor,
        )
        outcome = await judge_dump(
            call,
            AppsFamily(dump_reader, executor, settings.judged_by, summary),
            entered,
            rows=rows,
            problems=len(catalog.entries),
            shares=True,
            events=events,
        )
        tell(*executor.notes())
        return outcome
