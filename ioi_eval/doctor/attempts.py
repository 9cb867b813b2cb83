"""Tests what a program can do in the box where it is judged.

The probe (`graders/probe.cpp`) is compiled and run like any submission, with one attempt for each test. So a finding
shows what is really prevented, not what a kernel version promises. An attempt that succeeds is a finding of the
severity `bad`, whatever the settings are.
"""

from __future__ import annotations

from ioi_eval import boxfiles
from ioi_eval.model import (
    Batch,
    Isolation,
    JudgeProgram,
    Problem,
    ProblemKey,
    SourceFile,
    Submission,
    Subtask,
    TestCase,
    TestOutcome,
    Verdict,
)
from ioi_eval.sandbox.findings import Finding, bad, fine, warning
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
"""What the probe tries, by the name that it reads."""

ALLOW = "use Linux 5.13 or newer with Landlock (lsm=landlock,…), or allow unprivileged user namespaces"

FULL_ON_A_WORKER = (
    "Piston before isolate (v3) in a container with privileges (docker run --privileged); Piston v4 gives no more"
)
"""A worker that is not a Piston (`ioi-eval serve`) always has full isolation. Source: `piston/README.md`."""


async def attempt_all(scorer: Scorer, *, why_not_full: str = "") -> list[Finding]:
    """Let a program try everything that it must not be able to do. `scorer` judges on the machine or worker that is
    examined, and accepts reduced isolation; `why_not_full` is the reason for that, empty for a worker, which gives
    none."""
    probe = Submission(id="probe", problem=PROBLEM.key, code=boxfiles.read("probe.cpp").decode())
    result = await scorer.score(PROBLEM, probe, exhaustive=True)
    if result.compile.verdict is not None:
        return [bad("runner", result.compile.message)]
    outcomes = result.subtasks[0].tests
    hidden = any(HIDDEN_CALL in outcome.attempted for outcome in outcomes)
    return [_isolation(result.isolation, why_not_full), *([_UNNAMED] if hidden else []), *map(_attempt, outcomes)]


HIDDEN_CALL = "hidden_call"
"""The runner's name for a call that ended a program and was hidden by a filter around the runner."""

_UNNAMED = warning(
    "names of refused calls",
    "a filter around this sandbox (a container's) answers some system calls before the runner gets them: they "
    "are refused, or end the program (SV), as they should, but `attempted` does not name them",
    "nothing, or a container without such a filter (Docker: --security-opt seccomp=unconfined)",
)


def _isolation(isolation: Isolation | None, why_not_full: str) -> Finding:
    if isolation is Isolation.FULL:
        return fine("isolation", "full: namespaces, seccomp, and Landlock if the kernel has it")
    if isolation is Isolation.REDUCED:
        detail = (
            "reduced: Landlock and seccomp. A program cannot read files or reach others, but can ask which paths exist"
        )
        advice = f"for full: {why_not_full or FULL_ON_A_WORKER}"
        return warning("isolation", detail, advice)
    return bad("isolation", why_not_full, ALLOW)


def _attempt(outcome: TestOutcome) -> Finding:
    what = f"cannot {ATTEMPTS[outcome.test]}"
    if outcome.verdict is Verdict.SV or outcome.score == 1.0:
        return fine(what, "killed" if outcome.verdict is Verdict.SV else outcome.message)
    detail = f"{outcome.verdict}: {outcome.message or outcome.stderr}"
    return bad(what, detail, "do not score untrusted programs on this machine; please report this")


_CHECKER = SourceFile(path="checker/checker.cpp", content=boxfiles.read("probe_checker.cpp"))

PROBLEM = Problem(
    key=ProblemKey(year=0, id="probe"),
    name="What a program can do here",
    method=Batch(check=JudgeProgram(source=_CHECKER)),
    time_limit_s=2.0,
    memory_limit_bytes=256 * 1024 * 1024,
    subtasks=(Subtask(name="probes", points=0, tests=tuple(ATTEMPTS)),),
    tests={name: TestCase(name=name, input=f"{name}\n".encode(), answer=b"") for name in ATTEMPTS},
    cxx_std="gnu++17",
)
