"""Everything that can change what a program for APPS is worth, as one hash."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from typing import Any

from ioi_eval.apps.outcomes import AppsSettings
from ioi_eval.fingerprint import digest_of, harness_digest, rules_digest, runner_digest
from ioi_eval.problems.apps_submissions import AppsSubmission
from ioi_eval.sandbox import Target


def way_of(settings: AppsSettings, target: Target, python: str, *, checker: bytes | None) -> str:
    """A hash of how programs are judged, and where.

    Args:
        settings: how programs are run and judged.
        target: where.
        python: the interpreter there, by its fingerprint.
        checker: the source of the comparator's checker, as it judges (`AppsExecutor.checker`): the file may have been
            edited since.
    """
    values: dict[str, Any] = {f.name: getattr(settings, f.name) for f in fields(settings)}
    profile = settings.profile
    values["profile"] = None if profile is None else profile.name  # its rules are among ours
    values["time_limit_s"] = settings.cpu_s
    values["comparator"] = str(settings.comparator)
    values["warm"] = None  # how a program is started changes no result
    if settings.near_limit_repeats == 1:
        del values["near_limit_repeats"]  # as it was before there was a choice
    values["checker"] = None if checker is None else hashlib.sha256(checker).hexdigest()
    toolchain = target.toolchain.fingerprint if settings.comparator.program else ""
    ours = (rules_digest(), harness_digest(), runner_digest())
    narrowed = filter(None, [target.narrowed])
    return digest_of([ours, values, python, target.isolation, toolchain, *narrowed])


def fingerprint_of(way: str, problem: str, submission: AppsSubmission) -> str:
    """The fingerprint of judging a program.

    Args:
        way: how (`way_of`).
        problem: the problem's digest.
        submission: the program.
    """
    code = (submission.code or "").encode("utf-8", "surrogatepass")
    return digest_of([code, submission.refused, problem, way])
