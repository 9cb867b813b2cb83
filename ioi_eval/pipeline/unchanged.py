"""Finds out whether a run would write the results that are there already.

A run that is started again with nothing new would read the dump twice, look up every row and write gigabytes of the
same results again. So `.written.json`, beside the results, describes what they were made from: the contents of the
dump, how each problem is judged, all options, the files of this package, and the state of the results and the journal.
If all of that is the same, the results are not written again; in the summary, only the part about the run is renewed.
Incomplete results (with a failure of ours, or a pending row) are always made again.

The package's files are hashed because nobody raises the version number for each correction of a report. All modules
count: a list of those that make results could be incomplete. The hash takes some milliseconds.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import orjson

from ioi_eval.fingerprint import digest_of
from ioi_eval.journal import Journal
from ioi_eval.pipeline.family import ProblemFamily
from ioi_eval.pipeline.progress import Progress
from ioi_eval.pipeline.settings import DumpOutcome, Settings, run_facts
from ioi_eval.pipeline.tally import REFUSED, RESUMED
from ioi_eval.pipeline.writing import write_summary
from ioi_eval.report.result_files import INPUTS, SUMMARY, TESTS
from ioi_eval.report.run_summary import RunCounts, renewed

STATE = ".written.json"
_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_WITHOUT_MODULES = {"__pycache__", "built", "graders", "sample"}  # (what runs in boxes is in fingerprints)


@lru_cache
def digest_of_package(package: str) -> str | None:
    """A hash of the modules of the package in that directory, and of the files from which they make reports.

    `None` if one of them cannot be read, as it may be changing now.
    """
    digest = hashlib.sha256()
    try:
        for directory, inner, names in os.walk(package):
            inner[:] = sorted(set(inner) - _WITHOUT_MODULES)
            for name in sorted(names):
                path = os.path.join(directory, name)
                if os.path.isfile(path) and not name.startswith("."):  # those are an editor's
                    with open(path, "rb") as file:
                        digest.update(os.fsencode(name) + hashlib.sha256(file.read()).digest())
    except OSError:
        return None
    return digest.hexdigest()


class PresentResults:
    """The results in a directory, and what they were made from.

    Args:
        family: the dump, and how it is judged. The dump and this package are hashed now, before the dump is read.
    """

    def __init__(
        self, directory: Path, family: ProblemFamily[Any, Any], journal: Journal, options: Mapping[str, Any]
    ) -> None:
        self._directory, self._family, self._journal = directory, family, journal
        self._options = {**options, "family": family.options}
        self._package = digest_of_package(_PACKAGE)
        self._digest = family.dump_reader.source.digest()

    @cached_property
    def _made_from(self) -> str | None:
        """A hash of all that results are made from; `None` if it is unknown. It waits for all problems."""
        if self._digest is None or self._package is None:
            return None
        problems = list(self._family.dump_reader.problem_signatures())
        values = [self._package, self._digest, problems, self._options]
        return digest_of(json.dumps(values, default=str, sort_keys=True))  # orjson refuses names that are not UTF-8

    def exist(self) -> bool:
        """Whether there are complete results of an earlier run, with a description."""
        return (self._directory / STATE).exists()

    def unchanged_summary(self) -> dict[str, Any] | None:
        """The earlier summary, if this run would write the same results. It has only the notes about the results."""
        if not self.exist() or self._made_from is None:
            return None
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):  # then it is not what we wrote
            state = orjson.loads((self._directory / STATE).read_bytes())
            same = state["made_from"] == self._made_from and state["journal"] == list(self._journal.state_at_opening)
            summary = (self._directory / SUMMARY).read_bytes()
            if same and state["files"] == self._state_of_files() and state["summary"] == digest_of(summary):
                return {**orjson.loads(summary), "notes": state["notes"]}
        return None

    def end_run(self, earlier: dict[str, Any], settings: Settings, progress: Progress) -> DumpOutcome:
        """End a run whose results are there already: only the summary and the report are written."""
        counts = earlier["submissions"]
        resumed = counts["rows"] - counts["refused"]
        for ending, rows in ((RESUMED, resumed), (REFUSED, counts["refused"])):
            for _ in range(rows):
                progress.advance(ending)
        progress.close()
        facts = run_facts(RunCounts(resumed=resumed, jobs_at_once=settings.jobs_at_once), settings, self._journal.notes)
        values = renewed(earlier, facts, self._family.summary.this_run(facts))
        write_summary(self._directory, values, self._family.report(values))
        self.describe(earlier["notes"])
        return DumpOutcome(summary=values, interrupted=False, stopped_by=None)

    def forget(self) -> None:
        """Delete the description, because the results are about to change."""
        with contextlib.suppress(OSError):
            (self._directory / STATE).unlink(missing_ok=True)

    def describe(self, notes: Sequence[str]) -> None:
        """Describe what the present files were made from, with the notes about the results."""
        self._journal.sync()
        state = {
            "made_from": self._made_from,
            "journal": list(self._journal.state),
            "files": self._state_of_files(),
            "summary": digest_of((self._directory / SUMMARY).read_bytes()),
            "notes": list(notes),
        }
        if self._made_from is not None:
            with contextlib.suppress(OSError):  # then the next run makes the results again
                (self._directory / STATE).write_bytes(orjson.dumps(state))

    def _state_of_files(self) -> list[list[int]]:
        states = [os.stat(self._directory / name) for name in (*self._family.files, TESTS, INPUTS)]
        return [[state.st_size, state.st_mtime_ns, state.st_ino] for state in states]
