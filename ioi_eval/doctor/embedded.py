"""What the embedded sandbox on this machine can and cannot do."""

from __future__ import annotations

import shutil

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.doctor.attempts import ALLOW, attempt_all
from ioi_eval.doctor.findings import Finding, State, linking
from ioi_eval.errors import IsolationError, SetupError
from ioi_eval.model import Isolation
from ioi_eval.sandbox.local import LocalSandbox
from ioi_eval.scorer import Scorer


async def examine(
    *, artifacts: ArtifactStore, compiler: str = "g++", strongest: Isolation = Isolation.FULL
) -> list[Finding]:
    """Try everything that judging on this machine needs, and everything that it must prevent.

    Args:
        artifacts: where the runner and the probes are kept.
        compiler: the C++ compiler's command.
        strongest: the isolation to try; `reduced` tells how it would be without namespaces.

    Returns:
        What was found, in order; never empty.
    """
    findings: list[Finding] = [
        _tool("bwrap", "bubblewrap", "full isolation"),
        _tool("setpriv", "util-linux", "running as root"),
    ]
    try:
        async with LocalSandbox(isolation=Isolation.NONE, strongest=strongest, compiler=compiler) as sandbox:
            (target,) = sandbox.targets()
            findings.append(Finding(state=State.OK, what="compiler", detail=target.toolchain.version))
            findings.append(linking(static=target.toolchain.static))
            scorer = Scorer(sandbox, artifacts=artifacts, policy=Policy(isolation=Isolation.REDUCED))
            findings += await attempt_all(scorer, why_not_full=sandbox.why_not_full)
    except IsolationError as error:
        findings.append(Finding(state=State.BAD, what="isolation", detail=str(error), advice=ALLOW))
    except SetupError as error:
        findings.append(Finding(state=State.BAD, what="set-up", detail=str(error)))
    return findings


def _tool(command: str, package: str, purpose: str) -> Finding:
    path = shutil.which(command)
    if path:
        return Finding(state=State.OK, what=command, detail=path)
    advice = f"apt install {package}"
    return Finding(state=State.WARNING, what=command, detail=f"missing; needed for {purpose}", advice=advice)
