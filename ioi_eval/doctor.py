"""What the embedded sandbox on this machine can and cannot do, found out by trying.

The probes are a contestant like any other (`graders/probe.cpp`), compiled and run on the way that submissions take,
one attempt a test. So a finding speaks of what really holds here, not of what a kernel version promises: an attempt
that succeeds is a hole, whatever the settings say.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ioi_eval import boxfiles
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import IsolationError, SetupError
from ioi_eval.model import (
    Isolation,
    Problem,
    ProblemKey,
    SourceFile,
    Submission,
    Subtask,
    TaskType,
    TestCase,
    TestOutcome,
    Verdict,
)
from ioi_eval.sandbox.local import LocalSandbox
from ioi_eval.scorer import Scorer

ATTEMPTS = {
    "read-system-files": "read /etc/passwd",
    "list-root": "see the machine's files",
    "process-table": "read /proc",
    "write-input": "write to its input",
    "inherited-descriptors": "find descriptors of the judge",
    "environment": "read environment variables",
    "write-elsewhere": "write outside its scratch directory",
    "internet": "open network sockets",
    "local-sockets": "open local sockets",
    "fork": "start processes",
    "shell": "start a shell",
    "signal-others": "signal other processes",
    "limit-others": "read or change limits of other processes",
    "slow-others": "change priorities of other processes",
    "move-others": "move other processes between processors",
    "shared-memory": "make shared memory",
    "memory-file": "make memory files",
    "trace": "trace another process",
    "memory-of-others": "read memory of other processes",
    "mount": "mount file systems",
    "namespaces": "make namespaces",
    "privileges": "get or use privileges of root",
    "io-uring": "use io_uring",
    "kernel-programs": "load kernel programs",
}
"""What the probe tries, by the name that it reads, and what that means."""


class State(StrEnum):
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

    state: State
    what: str
    detail: str
    advice: str = ""


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
            findings.append(_linking(static=target.toolchain.static))
            scorer = Scorer(sandbox, artifacts=artifacts, policy=Policy(isolation=Isolation.REDUCED))
            result = await scorer.score(PROBLEM, _patient(), exhaustive=True)
            if result.compile.verdict is not None:
                findings.append(Finding(state=State.BAD, what="runner", detail=result.compile.message))
                return findings
            findings.append(_isolation(result.isolation, sandbox.why_not_full))
            findings.extend(_attempt(outcome) for outcome in result.subtasks[0].tests)
    except IsolationError as error:
        findings.append(Finding(state=State.BAD, what="isolation", detail=str(error), advice=_ALLOW))
    except SetupError as error:
        findings.append(Finding(state=State.BAD, what="set-up", detail=str(error)))
    return findings


def healthy(findings: Sequence[Finding]) -> bool:
    """Whether nothing was found that forbids judging here."""
    return all(finding.state is not State.BAD for finding in findings)


_ALLOW = "use Linux 5.13 or newer with Landlock (lsm=landlock,…), or allow unprivileged user namespaces"


def _tool(command: str, package: str, purpose: str) -> Finding:
    path = shutil.which(command)
    if path:
        return Finding(state=State.OK, what=command, detail=path)
    advice = f"apt install {package}"
    return Finding(state=State.WARNING, what=command, detail=f"missing; needed for {purpose}", advice=advice)


def _linking(*, static: bool) -> Finding:
    if static:
        return Finding(state=State.OK, what="linking", detail="static, as the official judge")
    advice = "install the static C and C++ libraries (Fedora: glibc-static libstdc++-static)"
    return Finding(
        state=State.WARNING, what="linking", detail="dynamic: each test starts about 1 ms later", advice=advice
    )


def _isolation(isolation: Isolation | None, why_not_full: str) -> Finding:
    if isolation is Isolation.FULL:
        return Finding(state=State.OK, what="isolation", detail="full: namespaces, Landlock, seccomp")
    if isolation is Isolation.REDUCED:
        detail = f"reduced: Landlock and seccomp. {why_not_full}"
        return Finding(
            state=State.WARNING, what="isolation", detail=detail, advice="see docs/security.md for what remains"
        )
    return Finding(state=State.BAD, what="isolation", detail=why_not_full, advice=_ALLOW)


def _attempt(outcome: TestOutcome) -> Finding:
    what = f"cannot {ATTEMPTS[outcome.test]}"
    if outcome.verdict is Verdict.SV:
        return Finding(state=State.OK, what=what, detail="killed")
    if outcome.score == 1.0:
        return Finding(state=State.OK, what=what, detail=outcome.message)
    detail = f"{outcome.verdict}: {outcome.message or outcome.evidence}"
    advice = "do not score untrusted programs on this machine; please report this"
    return Finding(state=State.BAD, what=what, detail=detail, advice=advice)


def _patient() -> Submission:
    return Submission(id="probe", problem=PROBLEM.key, code=boxfiles.read("probe.cpp").decode())


PROBLEM = Problem(
    key=ProblemKey(year=0, id="probe"),
    name="What a program can do here",
    task_type=TaskType.BATCH,
    time_limit_s=2.0,
    memory_limit_bytes=256 * 1024 * 1024,
    subtasks=(Subtask(name="probes", points=0, tests=tuple(ATTEMPTS)),),
    tests={name: TestCase(name=name, input=f"{name}\n".encode(), answer=b"") for name in ATTEMPTS},
    checker=SourceFile(path="checker/checker.cpp", content=boxfiles.read("probe_checker.cpp")),
    cxx_std="gnu++17",
)
