"""A run, from a dump to its results, for every family of problems.

Results are in the journal before the result files are made from it, in the dump's order.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from ioi_eval.journal import Journal, TemporaryRecords
from ioi_eval.pipeline.dump_judge import DumpJudge
from ioi_eval.pipeline.dump_reader import Refused
from ioi_eval.pipeline.family import ProblemFamily
from ioi_eval.pipeline.interrupt import Interrupts
from ioi_eval.pipeline.progress import Progress
from ioi_eval.pipeline.result_files import write_results
from ioi_eval.pipeline.result_store import ResultStore, ResultT
from ioi_eval.pipeline.settings import DumpOutcome, Settings, now, run_facts
from ioi_eval.pipeline.threads import in_thread, until
from ioi_eval.pipeline.unchanged import PresentResults
from ioi_eval.pipeline.window import CandidateT
from ioi_eval.pipeline.writing import write_summary
from ioi_eval.report.run_summary import RunFacts


async def score_dump(
    directory: Path,
    family: ProblemFamily[CandidateT, ResultT],
    *,
    journal: Journal,
    settings: Settings,
    progress: Progress,
) -> DumpOutcome:
    """Judge the submissions that are not judged yet, and write the results of all.

    Args:
        family: the dump, and how it is judged: `ContestFamily`, or `ioi_eval.apps.family.AppsFamily`.

    Raises:
        InputError: the dump or the journal is damaged.
        SetupError: nothing can be judged here, or nothing can be written there.
    """
    dump_reader, summary = family.dump_reader, family.summary
    written = await in_thread(PresentResults, directory, family, journal, settings.options)
    if written.exist():  # all problems are needed to compare
        await until(lambda: not dump_reader.may_wait)
    if not settings.retry_failed and (unchanged := await in_thread(written.unchanged_summary)) is not None:
        return await in_thread(written.end_run, unchanged, settings, progress)
    written.forget()
    store = ResultStore(journal, TemporaryRecords(directory), family.codec)
    reading = dump_reader.entries(journal.index.stored_level)
    entries = (entry if isinstance(entry, Refused) else entry.candidate for entry in reading)

    def write(facts: RunFacts, writing: Progress) -> Mapping[str, Any]:
        family.await_problems()
        write_results(directory, family, store, settings.keep, writing)
        values = summary.as_dict(facts)
        write_summary(directory, values, family.report(values))
        if not facts.interrupted and not summary.pending and not len(store.our_failures):
            written.describe(values["notes"][len(facts.notes) :])
        return values

    run = DumpJudge(family, store, entries, settings=settings, progress=progress)
    started, interrupts = now(), Interrupts()
    with closing(store.our_failures), interrupts.installed():
        with closing(progress):
            interrupted = await interrupts.run(run.execute())  # a signal ends the judging, not the writing
        await in_thread(journal.require_in_place)
        await in_thread(journal.sync)
        facts = run_facts(run.counts, settings, journal.notes, started=started, interrupted=interrupted)
        with closing(progress.writing()) as writing:
            values = await in_thread(write, facts, writing)
    return DumpOutcome(summary=values, interrupted=interrupted, stopped_by=run.counts.stopped_by)
