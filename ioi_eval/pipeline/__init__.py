"""A dump goes in, results come out: dump → workers → journal → results.

- `dump` is the frame around a run, for every family of problems: signals, the journal, the files in the dump's order;
- `intake` reads rows as submissions, `window` says which is next, `run` judges them, `ledger` keeps the results;
- `family` is what is particular to a family of problems, `contest` that for contest problems;
- `finish` writes files;
- `plan` says what would be done.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ioi_eval.journal import Journal
from ioi_eval.pipeline.contest import ContestFamily, Judge
from ioi_eval.pipeline.dump import score
from ioi_eval.pipeline.intake import Intake, RowSelection, Survey, survey
from ioi_eval.pipeline.plan import DryRun, plan
from ioi_eval.pipeline.progress import Progress
from ioi_eval.pipeline.settings import Outcome, Settings
from ioi_eval.report.groups import Grouping
from ioi_eval.report.rows import Unscored

__all__ = ["DryRun", "Intake", "Judge", "Outcome", "RowSelection", "Settings", "Survey", "plan", "score_dump", "survey"]


async def score_dump(
    directory: Path,
    intake: Intake,
    judge: Judge,
    *,
    journal: Journal,
    settings: Settings,
    progress: Progress,
    unscored: Unscored = Unscored.NULL,
    grouping: Grouping | None = None,
    restore: Callable[[], None] | None = None,
) -> Outcome:
    """Judge what is not judged yet, and write the results of all.

    Args:
        directory: where `results.jsonl`, `summary.json` and `report.md` go.
        intake: the dump's rows.
        judge: judges one.
        journal: in the same directory.
        settings: how.
        progress: is told of every row.
        unscored: what stands in the results for scores that are not known.
        grouping: by which columns of the dump the summary is given for each group too.
        restore: makes test data in the cache again that somebody has deleted; called in a thread.

    Raises:
        InputError: the dump or the journal is damaged.
        SetupError: nothing can be judged here, or nothing can be written there.
    """
    family = ContestFamily(intake, judge, unscored, grouping)
    return await score(directory, family, journal=journal, settings=settings, progress=progress, restore=restore)
