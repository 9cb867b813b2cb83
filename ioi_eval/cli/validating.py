"""Validating solutions: what `validate` does."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import closing, nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from ioi_eval.cli.exits import FAILED, INTERRUPTED
from ioi_eval.cli.messages import tell
from ioi_eval.cli.outputs import VALIDATE, check_out
from ioi_eval.cli.readiness import make_ready
from ioi_eval.cli.scoring import opened_scorer
from ioi_eval.cli.sources import contest_problems
from ioi_eval.cli.validate import ValidateCall
from ioi_eval.cli.watching import emit_judging_begins
from ioi_eval.errors import InputError
from ioi_eval.events import Events
from ioi_eval.journal import Journal
from ioi_eval.model import SubmissionResult
from ioi_eval.pipeline.contest import contest_facts
from ioi_eval.pipeline.contest_dump import RowSelection
from ioi_eval.pipeline.interrupt import Interrupts
from ioi_eval.pipeline.progress import progress_for, with_progress
from ioi_eval.pipeline.tally import RESUMED
from ioi_eval.pipeline.writing import replacing, write_text
from ioi_eval.problems.first_rows import FIRST
from ioi_eval.problems.time_scale import scaled_set
from ioi_eval.report.result_files import RESULTS
from ioi_eval.report.rows import to_json
from ioi_eval.report.validation import markdown_validation, terminal_validation
from ioi_eval.rows import Source, open_source
from ioi_eval.toolchain import check_std
from ioi_eval.validate import ValidationRun, rows_of_validation
from ioi_eval.validate.comparison import Validation
from ioi_eval.validate.results import STATED_RESULT_COLUMNS
from ioi_eval.validate.statements import COLUMNS as STATED_COLUMNS
from ioi_eval.validate.statements import StatedSolutions, read_solutions


def validate_solutions(call: ValidateCall) -> int:
    """Validate and print the findings. Of a directory that `score` has written, the rows of results are compared."""
    if call.against is not None and (Path(os.path.expanduser(call.against)) / RESULTS).is_file():
        call = replace(call, against=str(Path(call.against) / RESULTS))
    return call.watch.run(VALIDATE, call.as_dict(), lambda events: _validate_all(call, events), read=call.sources)


def _validate_all(call: ValidateCall, events: Events) -> int:
    check_std(call.rules.std)
    if call.no_resume and call.out is None:
        raise InputError("--no-resume is about the journal in --out, and none was given: leave --no-resume out")
    if call.out is not None:
        check_out(call.out, read=call.sources, command=VALIDATE)
    solutions = open_source(call.solution_source)
    against = _results_beside(solutions) if call.against is None else open_source(call.against)
    selection = RowSelection(years=frozenset(call.year or ()), problems=frozenset(call.problem or ()))
    problems = contest_problems(call.problems, call.tests, years=selection.years, ids=selection.problems)
    stated = read_solutions(
        solutions,
        scaled_set(problems, call.rules.factor),
        id_column=call.id_column,
        against=against,
        selection=selection,
    )
    validation, interrupted = asyncio.run(_validate(call, stated, events))
    values = validation.as_dict()
    print(terminal_validation(values))
    if call.out is not None:
        _write(call.out, values, validation)
        print(f"\nReport: {call.out / 'validation.md'}")
    if interrupted:
        return INTERRUPTED
    return 0 if validation.agrees else FAILED


def _results_beside(solutions: Source) -> Source | None:
    """The solutions, if their rows state only results (as in `open-r1/ioi-sample-solutions`); else `None`."""
    names = {name for row in islice(solutions.iterate(STATED_RESULT_COLUMNS), FIRST) for name in row.names}
    if names.isdisjoint(STATED_COLUMNS) and not names.isdisjoint(STATED_RESULT_COLUMNS[:2]):
        tell(f"{solutions.describe()} states results; comparing with these")
        return solutions
    return None


async def _validate(call: ValidateCall, stated: StatedSolutions, events: Events) -> tuple[Validation, bool]:
    """The findings, and whether a signal ended the validation."""
    interrupts = Interrupts()
    async with opened_scorer(call, events) as (sandbox, scorer):
        problems = {solution.problem.key: solution.problem for solution in stated.solutions}
        await make_ready(sandbox, (problem.memory_limit_bytes for problem in problems.values()))
        rows, jobs = len(stated.solutions), sandbox.jobs_now() or 1
        what = {"dump": call.solution_source, "out": call.out, "rows": rows, "problems": len(problems)}
        emit_judging_begins(events, sandbox, **what, workers=jobs)

        def on_result(result: SubmissionResult, seconds: float | None) -> None:
            if seconds is None:
                progress.advance(RESUMED)
                return
            values = contest_facts(result)
            progress.advance(values.verdict, values.ran)
            names = {"submission": result.submission, "year": result.problem.year, "problem": result.problem.id}
            values.emit(events, names, seconds)

        opened = Journal(call.out, options=call.as_dict(), resume=not call.no_resume) if call.out else nullcontext()
        progress = progress_for(rows, bar=call.watch.bar, events=events, load=sandbox.load)
        with closing(progress), opened as journal, interrupts.installed():
            tell(*([] if journal is None else journal.notes))
            validating = ValidationRun(stated, scorer, journal)
            running = validating.run(workers=jobs + 1, on_result=on_result)
            interrupted = await interrupts.run(with_progress(progress, running))
        return validating.validation(), interrupted


def _write(directory: Path, values: dict[str, Any], validation: Validation) -> None:
    write_text(directory / "validation.json", json.dumps(values, indent=2, ensure_ascii=False) + "\n")
    write_text(directory / "validation.md", markdown_validation(values))
    with replacing(directory / RESULTS) as file:
        for row in rows_of_validation(validation):
            file.write(to_json(row))
