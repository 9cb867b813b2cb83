"""Judges a dump and writes the results: dump → workers → journal → results.

- `dump` conducts a run, for every family of problems: signals, the journal, result files in the dump's order;
- `intake` reads rows as submissions, `window` chooses the next one, `run` judges them, `ledger` stores the results;
- `family` is the interface of a family of problems, `contest` implements it for contest problems;
- `finish` writes files;
- `plan` is the dry run.
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
