"""Writes the files with a line for every row of a dump, in the dump's order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Generic, Self

from ioi_eval.errors import ODD_DATA, internal_error_text
from ioi_eval.pipeline.dump_reader import OWN_FAULT, Judgeable, Refused
from ioi_eval.pipeline.family import ProblemFamily, ResultT
from ioi_eval.pipeline.progress import Progress
from ioi_eval.pipeline.result_store import RecordedResult, ResultStore
from ioi_eval.pipeline.settings import Settings
from ioi_eval.pipeline.window import CandidateT
from ioi_eval.pipeline.writing import TestLines, not_written, replacing
from ioi_eval.report.frame import RESULTS, TESTS
from ioi_eval.report.inputs import INPUTS


@dataclass(frozen=True, slots=True, kw_only=True)
class _Out:
    """Open files.

    Args:
        files: those of the family.
        tests: writes those of the tests.
    """

    files: Sequence[BinaryIO]
    tests: TestLines


class ResultFiles(Generic[CandidateT, ResultT]):
    """The result files of a run; they replace the earlier ones when the last row is written.

    The dump is read again after judging, so that memory does not grow with it. But a run that continues an earlier one
    would read all old rows twice. So rows are written while the run looks them up, from the first one up to the first
    that must be judged: `entries`. The others are written after judging: `finish`.

    Args:
        directory: where the files go.
        family: the dump, and how it is judged.
        store: has the results.
        settings: of the run.
    """

    def __init__(
        self,
        directory: Path,
        family: ProblemFamily[CandidateT, ResultT],
        store: ResultStore[ResultT],
        settings: Settings,
    ) -> None:
        self._directory, self._family, self._store, self._settings = directory, family, store, settings
        self._reading = family.dump_reader.begin(store.stored_level)  # what it has returned is written
        self._opened = ExitStack()
        self._written = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.__exit__(kind, value, trace)

    @cached_property
    def _out(self) -> _Out:
        """The files, opened when they are needed first."""
        names = (*self._family.files, TESTS, INPUTS)
        *files, tests, inputs = [self._opened.enter_context(replacing(self._directory / name)) for name in names]
        return _Out(files=files, tests=TestLines(tests, inputs, self._settings.keep))

    def entries(self) -> Iterator[CandidateT | Refused | None]:
        """All entries of the dump, for judging; `None` for one whose result is stored and was written.

        Raises:
            SetupError: the files cannot be written.
        """
        if len(self._store.journal):
            self._family.await_problems()
            yield from self._write_judged_before()
        for entry in self._family.dump_reader.entries(self._reading.continued()):
            yield entry if isinstance(entry, Refused) else entry.candidate

    def finish(self, progress: Progress) -> None:
        """Write a line for every row of the dump that was judged or refused and has none yet.

        Args:
            progress: counts the rows.

        Raises:
            SetupError: they cannot be written.
        """
        progress.skip("", self._written)
        with self._opened:
            _ = self._out  # also if there is nothing to write
            for entry in self._family.dump_reader.entries(self._reading, whole_rows=True):
                progress.advance("")
                if not self._write(entry) and not isinstance(entry, Refused):
                    self._family.summary.postpone(entry.row.values, str(entry.candidate.problem_key))

    def _write_judged_before(self) -> Iterator[Refused | None]:
        """The entries before the first one that must be judged, each after its line was written."""
        retry_failed = self._settings.retry_failed
        for entry in self._family.dump_reader.entries(self._reading, whole_rows=True):
            try:
                is_written = self._write(entry, retry_failed=retry_failed)
            except OSError as error:
                raise not_written(self._directory / RESULTS, error) from error
            if not is_written:
                self._reading.entries -= 1
                return
            self._written += 1
            yield entry if isinstance(entry, Refused) else None

    def _write(self, entry: Judgeable[CandidateT] | Refused, *, retry_failed: bool = False) -> bool:
        """Write the line of a row; `False` if it has no result, or a failed one that is judged again."""
        if isinstance(entry, Refused):
            lines = self._add_refused(entry)
        elif (judged := self._store.find(entry.candidate)) is None or (judged.is_final_je and retry_failed):
            return False
        else:
            lines = self._add_result(entry, judged)
        for file, line in zip(self._out.files, lines, strict=True):
            file.write(line)
        return True

    def _add_result(self, entry: Judgeable[CandidateT], judged: RecordedResult[ResultT]) -> Sequence[bytes]:
        """Add the result of a row. Returns its lines; those of a refused row if they cannot be made."""
        try:
            return self._family.add_result(entry, judged, self._out.tests)
        except ODD_DATA as error:
            message = str(entry.row.error(internal_error_text(error, "writing its result")))
            return self._add_refused(Refused(row=entry.row, kind=OWN_FAULT, message=message), bare=True)

    def _add_refused(self, entry: Refused, *, bare: bool = False) -> Sequence[bytes]:
        """Add a row that was not judged. Returns its lines, without its own columns if these cannot be written."""
        self._family.refuse(entry)
        if not bare:
            with suppress(*ODD_DATA):
                return self._family.refused_lines(entry)
        return self._family.refused_lines(replace(entry, row=replace(entry.row, values={})))
