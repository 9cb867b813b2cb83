"""A run, from a dump to its results, for every family of problems.

Results are in the journal before the result files are made from it. For that the dump is read again, so that memory
does not grow with the dump; their rows are in its order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ioi_eval.concurrency import in_thread, until
from ioi_eval.errors import ODD_DATA, InputError, internal_error_text
from ioi_eval.journal import Journal, TemporaryRecords
from ioi_eval.model import Keep
from ioi_eval.pipeline.dump_judge import DumpJudge
from ioi_eval.pipeline.dump_reader import OWN_FAULT, DumpReader, Judgeable, Refused
from ioi_eval.pipeline.family import ProblemFamily
from ioi_eval.pipeline.interrupt import Interrupts
from ioi_eval.pipeline.progress import Progress
from ioi_eval.pipeline.result_store import RecordedResult, ResultStore, ResultT
from ioi_eval.pipeline.settings import DumpOutcome, Settings, now, run_facts
from ioi_eval.pipeline.unchanged import PresentResults
from ioi_eval.pipeline.window import CandidateT
from ioi_eval.pipeline.writing import TestLines, replacing, write_summary
from ioi_eval.report.result_files import INPUTS, TESTS
from ioi_eval.report.run_summary import CONTINUE, RunFacts


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
        InputError: the dump or the journal is damaged, or a comparator's checker does not compile.
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

    def write(facts: RunFacts, writing: Progress) -> Mapping[str, Any]:
        family.await_problems()
        _write_results(directory, family, store, settings.keep, writing)
        values = summary.as_dict(facts)
        write_summary(directory, values, family.report(values))
        if not facts.interrupted and not summary.pending and not len(store.our_failures):
            written.describe(values["notes"][len(facts.notes) :])  # without those of the run, which come first
        return values

    run = DumpJudge(family, store, settings=settings, progress=progress)
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


def _write_results(
    directory: Path,
    family: ProblemFamily[CandidateT, ResultT],
    store: ResultStore[ResultT],
    keep: Keep,
    progress: Progress,
) -> None:
    """Write the files with a line for every row that has a result; they replace the earlier ones at the end."""
    names = (*family.files, TESTS, INPUTS)
    with ExitStack() as opened:
        *files, tests_file, inputs = [opened.enter_context(replacing(directory / name)) for name in names]
        tests = TestLines(tests_file, inputs, keep)
        first_ids: dict[int, str] = {}
        for entry in _read_again(family.dump_reader, store.journal):
            progress.advance("")
            if isinstance(entry, Refused):
                lines = _add_refused(family, entry)
            elif (judged := store.find(entry.candidate)) is None:
                family.summary.postpone(entry.row.values, str(entry.candidate.problem_key))
                continue
            else:
                lines = _add_result(family, entry, judged, tests, first_ids)
            for file, line in zip(files, lines, strict=True):
                file.write(line)


def _read_again(dump_reader: DumpReader[CandidateT], journal: Journal) -> Iterator[Judgeable[CandidateT] | Refused]:
    """The entries of a dump after judging. If it cannot be read any more, the error says where the results are."""
    try:
        yield from dump_reader.entries(journal.index.stored_level, whole_rows=True)
    except InputError as error:
        error.add_note(f"what was judged is stored in {journal.path}: when the dump can be read, {CONTINUE}")
        raise


def _add_result(
    family: ProblemFamily[CandidateT, ResultT],
    entry: Judgeable[CandidateT],
    judged: RecordedResult[ResultT],
    tests: TestLines,
    first_ids: dict[int, str],
) -> Sequence[bytes]:
    """Add the result of a row. Returns its lines; those of a refused row if they cannot be made.

    Args:
        first_ids: by the offset of a result, the first submission of the dump that has it; this one is added. Failures
            of ours (they have no offset) and rows without a program are not added, so they are duplicates of no row.
    """
    offset = judged.offset if entry.candidate.size is not None else None
    if offset in first_ids:
        judged = replace(judged, duplicate_of=first_ids[offset])
    try:
        lines = family.add_result(entry, judged, tests)
    except ODD_DATA as error:
        message = str(entry.row.error(internal_error_text(error, "writing its result")))
        return _add_refused(family, Refused(row=entry.row, kind=OWN_FAULT, message=message), bare=True)
    if offset is not None:
        first_ids.setdefault(offset, entry.candidate.id)
    return lines


def _add_refused(family: ProblemFamily[CandidateT, ResultT], entry: Refused, *, bare: bool = False) -> Sequence[bytes]:
    """Add a row that was not judged. Returns its lines, without its own columns if these cannot be written."""
    family.refuse(entry)
    if not bare:
        with suppress(*ODD_DATA):
            return family.refused_lines(entry)
    return family.refused_lines(replace(entry, row=replace(entry.row, values={})))
