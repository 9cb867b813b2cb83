"""The result of a program for APPS as plain values for JSON, and back. Pure.

Tests are lists without their trailing defaults: a journal of a million programs with 20 tests each holds 20 million.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from ioi_eval.apps.outcomes import AppsResult, AppsTestResult
from ioi_eval.compat.terms import Graded
from ioi_eval.model import Isolation, Verdict
from ioi_eval.model.apps import RowFault

_FIELDS = tuple(f.name for f in fields(AppsTestResult))
_DEFAULTS = tuple(
    f.default if f.default is not MISSING else f.default_factory() if f.default_factory is not MISSING else MISSING
    for f in fields(AppsTestResult)
)
_TEXTS = ("judged_by", "message", "load_error", "target", "python")


def encode_result(result: AppsResult) -> dict[str, Any]:
    """The result as dicts, lists, texts and numbers. The problem is told beside it."""
    graded = result.graded
    return {
        "verdict": result.verdict,
        "passed": result.passed,
        "total": result.total,
        "isolation": result.isolation,
        "fault": result.fault,
        **{name: getattr(result, name) for name in _TEXTS if getattr(result, name)},
        "tests": [_encode_test(test) for test in result.tests],
        "graded": None
        if graded is None
        else [list(graded.codes), list(graded.rules), [dict(one) for one in graded.metadata], graded.crash],
    }


def decode_result(values: Mapping[str, Any]) -> AppsResult:
    """The result that `encode_result` wrote, in a record that names its `problem`."""
    graded = values["graded"]
    return AppsResult(
        problem=values["problem"],
        verdict=Verdict(values["verdict"]),
        passed=values["passed"],
        total=values["total"],
        isolation=None if values["isolation"] is None else Isolation(values["isolation"]),
        fault=None if values["fault"] is None else RowFault(values["fault"]),
        **{name: values.get(name, "") for name in _TEXTS},
        tests=tuple(map(_decode_test, values["tests"])),
        graded=None
        if graded is None
        else Graded(codes=tuple(graded[0]), rules=tuple(graded[1]), metadata=tuple(graded[2]), crash=graded[3]),
    )


def _encode_test(test: AppsTestResult) -> list[Any]:
    values = [getattr(test, name) for name in _FIELDS]
    while values[-1] == _DEFAULTS[len(values) - 1]:
        values.pop()
    return [dict(value) if isinstance(value, Mapping) else value for value in values]


def _decode_test(row: list[Any]) -> AppsTestResult:
    named: dict[str, Any] = dict(zip(_FIELDS, row, strict=False))
    return AppsTestResult(**{**named, "verdict": Verdict(named["verdict"])})
