"""From the first job to the last file: the frame around a run, for every family of problems.

What is judged is safe in the journal before anything is written from it; a signal ends the judging, not the writing;
and the spool goes, whatever happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from ioi_eval.model import Keep
from ioi_eval.pipeline.intake import Refused
from ioi_eval.pipeline.interrupt import EXIT_CODE, Interrupts
from ioi_eval.pipeline.ledger import Ledger
from ioi_eval.pipeline.progress import Progress
from ioi_eval.pipeline.run import Done, DumpRun, FamilyJudge, W
from ioi_eval.pipeline.threads import in_thread
from ioi_eval.report.summary import RunFacts

R = TypeVar("R")

_SPARE = 2
"""So many more submissions than jobs are under way, so that no slot waits for what is done between jobs."""

_IN_LINE, _MOST_IN_LINE = 7, 56
"""How many programs wait for each job that runs, to share the next; and how many in all: their tests are in memory."""


def spare_for(jobs: int, *, shares: bool) -> int:
    """How many more submissions than jobs are under way: more where programs share jobs, so that they find each other.

    Args:
        jobs: how many jobs run at once.
        shares: whether programs can share jobs.
    """
    return min(_IN_LINE * jobs, _MOST_IN_LINE) if shares else _SPARE


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a dump is gone through. What may change an outcome is in `config.Policy` and `AppsSettings` instead.

    Args:
        workers: how many jobs the sandbox runs at once.
        spare: how many more submissions than jobs are under way: `spare_for`.
        dedupe: identical programs are judged once.
        retry_failed: judge again what a judge program had failed at.
        keep: of which tests the results have the beginning of the output, as far as it came back.
        options: what was asked for, for the summary.
        notes: what users should know.
    """

    workers: int
    spare: int = _SPARE
    dedupe: bool = True
    retry_failed: bool = False
    keep: Keep = Keep.FAILING
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


async def conduct(
    candidates: Callable[[], Iterator[W | Refused]],
    judging: FamilyJudge[W, R],
    ledger: Ledger[R],
    *,
    settings: Settings,
    progress: Progress,
    write: Callable[[RunFacts, Progress], Mapping[str, Any]],
    restore: Callable[[], None] | None = None,
) -> Outcome:
    """Judge what is not judged yet, and write the results of all.

    Args:
        candidates: reads the dump: those that can be judged, and rows that cannot.
        judging: judges one.
        ledger: where results go; its spool ends with the run.
        settings: how.
        progress: is told of every row; ends with the judging.
        write: writes all files and returns the summary; called once, in a thread. Its progress it tells of every row.
        restore: makes test data in the cache again that somebody has deleted; called in a thread.

    Raises:
        InputError: the dump or the journal is damaged.
        SetupError: nothing can be judged here, or nothing can be written there.
    """
    run = DumpRun(
        candidates,
        judging,
        ledger,
        workers=settings.workers + settings.spare,
        progress=progress,
        dedupe=settings.dedupe,
        retry_failed=settings.retry_failed,
        restore=restore,
    )
    started = _now()
    interrupts = Interrupts()
    try:
        with interrupts.installed():
            try:
                interrupted = await interrupts.run(run.execute())
            finally:
                progress.close()
            await in_thread(ledger.journal.require_there)
            await in_thread(ledger.journal.sync)
            facts = _facts(run.done, settings, started=started, interrupted=interrupted, notes=ledger.journal.notes)
            writing = progress.writing()
            try:
                values = await in_thread(write, facts, writing)
            finally:
                writing.close()
    finally:
        ledger.spool.close()
    return Outcome(summary=values, interrupted=interrupted, stopped_by=run.done.stopped_by)


def facts_of_nothing_new(settings: Settings, resumed: int, notes: Sequence[str]) -> RunFacts:
    """What a run knows that found all results as it would have made them."""
    done = Done()
    done.resumed = resumed
    return _facts(done, settings, started=_now(), interrupted=False, notes=notes)


def _facts(done: Done, settings: Settings, *, started: str, interrupted: bool, notes: Sequence[str]) -> RunFacts:
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
        notes=(*stopped, *notes, *settings.notes),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
