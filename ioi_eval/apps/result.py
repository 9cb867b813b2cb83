"""The result of a program for APPS; and as plain values for the journal, and back. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ioi_eval.compat.terms import Code, Graded
from ioi_eval.journal.codec import decode_outcome, decoded, encode_outcome, stored_fields, values_of
from ioi_eval.model import JudgedResult, TestOutcome, Verdict
from ioi_eval.model.apps import RowFault


@dataclass(frozen=True, slots=True, kw_only=True)
class AppsResult(JudgedResult):
    """The result of a program. Its verdict is AC if all tests passed; JE if a test or the row (see `fault`) could not
    be judged; else that of the first failed test, in the row's order.

    Args:
        passed: how many tests passed.
        total: how many results the score is a share of: by our rules all tests of the row; by another grader's rules
            its codes, which are fewer if it stopped.
        tests: in the row's order, each named by its place in the row, from 0.
        judged_by: the comparator or the other grader.
        fault: why the row cannot be judged; `None` if it can.
        message: if the program does not load, the row has a fault, or we failed.
        errors: the different exceptions with which tests ended: their `repr`.
        graded: the result of the other grader.
        python: the interpreter on the target.
        judging_digest: a hash of how and where it was judged, the same for all programs; empty if nothing ran. In
            memory only.
    """

    passed: int
    total: int
    tests: tuple[TestOutcome, ...] = ()
    judged_by: str = ""
    fault: RowFault | None = None
    message: str = ""
    errors: tuple[str, ...] = ()
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

_FIELDS = stored_fields(AppsResult, without={"fingerprint", "judging_digest", "tests", "fault", "errors", "graded"})
_GRADED = stored_fields(Graded, without={"metadata"})  # which is for `evaluate_apps_solution` only


def encode_result(result: AppsResult) -> dict[str, Any]:
    """The result as dicts, lists, strings and numbers; empty ones are left out."""
    values = values_of(result, (*_FIELDS, "fault", "errors"))
    return {
        **{name: value for name, value in values.items() if value not in ("", ())},
        "tests": list(map(encode_outcome, result.tests)),
        "graded": None if result.graded is None else list(values_of(result.graded, _GRADED).values()),
    }


def decode_result(values: Mapping[str, Any]) -> AppsResult:
    """The result from the values of `encode_result`."""
    graded = values["graded"]
    return AppsResult(
        **decoded(values, [name for name in _FIELDS if name in values]),
        fault=None if values["fault"] is None else RowFault(values["fault"]),
        errors=tuple(values.get("errors", ())),
        tests=tuple(map(decode_outcome, values["tests"])),
        graded=None if graded is None else Graded(**dict(zip(_GRADED, map(_as_tuple, graded), strict=True))),
    )


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
