"""From the first job to the last file: the frame around a run, for every family of problems.

What is judged is safe in the journal before anything is written from it; a signal ends the judging, not the writing;
and the spool goes, whatever happens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ioi_eval.pipeline.family import R, W
from ioi_eval.pipeline.interrupt import EXIT_CODE, Interrupts
from ioi_eval.pipeline.progress import Progress
from ioi_eval.pipeline.run import Done, DumpRun
from ioi_eval.pipeline.settings import Settings
from ioi_eval.pipeline.threads import in_thread
from ioi_eval.report.run_summary import RunFacts


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


async def conduct(run: DumpRun[W, R], *, write: Callable[[RunFacts, Progress], Mapping[str, Any]]) -> Outcome:
    """Judge what is not judged yet, and write the results of all.

    Args:
        run: judges; its progress ends with the judging, its ledger's spool with all.
        write: writes all files and returns the summary; called once, in a thread. Its progress it tells of every row.

    Raises:
        InputError: the dump or the journal is damaged.
        SetupError: nothing can be judged here, or nothing can be written there.
    """
    ledger, progress, settings = run.ledger, run.progress, run.settings
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
