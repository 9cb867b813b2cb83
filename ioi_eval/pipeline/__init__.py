"""A dump goes in, results come out: dump → workers → journal → results.

- `dump` is the frame around a run, for every family of problems: signals, the journal, the files in the dump's order;
- `intake` reads rows as submissions, `window` says which is next, `run` judges them, `ledger` keeps the results;
- `family` is what is particular to a family of problems, `contest` that for contest problems;
- `finish` writes files;
- `plan` says what would be done.
"""

from __future__ import annotations

from ioi_eval.pipeline.contest import ContestFamily, Judge
from ioi_eval.pipeline.dump import score_dump
from ioi_eval.pipeline.intake import Intake, RowSelection, Survey, survey
from ioi_eval.pipeline.plan import DryRun, plan
from ioi_eval.pipeline.settings import Outcome, Settings

__all__ = [
    "ContestFamily",
    "DryRun",
    "Intake",
    "Judge",
    "Outcome",
    "RowSelection",
    "Settings",
    "Survey",
    "plan",
    "score_dump",
    "survey",
]
