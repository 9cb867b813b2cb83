"""A dump of Python programs goes in, results come out: the run of `pipeline` for APPS.

The journal is the truth; `results.jsonl`, `mcpbr.jsonl`, `summary.json` and `report.md` are made from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from ioi_eval.apps.intake import AppsCandidate, AppsIntake, JudgeableSample
from ioi_eval.apps.judging import APPS_FORMAT, AppsJudging
from ioi_eval.apps.outcomes import AppsResult
from ioi_eval.apps.report import markdown_report
from ioi_eval.apps.results import AppsSummary, Shown, refused_rows, shown, this_run
from ioi_eval.errors import ODD_DATA, own_fault
from ioi_eval.journal import Journal, TemporaryRecords
from ioi_eval.model import Keep
from ioi_eval.pipeline.conduct import Outcome, Settings, conduct
from ioi_eval.pipeline.finish import TestLines, replacing, to_json, write_summary
from ioi_eval.pipeline.intake import OWN_FAULT, Refused
from ioi_eval.pipeline.ledger import Found, Ledger
from ioi_eval.pipeline.progress import Progress
from ioi_eval.pipeline.threads import in_thread
from ioi_eval.pipeline.unchanged import Written, as_it_was, signature
from ioi_eval.problems.row import Row
from ioi_eval.report.compact import TEST_RESULTS, TESTS_ID, apps_line
from ioi_eval.report.frame import RESULTS, TESTS
from ioi_eval.report.summary import RunFacts
from ioi_eval.report.terminal import counted

RECORDS = "mcpbr.jsonl"


async def score_apps(
    directory: Path,
    intake: AppsIntake,
    judging: AppsJudging,
    *,
    journal: Journal,
    settings: Settings,
    progress: Progress,
    summary: AppsSummary,
) -> Outcome:
    """Judge what is not judged yet, and write the results of all.

    Args:
        directory: where the results go.
        intake: the dump's rows.
        judging: judges one.
        journal: in the same directory.
        settings: how.
        progress: is told of every submission.
        summary: adds results up.

    Raises:
        InputError: the dump or the journal is damaged.
        SetupError: nothing can be judged here, or nothing can be written there.
    """
    made_from = await in_thread(
        signature, intake.source, intake.ways(), {**settings.options, "": [intake.id_column, summary.ks, summary.by]}
    )
    written = Written(directory, (RESULTS, TESTS, RECORDS), journal, made_from)
    if not settings.retry_failed and (earlier := written.earlier()) is not None:
        return await in_thread(as_it_was, written, earlier, settings, progress, report=markdown_report, told=this_run)
    written.forget()
    ledger = Ledger(journal, TemporaryRecords(directory), APPS_FORMAT, keys_under=AppsCandidate.keys_under)

    def write(facts: RunFacts, writing: Progress) -> Mapping[str, Any]:
        write_results(directory, intake, ledger, summary, writing, judged_by=judging.judged_by, keep=settings.keep)
        before = len(facts.notes)
        if over := intake.passed_over:
            words = f"{counted(over, 'row')} for problems that were not asked for: passed over"
            facts = replace(facts, notes=(*facts.notes, words))
        values = summary.as_dict(facts)
        write_summary(directory, values, markdown_report(values))
        if not facts.interrupted and not summary.pending and not len(ledger.spool):
            written.keep(values["notes"][before:])
        return values

    return await conduct(
        lambda: intake.candidates(ledger.standing),
        judging,
        ledger,
        settings=settings,
        progress=progress,
        write=write,
    )


def write_results(
    directory: Path,
    intake: AppsIntake,
    ledger: Ledger[AppsResult],
    summary: AppsSummary,
    progress: Progress,
    *,
    judged_by: str,
    keep: Keep = Keep.FAILING,
) -> None:
    """Write a row for every submission that was judged and every row that was refused, in the dump's order.

    Args:
        directory: where they go.
        intake: the dump's rows, as they were judged.
        ledger: what became of them.
        summary: takes in all of them.
        progress: is told of every row.
        judged_by: the rules in a word.
        keep: of which tests there is the beginning of the output.

    Raises:
        SetupError: they cannot be written.
    """
    with ExitStack() as files:
        results = files.enter_context(replacing(directory / RESULTS))
        tests = TestLines(files.enter_context(replacing(directory / TESTS)), keep)
        records = files.enter_context(replacing(directory / RECORDS))
        for entry in intake.entries(whole_rows=True, standing=ledger.standing):
            progress.advance("")
            if isinstance(entry, Refused):
                lines = _lines(entry, summary, tests, judged_by)
            elif (found := ledger.find(entry.candidate)) is not None:
                lines = _lines(entry, summary, tests, judged_by, found)
            else:
                summary.postpone(entry.row.values)
                continue
            for file, line in zip((results, records), lines, strict=True):
                file.write(line)


def _lines(
    entry: JudgeableSample | Refused,
    summary: AppsSummary,
    tests: TestLines,
    judged_by: str,
    found: Found[AppsResult] | None = None,
) -> tuple[bytes, bytes]:
    """An entry's row and record; where these cannot be written, such that say why."""
    try:
        if isinstance(entry, JudgeableSample) and found is not None:
            lines = _written(shown(entry, found), tests)
            summary.add(entry, found)
            return lines
        assert isinstance(entry, Refused), "a row that was judged has a result"
        lines = _written(refused_rows(entry, judged_by), tests)
        summary.refuse(entry)
        return lines
    except ODD_DATA as error:
        words = str(entry.row.error(own_fault(error, "writing its result")))
        bare = Row(source=entry.row.source, number=entry.row.number, values={})
        refused = Refused(row=bare, kind=OWN_FAULT, message=words)
        summary.refuse(replace(refused, row=entry.row))  # which names its group
        return _written(refused_rows(refused, judged_by), tests)


def _written(out: Shown, tests: TestLines) -> tuple[bytes, bytes]:
    row = dict(out.row)
    row[TESTS_ID] = tests.name(apps_line(row.pop(TEST_RESULTS)))
    return to_json(row), to_json(dict(out.record))
