"""Converts the result of a test, or of a submission to a contest problem, to plain values for JSON, and back. Pure.

A test is in many subtasks, and a submission has up to some hundred tests: each distinct outcome is written once, as
a list without its trailing defaults, and the subtasks refer to it by number.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from typing import Any

from ioi_eval.model import (
    CompileOutcome,
    Isolation,
    SubmissionResult,
    SubtaskResult,
    TestOutcome,
    Verdict,
)
from ioi_eval.problems.row import problem_key


def stored_fields(kind: type[Any], *, without: Collection[str]) -> tuple[str, ...]:
    """The names of the fields of a class that a journal stores as they are: all except these."""
    return tuple(field.name for field in fields(kind) if field.name not in without)


_FIELDS = stored_fields(TestOutcome, without={"details"})
_EMPTY = TestOutcome(test="", verdict=Verdict.AC, score=math.nan)  # no outcome has this score, so each is stored
_DEFAULTS = tuple(getattr(_EMPTY, name) for name in _FIELDS)
_COMPILATION = stored_fields(CompileOutcome, without={"all_unsuitable"})
_SUBTASK = stored_fields(SubtaskResult, without={"tests"})
_SUBMISSION = stored_fields(SubmissionResult, without={"problem", "compile", "subtasks", "fingerprint"})


def encode_result(result: SubmissionResult) -> dict[str, Any]:
    """The result as dicts, lists, texts and numbers."""
    table: list[list[Any]] = []
    indices: dict[tuple[object, ...], int] = {}

    def index_of(outcome: TestOutcome) -> int:
        """The index of an outcome in the table, to which it is added if necessary."""
        values = (getattr(outcome, name) for name in _FIELDS)
        key = tuple(tuple(sorted(v.items())) if isinstance(v, Mapping) else v for v in values)
        if key not in indices:
            indices[key] = len(table)
            table.append(encode_outcome(outcome))
        return indices[key]

    return {
        **values_of(result, _SUBMISSION),
        "year": result.problem.year,
        "problem": result.problem.id,
        "compile": list(values_of(result.compile, _COMPILATION).values()),
        "subtasks": [
            {**values_of(subtask, _SUBTASK), "tests": [index_of(outcome) for outcome in subtask.tests]}
            for subtask in result.subtasks
        ],
        "outcomes": table,
    }


def values_of(source: object, names: Iterable[str]) -> dict[str, Any]:
    """The values of the fields with these names."""
    return {name: getattr(source, name) for name in names}


def decode_result(values: Mapping[str, Any]) -> SubmissionResult:
    """The result that `encode_result` wrote."""
    outcomes = [decode_outcome(row) for row in values["outcomes"]]
    return SubmissionResult(
        **decoded(values, _SUBMISSION),
        problem=problem_key(values["year"], values["problem"]),
        compile=CompileOutcome(**decoded(dict(zip(_COMPILATION, values["compile"], strict=True)), _COMPILATION)),
        subtasks=tuple(
            SubtaskResult(**decoded(subtask, _SUBTASK), tests=tuple(outcomes[number] for number in subtask["tests"]))
            for subtask in values["subtasks"]
        ),
    )


def decoded(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The values with these names, as fields of our classes."""
    found = {name: values[name] for name in names}
    for name, kind in (("verdict", Verdict), ("isolation", Isolation)):
        if found.get(name) is not None:
            found[name] = kind(found[name])
    return found


def encode_outcome(outcome: TestOutcome) -> list[Any]:
    """The values of a test in the order of its fields, without defaults at the end."""
    values = [getattr(outcome, name) for name in _FIELDS]
    while values[-1] == _DEFAULTS[len(values) - 1]:
        values.pop()
    return list(map(_json_value, values))


def _json_value(value: object) -> object:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return dict(value) if isinstance(value, Mapping) else value


def decode_outcome(row: list[Any]) -> TestOutcome:
    """The test that `encode_outcome` wrote."""
    named: dict[str, Any] = dict(zip(_FIELDS, row, strict=False))
    if named.get("output") is not None:
        named["output"] = base64.b64decode(named["output"])
    return TestOutcome(**decoded(named, named))
