"""A dump goes in, results come out: dump → workers → journal → results.

- `intake` reads rows as submissions, `window` says which is next, `run` judges them, `ledger` keeps the results;
- `finish` writes them out, in the dump's order, from the journal;
- `plan` says what would be done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ioi_eval.journal import Journal, Spool
from ioi_eval.pipeline.contest import ContestFormat, ContestJudging, Judge
from ioi_eval.pipeline.finish import write_results, write_summary
from ioi_eval.pipeline.intake import Intake, Selection, survey
from ioi_eval.pipeline.interrupt import EXIT_CODE, Interrupts
from ioi_eval.pipeline.ledger import Ledger
from ioi_eval.pipeline.plan import Plan, plan
from ioi_eval.pipeline.progress import Progress
from ioi_eval.pipeline.run import Done, Run
from ioi_eval.pipeline.threads import in_thread
from ioi_eval.pipeline.window import Candidate
from ioi_eval.report.rows import Unscored
from ioi_eval.report.summary import RunFacts

__all__ = ["Intake", "Judge", "Outcome", "Plan", "Selection", "Settings", "plan", "score_dump", "survey"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a dump is gone through. What may change an outcome is in `config.Policy` instead.

    Args:
        workers: how many jobs the sandbox runs at once.
        spare: how many more submissions are under way, so that no slot waits for what is done between jobs.
        dedupe: identical programs are judged once.
        retry_failed: judge again what a judge program had failed at.
        unscored: what stands in the results for scores that are not known.
        options: what was asked for, for the summary.
        notes: what users should know.
    """

    workers: int
    spare: int = 2
    dedupe: bool = True
    retry_failed: bool = False
    unscored: Unscored = Unscored.NULL
    options: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How scoring a dump ended.

    Args:
        summary: what `summary.json` holds.
        interrupted: a signal ended it; the same command goes on.
        stopped_by: why it ended early by itself; `None` if it did not.
    """

    summary: Mapping[str, Any]
    interrupted: bool
    stopped_by: str | None

    @property
    def exit_code(self) -> int:
        """0: everything was judged; 1: something could not be; 130: interrupted."""
        if self.interrupted:
            return EXIT_CODE
        return 0 if self.summary["complete"] else 1


async def score_dump(
    directory: Path, intake: Intake, judge: Judge, *, journal: Journal, settings: Settings, progress: Progress
) -> Outcome:
    """Judge what is not judged yet, and write the results of all.

    Args:
        directory: where `results.jsonl`, `summary.json` and `report.md` go.
        intake: the dump's rows.
        judge: judges one.
        journal: in the same directory.
        settings: how.
        progress: is told of every row.

    Raises:
        InputError: the dump or the journal is damaged.
        SetupError: nothing can be judged here, or nothing can be written there.
    """
    started = _now()
    ledger = Ledger(journal, Spool(directory), ContestFormat(), keys_under=Candidate.keys_under)
    interrupts = Interrupts()
    run = Run(
        lambda: intake.candidates(ledger.standing),
        ContestJudging(judge),
        ledger,
        workers=settings.workers + settings.spare,
        progress=progress,
        dedupe=settings.dedupe,
        retry_failed=settings.retry_failed,
    )
    try:
        with interrupts.installed():
            try:
                interrupted = await interrupts.run(run.execute())
            finally:
                progress.close()
            await in_thread(journal.sync)
            summary = await in_thread(write_results, directory, intake, ledger, unscored=settings.unscored)
            facts = _facts(run.done, settings, journal, started, interrupted)
            values = await in_thread(write_summary, directory, summary, facts)
    finally:
        ledger.spool.close()
    return Outcome(summary=values, interrupted=interrupted, stopped_by=run.done.stopped_by)


def _facts(done: Done, settings: Settings, journal: Journal, started: str, interrupted: bool) -> RunFacts:
    stopped = (f"stopped early: {done.stopped_by}; the same command goes on",) if done.stopped_by else ()
    return RunFacts(
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
        notes=(*stopped, *journal.notes, *settings.notes),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
