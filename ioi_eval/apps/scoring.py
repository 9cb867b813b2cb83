"""A dump of Python programs goes in, results come out: the run of `pipeline` for APPS.

The journal is the truth; `results.jsonl`, `mcpbr.jsonl`, `summary.json` and `report.md` are made from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ioi_eval.apps.intake import AppsCandidate, AppsIntake
from ioi_eval.apps.judging import AppsFormat, AppsJudging
from ioi_eval.apps.outcomes import AppsResult
from ioi_eval.apps.report import markdown_report
from ioi_eval.apps.results import AppsSummary, refused_rows, shown
from ioi_eval.journal import Journal, Spool
from ioi_eval.pipeline import Outcome
from ioi_eval.pipeline.finish import replacing, to_json
from ioi_eval.pipeline.intake import Refused
from ioi_eval.pipeline.interrupt import Interrupts
from ioi_eval.pipeline.ledger import Ledger
from ioi_eval.pipeline.progress import Progress
from ioi_eval.pipeline.run import Run
from ioi_eval.pipeline.threads import in_thread
from ioi_eval.report.summary import RunFacts

RESULTS, RECORDS = "results.jsonl", "mcpbr.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """How a dump is gone through. What may change an outcome is in `AppsSettings` instead.

    Args:
        workers: how many jobs the sandbox runs at once.
        dedupe: identical programs are judged once.
        ks: of pass@k; `None` for those that the numbers of samples allow.
        options: what was asked for, for the summary.
        notes: what users should know.
    """

    workers: int
    dedupe: bool = True
    ks: Sequence[int] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


async def score_apps(
    directory: Path,
    intake: AppsIntake,
    judging: AppsJudging,
    *,
    journal: Journal,
    settings: RunSettings,
    progress: Progress,
    summary: AppsSummary | None = None,
) -> Outcome:
    """Judge what is not judged yet, and write the results of all.

    Args:
        directory: where the results go.
        intake: the dump's rows.
        judging: judges one.
        journal: in the same directory.
        settings: how.
        progress: is told of every submission.
        summary: what adds results up; a fresh one by default.

    Raises:
        InputError: the dump or the journal is damaged.
        SetupError: nothing can be judged here, or nothing can be written there.
    """
    started = _now()
    ledger = Ledger(journal, Spool(directory), AppsFormat())
    interrupts = Interrupts()
    run: Run[AppsCandidate, AppsResult] = Run(
        intake.candidates, judging, ledger, workers=settings.workers, progress=progress, dedupe=settings.dedupe
    )
    try:
        with interrupts.installed():
            try:
                interrupted = await interrupts.run(run.execute())
            finally:
                progress.close()
            await in_thread(journal.sync)
            adding = summary or AppsSummary(settings.ks)
            await in_thread(write_results, directory, intake, ledger, adding)
            done = run.done
            stopped = (f"stopped early: {done.stopped_by}; the same command goes on",) if done.stopped_by else ()
            over = intake.passed_over
            others = (f"{over} rows are for problems that were not asked for, and were passed over",) if over else ()
            facts = RunFacts(
                started=started,
                finished=_now(),
                interrupted=interrupted or done.stopped_by is not None,
                options=settings.options,
                workers=settings.workers,
                wall_s=done.wall_s,
                judged=done.judged,
                copies=done.copies,
                resumed=done.resumed,
                cpu=done.cpu,
                notes=(*stopped, *journal.notes, *settings.notes, *others),
            )
            values = await in_thread(write_summary, directory, adding, facts)
    finally:
        ledger.spool.close()
    return Outcome(summary=values, interrupted=interrupted, stopped_by=run.done.stopped_by)


def write_results(directory: Path, intake: AppsIntake, ledger: Ledger[AppsResult], summary: AppsSummary) -> None:
    """Write a row for every submission that was judged and every row that was refused, in the dump's order.

    Args:
        directory: where they go.
        intake: the dump's rows, as they were judged.
        ledger: what became of them.
        summary: takes in all of them.

    Raises:
        SetupError: they cannot be written.
    """
    with ExitStack() as files:
        results = files.enter_context(replacing(directory / RESULTS))
        records = files.enter_context(replacing(directory / RECORDS))
        for entry in intake.entries(whole_rows=True):
            if isinstance(entry, Refused):
                summary.refuse(entry)
                out = refused_rows(entry)
            elif (found := ledger.find(entry.candidate.keys)) is not None:
                summary.add(entry, found)
                out = shown(entry, found)
            else:
                summary.pending += 1
                continue
            results.write(to_json(dict(out.row)))
            records.write(to_json(dict(out.record)))


def write_summary(directory: Path, summary: AppsSummary, run: RunFacts) -> dict[str, Any]:
    """Write `summary.json` and `report.md`.

    Returns:
        The summary as plain values.

    Raises:
        SetupError: they cannot be written.
    """
    values = summary.as_dict(run)
    with replacing(directory / "summary.json") as file:
        file.write(json.dumps(values, indent=2, ensure_ascii=False, default=str).encode() + b"\n")
    with replacing(directory / "report.md") as file:
        file.write(markdown_report(values).encode())
    return values


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
