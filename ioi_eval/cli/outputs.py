"""The directory for results, before anything is judged: checks of it, and what an earlier run left there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Self

from ioi_eval.errors import ODD_DATA, InputError
from ioi_eval.journal import check_writable, options_of_first_run
from ioi_eval.report.result_files import INPUTS, MCPBR_RECORDS, RESULTS, SUMMARY, TESTS
from ioi_eval.rows import reads_all_files

SCORE, APPS_SCORE, VALIDATE = "ioi-eval score", "ioi-eval apps score", "ioi-eval validate"

_WRITTEN = {
    SCORE: (RESULTS, TESTS, INPUTS),
    APPS_SCORE: (RESULTS, TESTS, INPUTS, MCPBR_RECORDS),
    VALIDATE: (RESULTS,),
}
"""The files with rows that each command writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierResults:
    """The results that an earlier run left in a directory.

    Args:
        command: the command that wrote them; empty if there are none.
        rows: how many rows have a result. A run that was stopped has fewer than its dump.
    """

    command: str = ""
    rows: int = 0
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, directory: Path) -> Self:
        """The results in a directory; those whose summary cannot be read count as none."""
        if os.path.exists(directory / "validation.json"):  # before the summary, which `report` writes there
            return cls(command=VALIDATE)
        try:
            (directory / RESULTS).stat()  # if it is missing, the summary describes results in other directories
            summary = json.loads((directory / SUMMARY).read_bytes())
            command = APPS_SCORE if "judged_by" in summary else SCORE
            counts = summary["submissions"]
            rows = int(counts["rows"]) - int(counts.get("pending", 0))
            return cls(command=command, rows=rows, options=dict(summary["options"]))
        except (OSError, *ODD_DATA):
            return cls()


def check_out(out: Path, *, read: Iterable[str], command: str) -> Path:
    """Refuse a directory for results if it cannot be written, if it lies in a directory that is read, or if a file
    would be replaced there that is read, or that another command, or no run, has written.

    Args:
        out: the value of `--out`; need not exist yet. Then the nearest existing directory above it is returned, else
            itself.
        read: the sources that the command reads, as the user wrote them.
    """
    read = tuple(read)
    refuse_inside("--out", out, read)
    for name, source in product(_WRITTEN[command], map(os.path.expanduser, read)):
        if os.path.exists(source) and os.path.exists(out / name) and os.path.samefile(source, out / name):
            raise InputError(
                f"--out {out}: {source} is read by this command, whose results would replace it; choose another --out"
            )
    before = EarlierResults.of(out)
    if before.command not in ("", command):
        raise InputError(
            f"--out {out} holds results of {before.command}, which this would replace; choose another --out"
        )
    if not before.command and (other := _command_with(options_of_first_run(out))) not in ("", command):
        raise InputError(
            f"--out {out} holds the journal of {other}, whose results are not written yet; repeat that command to "
            "write them, or choose another --out"
        )
    _refuse_foreign(out, _WRITTEN[command], before)
    return check_writable(out)


def _command_with(options: Mapping[str, Any]) -> str:
    """The command that has these options in its journal; empty if that is not known."""
    if "dataset" in options:
        return APPS_SCORE
    if "solutions" in options:
        return VALIDATE
    return SCORE if "tests" in options else ""


def _refuse_foreign(out: Path, names: Iterable[str], before: EarlierResults) -> None:
    """Refuse a directory with files of these names if no run has written there.

    A run leaves a journal, and a summary that names its dump. (The summary that `report` makes of several directories
    names none.)
    """
    if before.command == VALIDATE or "dump" in before.options or os.path.exists(out / "journal"):
        return
    if found := next((name for name in names if os.path.lexists(out / name)), None):
        raise InputError(
            f"--out {out}: no run of ioi-eval has written {out / found}, which this would replace; move it away, or "
            "choose another --out"
        )


def refuse_inside(option: str, path: Path, read: Iterable[str]) -> None:
    """Refuse a path in a directory that is read as rows: the next run would read what this one writes."""
    for source in filter(reads_all_files, read):
        if path.resolve().is_relative_to(Path(os.path.expanduser(source)).resolve()):
            raise InputError(
                f"{option} {path} lies in {source}, all files of which are read as rows: the next run would read it "
                f"too; choose another {option}"
            )
