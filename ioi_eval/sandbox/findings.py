"""What was found out about a machine or a worker: lines of the doctor, and why a worker is unsuitable. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

NOT_BY_DEFAULT = (
    "it isolates nothing: score uses it only with --isolation none, or with --profile classic if no worker is of "
    "another kind"
)
"""Of a worker that has only `cms_ioi`."""


class Severity(StrEnum):
    """How serious a finding is: OK; some problems cannot be judged, or more slowly; or nothing can."""

    OK = "ok"
    WARNING = "warning"
    BAD = "BAD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """How serious it is, what was tested, the result, and what to do, if anything."""

    severity: Severity
    what: str
    detail: str
    advice: str = ""


def fine(what: str, detail: str) -> Finding:
    """A finding that changes nothing."""
    return Finding(severity=Severity.OK, what=what, detail=detail)


def warning(what: str, detail: str, advice: str = "") -> Finding:
    """A finding that restricts what can be judged, or how well."""
    return Finding(severity=Severity.WARNING, what=what, detail=detail, advice=advice)


def bad(what: str, detail: str, advice: str = "") -> Finding:
    """A finding that prevents judging."""
    return Finding(severity=Severity.BAD, what=what, detail=detail, advice=advice)


def healthy(findings: Sequence[Finding]) -> bool:
    """Whether no finding prevents judging here."""
    return all(finding.severity is not Severity.BAD for finding in findings)


def linking(*, static: bool) -> Finding:
    """Whether a compiler links statically. Judging also works with dynamic linking."""
    if static:
        return fine("linking", "static, as the official judge")
    advice = "install the static C and C++ libraries (Fedora: glibc-static libstdc++-static)"
    return warning("linking", "dynamic: each test starts about 1 ms later", advice)
