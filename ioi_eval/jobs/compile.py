"""Compile jobs and their answers. Pure.

A submission is compiled with the problem's headers only; the grader's object is put into the box after that,
for the link step. So a submission cannot make the compiler read (`.incbin`, `#include`) a grader, a checker, a manager
or test data. Grader objects and judge programs are compiled once for each source and toolchain, and stored.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ioi_eval import boxfiles
from ioi_eval.config import CompileLimits, Policy
from ioi_eval.errors import TransientError
from ioi_eval.jobs.plan import RunnerPlan
from ioi_eval.jobs.runner_answer import CompileAnswer, StepLine
from ioi_eval.languages import ObjectLanguage, compiled
from ioi_eval.model import (
    CompileOutcome,
    Content,
    Job,
    JobFile,
    JobKind,
    Language,
    Problem,
    SourceFile,
    StageLimits,
    Verdict,
    signal_name,
)
from ioi_eval.problems.grader_files import BUILD_SCRIPT
from ioi_eval.toolchain import Toolchain

_GRACE_MS = 5_000  # the sandbox's hard limits are the runner's limits plus this
_BUILD = f"chmod +x {BUILD_SCRIPT} && ./{BUILD_SCRIPT} && cp -fT run {{0}}"
_TRUSTED_TIMES, _TRUSTED_MEMORIES = 6, 4
"""The problem's own programs get a submission's compile limits times this: their authors are trusted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command of a recipe, and the files that are put into the box for it and the later steps."""

    argv: tuple[str, ...]
    files: tuple[tuple[str, Content], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How something is compiled: pure data, so that its `key` identifies the result.

    Args:
        what: for messages (`checker`, `grader`, `submission`).
        steps: in order.
        artifacts: the files to return, by their path in the work directory.
        sees: files and directories of the machine that the steps see.
        sees_system: whether the steps see the system's programs and libraries too. Only for recipes without a
            submission's files.
        refusal: the exit code with which a step rejects its input; `None` for any except 0, as compilers do.
        crashes: signals that end a step if its input is too large for it; see `CompiledLanguage.crashes`.
    """

    what: str
    steps: tuple[Step, ...]
    artifacts: tuple[str, ...]
    sees: tuple[str, ...] = ()
    sees_system: bool = False
    refusal: int | None = None
    crashes: frozenset[int] = frozenset()

    def key(self, toolchain: Toolchain) -> str:
        """The artifact's name in the store: a hash of everything that determines it."""
        digest = hashlib.sha256(f"{boxfiles.RUNNER_VERSION}\0{toolchain.fingerprint}".encode())
        for step in self.steps:
            digest.update(b"\0s")
            for part in step.argv:
                digest.update(b"\0a" + part.encode())
            for path, content in step.files:
                body = content if isinstance(content, bytes) else content.sha256.encode()
                digest.update(f"\0f{path}\0{len(body)}\0".encode() + body)
        digest.update(("\0o" + "\0".join(self.artifacts)).encode())
        return digest.hexdigest()


def submission_recipe(
    problem: Problem,
    sources: Sequence[SourceFile],
    objects: Sequence[tuple[str, Content]],
    toolchain: Toolchain,
    *,
    std: str | None,
    language: Language = Language.CPP,
) -> Recipe:
    """How a submission is compiled to the program `a.out`.

    Args:
        problem: gives headers and the standard.
        sources: the program's files. All of them are in the box when one that is not a header is compiled.
        objects: the grader's objects, by name; they are put into the box after the submission has been compiled.
        toolchain: compiles the language on the target.
        std: overrides the problem's C++ standard.
        language: the program's language; it must be a compiled one.
    """
    rules = compiled(language)
    dialect = rules.standard(problem, std)
    seen = [(file.name, file.content) for file in (*sources, *problem.headers)]  # the last file of a name is used
    parts = [source.name for source in sources if source.name.endswith(language.endings)]
    commands = rules.commands(toolchain, parts, [name for name, _ in objects], "a.out", std=dialect)
    last = len(commands) - 1
    steps = (
        Step(argv=argv, files=(*(() if index else seen), *(objects if index == last else ())))
        for index, argv in enumerate(commands)
    )
    return Recipe(
        what="submission", steps=tuple(steps), artifacts=("a.out",), sees=toolchain.sees, crashes=rules.crashes
    )


def grader_recipe(
    problem: Problem, toolchain: Toolchain, *, std: str | None, language: Language = Language.CPP
) -> Recipe | None:
    """How the sources with which submissions in a language are linked become objects; `None` if there are none."""
    linked = problem.linked_with(language)
    if not linked:
        return None
    rules = compiled(language)
    if not isinstance(rules, ObjectLanguage):
        raise TypeError(f"nothing is linked with programs in {rules.name}")
    headers = tuple((header.name, header.content) for header in problem.headers)
    steps, objects = [], []
    for index, source in enumerate(linked):
        name = f"linked{index}.o"
        argv = rules.compile_argv(toolchain, source.name, name, std=rules.standard(problem, std))
        steps.append(Step(argv=argv, files=(*(headers if index == 0 else ()), (source.name, source.content))))
        objects.append(name)
    return Recipe(what="grader", steps=tuple(steps), artifacts=tuple(objects), sees=toolchain.sees)


def program_recipe(
    what: str, source: SourceFile, beside: Iterable[SourceFile], toolchain: Toolchain, *, std: str
) -> Recipe:
    """How a checker or manager becomes the program `what`: by the compiler, or by its own build script."""
    seen = {file.name: file.content for file in beside}
    seen[source.name] = source.content
    if source.name == BUILD_SCRIPT:
        return Recipe(
            what=what,
            steps=(Step(argv=("/bin/sh", "-c", _BUILD.format(what)), files=tuple(seen.items())),),
            artifacts=(what,),
            sees=toolchain.sees,
            sees_system=True,
        )
    return Recipe(
        what=what,
        steps=(
            Step(argv=toolchain.compile_argv(source.name, f"{what}.o", std=std), files=tuple(seen.items())),
            Step(argv=toolchain.link_argv((f"{what}.o",), what)),
        ),
        artifacts=(what,),
        sees=toolchain.sees,
    )


def known_good_recipe(toolchain: Toolchain, std: str | None = None, language: Language = Language.CPP) -> Recipe:
    """A program that every working compiler compiles: if it fails, the compiler is broken, not a submission.

    Args:
        toolchain: compiles the language on the target.
        std: the standard; `None` for one that every compiler of the language knows.
        language: the program's language.
    """
    rules = compiled(language)
    name, source = rules.known_good_program
    commands = rules.commands(toolchain, [name], [], "good", std=std or rules.known_good_standard)
    steps = (Step(argv=argv, files=() if index else ((name, source),)) for index, argv in enumerate(commands))
    return Recipe(what="known good program", steps=tuple(steps), artifacts=("good",), sees=toolchain.sees)


def is_compiled(source: SourceFile) -> bool:
    """Whether a judge program is C++ source or is made by a script, rather than a script that runs as it is."""
    return source.name == BUILD_SCRIPT or source.name.endswith(Language.CPP.endings)


def compile_job(
    recipe: Recipe, runner: Content, policy: Policy, *, nonce: str, of_problem: bool = False, alone: bool = False
) -> Job:
    """The job that executes a recipe.

    Args:
        recipe: what to build.
        runner: the runner for this target.
        policy: gives the compile limits; the problem's own programs (`of_problem`) get multiples of them.
        nonce: 32 hexadecimal digits.
        of_problem: whether the source is the problem's, not a submission's.
        alone: no other job of ours may run at the same time.
    """
    limits = problem_limits(policy.compile) if of_problem else policy.compile
    cpu_ms, wall_ms = int(limits.cpu_s * 1000), int(limits.wall_s * 1000)
    plan = RunnerPlan(mode="compile", nonce=nonce, least=policy.isolation)
    plan.line(
        "limits",
        cpu_ms=cpu_ms,
        wall_ms=wall_ms,
        memory_bytes=limits.memory_bytes,
        processes=limits.processes,
        output_bytes=limits.output_bytes,
        file_bytes=limits.file_bytes,
    )
    if recipe.sees_system:
        plan.line("system")
    for path in recipe.sees:
        plan.line("sees", path=path)
    files: list[JobFile] = []
    for step in recipe.steps:
        for path, content in step.files:
            name = f"f{len(files)}"
            files.append(JobFile(name=name, content=content))
            plan.line("see", file=name, **{"as": path})
        plan.line("step", argv=step.argv)
    returns = tuple(f"artifact{number}" for number in range(len(recipe.artifacts)))
    for artifact, name in zip(recipe.artifacts, returns, strict=True):
        plan.line("artifact", path=artifact, into=name)
    total = len(recipe.steps)
    return Job(
        kind=JobKind.RUNNER,
        files=(*runner_files(runner, plan), *files),
        run_limits=StageLimits(
            wall_ms=wall_ms * total + _GRACE_MS, cpu_ms=cpu_ms * total + _GRACE_MS, output_bytes=2 * limits.file_bytes
        ),
        alone=alone,
        sees=recipe.sees,
        returns=returns,
        nonce=nonce,
    )


def problem_limits(limits: CompileLimits) -> CompileLimits:
    """The compile limits for a problem's own programs, given those for submissions."""
    return replace(
        limits,
        cpu_s=limits.cpu_s * _TRUSTED_TIMES,
        wall_s=limits.wall_s * _TRUSTED_TIMES,
        memory_bytes=limits.memory_bytes * _TRUSTED_MEMORIES,
    )


def runner_files(runner: Content, plan: RunnerPlan) -> tuple[JobFile, ...]:
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
    """The outcome of a submission's compilation, from the answer to its compile job.

    If the compiler rejects the program, it is CE with the compiler's message; if one of our limits stopped the
    compiler, CE with the limit's name. It is JE if the program may not be the cause: the compiler was killed by
    something else, reached the wall clock limit (the machine is too busy), failed without an error of its own, or was
    not started.
    """
    cpu_ms = sum(step.cpu_ms for step in answer.steps)
    wall_ms = sum(step.wall_ms for step in answer.steps)
    verdict: Verdict | None = None
    message = ""
    if len(answer.artifacts) != len(recipe.artifacts):
        verdict, message = _why_no_artifact(recipe, answer, limits, message_chars)
    return CompileOutcome(verdict=verdict, message=message, cpu_ms=cpu_ms, wall_ms=wall_ms)


def _why_no_artifact(
    recipe: Recipe, answer: CompileAnswer, limits: CompileLimits, message_chars: int
) -> tuple[Verdict, str]:
    """CE or JE with its message, if there is no artifact."""
    if not answer.steps:
        return Verdict.JE, "the compiler was not started"
    last = answer.steps[-1]
    message = clean_output(last.output, message_chars)
    if failed_by_itself(last) and recipe.refusal in (None, last.code):
        return Verdict.CE, f"Compilation error exit code {last.code}\n{message}".rstrip()
    if last.limit == "wall":
        return (
            Verdict.JE,
            f"the compiler did not end within {limits.wall_s:g} s: this machine is too busy\n{message}".rstrip(),
        )
    if last.limit is not None:
        return Verdict.CE, f"Compilation stopped: {_bound(last.limit, limits)}\n{message}".rstrip()
    if last.signal in recipe.crashes:
        message = f"Compilation stopped: the compiler was killed by {signal_name(last.signal)}\n{message}"
        return Verdict.CE, message.rstrip()
    signal = last.signal or last.killed
    how = f"was killed by {signal_name(signal)}" if signal else f"produced no program (exit code {last.code})"
    return Verdict.JE, f"the compiler {how}\n{message}".rstrip()


def failed_by_itself(step: StepLine) -> bool:
    """Whether a compiler ended by itself with an error: the only failure that is certainly the input's fault."""
    return step.code != 0 and not (step.signal or step.killed or step.limit)


def limit_that_stopped_both(answers: Sequence[CompileAnswer], limits: CompileLimits) -> str | None:
    """The limit that stopped both a compilation and its repetition alone on the machine; `None` for anything else.

    Wall clock is not such a limit, because it depends on the machine's load.
    """
    stops = {answer.steps[-1].limit if answer.steps else None for answer in answers}
    limit = stops.pop()
    if len(answers) < 2 or stops or limit not in _LIMIT_WORDS:
        return None
    return _bound(limit, limits)


def _bound(limit: str, limits: CompileLimits) -> str:
    return _LIMIT_WORDS.get(limit, limit).format(limits=limits, mib=limits.memory_bytes >> 20)


_LIMIT_WORDS = {
    "cpu": "over {limits.cpu_s:g} s of CPU time",
    "idle": "the compiler did nothing for {limits.cpu_s:g} s: it waited for input that did not come",
    "memory": "over {mib} MiB of memory",
    "output": "too many messages",
    "file": "the object is too large",
    "processes": "too many processes",
}


def is_doubtful(answer: CompileAnswer) -> bool:
    """Whether a compilation that failed is repeated once, alone, before it counts.

    It is if one of our limits stopped it, if the messages say that one of the compiler's processes was killed or that
    the disk is full, or if rustc panicked: it does that also if it cannot start a thread. A program can forge these
    messages, so they lead to a repetition and to nothing else. The repetition keeps all other jobs waiting, so there is
    none if the compiler also found an error in the source (`#error Cannot allocate memory`).
    """
    if not answer.steps:
        return False
    last = answer.steps[-1]
    interrupted = last.limit is not None or bool(last.killed or last.signal)
    return interrupted or _mentions(last.output, _DOUBTFUL)


def clean_output(output: str, limit: int) -> str:
    """The compiler's message, cut to `limit` characters at the end of a line."""
    if len(output) <= limit:
        return output.strip()
    head = output[:limit].rsplit("\n", 1)[0]
    return f"{head.strip()}\n[… {len(output) - len(head)} more characters]"


_FULL_DISK = "No space left on device"
_MACHINE_SIGNS = (
    *("Killed signal terminated program", "Killed (program", _FULL_DISK),
    *("Resource temporarily unavailable", "Cannot allocate memory", "out of memory allocating"),
    "memory allocation of",  # rustc
)
_DOUBTFUL = (*_MACHINE_SIGNS, "unexpectedly panicked")

_SOURCE_ERROR = re.compile(r":\d+:\d+: error: ")
"""In a message of GCC or Clang about an error at a place in a source. The machine causes no such error, but others:
without a place, `fatal error`, `internal compiler error`, or the assembler's, which have no column."""


def is_machine_failure(output: str) -> bool:
    """Whether a compiler lacked memory, processes or disk space. Only for our own sources: a program can forge it."""
    return _mentions(output, _MACHINE_SIGNS)


def _mentions(output: str, signs: Sequence[str]) -> bool:
    return any(sign in output for sign in signs) and not _SOURCE_ERROR.search(output)


def was_not_found(error: TransientError) -> bool:
    """Whether a step's command does not exist in the box, or cannot be executed. Source:
    `graders/runner/compile_mode.h`."""
    message = str(error)
    return ": execute " in message and message.endswith(("No such file or directory", "Permission denied"))
