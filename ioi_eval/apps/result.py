"""The result of a program for APPS; and as plain values for the journal, and back. Pure.

In the journal a test is a list without trailing default values: a million programs with 20 tests have 20 million tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ioi_eval.compat.terms import Code, Graded
from ioi_eval.model import HarnessReport, Isolation, JudgedResult, RunDetails, TestOutcome, Verdict
from ioi_eval.model.apps import RowFault


@dataclass(frozen=True, slots=True, kw_only=True)
class AppsResult(JudgedResult):
    """The result of a program. Its verdict is AC if all tests passed; JE if a test or the row (see `fault`) could not
    be judged; else that of the first failed test, in the row's order.

    Args:
        problem: the row's id.
        passed: how many tests passed.
        total: the row's number of tests, also of those that were not run; under another grader's rules, of its codes.
        tests: in the row's order, each named by its place in the row, from 0.
        judged_by: the comparator or the other grader.
        fault: why the row cannot be judged; `None` if it can.
        message: if the program does not load, the row has a fault, or we failed.
        load_error: the error if the program does not compile. Every test is CE then.
        graded: the result of the other grader.
        python: the interpreter on the target.
        judging_digest: a hash of how and where it was judged, the same for all programs; empty if nothing ran. In
            memory only.
    """

    problem: str
    passed: int
    total: int
    tests: tuple[TestOutcome, ...] = ()
    judged_by: str = ""
    fault: RowFault | None = None
    message: str = ""
    load_error: str = ""
    graded: Graded | None = None
    python: str = ""
    judging_digest: str = ""

    def code_of(self, test: TestOutcome) -> Code | None:
        """The code of the other grader for a test; `None` without another grader, or if it has none."""
        codes = () if self.graded is None else self.graded.codes
        return codes[int(test.test)] if int(test.test) < len(codes) else None

    @property
    def score(self) -> float | None:
        """The share of tests that passed; `None` if unknown."""
        if self.verdict is Verdict.JE:
            return None
        return self.passed / self.total if self.total else float(self.verdict is Verdict.AC)


# --------------------------------------------------------------------------- in the journal

_TEST: Mapping[str, Any] = {
    **dict.fromkeys(("test", "verdict", "passed", "time_s", "wall_s", "memory_bytes")),
    **dict.fromkeys(("message", "error", "output"), ""),
    **{"code": None, "judged_by": "", "exit_code": None, "signal": None, "limit": None, "attempted": {}},
    **{"stderr": "", "failed_program": None, "final": False, "near_limit": False, "reran": False},
}
"""The fields of a test in order, with their defaults. The first three are always written. Only older journals have
`code` and `judged_by`, which the record has too, and the exit code 0."""

_SAME = ("memory_bytes", "message", "exit_code", "signal", "limit", "stderr", "failed_program")
_FLAGS = ("final", "near_limit", "reran")
_TEXTS = ("judged_by", "message", "load_error", "target", "python")


def encode_result(result: AppsResult) -> dict[str, Any]:
    """The result as dicts, lists, strings and numbers. The record has the problem in another field."""
    graded = result.graded
    return {
        "verdict": result.verdict,
        "passed": result.passed,
        "total": result.total,
        "isolation": result.isolation,
        "fault": result.fault,
        **{name: getattr(result, name) for name in _TEXTS if getattr(result, name)},
        "tests": list(map(_encode_test, result.tests)),
        "graded": None
        if graded is None
        else [list(graded.codes), list(graded.rules), [dict(entry) for entry in graded.metadata], graded.crash],
    }


def decode_result(values: Mapping[str, Any]) -> AppsResult:
    """The result from a record: the values of `encode_result`, and `problem`."""
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


def milliseconds(seconds: float) -> float:
    """Seconds in milliseconds, without rounding errors; the runner measures microseconds."""
    return round(seconds * 1000, 6)


def _encode_test(test: TestOutcome) -> list[Any]:
    named = {
        **_TEST,
        "test": int(test.test),
        "verdict": test.verdict,
        "passed": test.passed,
        "time_s": test.time_s,
        "wall_s": test.wall_s,
        "error": test.details.report.error,
        "output": test.printed_text,
        "attempted": dict(test.attempted),
        **{name: getattr(test, name) for name in (*_SAME, *_FLAGS)},
        "exit_code": test.exit_code or None,
    }
    values = list(named.values())
    defaults = list(_TEST.values())
    while len(values) > 3 and values[-1] == defaults[len(values) - 1]:
        values.pop()
    return values


def _decode_test(row: list[Any]) -> TestOutcome:
    named = {**_TEST, **dict(zip(_TEST, row, strict=False))}
    verdict, passed = Verdict(named["verdict"]), named["passed"]
    without_score = verdict in (Verdict.JE, Verdict.SKIPPED) and not passed
    return TestOutcome(
        test=str(named["test"]),
        verdict=verdict,
        score=None if without_score else float(passed),
        cpu_ms=None if named["time_s"] is None else milliseconds(named["time_s"]),
        wall_ms=None if named["wall_s"] is None else milliseconds(named["wall_s"]),
        attempted=named["attempted"],
        output=named["output"].encode(),
        details=RunDetails(report=HarnessReport(error=named["error"])),
        **{name: named[name] for name in (*_SAME, *_FLAGS)},
    )
