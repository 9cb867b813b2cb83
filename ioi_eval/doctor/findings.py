"""What a doctor finds: lines of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How a finding is to be taken."""

    OK = "ok"
    WARNING = "warning"
    BAD = "BAD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the doctor's report.

    Args:
        state: fine, less than it could be, or not usable.
        what: what was looked at.
        detail: what was found.
        advice: what to do; empty if nothing.
    """

    state: Severity
    what: str
    detail: str
    advice: str = ""


def healthy(findings: Sequence[Finding]) -> bool:
    """Whether nothing was found that forbids judging here."""
    return all(finding.state is not Severity.BAD for finding in findings)


def linking(*, static: bool) -> Finding:
    """How a compiler links; it can do without."""
    if static:
        return Finding(state=Severity.OK, what="linking", detail="static, as the official judge")
    advice = "install the static C and C++ libraries (Fedora: glibc-static libstdc++-static)"
    return Finding(
        state=Severity.WARNING, what="linking", detail="dynamic: each test starts about 1 ms later", advice=advice
    )
