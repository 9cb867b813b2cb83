"""Merges several journals into one: of shards of a dump, or of several dumps."""

from __future__ import annotations

import mmap
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from ioi_eval.errors import InputError, SetupError
from ioi_eval.journal import frames, opening
from ioi_eval.journal.frames import Frame, RecordKind
from ioi_eval.journal.opening import Index
from ioi_eval.journal.store import Journal
from ioi_eval.model import Verdict

CONTEST, APPS = "ioi-eval score", "ioi-eval apps score"
_OF_VALIDATE = {"solutions", "against"}
"""Options of a run of `validate` that no run of the others has."""


@dataclass(slots=True, kw_only=True)
class Merged:
    """The result of merging journals: how many records of each kind were written.

    A row without a program is a result, as in `results.jsonl`, also if its record is a copy. Of journals with different
    results for the same program (`conflicts` has messages) the first counts.
    """

    results: int = 0
    failures: int = 0
    copies: int = 0
    left_out: int = 0  # because an earlier one has the same keys
    conflicts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    command: str = ""
    _index: Index = field(default_factory=Index)
    _programs: dict[bytes, tuple[tuple[object, ...], str | None, str]] = field(default_factory=dict)
    """The result of each program: the values that are compared, its verdict if that is compared, and a description."""

    _copied: list[bytes] = field(default_factory=list)
    _empty: set[bytes] = field(default_factory=set)
    """The hashes of rows without a program."""

    _scores_only: bool = False  # whether the run whose records are being added was one with `--score-only`

    @property
    def unknown(self) -> int:
        """How many copies have a program without a result in any journal: they are judged again."""
        return sum(program not in self._index.programs for program in self._copied)

    def add_journal(self, directory: Path, journal: Journal) -> None:
        """Write the records that the earlier journals do not have, and how each run judged."""
        self._scores_only = False
        with _opened(directory, self.notes) as (buffer, end):
            for frame in frames.whole_frames(buffer[:end], len(frames.MAGIC)):
                body = bytes(buffer[frame.body : frame.end - 1])
                if frame.kind is RecordKind.RUN:
                    options = orjson.loads(body)
                    if options.keys() >= _OF_VALIDATE:
                        raise InputError(
                            f"{directory} holds results of `ioi-eval validate`, which cannot be joined; name "
                            f"directories of `{CONTEST}` or `{APPS}`"
                        )
                    self._scores_only = options.get("score_only") is True
                    journal.append(frame.kind, frame.keys, body)
                else:
                    self._add_record(frame, body, directory, journal)

    def _add_record(self, frame: Frame, body: bytes, directory: Path, journal: Journal) -> None:
        values = orjson.loads(body)
        self._require_family(values, directory)
        if frame.kind is RecordKind.RESULT:
            self._compare(frame, values, directory)
            if values["verdict"] == Verdict.NC:
                self._empty.add(frame.keys.program)
        stored = self._index.find(frame.keys)
        if stored is not None and (frame.kind is RecordKind.FINAL_JE or not stored.is_final_je):
            self.left_out += 1
            return
        self._index.add(frame.kind, frame.keys, journal.append(frame.kind, frame.keys, body))
        if frame.kind is RecordKind.RESULT:
            self.results += 1
        elif frame.kind is RecordKind.FINAL_JE:
            self.failures += 1
        elif frame.keys.program in self._empty:
            self.results += 1
        else:
            self.copies += 1
            self._copied.append(frame.keys.program)

    def _require_family(self, values: Mapping[str, Any], directory: Path) -> None:
        command = CONTEST if "year" in values else APPS
        self.command = self.command or command
        if command != self.command:
            raise InputError(
                f"{directory} holds results of `{command}`, and those before it of `{self.command}`: merge each "
                "kind by itself"
            )

    def _compare(self, frame: Frame, values: Mapping[str, Any], directory: Path) -> None:
        """Note a conflict if an earlier journal has another result for the same program, judged in the same way.

        If only scores count in one of the two runs (`--score-only`), its verdicts depend on what was judged before, and
        are not compared.
        """
        subtasks = tuple((subtask["subtask"], subtask["score"]) for subtask in values.get("subtasks", ()))
        verdict = None if self._scores_only else values["verdict"]
        worth = (values.get("score"), values.get("passed"), subtasks)
        points = values["score"] if "score" in values else f"{values['passed']} of {values['total']}"
        text = f"{values['submission']} of {values['problem']} in {directory} ({values['verdict']}, {points})"
        before, earlier_verdict, earlier_text = self._programs.setdefault(frame.keys.program, (worth, verdict, text))
        if before != worth or (None not in (verdict, earlier_verdict) and verdict != earlier_verdict):
            self.conflicts.append(f"the same program, judged in the same way: {earlier_text}, but {text}")


def merge(directories: Sequence[Path], out: Path) -> Merged:
    """Write the journals of several directories, all of the same command, into one in a directory that has none.

    No run, and in `out` no other merge, may be writing to them meanwhile. `out` is created if absent.
    """
    for directory in directories:
        os.close(_descriptor(directory))  # before anything is made in `out`
    merged = Merged()
    unfinished = out / ".merging"
    with ExitStack() as stack:
        try:
            out.mkdir(parents=True, exist_ok=True)
            stack.enter_context(opening.locked(out, merged.notes))
            if (out / "journal").exists():
                raise InputError(
                    f"--out {out} has a journal already; choose another --out (it may be merged too: name it first)"
                )
            stack.callback(shutil.rmtree, unfinished, ignore_errors=True)
            options = {"merged": [str(path) for path in directories]}
            _write_all(merged, Journal(unfinished, options=options, resume=False), directories, out / "journal")
            os.replace(unfinished / "journal", out / "journal")
        except OSError as error:
            raise SetupError(f"{out / 'journal'} cannot be written: {error.strerror}; choose another --out") from error
    return merged


def _write_all(merged: Merged, unfinished: Journal, directories: Sequence[Path], path: Path) -> None:
    """Write all records into an unfinished journal. If that fails, it is deleted, and the error names `path`."""
    try:
        with unfinished:
            for directory in directories:
                merged.add_journal(directory, unfinished)
    except SetupError as error:
        reason = error.__cause__.strerror if isinstance(error.__cause__, OSError) else error
        raise SetupError(f"{path} cannot be written: {reason}; choose another --out") from error


@contextmanager
def _opened(directory: Path, notes: list[str]) -> Iterator[tuple[memoryview, int]]:
    """A journal's bytes, and the length of its complete records; no run may write to it at the same time."""
    with ExitStack() as stack:
        fd = _descriptor(directory)
        stack.callback(os.close, fd)
        stack.enter_context(opening.locked_for_reading(directory))
        end = opening.load(directory / "journal", fd, Index(), notes, advice=f"leave {directory} out")
        if end == 0:
            yield memoryview(b""), 0
            return
        mapped = stack.enter_context(mmap.mmap(fd, end, access=mmap.ACCESS_READ))
        yield stack.enter_context(memoryview(mapped)), end


def _descriptor(directory: Path) -> int:
    """The journal of a directory, opened for reading."""
    return opening.open_to_read(directory / "journal", "; name directories that were given as --out")
