"""Judges a dump and writes the results: dump → judging → journal → results.

- `dump` runs it all, for every family of problems, with the `settings` of a run, and writes the results;
- `dump_reader` reads rows as submissions, `window` finds those with the same program and chooses the next one,
  `dump_judge` has them judged, and `result_store` stores the results;
- `family` is the interface of a family of problems; `contest` is the family of contest problems, whose dumps
  `contest_dump` reads (that of APPS problems is in `ioi_eval.apps`). All other modules serve every family;
- `writing` writes files; `unchanged` finds out that the results are there already;
- `tally` counts rows, and `progress` shows how far a run is;
- `interrupt` handles Ctrl-C;
- `dry_run` counts what a run would judge.
"""

from __future__ import annotations

from ioi_eval.pipeline.dump import score_dump
from ioi_eval.pipeline.settings import DumpOutcome, Settings

__all__ = ["DumpOutcome", "Settings", "score_dump"]
