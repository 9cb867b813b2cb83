"""Where results may go, and what stands there already: found out before anything is judged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from ioi_eval.errors import InputError
from ioi_eval.journal import check_writable
from ioi_eval.report.terminal import counted

SCORE, APPS_SCORE, VALIDATE = "ioi-eval score", "ioi-eval apps score", "ioi-eval validate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """The results that an earlier run left in a directory.

    Args:
        command: whose they are; empty where there are none.
        rows: how many.
        options: what that run was asked to do.
    """

    command: str = ""
    rows: int = 0
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, directory: Path) -> Self:
        """Those of a directory; none where its summary cannot be read, as that is not what we wrote."""
        try:
            (directory / "results.jsonl").stat()  # else they are reports of results that lie elsewhere
            summary = json.loads((directory / "summary.json").read_bytes())
            command = APPS_SCORE if "judged_by" in summary else SCORE
            return cls(command=command, rows=int(summary["submissions"]["rows"]), options=dict(summary["options"]))
        except (OSError, ValueError, LookupError, TypeError):
            return cls(command=VALIDATE if (directory / "validation.json").exists() else "")


def check_out(out: Path, *, read: str, command: str) -> Path:
    """Refuse a folder for results that cannot be written, that would be read as rows the next time, or that is taken.

    Args:
        out: what `--out` gives; need not be there yet.
        read: the source of submissions, as the user wrote it.
        command: that writes its results there.

    Returns:
        The folder itself or, where it is not there yet, the nearest one above it that is.

    Raises:
        InputError: it lies in the folder whose files are the submissions, or holds the results of another command.
        SetupError: it cannot be written.
    """
    source = Path(read).expanduser()
    if source.is_dir() and out.resolve().is_relative_to(source.resolve()):
        raise InputError(
            f"--out {out} lies in {read}, all files of which are read as submissions: the next run would read the "
            "results too; choose another --out"
        )
    before = Earlier.of(out).command
    if before not in ("", command):
        raise InputError(f"--out {out} holds results of {before}, which this would replace; choose another --out")
    return check_writable(out)


def replaced(
    out: Path, *, rows: int, options: Mapping[str, Any], narrowing: Mapping[str, str], resume: bool
) -> tuple[str, ...]:
    """A warning where results stand in the directory that this run does not make again; the journal keeps them.

    Args:
        out: the directory.
        rows: how many this run is for.
        options: what it was asked to do, as `Earlier.options`.
        narrowing: by the option that may leave rows out, what `options` calls it.
        resume: whether the journal is gone on with.
    """
    before = Earlier.of(out)
    dump, earlier_dump = options["dump"], before.options.get("dump")
    if not before.command:
        return ()
    if earlier_dump != dump:
        return (f"{out} has the results of {earlier_dump}, which those of {dump} will replace",)
    changed = {
        option: name
        for option, name in narrowing.items()
        if options[name] and options[name] != before.options.get(name)
    }
    lacking = any(_lacks(options[name], before.options.get(name)) for name in changed.values())
    if rows >= before.rows and not lacking:
        return ()
    said = f"{out} has results of {counted(before.rows, 'row')}, which those of {rows} will replace"
    if resume and changed:
        said += f"; the journal keeps all, and the command without {' and '.join(changed)} restores them"
    return (said,)


def _lacks(now: object, before: object) -> bool:
    """Whether a list of what is wanted leaves out something that an earlier one had."""
    return isinstance(now, list) and isinstance(before, list) and not set(before) <= set(now)


def check_list(out: Path) -> None:
    """Refuse a list's name that a directory has already: a file cannot take its place.

    Args:
        out: what `--out` gives where it names a file; need not be there yet.

    Raises:
        InputError: it is a directory.
    """
    if out.is_dir():
        raise InputError(f"--out {out} is a directory; name the file that the list is written to: {out / 'list.jsonl'}")
