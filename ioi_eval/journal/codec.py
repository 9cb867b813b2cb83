"""Converts the result of a test, or of a submission to a contest problem, to plain values for JSON, and back. Pure.

A test is in many subtasks, and a submission has up to some hundred tests: each distinct outcome is written once, as
a list without its trailing defaults, and the subtasks refer to it by number.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import MISSING, fields
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

_STORED = tuple(f for f in fields(TestOutcome) if f.name != "details")
_FIELDS = tuple(f.name for f in _STORED)
_DEFAULTS = tuple(
    f.default if f.default is not MISSING else f.default_factory() if f.default_factory is not MISSING else MISSING
    for f in _STORED
)


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

    subtasks = [
        {
            "subtask": s.subtask,
            "verdict": s.verdict,
            "score": s.score,
            "points": s.points,
            "weighted_score": s.weighted_score,
            "tests": [index_of(outcome) for outcome in s.tests],
        }
        for s in result.subtasks
    ]
    compiled = result.compile
    return {
        "submission": result.submission,
        "year": result.problem.year,
        "problem": result.problem.id,
        "verdict": result.verdict,
        "score": result.score,
        "target": result.target,
        "isolation": result.isolation,
        "compile": [compiled.verdict, compiled.message, compiled.final, compiled.cpu_ms, compiled.wall_ms],
        "subtasks": subtasks,
        "outcomes": table,
    }


def decode_result(values: Mapping[str, Any]) -> SubmissionResult:
    """The result that `encode_result` wrote."""
    outcomes = [decode_outcome(row) for row in values["outcomes"]]
    verdict, message, final, cpu_ms, wall_ms = values["compile"]
    return SubmissionResult(
        submission=values["submission"],
        problem=problem_key(values["year"], values["problem"]),
        verdict=Verdict(values["verdict"]),
        score=values["score"],
        compile=CompileOutcome(
            verdict=None if verdict is None else Verdict(verdict),
            message=message,
            final=final,
            cpu_ms=cpu_ms,
            wall_ms=wall_ms,
        ),
        subtasks=tuple(
            SubtaskResult(
                subtask=s["subtask"],
                verdict=Verdict(s["verdict"]),
                score=s["score"],
                points=s["points"],
                weighted_score=s["weighted_score"],
                tests=tuple(outcomes[number] for number in s["tests"]),
            )
            for s in values["subtasks"]
        ),
        target=values["target"],
        isolation=None if values["isolation"] is None else Isolation(values["isolation"]),
    )


def encode_outcome(outcome: TestOutcome) -> list[Any]:
    """The values of a test in the order of its fields, without defaults at the end."""
    values = [getattr(outcome, name) for name in _FIELDS]
    while values[-1] == _DEFAULTS[len(values) - 1]:
        values.pop()
    return list(map(_plain, values))


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return dict(value) if isinstance(value, Mapping) else value


def decode_outcome(row: list[Any]) -> TestOutcome:
    """The test that `encode_outcome` wrote."""
    named: dict[str, Any] = dict(zip(_FIELDS, row, strict=False))
    if named.get("output") is not None:
        named["output"] = base64.b64decode(named["output"])
    return TestOutcome(**{**named, "verdict": Verdict(named["verdict"])})
