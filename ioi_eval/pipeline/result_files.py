"""Writes the files with a line for every row of a dump, in the dump's order.

The dump is read again after judging, so that memory does not grow with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from ioi_eval.errors import ODD_DATA, internal_error_text
from ioi_eval.model import Keep
from ioi_eval.pipeline.dump_reader import OWN_FAULT, Judgeable, Refused
from ioi_eval.pipeline.family import ProblemFamily
from ioi_eval.pipeline.progress import Progress
from ioi_eval.pipeline.result_store import RecordedResult, ResultStore, ResultT
from ioi_eval.pipeline.window import CandidateT
from ioi_eval.pipeline.writing import TestLines, replacing
from ioi_eval.report.frame import INPUTS, TESTS


def write_results(
    directory: Path,
    family: ProblemFamily[CandidateT, ResultT],
    store: ResultStore[ResultT],
    keep: Keep,
    progress: Progress,
) -> None:
    """Write the result files of a run; they replace the earlier ones when the last row is written.

    Rows without a result in the store get no line.
    """
    names = (*family.files, TESTS, INPUTS)
    with ExitStack() as opened:
        *files, tests_file, inputs = [opened.enter_context(replacing(directory / name)) for name in names]
        tests = TestLines(tests_file, inputs, keep)
        first_ids: dict[int, str] = {}
        for entry in family.dump_reader.entries(store.journal.index.stored_level, whole_rows=True):
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
            of ours and rows without a program are left out, so these name no first one.
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
