"""Compile jobs, which execute recipes (`recipes.py`), and their answers. Pure."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import replace

from ioi_eval.config import MAX_BYTES, MAX_SECONDS, CompileLimits
from ioi_eval.errors import TransientError
from ioi_eval.jobs.plan import RunnerPlan
from ioi_eval.jobs.recipes import Recipe
from ioi_eval.jobs.runner_answer import CompileAnswer, StepLine
from ioi_eval.languages.rules import C_INCLUDES
from ioi_eval.model import (
    CompileOutcome,
    Content,
    Isolation,
    Job,
    JobFile,
    JobKind,
    StageLimits,
    Verdict,
    signal_name,
)

_OBJECT = "object"
"""How the names of object files begin in jobs. `stored_files._ALSO_STORED` has it too: packages contain a grader's."""

_GRACE_MS = 5_000  # the sandbox's hard limits are the runner's limits plus this
_MESSAGE_CHARS = 8_000  # of the compiler's message are kept
_TRUSTED_TIME_FACTOR, _TRUSTED_MEMORY_FACTOR = 6, 4
"""Sources that are no submissions get the compile limits of submissions times this: their authors are trusted."""

_KNOWN_GOOD_CPU_S = 10.0
"""How much more CPU time a job gets that first compiles the known good program, which takes 0.5 s. Not much more: the
runner uses this limit for idle time too, and a compiler that waits must reach it before the limit on wall clock, which
is JE."""

CRASHES = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL})
"""Signals that end a compiler if a program is too large for it: rustc compiles recursively, and aborts without memory.
GCC's driver reports that its compiler crashed, but the driver of Debian's GCC 16.2 then crashes itself. Before such a
crash counts, a known good program is compiled. An interpreter's crash counts only in the child that compiles a program
(`harness.submission_recipe`); any other is JE.
"""


def compile_job(
    recipe: Recipe, runner: Content, limits: CompileLimits, least: Isolation, *, nonce: str, alone: bool = False
) -> Job:
    """The job that executes a recipe, with these limits for its own steps; the known good program before them gets
    time of its own."""
    if recipe.known_good_steps:  # `compiler_checks.without_known_good` limits the CPU time of the recipe's own steps
        limits = with_time_for_known_good(limits)
    returns = tuple(f"artifact{number}" for number in range(len(recipe.artifacts)))
    plan, files = compile_plan(recipe, limits, least, nonce=nonce, into=returns)
    return Job(
        kind=JobKind.RUNNER,
        files=(*runner_files(runner, plan), *files),
        run_limits=stage_limits(recipe, limits),
        alone=alone,
        sees=recipe.sees,
        returns=returns,
        has_header=recipe.precompiled is not None,
        nonce=nonce,
    )


def stage_limits(recipe: Recipe, limits: CompileLimits) -> StageLimits:
    """The sandbox's hard limits for the steps of a recipe together, which share the limit of CPU time."""
    return StageLimits(
        wall_ms=int(limits.wall_s * 1000) * len(recipe.steps) + _GRACE_MS,
        cpu_ms=int(limits.cpu_s * 1000) + _GRACE_MS,
        output_bytes=2 * limits.file_bytes,
    )


def compile_plan(
    recipe: Recipe, limits: CompileLimits, least: Isolation, *, nonce: str, into: Sequence[str]
) -> tuple[RunnerPlan, list[JobFile]]:
    """The plan that executes a recipe, and the files that it names. `into`: the file that takes each artifact."""
    plan = RunnerPlan(mode="compile", nonce=nonce, least=least)
    plan.line(
        "limits",
        cpu_ms=int(limits.cpu_s * 1000),
        wall_ms=int(limits.wall_s * 1000),
        memory_bytes=limits.memory_bytes,
        processes=limits.processes,
        output_bytes=limits.output_bytes,
        file_bytes=limits.file_bytes,
    )
    if recipe.sees_system:
        plan.line("system")
    for path in recipe.sees:
        plan.line("sees", path=path)
    if recipe.precompiled is not None:
        std, name = recipe.precompiled
        plan.line("precompiled", std=std, **{"as": name})
    files: list[JobFile] = []
    for step in recipe.steps:
        for path, content in step.files:
            name = f"{_OBJECT if path.endswith('.o') else 'f'}{len(files)}"
            files.append(JobFile(name=name, content=content))
            plan.line("put", file=name, **{"as": path})
        plan.line("step", argv=step.argv)
    for artifact, name in zip(recipe.artifacts, into, strict=True):
        plan.line("artifact", path=artifact, into=name)
    return plan, files


def trusted_limits(limits: CompileLimits) -> CompileLimits:
    """The compile limits for sources that are no submissions: a problem's programs, the known good program, our header,
    and scripts that ask for a tool.
    """
    return replace(
        limits,
        cpu_s=min(limits.cpu_s * _TRUSTED_TIME_FACTOR, MAX_SECONDS),
        wall_s=min(limits.wall_s * _TRUSTED_TIME_FACTOR, MAX_SECONDS),
        memory_bytes=min(limits.memory_bytes * _TRUSTED_MEMORY_FACTOR, MAX_BYTES),
    )


def with_time_for_known_good(limits: CompileLimits) -> CompileLimits:
    """The limits of a job that first compiles the known good program, which takes time too."""
    return replace(limits, cpu_s=min(limits.cpu_s + _KNOWN_GOOD_CPU_S, MAX_SECONDS))


def runner_files(runner: Content, plan: RunnerPlan) -> tuple[JobFile, ...]:
    """The two files that every job of kind RUNNER begins with."""
    return JobFile(name="plan", content=plan.encode()), JobFile(name="runner", content=runner, executable=True)


def compile_outcome(recipe: Recipe, answer: CompileAnswer, limits: CompileLimits) -> CompileOutcome:
    """The outcome of a submission's compilation, from the answer to its compile job.

    It is CE if the compiler

    - rejects the program: with its message;
    - crashed, or was stopped by one of our limits: with the name of the signal or the limit;
    - succeeded without making a program, as rustc does if a program asks its linker for that.

    It is JE if the program may not be the cause: the compiler was killed by something else, reached the wall clock
    limit (the machine is too busy), or was not started.
    """
    outcome = successful_outcome(answer)
    if len(answer.artifacts) == len(recipe.artifacts):
        return outcome
    verdict, message = _why_no_artifact(recipe, answer, limits)
    return replace(outcome, verdict=verdict, message=message)


def successful_outcome(answer: CompileAnswer) -> CompileOutcome:
    """The outcome of a compilation that made a program."""
    return CompileOutcome(verdict=None, cpu_ms=sum(step.cpu_ms for step in answer.steps))


def _why_no_artifact(recipe: Recipe, answer: CompileAnswer, limits: CompileLimits) -> tuple[Verdict, str]:
    last = answer.last
    if last is None:
        return Verdict.JE, "the compiler was not started"
    message = _shortened(last.output)
    if failed_by_itself(last) and recipe.error_code in (None, last.code):
        return Verdict.CE, f"Compilation error exit code {last.code}\n{message}".rstrip()
    if last.limit == "wall":
        how = f"did not end within {limits.wall_s:g} s: this machine is too busy"
        return Verdict.JE, f"the compiler {how}\n{message}".rstrip()
    if last.limit is not None:
        return Verdict.CE, f"Compilation stopped: {_describe_limit(last.limit, limits)}\n{message}".rstrip()
    ended_well = not (last.code or last.signal or last.killed)
    if recipe.error_code is None and (ended_well or last.signal in CRASHES):
        how = "made no program" if ended_well else f"was killed by {signal_name(last.signal)}"
        return Verdict.CE, f"Compilation stopped: the compiler {how}\n{message}".rstrip()
    killed_by = last.signal or last.killed
    how = f"was killed by {signal_name(killed_by)}" if killed_by else f"produced no program (exit code {last.code})"
    if killed_by == signal.SIGKILL:
        how += ", from outside: is there memory left? Give the machine or container more, or use fewer --workers"
    return Verdict.JE, f"the compiler {how}\n{message}".rstrip()


def failed_by_itself(step: StepLine) -> bool:
    """Whether a compiler ended by itself with an error: the only failure that is certainly the input's fault."""
    return step.code != 0 and not (step.signal or step.killed or step.limit)


def found_error(answer: CompileAnswer) -> bool:
    """Whether a compiler ended by itself with an error, and no message at its end is about the machine."""
    return answer.last is not None and failed_by_itself(answer.last) and not is_machine_failure(answer.output(""))


def limit_that_stopped_all(answers: Sequence[CompileAnswer], limits: CompileLimits) -> str | None:
    """The limit that stopped a compilation and its repetition; `None` for anything else, also for wall clock, because
    it depends on the machine's load."""
    stops = {answer.last and answer.last.limit for answer in answers}
    limit = stops.pop()
    return None if stops or limit not in _LIMIT_WORDS else _describe_limit(limit, limits)


def _describe_limit(limit: str, limits: CompileLimits) -> str:
    return _LIMIT_WORDS.get(limit, limit).format(limits=limits, mib=limits.memory_bytes >> 20)


_LIMIT_WORDS = {
    "cpu": "over {limits.cpu_s:g} s of CPU time",
    "idle": "the compiler did nothing for {limits.cpu_s:g} s: it waited for input that did not come",
    "memory": "over {mib} MiB of memory",
    "output": "too many messages",
    "file": "its files are too large, or too many",
    "processes": "too many processes",
}
_SIZE_LIMITS = ("output", "file")  # a repetition would reach them again on any machine


def is_doubtful(answer: CompileAnswer) -> bool:
    """Whether a compilation that failed is repeated, alone, before it counts.

    It is if

    - one of our limits stopped it, except those on sizes;
    - a signal ended it, or it ended without an error and made nothing;
    - its messages say that it lacked memory, processes or disk space, or that rustc panicked. (It does that also if it
      cannot start a thread.)

    A program can forge these messages, so they lead to repetitions and to nothing else. They do not count if the
    compiler also found an error in the source (`#error Cannot allocate memory`), because a repetition keeps all other
    jobs waiting.
    """
    last = answer.last
    if last is None or answer.succeeded or last.limit in _SIZE_LIMITS:
        return False
    interrupted = last.limit is not None or bool(last.killed or last.signal) or not last.code
    return interrupted or _mentions(last.output, _DOUBTFUL)


def _shortened(output: str) -> str:
    """The compiler's message, cut at the end of a line if it is too long."""
    if len(output) <= _MESSAGE_CHARS:
        return output.strip()
    head = output[:_MESSAGE_CHARS].rsplit("\n", 1)[0]
    return f"{head.strip()}\n[… {len(output) - len(head)} more characters]"


MACHINE_SIGNS = (
    *("Killed signal terminated program", "Terminated signal terminated program", "Killed (program"),
    *("terminated with signal 9 [Killed]", "terminated with signal 15 [Terminated]"),  # `collect2`, of the linker
    "No space left on device",
    *("Resource temporarily unavailable", "Cannot allocate memory", "out of memory allocating"),
    *("memory allocation of", "failed: signal: 9 (SIGKILL)", "failed: signal: 15 (SIGTERM)"),  # rustc
)
"""Messages of a compiler that lacked memory, processes or disk space."""
_DOUBTFUL = (*MACHINE_SIGNS, "unexpectedly panicked")

_SOURCE_ERROR = re.compile(r":\d+:\d+: error: ")
"""In a message of GCC or Clang about an error at a place in a source. The machine causes no such error, but others:
without a place, `fatal error`, `internal compiler error`, or the assembler's, which have no column."""


def is_machine_failure(output: str) -> bool:
    """Whether a compiler says that it lacked memory, processes or disk space. A submission can forge that."""
    return _mentions(output, MACHINE_SIGNS)


_C_HEADERS = "|".join((*re.findall(r"<([\w/]+)\.h>", C_INCLUDES), "assert", "ctype", "stddef", "stdint"))
_PART_MISSING = re.compile(
    r"cannot execute |\bld(?:\.\w+)?: (?:error: )?cannot find |collect2: fatal error: cannot find "
    r"|error while loading shared libraries|can't find crate for `std`"
    r"|^/\S+: fatal error: \S+: (?:No such file|Permission denied)"  # in a header of the compiler's
    rf"|fatal error: (?:bits/\S+|[\w/]+|(?:{_C_HEADERS})\.h): (?:No such file|Permission denied)",
    re.MULTILINE,
)
"""In a message of GCC, Clang, a linker or rustc: a program of the compiler, a library or a standard header is missing,
or cannot be read (under reduced isolation permission to read what a box hides is denied). The names of standard
headers of C++ have no dot."""


def may_lack_a_part(output: str) -> bool:
    """Whether a compiler may have lost a part of itself since it was tried, for example by an upgrade.

    A program can forge such a message, so it leads to another check of the compiler and to nothing else.
    """
    return _PART_MISSING.search(output) is not None and not _SOURCE_ERROR.search(output)


def _mentions(output: str, signs: Sequence[str]) -> bool:
    return any(sign in output for sign in signs) and not _SOURCE_ERROR.search(output)


def was_not_found(error: TransientError) -> bool:
    """Whether a step's command does not exist in the box, or cannot be executed. Source:
    `graders/runner/compile_mode.h`."""
    message = str(error)
    return ": execute " in message and message.endswith(("No such file or directory", "Permission denied"))
