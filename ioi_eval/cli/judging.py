"""What `score` and `apps score` have in common: the options of a run, and how a dump is judged into its directory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from ioi_eval.cli.outputs import replaced
from ioi_eval.cli.pushing import Push
from ioi_eval.cli.sandboxes import Opened, Place, tell
from ioi_eval.cli.watching import Watch, tell_judging
from ioi_eval.events import Events
from ioi_eval.journal import Journal
from ioi_eval.model import Keep
from ioi_eval.pipeline import Outcome, Settings, score_dump
from ioi_eval.pipeline.family import ProblemFamily, R
from ioi_eval.pipeline.progress import progress_for
from ioi_eval.pipeline.settings import spare_for
from ioi_eval.pipeline.threads import in_thread
from ioi_eval.pipeline.window import W


@dataclass(frozen=True, kw_only=True)
class RunCall(ABC):
    """What the command line asks for, for every family of problems."""

    narrowing: ClassVar[Mapping[str, str]]
    """For each option that may leave rows out, its key in `as_dict`."""

    dumps: tuple[str, ...]
    out: Path
    place: Place = field(default_factory=Place)
    id_column: str = "uuid"
    by: tuple[str, ...] = ()
    resume: bool = True
    retry_failed: bool = False
    dedupe: bool = True
    keep: Keep = Keep.INPUTS
    push_to_hub: str | None = None
    public: bool = False
    watch: Watch = field(default_factory=Watch)

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """The values that the journal and the summary record."""

    @property
    def dump(self) -> str:
        """The dumps' names, for messages."""
        return ", ".join(self.dumps)

    def push(self) -> Push | None:
        """Where the results are pushed at the end; `None` for nowhere. Call it before anything is judged.

        Raises:
            InputError: the data set cannot be made, or it is public and that was not asked for.
        """
        return Push.wanted(self.push_to_hub, self.dumps, public=self.public, id_column=self.id_column)


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpSize:
    """How much there is to judge.

    Args:
        rows: the number of selected rows of the dump.
        problems: the number of problems of these rows.
        shares: whether programs of different rows may be in one job.
    """

    rows: int
    problems: int
    shares: bool


async def judge_dump(
    call: RunCall,
    family: ProblemFamily[W, R],
    here: Opened,
    *,
    workers: int,
    size: DumpSize,
    events: Events,
    restore: Callable[[], None] | None = None,
) -> Outcome:
    """Judge a dump. The directory is made last, when all else is ready, so a command that fails earlier leaves none.

    Args:
        call: the options of the command.
        family: the dump, and how it is judged.
        here: the sandbox.
        workers: how many jobs to run at once.
        size: how much there is to judge.
        events: receives the events of the run.
        restore: makes test data again that was deleted from the cache; called in a thread.

    Raises:
        InputError: the dump or the journal is damaged.
        SetupError: nothing can be judged here, or nothing can be written there.
    """
    options = call.as_dict()
    with await in_thread(Journal, call.out, options=options, resume=call.resume) as journal:
        tell(*journal.notes)
        tell(*replaced(call.out, rows=size.rows, options=options, narrowing=call.narrowing, resume=call.resume))
        tell_judging(events, here, dump=call.dump, out=call.out, rows=size.rows, problems=size.problems)
        return await score_dump(
            call.out,
            family,
            journal=journal,
            settings=Settings(
                workers=workers,
                spare=spare_for(workers, shares=size.shares),
                dedupe=call.dedupe,
                retry_failed=call.retry_failed,
                keep=call.keep,
                options=options,
                events=events,
            ),
            progress=progress_for(size.rows, bar=call.watch.bar, events=events, load=here.load),
            restore=restore,
        )
