"""Opening existing results, for the commands that read them."""

from __future__ import annotations

from pathlib import Path

from ioi_eval.cli.sandboxes import tell
from ioi_eval.report.result_sets import ResultSet, open_results


def opened_results(*directories: Path, id_column: str | None = None) -> list[ResultSet]:
    """Open results, and print a line about each run that was stopped before all its submissions were judged.

    Args:
        directories: the directories given as `--out`; one may be named twice.
        id_column: the column that names a submission; by default that of each run.

    Raises:
        InputError: there are no results, they are damaged, or their family is unknown.
    """
    opened = [open_results(directory, id_column=id_column) for directory in directories]
    tell(*dict.fromkeys(results.pending.warning(str(results.directory)) for results in opened if results.pending))
    return opened
