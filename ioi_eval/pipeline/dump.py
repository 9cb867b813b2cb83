"""Conducts a run, from a dump to its results, for every family of problems.

Results are in the journal before the result files are made from it, in the dump's order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ioi_eval.errors import ODD_DATA, internal_error_text
from ioi_eval.journal import Journal, TemporaryRecords
from ioi_eval.model import Keep
from ioi_eval.pipeline.dump_reader import OWN_FAULT, Refused
from ioi_eval.pipeline.family import ProblemFamily, R
from ioi_eval.pipeline.finish import TestLines, replacing, write_summary
from ioi_eval.pipeline.interrupt import Interrupts
from ioi_eval.pipeline.progress import Progress
from ioi_eval.pipeline.result_store import ResultStore
from ioi_eval.pipeline.run import DumpRun
from ioi_eval.pipeline.settings import DumpOutcome, Settings, now
from ioi_eval.pipeline.threads import in_thread
from ioi_eval.pipeline.unchanged import PresentResults, end_unchanged, signature
from ioi_eval.pipeline.window import W
from ioi_eval.report.frame import TESTS
from ioi_eval.report.inputs import INPUTS
from ioi_eval.report.run_summary import RunFacts


async def score_dump(
    directory: Path,
    family: ProblemFamily[W, R],
    *,
    journal: Journal,
    settings: Settings,
    progress: Progress,
    restore: Callable[[], None] | None = None,
) -> DumpOutcome:
    """Judge the submissions that are not judged yet, and write the results of all.

    Args:
        directory: where the results go.
        family: the dump, and how it is judged: `ContestFamily`, or `ioi_eval.apps.family.AppsFamily`.
        journal: in the same directory.
        settings: of the run.
        progress: counts the rows.
        restore: makes deleted test data in the cache again; called in a thread.

    Raises:
        InputError: the dump or the journal is damaged.
        SetupError: nothing can be judged here, or nothing can be written there.
    """
    dump_reader, summary = family.dump_reader, family.summary
    options = {**settings.options, "": family.options}
    made_from = await in_thread(lambda: signature(dump_reader.source, dump_reader.problem_signatures(), options))
    written = PresentResults(directory, (*family.files, TESTS, INPUTS), journal, made_from)
    if not settings.retry_failed and (earlier := written.earlier()) is not None:
        return await in_thread(
            end_unchanged, written, earlier, settings, progress, report=family.report, run_part=summary.this_run
        )
    written.forget()
    store = ResultStore(journal, TemporaryRecords(directory), family.codec)

    def write(facts: RunFacts, writing: Progress) -> Mapping[str, Any]:
        dump_reader.source.forget()
        write_results(directory, family, store, writing, keep=settings.keep)
        values = summary.as_dict(facts)
        write_summary(directory, values, family.report(values))
        if not facts.interrupted and not summary.pending and not len(store.our_failures):
            written.describe(values["notes"][len(facts.notes) :])
        return values

    run = DumpRun(family, store, settings=settings, progress=progress, restore=restore)
    return await _conduct(run, write)


async def _conduct(run: DumpRun[W, R], write: Callable[[RunFacts, Progress], Mapping[str, Any]]) -> DumpOutcome:
    """Judge, then write. A signal ends the judging, not the writing. The records of our failures are always deleted."""
    store, progress, settings = run.store, run.progress, run.settings
    started = now()
    interrupts = Interrupts()
    try:
        with interrupts.installed():
            try:
                interrupted = await interrupts.run(run.execute())
            finally:
                progress.close()
            await in_thread(store.journal.require_there)
            await in_thread(store.journal.sync)
            facts = run.done.facts(settings, store.journal.notes, started=started, interrupted=interrupted)
            writing = progress.writing()
            try:
                values = await in_thread(write, facts, writing)
            finally:
                writing.close()
    finally:
        store.our_failures.close()
    return DumpOutcome(summary=values, interrupted=interrupted, stopped_by=run.done.stopped_by)


def write_results(
    directory: Path,
    family: ProblemFamily[W, R],
    store: ResultStore[R],
    progress: Progress,
    *,
    keep: Keep = Keep.FAILING,
) -> None:
    """Write a line for every row of the dump that was judged or refused, in the dump's order.

    The dump is read again, so that memory does not grow with it.

    Args:
        directory: where the files go.
        family: the dump, as it was judged.
        store: has the results.
        progress: counts the rows.
        keep: which inputs and outputs are written, if they were returned.

    Raises:
        SetupError: they cannot be written.
    """
    with ExitStack() as opened:
        files = [opened.enter_context(replacing(directory / name)) for name in family.files]
        beside, inputs = [opened.enter_context(replacing(directory / name)) for name in (TESTS, INPUTS)]
        tests = TestLines(beside, inputs, keep)
        for entry in family.dump_reader.entries(whole_rows=True, stored_level=store.stored_level):
            progress.advance("")
            if isinstance(entry, Refused):
                lines = _refused(family, entry)
            elif (judged := store.find(entry.candidate)) is None:
                family.summary.postpone(entry.row.values, str(entry.candidate.problem_key))
                continue
            else:
                try:
                    lines = family.lines(entry, judged, tests)
                except ODD_DATA as error:
                    message = str(entry.row.error(internal_error_text(error, "writing its result")))
                    refused = Refused(row=entry.row, kind=OWN_FAULT, message=message)
                    lines = _refused(family, refused, bare=True)
            for file, line in zip(files, lines, strict=True):
                file.write(line)


def _refused(family: ProblemFamily[W, R], entry: Refused, *, bare: bool = False) -> Sequence[bytes]:
    """The lines of a row that was not judged; without its own columns if these cannot be written."""
    family.refuse(entry)
    if not bare:
        with suppress(*ODD_DATA):
            return family.refused_lines(entry)
    return family.refused_lines(replace(entry, row=replace(entry.row, values={})))
