"""The problems that a run needs, on disk: the test split of APPS is 1.2 GB, and a dump needs them in any order.

The ids are read first: in a table this is cheap, and in JSON Lines it takes a third as long as reading the problems.
Each problem that the dump needs is written to an unnamed file; its place, digest and metadata stay in memory.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import threading
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import orjson

from ioi_eval.errors import NO_SPACE, InputError, NotReadWarning, SetupError, listed
from ioi_eval.fingerprint import digest_of
from ioi_eval.model.apps import AppsProblem, AppsTest, CallTest, RowFault, without_prefix
from ioi_eval.problems.apps import ProblemIds, read_ids, read_rows, without_zeros
from ioi_eval.problems.apps_selection import ProblemSelection, choose
from ioi_eval.problems.apps_values import encode
from ioi_eval.problems.big_json import text_with_position
from ioi_eval.problems.row import Source
from ioi_eval.recent_values import RecentValues
from ioi_eval.report.texts import counted

_HELD_BYTES = 64 * 1024 * 1024  # of problems, by their size on disk; in memory they take about twice that


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """The part of a problem that stays in memory."""

    id: str
    instance_id: str
    difficulty: str
    tests: int
    digest: str  # of everything about it that can change an outcome
    fault: RowFault | None
    unusable: str  # why it cannot be judged in this run; empty if it can
    offset: int  # in the file
    size: int


class Catalog:
    """Problems by their ids, in a file (its descriptor). Safe to use from many threads. `all_ids` are those of all rows
    of the data set, in order, and `source` describes it."""

    def __init__(self, file: int, entries: Mapping[str, CatalogEntry], all_ids: Collection[str], source: str) -> None:
        self.entries = entries
        self.source = source
        self.all_ids = dict.fromkeys(all_ids).keys()
        self._ids = ProblemIds(self.all_ids)
        self._reader = open(file, "rb", buffering=0)  # noqa: SIM115 - closed by close()
        self._lock = threading.Lock()
        self._held: RecentValues[str, AppsProblem] = RecentValues(_HELD_BYTES)

    def id_of(self, problem: str) -> str:
        """The data set's id for a problem that a dump names (`ProblemIds`)."""
        return self._ids.id_of(problem)

    def knows(self, problem: str) -> bool:
        """Whether the data set has this problem, even if it was not selected."""
        return self.id_of(problem) in self.all_ids

    def problem(self, problem: str) -> AppsProblem:
        """A problem with its tests."""
        with self._lock:
            if (held := self._held.get(problem)) is not None:
                return held
            entry = self.entries[problem]
            self._reader.seek(entry.offset)
            stored: AppsProblem = pickle.loads(self._reader.read(entry.size))  # our own file, which has no name
            return self._held.put(problem, stored, entry.size)

    def close(self) -> None:
        """Close the file."""
        self._reader.close()


def load_catalog(
    source: Source,
    *,
    needed: Collection[str] | None = None,
    selection: ProblemSelection | None = None,
    excluded: Collection[str] = (),
    why_unusable: Callable[[AppsProblem], str] = lambda problem: problem.reason,
    directory: Path | None = None,
) -> Catalog:
    """Read the problems of a data set whose ids are `needed`, as a dump has them; `None` for all.

    `why_unusable` returns why a problem cannot be judged; empty if it can. The unnamed file is made in `directory`, by
    default that of the system.
    """
    selection = selection or ProblemSelection()
    wanted = None if needed is None else {without_zeros(problem) for problem in needed}
    rows = read_ids(source)
    all_ids = [problem for problem, _ in rows]
    known = ProblemIds(all_ids)
    left_out = frozenset(known.id_of(text) for text in excluded)
    if missing := sorted(left_out.difference(all_ids)):
        named = f"--exclude names {counted(len(missing), 'problem')}"
        message = f"{named} that {source.describe()} does not have: {listed(missing)}"
        warnings.warn(message, NotReadWarning, stacklevel=1)

    def is_needed(problem: str) -> bool:
        return problem not in left_out and (wanted is None or without_zeros(problem) in wanted)

    numbers = {number for number in choose(rows, selection, source.describe()) if is_needed(all_ids[number])}
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            entries = {
                problem.id: _write_problem(problem, file, why_unusable(problem))
                for problem in read_rows(source, numbers)
            }
            file.flush()
            return Catalog(os.dup(file.fileno()), entries, all_ids, source.describe())
    except OSError as error:
        where = directory or "the directory for temporary files (TMPDIR)"
        elsewhere = "set TMPDIR to another one" if directory is None else "choose another --out"
        advice = "free some space there" if error.errno in NO_SPACE else elsewhere
        raise SetupError(
            f"the problems that this run needs cannot be written to {where}: {error.strerror}; {advice}"
        ) from error


def _write_problem(problem: AppsProblem, file: BinaryIO, unusable: str) -> CatalogEntry:
    """Write a problem to the end of the file; returns the part that stays in memory."""
    offset = file.tell()
    pickle.dump(problem, file, protocol=pickle.HIGHEST_PROTOCOL)
    return CatalogEntry(
        id=problem.id,
        instance_id=problem.instance_id,
        difficulty=problem.difficulty,
        tests=len(problem.tests),
        digest=problem_digest(problem),
        fault=problem.fault,
        unusable=unusable,
        offset=offset,
        size=file.tell() - offset,
    )


def problem_digest(problem: AppsProblem) -> str:
    """A hash of everything about a problem that can change an outcome."""
    tests = [_content(test) for test in problem.tests]
    return digest_of([problem.fn_name, problem.fault, problem.inputs, problem.outputs, tests])


def _content(test: AppsTest) -> object:
    if isinstance(test, CallTest):
        return ["call", encode(test.given), encode(test.expected), [encode(accepted) for accepted in test.accepts]]
    return ["stdin", *(_lines(value) for value in (test.given, test.expected))]


def _lines(value: str | tuple[str, ...]) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return [line.encode("utf-8", "surrogatepass") for line in value]


def read_excluded(path: Path) -> frozenset[str]:
    """The ids in a file of problems to leave out: one per line, or rows with `problem_id` as `apps audit` writes them,
    except those with `"exclude": false`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}, the list of problems to leave out, cannot be read: {why}") from error
    excluded = set()
    for number, line in enumerate(text.split("\n"), 1):  # messages may have U+2028, at which `splitlines` splits
        entry = line.strip()
        if not entry or entry.startswith("#"):
            continue
        if entry.startswith("["):
            raise InputError(f"{path}, row {number}: is a JSON list; give one id per line, or rows with problem_id")
        if not entry.startswith("{"):
            excluded.add(without_prefix(entry))
            continue
        try:
            row = orjson.loads(entry)
        except orjson.JSONDecodeError as error:
            raise InputError(f"{path}, row {number}: is not JSON: {text_with_position(error)}") from error
        if not isinstance(row.get("problem_id"), str | int):
            raise InputError(f"{path}, row {number}: problem_id is missing")
        if row.get("exclude", True):
            excluded.add(without_prefix(str(row["problem_id"])))
    return frozenset(excluded)
