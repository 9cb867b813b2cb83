"""The settings of a run, its facts, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ioi_eval.events import Events
from ioi_eval.model import Keep
from ioi_eval.pipeline.interrupt import EXIT_CODE
from ioi_eval.report.run_summary import CONTINUE, RunCounts, RunFacts

_EXTRA_PER_SLOT, _MAX_EXTRA = 2, 32
"""Further submissions in progress for each slot, and the most of them. With these no slot waits for work between jobs.
While a job waits to run alone, up to four other jobs for each slot run first, which need submissions in progress. (Each
keeps a compiled program in memory.)"""

_SHARING_PER_SLOT, _MAX_SHARING = 7, 56
"""How many programs wait for each running job, to share the next one; and how many in all, because their tests are in
memory."""


def spare_for(jobs: int, *, shares: bool) -> int:
    """How many more submissions than jobs are in progress: most if programs can share jobs, so that enough wait."""
    return min(_SHARING_PER_SLOT * jobs, _MAX_SHARING) if shares else min(_EXTRA_PER_SLOT * jobs, _MAX_EXTRA)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a run. Those that may change an outcome are in `config.Policy` and `AppsSettings` instead.

    Args:
        jobs_at_once: how many the sandbox runs when judging begins.
        jobs_now: how many it can run now, if that may grow: workers may join a cluster during the run.
        spare: how many more submissions than jobs are in progress: `spare_for`; by default as for one slot.
        retry_failed: judge rows again on which a judge program failed.
        keep: which inputs and outputs the results have, if they were returned.
        options: the options of the command, for the summary.
    """

    jobs_at_once: int
    jobs_now: Callable[[], int] | None = None
    spare: int = _EXTRA_PER_SLOT
    dedupe: bool = True
    retry_failed: bool = False
    keep: Keep = Keep.FAILING
    options: Mapping[str, Any] = field(default_factory=dict)
    events: Events = field(default_factory=Events)


def run_facts(
    counts: RunCounts, settings: Settings, notes: Sequence[str], *, started: str = "", interrupted: bool = False
) -> RunFacts:
    """The facts about a run that the summary has, with these notes of the journal. By default it has begun now."""
    stopped = (f"stopped early: {counts.stopped_by}; {CONTINUE} to continue",) if counts.stopped_by else ()
    return RunFacts(
        started=started or now(),
        finished=now(),
        interrupted=interrupted or counts.stopped_by is not None,
        options=settings.options,
        counts=counts,
        notes=(*stopped, *notes),
    )


def now() -> str:
    """The time, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpOutcome:
    """How scoring a dump ended.

    Args:
        summary: the contents of `summary.json`.
        interrupted: whether a signal ended it; the next run continues it.
        stopped_by: why it ended early by itself; `None` if it did not.
    """

    summary: Mapping[str, Any]
    interrupted: bool
    stopped_by: str | None

    @property
    def exit_code(self) -> int:
        """0: everything was judged; 1: some rows could not be; 130: interrupted."""
        if self.interrupted:
            return EXIT_CODE
        return 0 if self.summary["complete"] else 1
