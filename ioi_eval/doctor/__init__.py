"""Tests what can be judged here or on a cluster, and says what to change."""

from __future__ import annotations

from ioi_eval.doctor.embedded import examine, examine_cache
from ioi_eval.doctor.workers import examine_worker
from ioi_eval.sandbox.findings import Finding, Severity, healthy

__all__ = ["Finding", "Severity", "examine", "examine_cache", "examine_worker", "healthy"]
