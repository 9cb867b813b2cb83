"""How a dump is gone through, and how that ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ioi_eval.events import Events
from ioi_eval.model import Keep
from ioi_eval.pipeline.interrupt import EXIT_CODE

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
        keep: what the results have of inputs and outputs, as far as these came back.
        options: what was asked for, for the summary.
        notes: what users should know.
        events: are told what becomes of each submission.
    """

    workers: int
    spare: int = _SPARE
    dedupe: bool = True
    retry_failed: bool = False
    keep: Keep = Keep.FAILING
    options: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    events: Events = field(default_factory=Events)


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
