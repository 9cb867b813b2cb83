"""Reads the files that a run wrote: rows with their tests, also as a pandas table, and the summary."""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ioi_eval.errors import ODD_DATA, InputError, SetupError, unknown
from ioi_eval.report import compact
from ioi_eval.report.run_summary import FORMAT, Pending
from ioi_eval.report.schema_check import wrong_value

if TYPE_CHECKING:
    import pandas as pd

_BUFFER_BYTES = 1024 * 1024  # lines have 2 kB; with the usual buffer of 8 kB, reading them takes twice as long
RESULTS, TESTS, INPUTS = "results.jsonl", "tests.jsonl", "inputs.jsonl"
SUMMARY, REPORT, PAGE = "summary.json", "report.md", "report.html"
MCPBR_RECORDS = "mcpbr.jsonl"

_NO_MEMORY = "Not enough memory"  # how a message of orjson begins if it gets no memory
_LONGEST_SHARED = 1 << 16  # equal texts of many rows are kept once; longer texts are hardly ever equal
_MAX_SHARED = 1 << 16


def load_results(directory: str | Path, *, columns: Collection[str] | None = None, tests: bool = True) -> pd.DataFrame:
    """The results that a run wrote, one row per submission, in the dump's order.

    Rows share equal values in memory: do not change lists or dictionaries in the table.

    Args:
        directory: the directory given as `--out`, or the `results.jsonl` in it.
        columns: only these columns; `None` for all.
        tests: whether to add the tests (`test_results`, in `all_subtasks_results`; for APPS a separate column).
            Without tests, `tests.jsonl` is not read, and a table of 100,000 rows takes at most a few hundred megabytes.

    Returns:
        The columns of `results.jsonl`: the dump's, the reference's (`all_subtasks_points`, `all_subtasks_results`,
        …) and ours (`verdict`, `total_score`, …). An unknown score is NaN.

    Raises:
        InputError: there are no results, a file is damaged, or a column is in no row.
        SetupError: there is not enough memory.

    Warns:
        UserWarning: the run was stopped before all submissions were judged.
    """
    import pandas as pd

    if pending := Pending.of(summary_of(directory_of(directory), allow_damaged=True)):
        warnings.warn(pending.warning(str(directory)), stacklevel=2)

    sharing = _Sharing()
    table: dict[str, list[Any]] = {}
    for number, row in enumerate(result_rows(directory, columns=columns, tests=tests)):
        for name in row:
            if name not in table:
                table[name] = [None] * number
        for name, column in table.items():
            column.append(sharing.shared(row.get(name)))
    if absent := [name for name in columns or () if name not in table]:
        known = {name: None for row in result_rows(directory, tests=tests) for name in row}
        if known:
            raise InputError(f"{directory}: {unknown('column', absent[0], known)}")
    return pd.DataFrame(table)


def result_rows(
    directory: str | Path, *, columns: Collection[str] | None = None, tests: bool = True
) -> Iterator[dict[str, Any]]:
    """The results as rows, one at a time; the arguments are those of `load_results`. Absent columns are left out."""
    path = directory_of(directory) / RESULTS
    wanted = None if columns is None else set(columns)
    tests = tests and (wanted is None or not wanted.isdisjoint({"all_subtasks_results", "test_results"}))
    try:
        stored = lines_of(path.with_name(TESTS)) if tests else ()
        with_tests = compact.WithTests(dict(compact.tests_of_line(values) for _, _, values in stored))
    except ODD_DATA as error:
        raise InputError(wrong_file(path.parent) or f"{path.with_name(TESTS)} has no tests of results") from error
    for number, _, values in lines_of(path):
        try:
            is_incomplete = tests and with_tests.lacks(values)
            row = with_tests.row(values) if tests else values
            names = row.keys()
        except ODD_DATA as error:
            raise not_a_result_row(path, number, error) from error
        if is_incomplete:
            raise InputError(
                f"{path}, line {number}: {TESTS} does not have its tests. A run has just replaced the files, or "
                "somebody has changed one: try again, or delete both and repeat the command that wrote them"
            )
        yield row if wanted is None else {name: row[name] for name in names if name in wanted}


def not_a_result_row(path: Path, number: int, error: Exception) -> InputError:
    """The error if the line with this number is not a row of results."""
    return InputError(
        f"{path}, line {number}: this is not a row of results ({type(error).__name__}: {error}); name a "
        "directory that `ioi-eval score` or `ioi-eval apps score` has written"
    )


def wrong_file(directory: Path) -> str | None:
    """What is wrong with the files of a run, if one of them disagrees with its schema: somebody edited it.

    Returns:
        The file, the line, the value and what to do; `None` if all agree.
    """
    again = "correct it, or delete the file and repeat the command that wrote it"
    for name, advice in ((RESULTS, again), (TESTS, again), (INPUTS, "delete the file, then reports show no inputs")):
        for number, _, values in lines_of(directory / name):
            if wrong := _wrong_line(name, values):
                return f"{directory / name}, line {number}: {wrong}; {advice}"
    path = directory / SUMMARY
    with suppress(OSError, ValueError, RecursionError):  # then it is not read
        if wrong := wrong_value("summary", json.loads(path.read_bytes())):
            return f"{path}: {wrong}; delete it: `ioi-eval report {directory}` writes it again"
    return None


def _wrong_line(name: str, values: Any) -> str | None:
    if name == INPUTS:
        return wrong_value("input", values)
    if name == TESTS:
        wrong = wrong_value("tests", values)
        if wrong is None:
            try:
                compact.tests_of_line(values)
            except IndexError:
                return "subtasks has the number of a test that it does not have"
        return wrong
    if not isinstance(values, dict):
        return "this is not a row of results"
    if values.get("verdict", "") is None:
        return None  # it was not judged, and has the dump's values
    schema = "apps-result" if "judged_by" in values else "result"
    return wrong_value(schema, values, partial="verdict" not in values)  # of another program


def directory_of(results: str | Path) -> Path:
    """The directory of results, of which the user named that directory or the `results.jsonl` in it."""
    path = Path(results)
    return path.parent if path.name == RESULTS and not path.is_dir() else path


def summary_of(directory: Path, *, allow_damaged: bool = False) -> dict[str, Any]:
    """The contents of `summary.json`; empty if there is none, as with results of other programs.

    One of a newer version is refused, and a damaged one, unless it counts as missing for commands that make it again
    (`allow_damaged`).
    """
    path = directory / SUMMARY
    try:
        values = json.loads(path.read_bytes())
        if not isinstance(values, dict) or not isinstance(values.get("options"), dict):
            raise ValueError("it is not a summary of a run")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, *ODD_DATA) as error:
        if allow_damaged:
            return {}
        raise InputError(f"{path} cannot be read: {error}; `ioi-eval report {directory}` writes it again") from error
    if isinstance(values.get("format"), int) and values["format"] > FORMAT:
        raise InputError(
            f"{path} has format {values['format']}, of ioi_eval {values.get('ioi_eval')}: this version reads format "
            f"{FORMAT}; install that one"
        )
    return values


def lines_of(path: Path) -> Iterator[tuple[int, int, Any]]:
    """The lines of a file that a run wrote; none if it does not exist, because other programs write only results.

    Yields:
        The number of a line, from 1, the position of its first byte in the file, and its value.
    """
    offset = 0
    try:
        with path.open("rb", buffering=_BUFFER_BYTES) as file:
            for number, line in enumerate(file, 1):
                yield number, offset, _parsed(path, number, line)
                offset += len(line)
    except (FileNotFoundError, NotADirectoryError):
        if path.name == RESULTS and path.parent.is_file():
            raise InputError(
                f"{path.parent} is a file; name the directory that was given as --out, or the {RESULTS} in it"
            ) from None
        if path.name == RESULTS:
            raise InputError(
                f"{path} does not exist; check the path (a run of `ioi-eval score` or `ioi-eval apps score` with "
                f"--out {path.parent} writes it at its end)"
            ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


def line_at(path: Path, offset: int) -> Any:
    """The value of the line that begins at this offset."""
    with path.open("rb") as file:
        file.seek(offset)
        return orjson.loads(file.readline())


def _parsed(path: Path, number: int, line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        if str(error).startswith(_NO_MEMORY):
            raise SetupError(f"{path}, line {number} cannot be read: there is not enough memory") from error
        raise InputError(
            f"{path}, line {number} cannot be read: {error}; delete the file and repeat the command that wrote it"
        ) from error


class _Sharing:
    """Replaces equal values of many rows by one object, to save memory."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._values: dict[bytes, Any] = {}
        self._objects: dict[int, Any] = {}

    def shared(self, value: Any) -> Any:
        """The value, or an equal value that was seen before."""
        if isinstance(value, str):
            if len(value) > _LONGEST_SHARED or len(self._texts) > _MAX_SHARED:
                return value
            return self._texts.setdefault(value, value)
        if not isinstance(value, list | dict) or id(value) in self._objects or len(self._values) > _MAX_SHARED:
            return value
        try:
            known = self._values.setdefault(orjson.dumps(value), value)
        except TypeError:  # nested too deeply: somebody edited the file
            return value
        if known is value:
            self._objects[id(value)] = value  # keeps a reference, so that Python cannot reuse its id
        return known
