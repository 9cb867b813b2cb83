"""Tests whether the cache can be used, and what the embedded sandbox on this machine can and cannot do."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.config import Policy
from ioi_eval.doctor.attempts import ALLOW, attempt_all
from ioi_eval.errors import IsolationError, SetupError
from ioi_eval.model import Isolation
from ioi_eval.programs import Builder
from ioi_eval.sandbox.findings import Finding, bad, fine, linking, warning
from ioi_eval.sandbox.local.inherited_limits import limit_of_threads_for_apps
from ioi_eval.sandbox.local.machine_limit import MachineLimit
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer

_NO_MORE = "let boxes make more namespaces; as root: raise the user.max_*_namespaces of this machine (sysctl)"
"""The advice if a box could be made, but the runner could not isolate fully in it."""


def examine_cache(cache: Path) -> Finding:
    """Store test data in the cache, as `score` does before anything is judged, and delete it."""
    try:
        store = BlobStore(cache)
        store.require_secret()
        if not os.access(cache, os.W_OK):
            detail = f"{cache} can only be read: a run ends if it needs tests or programs that are not in it"
            return warning("cache", detail, "set IOI_EVAL_CACHE to a directory that can be written")
        blob = store.put(secrets.token_bytes(32))
        blob.path.unlink(missing_ok=True)
    except SetupError as error:
        return bad("cache", str(error))
    return fine("cache", str(cache))


async def examine(*, artifacts: ArtifactStore, compiler: str) -> list[Finding]:
    """Try everything that judging on this machine needs, and everything that it must prevent."""
    findings: list[Finding] = [
        _tool("bwrap", "bubblewrap", "full isolation"),
        _tool("setpriv", "util-linux", "running as root"),
    ]
    local = LocalSandbox(least_isolation=Isolation.NONE, compiler=compiler)
    try:
        async with local as sandbox:
            (target,) = sandbox.targets()
            findings += _limits((*sandbox.limits, *limit_of_threads_for_apps(slots=target.slots)))
            findings.append(fine("compiler", target.toolchain.version))
            findings.append(linking(static=target.toolchain.static))
            policy = Policy(least_isolation=Isolation.REDUCED)
            await Builder(sandbox, artifacts, policy).ready_runner(target)
            scorer = Scorer(sandbox, artifacts=artifacts, policy=policy)
            findings += await attempt_all(scorer, why_not_full=sandbox.why_not_full or _NO_MORE)
    except IsolationError as error:
        findings.append(bad("isolation", str(error), ALLOW))
    except SetupError as error:
        fatal = [limit for limit in local.limits if limit.is_fatal]
        findings += _limits(local.limits) if fatal else [bad("set-up", str(error))]
    return findings


def _limits(limits: Sequence[MachineLimit]) -> list[Finding]:
    if not limits:
        return [fine("limits", "no inherited limit affects programs")]
    return [
        (bad if limit.is_fatal else warning)(limit.what, f"{limit.measured}; {limit.needed}", limit.advice)
        for limit in limits
    ]


def _tool(command: str, package: str, purpose: str) -> Finding:
    path = shutil.which(command)
    if path:
        return fine(command, path)
    return warning(command, f"missing; needed for {purpose}", f"apt install {package}")
