"""Compile jobs: what is built, from what, and what the answer means. Pure.

A submission is compiled with the problem's headers only; the grader's object is put into the box after that,
for the link step. So nothing that the compiler can be talked into (`.incbin`, `#include`) reaches a grader, a
checker, a manager or test data. Objects of the grader, and judge programs, are compiled once per source and
toolchain and kept.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ioi_eval import boxfiles
from ioi_eval.config import CompileLimits, Policy
from ioi_eval.errors import SetupError, TransientError, TransportError
from ioi_eval.jobs.plan import Plan
from ioi_eval.jobs.protocol import CompileAnswer, StepLine, signal_name
from ioi_eval.model import (
    CompileOutcome,
    Content,
    Execution,
    Job,
    JobFile,
    JobKind,
    Language,
    Problem,
    SourceFile,
    StageLimits,
    Verdict,
)
from ioi_eval.toolchain import Toolchain

RUNNER_STD = "c++17"
GOOD_STD = "gnu++17"  # what every compiler that builds the runner knows
C_STD = "gnu17"
"""Of submissions in C. Source: Kattis's language configuration; GCC's own default since version 8."""
_BUILD_LIMITS = StageLimits(wall_ms=300_000, cpu_ms=120_000, output_bytes=64 * 1024 * 1024)
_GRACE_MS = 5_000  # the sandbox's hard limits lie above those that the runner keeps


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command of a recipe, and what it gets to see that no step before it saw."""

    argv: tuple[str, ...]
    sees: tuple[tuple[str, Content], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How something is compiled: pure data, so that its `key` names the outcome.

    Args:
        what: for messages (`checker`, `grader`, `submission`).
        steps: in order.
        artifacts: the files to keep, by their path in the work directory.
        reads: what of the machine it needs beside the system's programs.
    """

    what: str
    steps: tuple[Step, ...]
    artifacts: tuple[str, ...]
    reads: tuple[str, ...] = ()

    def key(self, toolchain: Toolchain) -> str:
        """The artifact's name in the store: a hash of everything that goes in."""
        digest = hashlib.sha256(f"{boxfiles.RUNNER_VERSION}\0{toolchain.fingerprint}".encode())
        for step in self.steps:
            for part in step.argv:
                digest.update(b"\0a" + part.encode())
            for path, content in step.sees:
                body = content if isinstance(content, bytes) else content.sha256.encode()
                digest.update(f"\0f{path}\0{len(body)}\0".encode() + body)
        digest.update(("\0o" + "\0".join(self.artifacts)).encode())
        return digest.hexdigest()


def submission_recipe(
    problem: Problem,
    code: str,
    objects: Sequence[tuple[str, Content]],
    toolchain: Toolchain,
    *,
    std: str | None,
    language: Language = Language.CPP,
) -> Recipe:
    """How a submission becomes the program `a.out`.

    Args:
        problem: gives headers and the standard.
        code: the program's text.
        objects: the grader's objects, by name; they appear after the submission has been compiled.
        toolchain: of the target.
        std: overrides the problem's standard of C++.
        language: what the program is written in; programs in C are for problems that link nothing.
    """
    source = f"{problem.key.id.lower()}.{language.value}"
    if language is Language.C:
        compile_argv = toolchain.compile_c_argv(source, "submission.o", std=C_STD)
    else:
        compile_argv = toolchain.compile_argv(source, "submission.o", std=std or problem.cxx_std)
    link_argv = toolchain.link_argv((*(name for name, _ in objects), "submission.o"), "a.out")
    headers = tuple((header.name, header.content) for header in problem.headers)
    body = code.encode("utf-8", "replace")
    return Recipe(
        what="submission",
        steps=(
            Step(argv=compile_argv, sees=(*headers, (source, body))),
            Step(argv=link_argv, sees=tuple(objects)),
        ),
        artifacts=("a.out",),
    )


def grader_recipe(problem: Problem, toolchain: Toolchain, *, std: str | None) -> Recipe | None:
    """How the sources that are linked with every submission become objects; `None` without such sources."""
    if not problem.linked:
        return None
    headers = tuple((header.name, header.content) for header in problem.headers)
    steps, objects = [], []
    for index, source in enumerate(problem.linked):
        name = f"linked{index}.o"
        argv = toolchain.compile_argv(source.name, name, std=std or problem.cxx_std)
        steps.append(Step(argv=argv, sees=(*(headers if index == 0 else ()), (source.name, source.content))))
        objects.append(name)
    return Recipe(what="grader", steps=tuple(steps), artifacts=tuple(objects))


def program_recipe(
    what: str, source: SourceFile, beside: Iterable[SourceFile], toolchain: Toolchain, *, std: str
) -> Recipe:
    """How a checker or manager becomes a program named after `what`."""
    seen = {file.name: file.content for file in beside}
    seen[source.name] = source.content
    return Recipe(
        what=what,
        steps=(
            Step(argv=toolchain.compile_argv(source.name, f"{what}.o", std=std), sees=tuple(seen.items())),
            Step(argv=toolchain.link_argv((f"{what}.o",), what)),
        ),
        artifacts=(what,),
    )


def good_recipe(toolchain: Toolchain, std: str = GOOD_STD) -> Recipe:
    """A program that compiles wherever anything does: to tell a broken compiler from broken programs."""
    source = b"#include <vector>\nint main() { return static_cast<int>(std::vector<int>().size()); }\n"
    compile_argv = toolchain.compile_argv("good.cpp", "good.o", std=std)
    return Recipe(
        what="good program",
        steps=(
            Step(argv=compile_argv, sees=(("good.cpp", source),)),
            Step(argv=toolchain.link_argv(("good.o",), "good")),
        ),
        artifacts=("good",),
    )


def is_compiled(source: SourceFile) -> bool:
    """Whether a judge program is C++ source, rather than a script that runs as it is."""
    return source.name.endswith((".cpp", ".cc", ".cxx", ".c++"))


def compile_job(
    recipe: Recipe, runner: Content, policy: Policy, *, nonce: str, trusted: bool = False, alone: bool = False
) -> Job:
    """The job that follows a recipe.

    Args:
        recipe: what to build.
        runner: the runner for this target.
        policy: its compile limits hold; for the problem's own programs (`trusted`) they are doubled.
        nonce: 32 hexadecimal digits.
        trusted: the source is the problem's, not a submission's.
        alone: nothing else of ours may run meanwhile.
    """
    limits = policy.compile
    cpu_ms, wall_ms = int(limits.cpu_s * 1000), int(limits.wall_s * 1000)
    memory_bytes = limits.memory_bytes
    if trusted:
        cpu_ms, wall_ms, memory_bytes = cpu_ms * 6, wall_ms * 6, memory_bytes * 4
    plan = Plan(mode="compile", nonce=nonce, least=policy.isolation)
    plan.line(
        "limits",
        cpu_ms=cpu_ms,
        wall_ms=wall_ms,
        memory_bytes=memory_bytes,
        processes=limits.processes,
        output_bytes=limits.output_bytes,
        file_bytes=limits.file_bytes,
    )
    for path in recipe.reads:
        plan.line("sees", path=path)
    files: list[JobFile] = []
    for step in recipe.steps:
        for path, content in step.sees:
            name = f"f{len(files)}"
            files.append(JobFile(name=name, content=content))
            plan.line("see", file=name, **{"as": path})
        plan.line("step", argv=step.argv)
    for artifact in recipe.artifacts:
        plan.line("artifact", path=artifact)
    total = len(recipe.steps)
    return Job(
        kind=JobKind.RUNNER,
        files=(*runner_files(runner, plan), *files),
        run_limits=StageLimits(
            wall_ms=wall_ms * total + _GRACE_MS, cpu_ms=cpu_ms * total + _GRACE_MS, output_bytes=2 * limits.file_bytes
        ),
        alone=alone,
        sees=recipe.reads,
    )


def runner_files(runner: Content, plan: Plan) -> tuple[JobFile, ...]:
    """The two files that every job of kind RUNNER begins with."""
    return (
        JobFile(name="plan", content=plan.encode()),
        JobFile(name="runner", content=runner, executable=True),
    )


def compile_outcome(
    recipe: Recipe,
    answer: CompileAnswer,
    limits: CompileLimits,
    *,
    message_chars: int,
) -> CompileOutcome:
    """What the answer to a submission's compile job means.

    A compiler that says no is CE with its words; one stopped by our limits is CE naming the limit. What says nothing
    about the program is JE: a compiler that was killed by somebody else, that never came to its end although it used
    little CPU time (a machine too loaded), or that was not started.
    """
    cpu_ms = sum(step.cpu_ms for step in answer.steps)
    wall_ms = sum(step.wall_ms for step in answer.steps)
    verdict: Verdict | None = None
    message = ""
    if len(answer.artifacts) != len(recipe.artifacts):
        verdict, message = _why_nothing_came(answer, limits, message_chars)
    return CompileOutcome(verdict=verdict, message=message, cpu_ms=cpu_ms, wall_ms=wall_ms)


def _why_nothing_came(answer: CompileAnswer, limits: CompileLimits, message_chars: int) -> tuple[Verdict, str]:
    """CE or JE, and the words for it."""
    if not answer.steps:
        return Verdict.JE, "the compiler was not started"
    last = answer.steps[-1]
    words = clean_words(last.output, message_chars)
    if says_no(last):
        return Verdict.CE, f"Compilation error exit code {last.code}\n{words}".rstrip()
    if last.limit == "wall":
        return (
            Verdict.JE,
            f"the compiler did not end within {limits.wall_s:g} s: this machine is too busy\n{words}".rstrip(),
        )
    if last.limit is not None:
        bound = _LIMIT_WORDS.get(last.limit, last.limit).format(limits=limits, mib=limits.memory_bytes >> 20)
        return Verdict.CE, f"Compilation stopped: {bound}\n{words}".rstrip()
    signal = last.signal or last.killed
    how = f"killed by {signal_name(signal)}" if signal else "produced no program"
    return Verdict.JE, f"the compiler was {how}\n{words}".rstrip()


def says_no(step: StepLine) -> bool:
    """Whether a compiler ended by itself and refused: the only failure that speaks of its input for certain."""
    return step.code != 0 and not (step.signal or step.killed or step.limit)


_LIMIT_WORDS = {
    "cpu": "over {limits.cpu_s:g} s of CPU time",
    "memory": "over {mib} MiB of memory",
    "output": "too many messages",
    "file": "the object is too large",
    "processes": "too many processes",
}


def is_doubtful(answer: CompileAnswer) -> bool:
    """Whether a compilation that failed is repeated once, alone, before it counts.

    So it is where one of our limits stopped it, and where the compiler's driver says that one of its processes
    was killed. The latter are words on the program's own channel, which a program can forge: hence they buy a
    repetition and nothing else.
    """
    if not answer.steps:
        return False
    last = answer.steps[-1]
    interrupted = last.limit is not None or bool(last.killed or last.signal)
    return interrupted or "Killed signal terminated program" in last.output


def clean_words(output: str, limit: int) -> str:
    """The compiler's words, cut to `limit` characters at the end of a line."""
    if len(output) <= limit:
        return output.strip()
    head = output[:limit].rsplit("\n", 1)[0]
    return f"{head.strip()}\n[… {len(output) - len(head)} more characters]"


def runner_job(toolchain: Toolchain, *, nonce: str) -> Job:
    """The job that compiles the runner itself, on a target that has none yet.

    Its program text is ours and nothing hostile is in the box, so plain scripts do.
    """
    argv = [toolchain.command, f"-std={RUNNER_STD}", "-O2", "-pipe", "-s", "runner.cpp", "-o", "runner"]
    if toolchain.static:
        argv.insert(-3, "-static")
    script = f"set -e\n{' '.join(argv)}\nprintf '%s\\n' {nonce}\nbase64 -w 0 runner\nprintf '\\n%s\\n' {nonce}\n"
    return Job(
        kind=JobKind.SCRIPTS,
        files=(
            JobFile(name="run", content=script.encode()),
            JobFile(name="runner.cpp", content=boxfiles.runner_source()),
        ),
        run_limits=_BUILD_LIMITS,
        trusted=True,
    )


def runner_key(toolchain: Toolchain) -> str:
    """The runner's name in the artifact store."""
    source = hashlib.sha256(boxfiles.runner_source()).hexdigest()
    return hashlib.sha256(f"runner\0{RUNNER_STD}\0{source}\0{toolchain.fingerprint}".encode()).hexdigest()


_MACHINE_SIGNS = (
    *("Killed signal terminated program", "Killed (program", "No space left on device"),
    *("Resource temporarily unavailable", "Cannot allocate memory", "out of memory allocating"),
)


def blames_the_machine(words: str) -> bool:
    """Whether a compiler failed for want of memory, processes or disk. For our own sources: a program can forge it."""
    return any(sign in words for sign in _MACHINE_SIGNS)


def was_not_found(error: TransientError) -> bool:
    """Whether a box says that it cannot see a step's command, or may not execute it. Source: `graders/runner.cpp`."""
    words = str(error)
    return ": execute " in words and words.endswith(("No such file or directory", "Permission denied"))


def runner_binary(execution: Execution, nonce: str) -> bytes:
    """The runner from the answer to `runner_job`.

    Raises:
        SetupError: it does not compile there; with the compiler's words.
        TransientError: the machine lacked something; `TransportError` if the answer was cut off.
    """
    stage = execution.run
    if stage.code not in (0, None):
        words = (stage.stderr or stage.stdout).strip()[-2000:]
        if blames_the_machine(stage.stderr):
            raise TransientError(f"the runner could not be compiled to its end on this target: {words}")
        raise SetupError(f"the runner does not compile on this target: {words}")
    lines = stage.stdout.splitlines()
    if len(lines) < 3 or lines[-3] != nonce or lines[-1] != nonce:
        raise TransportError(f"the compiled runner did not arrive whole (exit code {stage.code}, {stage.signal})")
    try:
        return base64.b64decode(lines[-2], validate=True)
    except binascii.Error as error:
        raise TransportError(f"the compiled runner arrived damaged: {error}") from error
