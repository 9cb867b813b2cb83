"""Makes `AppsProblem`s from rows as in `codeparrot/apps` and `metr-evals/apps`, one at a time.

Every row becomes a problem. One that cannot be judged has a `fault` and a `reason`; it is reported, and counts neither
as 0 nor as passed. Only a row whose id cannot be read, or is another row's, ends the run: results could not be matched
to problems.

The column `input_output` contains `{"inputs": […], "outputs": […]}`, as JSON text or as an object. Without `fn_name`, a
test is a text, or a list of lines, for standard input and output. With it, an input is a list of arguments, and an
output is the result: bare (LeetCode: `9`) or in a list of one element (Codewars: `[false]`). A row does not say which;
see `_may_be_wrapped`.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

from ioi_eval.errors import ODD_DATA, DoubtfulDataWarning, InputError, NotReadWarning, internal_error_text
from ioi_eval.model.apps import AppsProblem, AppsTest, CallTest, Lines, RowFault, StdinTest, without_prefix
from ioi_eval.problems import apps_values, big_json
from ioi_eval.problems.row import Row, Source, misspelling, plain, row_of, warn_of_misspelled
from ioi_eval.problems.samples import SAMPLE_COLUMNS

_ID_COLUMNS = ("problem_id", "id")
_TESTS = "input_output"
APPS_COLUMNS = (*_ID_COLUMNS, _TESTS, "difficulty", "starter_code")
_LIMITS = ("time_limit", "memory_limit")  # Source: BAAI/TACO, where they are texts such as "2.0 seconds"


def read_rows(source: Source, positions: Collection[int]) -> Iterator[AppsProblem]:
    """The problems at these positions of a split, one at a time, in the split's order."""
    end = max(positions, default=-1) + 1
    seen: dict[str, int] = {}
    for index, row in islice(enumerate(source.iterate(APPS_COLUMNS)), end):
        if index not in positions:
            continue
        problem = apps_problem(row, index)
        first = seen.setdefault(problem.id, index)
        if first != index:
            raise InputError(
                f"{source.describe()}: the rows {first} and {index} (from 0) both have the id {problem.id}; the splits"
                " of APPS number their problems alike, so give one of them"
            )
        yield problem


def read_ids(source: Source) -> tuple[tuple[str, str], ...]:
    """The id and the difficulty of every row, in order. Tests are not read."""
    ids, has_tests, unnamed = [], False, 0
    for index, row in enumerate(source.iterate((*_ID_COLUMNS, "difficulty"))):
        has_tests = has_tests or _TESTS in row.names or bool(row.broken)
        unnamed += not (row.broken or any(map(row.has, _ID_COLUMNS)))
        ids.append((problem_id(row, index), _difficulty_of(row)))
    if not has_tests:
        raise _without_tests(source, row)
    if unnamed:
        _warn_of_positions(source, row, unnamed, len(ids))
    warn_of_misspelled(source.describe(), row.names, ("difficulty", "starter_code"), APPS_COLUMNS)
    if unused := [name for name in row.names if name in _LIMITS]:
        message = f"not used: {', '.join(unused)}; all problems have the limits of --timeout and --memory"
        warnings.warn(f"{source.describe()}: {message}", NotReadWarning, stacklevel=1)
    return tuple(ids)


def _warn_of_positions(source: Source, row: Row, unnamed: int, rows: int) -> None:
    """Warn that positions are ids: if the ids are in another column, programs are judged on tests of other problems."""
    columns = " or ".join(_ID_COLUMNS)
    if unnamed < rows:
        message = f"the id of {unnamed} of {rows} problems, whose rows have no {columns}, is their position, from 0"
    else:
        message = (
            f"no row has {columns}{misspelling(_ID_COLUMNS[0], row.names)}, so the id of a problem is the position of "
            f"its row, from 0; the columns are: {row.columns}"
        )
    warnings.warn(f"{source.describe()}: {message}", DoubtfulDataWarning, stacklevel=1)


def _without_tests(source: Source, row: Row) -> InputError:
    if {"grader_files", "test_names"} <= set(row.names):
        return InputError(f"{source.describe()}: these are contest problems; `ioi-eval score` judges them")
    is_dump = not {*SAMPLE_COLUMNS}.isdisjoint(row.names)  # other data sets have their tests in other columns
    return InputError(
        f"{source.describe()}: there is no column {_TESTS}, which contains the tests of a problem of APPS"
        f"{misspelling(_TESTS, row.names)}; the columns are: {row.columns}"
        + (". Is it a dump, which belongs in the place of DUMP?" if is_dump else "")
    )


def apps_problem(row: Row | Mapping[str, Any], index: int = 0) -> AppsProblem:
    """The problem in a row.

    Args:
        row: of a data set, as in `codeparrot/apps`; also a plain mapping of column to value. Of the columns, only
            `input_output` is needed: its JSON text or object. `problem_id` (or `id`), `difficulty` and `starter_code`
            are read too. A mapping may have arrays in the place of lists, as a row of pandas has them.
        index: its position in the unfiltered split, from 0; also its id if the row has none.

    Returns:
        The problem. If the row cannot be judged, it has a `fault` and a `reason`.

    Raises:
        RowError: its id cannot be read.
    """
    if not isinstance(row, Row):
        row = row_of(row, "apps_problem", index + 1)
        with suppress(RecursionError):  # then its fault is that it is nested too deeply
            row = replace(row, values={**row.values, _TESTS: with_lists(row.values.get(_TESTS))})
    if row.broken:
        return AppsProblem(
            id=problem_id(row, index), index=index, fault=RowFault.TOO_LARGE, reason=f"the row {row.broken}"
        )
    try:
        value = row.values[_TESTS] if row.has(_TESTS) else None
        problem = AppsProblem(id=problem_id(row, index), index=index, difficulty=_difficulty_of(row))
        return _with_tests(problem, value, _text(row, "starter_code"))
    except ODD_DATA as error:
        reason = internal_error_text(error, "reading this row")
        return AppsProblem(id=problem_id(row, index), index=index, fault=RowFault.INTERNAL, reason=reason)


def with_lists(value: Any) -> Any:
    """The value with arrays, as a row of pandas has them, as lists. Tuples stay: a program can use them as keys."""
    if isinstance(value, tuple):
        return tuple(map(with_lists, value))
    if isinstance(value, list):
        return [with_lists(item) for item in value]
    return {key: with_lists(item) for key, item in value.items()} if isinstance(value, dict) else plain(value)


def problem_id(row: Row, index: int) -> str:
    """The id of the row's problem: the same however the split is filtered or sampled.

    Source: mcpbr's page (`apps_<index>`); mcpbr's code numbers the rows after filtering.
    """
    if row.broken:
        return f"row {row.number}"
    for column in _ID_COLUMNS:
        if row.has(column):
            return without_prefix(row.identifier(column))
    return str(index)


def without_zeros(problem: str) -> str:
    """The id without leading zeros if it is a number: `0000` is `0` in a data set that does not pad its ids."""
    return problem.lstrip("0") or "0" if problem.isascii() and problem.isdigit() else problem


class ProblemIds:
    """The ids of a data set. A dump or a user may give each as `apps_…`, or with another number of leading zeros."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = frozenset(ids)
        self._by_number: dict[str, str | None] = {}  # `None` if several ids differ only by leading zeros
        for name in self._ids:
            number = without_zeros(name)
            self._by_number[number] = None if number in self._by_number else name

    def id_of(self, problem: str) -> str:
        """The data set's id for a problem: an equal one, else the one that differs by leading zeros.

        If there is none, or more than one, it is the given one.
        """
        problem = without_prefix(problem)
        return problem if problem in self._ids else self._by_number.get(without_zeros(problem)) or problem


def _difficulty_of(row: Row) -> str:
    """The row's difficulty in lower case; empty if it has none."""
    return _text(row, "difficulty").strip().lower()


def _text(row: Row, column: str) -> str:
    """A text that describes the problem and does not affect judging."""
    value = row.values.get(column)
    return value if isinstance(value, str) else ""


def solutions_of(row: Row) -> tuple[tuple[str, ...], str]:
    """The reference solutions in a row's column `solutions`, or why there are none."""
    value = row.values.get("solutions") if row.has("solutions") else None
    if isinstance(value, str):
        if not value.strip():
            return (), ""
        try:
            value = big_json.loads(value)
        except ValueError as error:
            return (), f"its solutions are not JSON: {error}"
    if value is None:
        return (), ""
    if not isinstance(value, list | tuple) or not all(isinstance(solution, str) for solution in value):
        return (), "its solutions are not a list of texts"
    return tuple(value), ""


# --------------------------------------------------------------------------- tests


def _with_tests(problem: AppsProblem, value: object, starter_code: str) -> AppsProblem:
    """The problem with its tests, or the fault because of which the row cannot be judged.

    It has both if only the numbers of inputs and outputs differ: other graders judge the inputs that have an output.
    """
    what = "it has no input_output" if value is None else "its input_output is empty"
    if isinstance(value, str):
        try:
            value = big_json.loads(value) if value.strip() else None
        except big_json.TooLargeError as error:
            return replace(problem, fault=RowFault.TOO_LARGE, reason=f"its input_output cannot be read: {error}")
        except json.JSONDecodeError as error:
            reason = f"its input_output is not JSON: {big_json.text_with_position(error)}"
            return replace(problem, fault=RowFault.BROKEN_JSON, reason=reason)
    if not value and (value is None or isinstance(value, dict | list)):
        return replace(problem, fault=RowFault.NO_TESTS, reason=f"the row has no tests: {what}")
    if not isinstance(value, dict):
        reason = f"its input_output is {big_json.kind_of(value)}, not an object"
        return replace(problem, fault=RowFault.WRONG_SHAPE, reason=reason)
    return _from_object(problem, value, starter_code)


def _from_object(problem: AppsProblem, value: dict[str, Any], starter_code: str) -> AppsProblem:
    columns: list[Sequence[Any]] = []
    for name in ("inputs", "outputs"):
        column = value.get(name)
        if not isinstance(column, list | tuple):
            kind = f"{big_json.kind_of(column)}, not a list" if name in value else "missing"
            return replace(problem, fault=RowFault.WRONG_SHAPE, reason=f"{name} in its input_output is {kind}")
        columns.append(column)
    inputs, outputs = columns
    fn_name = value.get("fn_name") or None
    if fn_name is not None and not (isinstance(fn_name, str) and fn_name.isidentifier()):
        reason = "fn_name in its input_output is not the name of a function"
        return replace(problem, fault=RowFault.WRONG_SHAPE, reason=reason)
    problem = replace(problem, fn_name=fn_name, inputs=len(inputs), outputs=len(outputs))
    if not inputs and not outputs:
        return replace(problem, fault=RowFault.EMPTY, reason="its input_output has no tests")
    try:
        tests = _calls(inputs, outputs, fn_name, starter_code) if fn_name else _streams(inputs, outputs)
    except _WrongTestError as error:
        return replace(problem, fault=RowFault.WRONG_TEST, reason=str(error))
    except apps_values.ValueFormatError as error:
        reason = f"an argument or result in its input_output cannot be sent to the box: {error}"
        return replace(problem, fault=RowFault.TOO_LARGE, reason=reason)
    differ = len(inputs) != len(outputs)
    reason = f"its input_output has {_many(inputs, 'input')} and {_many(outputs, 'output')}" if differ else ""
    return replace(problem, tests=tests, fault=RowFault.UNEQUAL if differ else None, reason=reason)


def _many(items: Sequence[Any], noun: str) -> str:
    return f"{len(items)} {noun}{'s' * (len(items) != 1)}"


class _WrongTestError(ValueError):
    """A test has the wrong type."""


def _streams(inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[AppsTest, ...]:
    return tuple(
        StdinTest(number=number, given=_lines(given, "input", number), expected=_lines(expected, "output", number))
        for number, (given, expected) in enumerate(zip(inputs, outputs, strict=False))
    )


def _lines(value: object, what: str, number: int) -> Lines:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(line, str) for line in value):
        return tuple(value)
    raise _WrongTestError(f"{what} {number} is {big_json.kind_of(value)}; it must be a text or a list of lines")


def _calls(inputs: Sequence[Any], outputs: Sequence[Any], fn_name: str, starter_code: str) -> tuple[AppsTest, ...]:
    for number, given in enumerate(inputs):
        if not isinstance(given, list | tuple):
            raise _WrongTestError(
                f"input {number} is {big_json.kind_of(given)}; it must be a list of arguments for {fn_name}"
            )
    for value in (*inputs, *outputs):
        apps_values.encode(value)  # a value that was read may be nested too deeply to be written
    wrapped = _may_be_wrapped(outputs, _result_depth(starter_code, fn_name))
    return tuple(
        CallTest(
            number=number,
            given=tuple(given),
            expected=expected,
            accepts=(expected, expected[0]) if wrapped else (expected,),
        )
        for number, (given, expected) in enumerate(zip(inputs, outputs, strict=False))
    )


_DEPTH = re.compile(r"(?:typing\.)?[Ll]ist\[")


def _result_depth(starter_code: str, fn_name: str) -> int | None:
    """How many lists deep the annotated result of the function is; `None` without an annotation."""
    annotation = re.search(rf"\bdef\s+{re.escape(fn_name)}\s*\([^)]*\)\s*->\s*([^:\n]+):", starter_code[: 1 << 16])
    if annotation is None:
        return None
    depth, rest = 0, annotation[1].strip()
    while match := _DEPTH.match(rest):
        depth, rest = depth + 1, rest[match.end() :]
    return depth


def _may_be_wrapped(outputs: Sequence[Any], depth: int | None) -> bool:
    """Whether the outputs may be wrapped: the result is then the only element of the output.

    They may be if *all* outputs of the row are lists of one element: a single `[5]` among longer lists is a result
    itself. If the function has an annotation, it says how deep results are; outputs that are not deeper are bare.
    """
    if not all(isinstance(output, list) and len(output) == 1 for output in outputs):
        return False
    return depth is None or max(map(_depth, outputs), default=0) > depth


def _depth(value: object) -> int:
    depth = 0
    while isinstance(value, list):
        depth += 1
        value = value[0] if value else None
    return depth
