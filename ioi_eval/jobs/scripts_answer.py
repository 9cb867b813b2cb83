"""Reads the answers to classic jobs. Pure.

There are three ways to read them. `score_and_feedback` is exactly the mapping in the README of huggingface/ioi (its
client is stricter: an exit code without a score is an error). `require_judged` and `require_judged_by_package` check
first whether our own scripts, or those of the `cms_ioi` package, have judged at all. `compile_outcome` and
`test_outcome` give the verdict if the scripts are those of that package. They are stricter: if the scripts' answer is
not certain, it is an error of ours, and never a score.

We trust only what a submission cannot write:

- stdout of the run stage: the submission has another one;
- stdout of the compile stage, up to the line after which the submission is compiled. (From there on the assembler
  prints what a program asks it to print, by `.print`.)
- the last line of stderr, which the scripts write after the submission has ended. It only chooses the verdict of a
  score of 0.

A program can make the compiler write anything to stderr. So we believe that the compiler lacked memory or time only if
there are no lines but its driver's messages: every error that a program can cause prints other lines too.
"""

from __future__ import annotations

import re
from functools import partial

from ioi_eval.errors import OverloadError, SandboxError, TransientError, TransportError
from ioi_eval.jobs.compile import MACHINE_SIGNS
from ioi_eval.model import CompileOutcome, Execution, Stage, TestOutcome, Verdict, signal_name

_SCORE = re.compile(r"[0-9]+\.?(?:[eE][+-]?[0-9]+)?|[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?")
_TIME = re.compile(r"Time limit exceeded \([0-9.]+s\)")
_EXIT = re.compile(r"Runtime error with exit code ([0-9]+)")

_NOT_THE_SUBMISSION = {f"Compiling {name}": f"the {name} does not compile" for name in ("checker", "manager", "grader")}
"""The last line on stdout if the problem is at fault, not the submission."""

_THEN_THE_SUBMISSION = "Problem name: "
"""The beginning of the line that the scripts print before they compile the submission. (Recorded.)"""

_REFUSED = "Failed to compile "
"""The beginning of the last line on stdout of our own pair, if the submission does not compile. Every other failure is
in the run stage. Source: `graders/compile`."""

_STOPPED = re.compile("Compilation stopped by its limit: (?!output$|file$)", re.MULTILINE)
"""The first line on stderr of our own pair if a limit stopped the compilation, except limits on sizes, which would stop
a repetition too. Source: `graders/compile`."""

_UNSUPPORTED = "Unsupported task type "
"""The message of the package's script, printed with a score of 0, if it cannot judge. Source: the reference's `run`."""

_PROBLEM_FAULT = 3
"""Our own pair's exit code if the problem is at fault: its checker, manager, grader or configuration."""

_EAGAIN = "Resource temporarily unavailable"
_ENOSPC = "No space left on device"
_ASSEMBLER = r"(?:\{standard input\}|/tmp/cc\w+\.s)"
_DRIVER = re.compile(
    rf"(?:\S*/)?g\+\+: fatal error: cannot execute ['‘][^'’:]*['’]: v?fork: (?P<starved>{_EAGAIN})"
    rf"|(?:\S*/)?compile: (?:line [0-9]+: )?fork: (?:retry: )?(?P<none_left>{_EAGAIN})"
    rf"|{_ASSEMBLER}: Fatal error: can't (?:write|fill) [0-9]+ bytes (?:to|in) section \S+ of \S+:"
    rf" '?(?P<full>{_ENOSPC})'?"
    rf"|(?:\S*/)?ld: final link failed: (?P<too_full_to_link>{_ENOSPC})"
    r"|(?:\S*/)?collect2: fatal error: (?P<killed_linker>\w+ terminated with signal (?:9 \[Killed\]|15 \[Terminated\]))"
    r"|(?:\S*/)?g\+\+: fatal error: (?P<killed>(?:Killed|Terminated) signal terminated program \w+)"
    r"|(?:\S*/)?g\+\+: internal compiler error: (?P<killed_before_gcc_10>Killed \(program \w+\))"
)
_AFTERWARDS = re.compile(
    rf"{_ASSEMBLER}: (?:Assembler messages:|Fatal error: \S+: No such file or directory)"
    r"|collect2: error: ld returned 1 exit status|compilation terminated\."
    r"|Please submit a full bug report,(?: with preprocessed source[^:]*\.)?"
    r"|with preprocessed source if appropriate\.|See <\S+> for instructions\.|Failed to compile \w+"
    r"|Could not compile \w+|chmod: cannot access ['‘][^'’:]*['’]: No such file or directory"
)
_DIAGNOSTIC = re.compile(
    r"^.+:[0-9]+: (?:fatal )?[eE]rror: |undefined reference to|multiple definition of", re.MULTILINE
)
"""A compiler's, assembler's or linker's message about a source. (A message about a system fault has no line number.)"""
_NOT_STARTED = (126, 127)
"""The exit codes of bash if it cannot start a command, or read its script: the package was just removed, or a compiler
is not there. Compilers end with 1 for a program's errors."""
_BUSY = 0.9  # of wall clock or CPU limit, whichever is less: a compiler alone on a machine uses nearly all of it
_NEAR = 0.95  # of the memory limit: servers multiply KiB by 1000, so the peak of a stage that reached it seems lower

_BY_STATUS = {"TO": Verdict.TLE, "OL": Verdict.OLE, "EL": Verdict.OLE}
_LIMIT_WORDS = {"TO": "over the compile time limit", "OL": "too many messages", "EL": "too many messages"}


def score_and_feedback(execution: Execution) -> tuple[str, str]:
    """Score and feedback by the rules of the reference, in its order: stdout and stderr, or `"0"` and what went wrong.

    Source: huggingface/ioi, "IOI: Running tests", evaluating without Piston.
    """
    compiled, run = execution.compile, execution.run
    if compiled is not None and compiled.code != 0:
        return "0", f"Compilation error exit code {compiled.code}\n{compiled.stderr}"
    if run.code == 1 and "MemoryError" in run.stderr:
        return "0", "Memory limit exceeded"
    if run.stdout:
        return run.stdout, run.stderr
    if run.signal == "SIGKILL":
        return "0", "Time limit exceeded"
    return "0", "Unknown error"


def compile_outcome(
    execution: Execution, *, memory_limit_bytes: int | None = None, cpu_limit_ms: float | None = None
) -> CompileOutcome:
    """How the compile stage ended, given its hard limits.

    Raises:
        OverloadError: the server had no process left for the compiler.
        TransientError: one of these happened. The compiler was killed, but not by a limit of ours. The disk was full. A
            limit of ours, or the machine, stopped the compilation of one of the problem's programs. The wall clock
            limit stopped the compiler before it had used its CPU time (or its CPU time was not measured: the server may
            be busy with other clients, even if ours ran alone). The script or the compiler is not there.
    """
    stage = execution.compile
    if stage is None or stage.code == 0:
        return CompileOutcome(verdict=None)
    lines = stage.stdout.splitlines()
    is_about_submission = any(line.startswith(_THEN_THE_SUBMISSION) for line in lines)
    fault = _NOT_THE_SUBMISSION.get(lines[-1]) if lines and not is_about_submission else None
    if stage.code is None:
        how = stage.message or "no reason given"
        if fault is not None:
            raise TransientError(f"{lines[-1]}: the compile script was killed by {stage.signal} ({how})")
        if stage.status not in _LIMIT_WORDS:
            raise TransientError(f"the compile script was killed by {stage.signal} ({how})")
        if stage.status == "TO" and not _used_its_time(stage, cpu_limit_ms):
            raise TransientError(f"the compiler was stopped early, and had not used its CPU time ({how})")
        return _compile_error(stage, f"Compilation stopped: {_LIMIT_WORDS[stage.status]}")
    cause = _driver_alone(stage.stderr)
    if stage.code in _NOT_STARTED and cause is None:
        raise TransientError(f"the compile script or the compiler could not be started: {stage.stderr.strip()[:200]!r}")
    if cause in {"starved", "none_left"}:
        raise OverloadError(f"the server had no process left for the compiler: {stage.stderr.strip()[:200]}")
    if fault is not None:
        return _not_the_submission(lines[-1], stage)
    if cause in {"full", "too_full_to_link"}:
        raise TransientError(f"the compiler had no room on the disk: {stage.stderr.strip()[:200]}")
    if cause is not None:
        used = stage.memory_bytes
        if used is None or memory_limit_bytes is None or used < _NEAR * memory_limit_bytes:
            raise TransientError(f"the compiler was killed: {stage.stderr.strip()[:200]}")
        return _compile_error(stage, f"Compilation stopped: over {memory_limit_bytes >> 20} MiB of memory")
    return _compile_error(stage, f"Compilation error exit code {stage.code}")


def is_doubtful(execution: Execution) -> bool:
    """Whether a failed compilation is repeated once, alone on the machine, before it counts.

    It is if a limit stopped it (of our own pair one that is not on sizes), or if the messages mention a killed process,
    memory or a full disk. A program can forge these messages, so they lead to a repetition and to nothing else.
    """
    stage = execution.compile
    if stage is None or stage.code == 0:
        return False
    is_stopped = stage.code is None or _STOPPED.match(stage.stderr) is not None
    return is_stopped or any(sign in stage.stderr for sign in MACHINE_SIGNS)


def require_judged(execution: Execution) -> None:
    """Check that our own pair has judged: the answer is a score, or the submission does not compile.

    It is a TransientError if we or the machine may be at fault, else a SandboxError: the problem or its programs are.
    """
    compiled, stage = execution.compile, execution.run
    if compiled is not None and compiled.code != 0:
        lines = compiled.stdout.splitlines()
        if compiled.code is None or not (lines and lines[-1].startswith(_REFUSED)):
            raise TransientError(f"the compile script {_end(compiled)}: {compiled.stderr.strip()[-400:]!r}")
        return
    stderr = stage.stderr.strip()[:1000]
    if stage.code == _PROBLEM_FAULT and not stage.stdout:
        raise SandboxError(f"the submission could not be judged: {stderr}")
    if stage.code != 0 or not stage.stdout:  # also at a limit of the stage: the runner's are far below
        raise TransportError(f"no score arrived, the run script {_end(stage)}: {stderr!r}")


def require_judged_by_package(execution: Execution) -> None:
    """Check that the answer of the `cms_ioi` package's scripts is about the submission.

    SandboxError if the problem's own programs failed, or the machine. Unclear ends (a stage that was killed, exit code
    0 without output) are accepted: `score_and_feedback` covers them. An exit code without a score is an error for the
    reference's client, too.
    """
    compiled, stage = compile_outcome(execution), execution.run
    if compiled.verdict is Verdict.JE:
        raise SandboxError(f"the submission could not be judged: {compiled.message}")
    out_of_memory = stage.code == 1 and "MemoryError" in stage.stderr
    has_score = bool(stage.stdout) and not stage.stderr.startswith(_UNSUPPORTED)
    if compiled.verdict is None and stage.code not in (0, None) and not has_score and not out_of_memory:
        stderr = stage.stderr.strip()[-400:]
        raise SandboxError(f"the submission could not be judged: the run script {_end(stage)}: {stderr!r}")


def _end(stage: Stage) -> str:
    """How a stage ended, for messages."""
    if stage.code is not None:
        return f"ended with exit code {stage.code}"
    return f"was killed by {stage.signal} ({stage.message or 'this server does not say why'})"


def test_outcome(execution: Execution, test: str) -> TestOutcome:
    """The result of a submission that compiled, on this test; raises TransportError if no score arrived."""
    stage = execution.run
    outcome = partial(TestOutcome, test=test, wall_ms=stage.wall_ms)
    message = stage.stderr.strip()
    if stage.code is None:
        verdict = _BY_STATUS.get(stage.status or "")
        if verdict is None:
            raise TransportError(f"test {test}: the run script {_end(stage)}")
        what = "Time limit exceeded (hard limit)" if verdict is Verdict.TLE else "Output limit exceeded"
        return outcome(verdict=verdict, score=0.0, message=what)
    if not stage.stdout.strip():
        raise TransportError(f"test {test}: no score arrived (exit code {stage.code}); stderr: {message[-400:]!r}")
    score = _score(stage)
    if score is None:
        what = f"exit code {stage.code}, and not a score in [0, 1]: {stage.stdout.strip()[:200]!r}"
        return outcome(verdict=Verdict.JE, score=None, message=what, failed_program="checker")
    if score > 0:
        return outcome(verdict=Verdict.AC if score == 1.0 else Verdict.PA, score=score, message=message)
    last = message.rsplit("\n", 1)[-1]  # it decides the verdict's name only: RE, TLE or WA
    ended = _EXIT.fullmatch(last)
    verdict = Verdict.RE if ended else Verdict.TLE if _TIME.fullmatch(last) else Verdict.WA
    code = int(ended[1]) if ended else None
    signal = signal_name(code - 128) if code is not None and code > 128 else None
    exit_code = None if signal else code
    return outcome(verdict=verdict, score=0.0, message=message, exit_code=exit_code, signal=signal)


test_outcome.__test__ = False  # type: ignore[attr-defined]  # tells pytest that this is not a test


def _score(stage: Stage) -> float | None:
    """The first line of stdout as a number in [0, 1], written in digits; `None` for anything else."""
    first = stage.stdout.strip().split("\n", 1)[0].strip()
    if stage.code != 0 or not _SCORE.fullmatch(first):
        return None
    score = float(first)
    return score if 0.0 <= score <= 1.0 else None


def _compile_error(stage: Stage, headline: str) -> CompileOutcome:
    return CompileOutcome(verdict=Verdict.CE, message=f"{headline}\n{stage.stderr.strip()}".rstrip())


def _not_the_submission(doing: str, stage: Stage) -> CompileOutcome:
    """The outcome if one of the problem's own programs does not compile, and the machine cannot be at fault.

    It is final if the compiler's message is about a source: nothing of the submission has been compiled before.
    """
    stderr = stage.stderr.strip()
    if any(sign in stderr for sign in MACHINE_SIGNS) or not _DIAGNOSTIC.search(stderr):
        raise TransientError(f"{doing} failed: {stderr[-200:]}")
    return CompileOutcome(verdict=Verdict.JE, message=f"{_NOT_THE_SUBMISSION[doing]}\n{stderr}", final=True)


def _used_its_time(stage: Stage, cpu_limit_ms: float | None) -> bool:
    """Whether a stage that a time limit stopped was computing all the time.

    The message for the CPU limit comes from the server, which measures outside the box; wall clock has another message.
    """
    if stage.message == "Time limit exceeded":
        return True
    most = min(filter(None, (stage.wall_ms, cpu_limit_ms)), default=None)
    return stage.cpu_ms is not None and most is not None and stage.cpu_ms >= _BUSY * most


def _driver_alone(stderr: str) -> str | None:
    """Why the compiler's driver failed, if its messages stand alone; `None` if there are others.

    A program can put any text, even line breaks, into the file name of a diagnostic (`#line`). But then the diagnostic
    itself follows, and its `:1:2: error:` matches none of these patterns.
    """
    cause = None
    for line in filter(str.strip, stderr.splitlines()):
        if match := _DRIVER.fullmatch(line):
            cause = cause or match.lastgroup
        elif not _AFTERWARDS.fullmatch(line):
            return None
    return cause
