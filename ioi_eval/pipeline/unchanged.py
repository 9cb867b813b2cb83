"""Whether a run would find and write just what stands there already.

A run that is started again with nothing new would read the dump twice, look up every row and write a file of gigabytes
anew, to the last byte as it was. So what results were made from is kept beside them, in `.written.json`: the contents
of the dump, how each problem is judged, all options, and what the files and the journal were like. Where all of that is
the same, results stay as they are; of the summary only what is of the run itself is written anew. Results that lack
something (a failure of ours, a row that is pending) are always made again.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from ioi_eval.fingerprint import digest_of
from ioi_eval.journal import Journal
from ioi_eval.pipeline.finish import write_summary
from ioi_eval.pipeline.progress import REFUSED, RESUMED, Progress
from ioi_eval.pipeline.run import Done
from ioi_eval.pipeline.settings import Outcome, Settings
from ioi_eval.report.run_summary import RunFacts, renewed
from ioi_eval.rows.source import Source
from ioi_eval.version import __version__

STATE = ".written.json"
_FORMAT = 1


def signature(dump: object, ways: Iterable[str], options: Mapping[str, Any]) -> str | None:
    """What results are made from, as one hash; `None` where nobody can tell whether the dump is the same.

    Args:
        dump: the source of rows, which may tell a hash of its contents.
        ways: the fingerprints of judging some program for each problem.
        options: all that was asked for.
    """
    digest = dump.digest() if isinstance(dump, Source) else None
    if digest is None:
        return None
    values = [_FORMAT, __version__, digest, list(ways), options]
    return digest_of(json.dumps(values, default=str, sort_keys=True))  # a file's name in them may be no UTF-8


class Written:
    """What stands in a directory, and what it was made from.

    Args:
        directory: where results are.
        files: those that a run writes but for the summary.
        journal: in the same directory.
        made_from: the signature of this run.
    """

    def __init__(self, directory: Path, files: Sequence[str], journal: Journal, made_from: str | None) -> None:
        self.directory, self._files, self.journal, self._made_from = directory, files, journal, made_from

    def earlier(self) -> dict[str, Any] | None:
        """The earlier summary, where this run would come to the same; its notes are those of its results."""
        if self._made_from is None:
            return None
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):  # then it is not what we wrote
            state = orjson.loads((self.directory / STATE).read_bytes())
            same = state["made_from"] == self._made_from and state["journal"] == list(self.journal.found)
            if same and state["files"] == self._state_of_files():
                values: dict[str, Any] = orjson.loads((self.directory / "summary.json").read_bytes())
                return {**values, "notes": state["notes"]}
        return None

    def forget(self) -> None:
        """What stands there is about to change."""
        with contextlib.suppress(OSError):
            (self.directory / STATE).unlink(missing_ok=True)

    def keep(self, notes: Sequence[str]) -> None:
        """Put down what the files that stand there now were made from, with the notes that are of the results."""
        self.journal.sync()
        state = {
            "made_from": self._made_from,
            "journal": list(self.journal.state),
            "files": self._state_of_files(),
            "notes": list(notes),
        }
        if self._made_from is not None:
            with contextlib.suppress(OSError):  # then it is made anew the next time
                (self.directory / STATE).write_bytes(orjson.dumps(state))

    def _state_of_files(self) -> list[list[int]]:
        found = [os.stat(self.directory / name) for name in self._files]
        return [[one.st_size, one.st_mtime_ns, one.st_ino] for one in found]


def as_it_was(
    written: Written,
    earlier: Mapping[str, Any],
    settings: Settings,
    progress: Progress,
    *,
    report: Callable[[Mapping[str, Any]], str],
    told: Callable[[RunFacts], Mapping[str, Any]],
) -> Outcome:
    """End a run whose results stand there already: only the summary and the report are of this run.

    Args:
        written: what stands there.
        earlier: the summary of it.
        settings: of this run.
        progress: is told of every row.
        report: the summary as Markdown.
        told: the part of the summary that is of a run.
    """
    counts = earlier["submissions"]
    resumed = counts["rows"] - counts["refused"]
    for became, number in ((RESUMED, resumed), (REFUSED, counts["refused"])):
        for _ in range(number):
            progress.advance(became)
    progress.close()
    facts = Done(resumed=resumed).facts(settings, written.journal.notes)
    values = renewed(earlier, facts, told(facts))
    write_summary(written.directory, values, report(values))
    written.keep(earlier["notes"])
    return Outcome(summary=values, interrupted=False, stopped_by=None)
