"""Reads tests from the column `input_output` of APPS.

It contains `{"inputs": […], "outputs": […]}`, as JSON text or as an object. Without `fn_name`, a test is a text, or a
list of lines, for standard input and output. With it, an input is a list of arguments, and an output is the result:
bare (LeetCode: `9`) or in a list of one element (Codewars: `[false]`). A row does not say which; see `_may_be_wrapped`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from ioi_eval.model.apps import AppsProblem, AppsTest, CallTest, Lines, RowFault, StdinTest
from ioi_eval.problems import apps_values, big_json

MakeProblem: TypeAlias = "Callable[..., AppsProblem]"
"""Makes a problem of the fields that its tests decide: `fn_name`, `tests`, `inputs`, `outputs`, `fault`, `reason`."""


def read_tests(value: object, starter_code: str, make: MakeProblem) -> AppsProblem:
    """Read the column.

    The problem has its tests, or the fault because of which the row cannot be judged. It has both if only the numbers
    of inputs and outputs differ: other graders judge the inputs that have an output.
    """
    what = "it has no input_output" if value is None else "its input_output is empty"
    if isinstance(value, str):
        try:
            value = big_json.loads(value) if value.strip() else None
        except big_json.TooLargeError as error:
            return make(fault=RowFault.TOO_LARGE, reason=f"its input_output cannot be read: {error}")
        except json.JSONDecodeError as error:
            return make(
                fault=RowFault.BROKEN_JSON, reason=f"its input_output is not JSON: {big_json.text_with_position(error)}"
            )
    if not value and (value is None or isinstance(value, dict | list)):
        return make(fault=RowFault.NO_TESTS, reason=f"the row has no tests: {what}")
    if not isinstance(value, dict):
        return make(fault=RowFault.WRONG_SHAPE, reason=f"its input_output is {big_json.kind_of(value)}, not an object")
    return _from_object(value, starter_code, make)


def _from_object(value: dict[str, Any], starter_code: str, make: MakeProblem) -> AppsProblem:
    columns: list[Sequence[Any]] = []
    for name in ("inputs", "outputs"):
        column = value.get(name)
        if not isinstance(column, list | tuple):
            kind = f"{big_json.kind_of(column)}, not a list" if name in value else "missing"
            return make(fault=RowFault.WRONG_SHAPE, reason=f"{name} in its input_output is {kind}")
        columns.append(column)
    inputs, outputs = columns
    fn_name = value.get("fn_name") or None
    if fn_name is not None and not (isinstance(fn_name, str) and fn_name.isidentifier()):
        return make(fault=RowFault.WRONG_SHAPE, reason="fn_name in its input_output is not the name of a function")
    if not inputs and not outputs:
        return make(fault=RowFault.EMPTY, reason="its input_output has no tests", fn_name=fn_name)
    make = partial(make, fn_name=fn_name, inputs=len(inputs), outputs=len(outputs))
    try:
        tests = _calls(inputs, outputs, fn_name, starter_code) if fn_name else _streams(inputs, outputs)
    except _WrongTestError as error:
        return make(fault=RowFault.WRONG_TEST, reason=str(error))
    except apps_values.ValueFormatError as error:
        reason = f"an argument or result in its input_output cannot be sent to the box: {error}"
        return make(fault=RowFault.TOO_LARGE, reason=reason)
    differ = len(inputs) != len(outputs)
    reason = f"its input_output has {_many(inputs, 'input')} and {_many(outputs, 'output')}" if differ else ""
    return make(tests=tests, fault=RowFault.UNEQUAL if differ else None, reason=reason)


def _many(items: Sequence[Any], noun: str) -> str:
    return f"{len(items)} {noun}{'s' * (len(items) != 1)}"


# --------------------------------------------------------------------------- standard input


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


# --------------------------------------------------------------------------- calls


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
