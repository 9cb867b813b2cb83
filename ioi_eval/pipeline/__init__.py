"""A dump goes in, results come out: dump → workers → journal → results.

- `intake` reads rows as submissions, `window` says which is next, `run` judges them, `ledger` keeps the results;
- `conduct` is the frame around a run: signals, the journal, what the run itself knows;
- `finish` writes them out, in the dump's order, from the journal;
- `plan` says what would be done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ioi_eval.journal import Journal, Spool
from ioi_eval.pipeline.conduct import Outcome, Settings, conduct
from ioi_eval.pipeline.contest import CONTEST_FORMAT, ContestJudging, Judge
from ioi_eval.pipeline.finish import write_results, write_summary
from ioi_eval.pipeline.intake import Intake, Selection, Survey, survey
from ioi_eval.pipeline.ledger import Ledger
from ioi_eval.pipeline.plan import Plan, plan
from ioi_eval.pipeline.progress import Progress
from ioi_eval.pipeline.window import Candidate
from ioi_eval.report.markdown import markdown_report
from ioi_eval.report.rows import Unscored
from ioi_eval.report.summary import RunFacts

__all__ = ["Intake", "Judge", "Outcome", "Plan", "Selection", "Settings", "Survey", "plan", "score_dump", "survey"]


async def score_dump(
    directory: Path,
    intake: Intake,
    judge: Judge,
    *,
    journal: Journal,
    settings: Settings,
    progress: Progress,
    unscored: Unscored = Unscored.NULL,
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
        restore: makes test data in the cache again that somebody has deleted; called in a thread.

    Raises:
        InputError: the dump or the journal is damaged.
        SetupError: nothing can be judged here, or nothing can be written there.
    """
    ledger = Ledger(journal, Spool(directory), CONTEST_FORMAT, keys_under=Candidate.keys_under)

    def write(facts: RunFacts, writing: Progress) -> Mapping[str, Any]:
        values = write_results(directory, intake, ledger, writing, unscored=unscored).as_dict(facts)
        write_summary(directory, values, markdown_report(values))
        return values

    return await conduct(
        lambda: intake.candidates(ledger.standing),
        ContestJudging(judge),
        ledger,
        settings=settings,
        progress=progress,
        write=write,
        restore=restore,
    )
