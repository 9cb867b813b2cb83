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

from ioi_eval.journal import Journal, TemporaryRecords
from ioi_eval.pipeline.conduct import Outcome, Settings, conduct
from ioi_eval.pipeline.contest import CONTEST_FORMAT, ContestJudging, Judge
from ioi_eval.pipeline.finish import write_results, write_summary
from ioi_eval.pipeline.intake import Intake, RowSelection, Survey, survey
from ioi_eval.pipeline.ledger import Ledger
from ioi_eval.pipeline.plan import DryRun, plan
from ioi_eval.pipeline.progress import Progress
from ioi_eval.pipeline.threads import in_thread
from ioi_eval.pipeline.unchanged import Written, as_it_was, signature
from ioi_eval.pipeline.window import Candidate
from ioi_eval.report.frame import RESULTS, TESTS
from ioi_eval.report.groups import Grouping
from ioi_eval.report.markdown import markdown_report
from ioi_eval.report.rows import Unscored
from ioi_eval.report.summary import RunFacts, this_run

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
    made_from = await in_thread(_made_from, intake, settings, unscored, grouping)
    written = Written(directory, (RESULTS, TESTS), journal, made_from)
    if not settings.retry_failed and (earlier := written.earlier()) is not None:
        return await in_thread(as_it_was, written, earlier, settings, progress, report=markdown_report, told=this_run)
    written.forget()
    ledger = Ledger(journal, TemporaryRecords(directory), CONTEST_FORMAT, keys_under=Candidate.keys_under)

    def write(facts: RunFacts, writing: Progress) -> Mapping[str, Any]:
        summary = write_results(
            directory, intake, ledger, writing, unscored=unscored, grouping=grouping, keep=settings.keep
        )
        values = summary.as_dict(facts)
        write_summary(directory, values, markdown_report(values))
        if not facts.interrupted and not summary.pending and not len(ledger.spool):
            written.keep(values["notes"][len(facts.notes) :])
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


def _made_from(intake: Intake, settings: Settings, unscored: Unscored, grouping: Grouping | None) -> str | None:
    selection = intake.selection
    told = [sorted(selection.years), sorted(selection.problems), selection.limit, intake.id_column, str(unscored)]
    told.append(list(grouping.columns) if grouping else [])
    return signature(intake.source, intake.ways(), {**settings.options, "": told})
