"""Compiles the programs that are needed before a submission can run: the runner, a problem's grader, checker, manager.

Each is compiled once for each source and toolchain, on the target that will run it, and kept in the artifact store. If
a problem's own program does not compile, the problem cannot be judged: all its submissions are JE with the compiler's
message, and are not retried (`ProblemProgramError`). It also executes the compile jobs of submissions, whose programs
are not kept here.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TypeVar

from ioi_eval import shipped
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.compiler_checks import CompilerChecks, with_known_good_if_in_doubt, without_known_good
from ioi_eval.config import CompileLimits, Policy
from ioi_eval.errors import (
    BrokenCompilerError,
    IoiEvalError,
    SandboxError,
    SetupError,
    TargetLostError,
    TransientError,
    UnavailableError,
)
from ioi_eval.events import Events
from ioi_eval.jobs import compile as compiling
from ioi_eval.jobs import harness, recipes
from ioi_eval.jobs.find_runner import find_runner_job, runner_binary, runner_key
from ioi_eval.jobs.runner_answer import CompileAnswer, compile_answer
from ioi_eval.languages import CompiledLanguage, compiled_rules, rules_of
from ioi_eval.model import Blob, Content, JudgeProgram, Language, Problem, ProblemKey, Retries, SourceFile, Verdict
from ioi_eval.problems.judge_sources import BUILD_SCRIPT, is_compiled
from ioi_eval.sandbox import Sandbox, Target
from ioi_eval.slots import Once
from ioi_eval.tools import Tools

MAX_ATTEMPTS = 3
"""How often a job is executed at most if its answer cannot be used, or was lost on this machine.

`sandbox/piston/cluster.py` sends requests again that a cluster's workers do not answer. Both use the job's `Retries`.
"""

T = TypeVar("T")


async def with_retries(ask: Callable[[Retries], Awaitable[T]]) -> T:
    """Call `ask`, which executes a job with these retries, up to `MAX_ATTEMPTS` times while it raises a TransientError.

    Without an endpoint (`UnavailableError`) it is not called again.
    """
    retries = Retries()
    for _ in range(MAX_ATTEMPTS - 1):
        try:
            return await ask(retries)
        except TransientError as error:
            if isinstance(error, UnavailableError) or not retries.take():
                raise
    return await ask(retries)


class ProblemProgramError(SandboxError):
    """A program of the problem's own (grader, checker, manager) does not compile. Final: the package is at fault."""


class Builder:
    """Compiles programs on one sandbox, with one artifact store. `tools` has the compilers and interpreters of targets.

    `events` gets an event when a problem's own program is compiled. All functions that execute a job raise SandboxError
    if that could not be run.
    """

    def __init__(
        self, sandbox: Sandbox, artifacts: ArtifactStore, policy: Policy, events: Events | None = None
    ) -> None:
        self._events = events or Events()
        self._sandbox = sandbox
        self._artifacts = artifacts
        self._policy = policy
        self._errors: dict[str, str] = {}  # only messages, because a raised error would keep its frames in memory
        self._trusted_limits = compiling.trusted_limits(policy.compile)
        self._syntax: Once[tuple[str, SourceFile], str] = Once()  # why graders in Python are refused; empty if not
        self.tools = Tools(self._execute, self.runner, policy.python)
        self.checks = CompilerChecks(self._execute, self.tools, artifacts)

    async def runner(self, target: Target) -> Blob:
        """The runner for a target: the one in this package, or one that is compiled there. SetupError if that failed
        twice: a failure on one worker only must not end the run."""
        has_failed = False

        async def ask(retries: Retries) -> bytes:
            nonlocal has_failed
            ready = shipped.content_for(shipped.RUNNER, target.toolchain.machine)
            nonce = secrets.token_hex(16)
            job = replace(find_runner_job(target.toolchain, nonce=nonce, shipped=ready), retries=retries)
            try:
                return runner_binary(await self._sandbox.execute(job, target), nonce, ready)
            except SetupError as error:
                if has_failed:
                    raise
                has_failed = True
                retries.useless += retries.tried[-1:]
                raise TransientError(f"{error} (one answer said so; the others did not arrive)") from error

        return await self._artifacts.ensure(runner_key(target.toolchain), lambda: with_retries(ask))

    def has_runner(self, target: Target) -> bool:
        """Whether the runner for a target has been compiled before."""
        return self._artifacts.holds(runner_key(target.toolchain))

    async def ready_runner(self, target: Target) -> Blob:
        """The runner for a target, as a check before anything is judged there; SetupError if it cannot be compiled."""
        try:
            return await self.runner(target)
        except UnavailableError:
            raise
        except SandboxError as error:
            killed = "; the kernel killed the compiler: is there memory left? It needs 400 MiB"
            raise SetupError(f"{error}{killed if 'Killed signal' in str(error) else ''}") from error

    async def judge_program(
        self,
        what: str,
        program: JudgeProgram,
        target: Target,
        *,
        std: str,
        problem: ProblemKey | None = None,
    ) -> Content:
        """A checker or manager (`what`), ready to start; a script is not changed. `std` is its standard if it is in
        C++, `problem` for events.

        Raises:
            ProblemProgramError: it does not compile.
            UnsuitableError: this target's compiler does not know the standard.
        """
        source = program.source
        if not is_compiled(source):
            return source.content
        language = Language.C if source.name.endswith(Language.C.endings) else Language.CPP
        if language is Language.C or source.name == BUILD_SCRIPT:  # which names its standard itself
            std = compiled_rules(language).known_good_standard
        self.checks.require_known_standard(std, target, language, what)
        recipe = recipes.program_recipe(what, program, target.toolchain, std=std)
        return await self._ensure_artifact(recipe, target, std, language, problem=problem)

    async def judge_programs(self, problem: Problem, target: Target) -> Mapping[str, Content]:
        """A problem's `checker` and `manager`, as far as it has them, compiled to the standard of its contest; raises
        as `judge_program`."""
        return {
            what: await self.judge_program(what, program, target, std=problem.cxx_std, problem=problem.key)
            for what, program in (("checker", problem.checker), ("manager", problem.method.manager))
            if program is not None
        }

    async def objects(
        self, problem: Problem, target: Target, *, language: Language = Language.CPP
    ) -> tuple[tuple[str, Content], ...]:
        """The objects with which submissions to a problem in a language are linked, by file name. In Python there are
        none, but a grader's syntax is checked. Raises as `judge_program`."""
        rules = rules_of(language)
        if not isinstance(rules, CompiledLanguage):
            for grader in problem.linked_with(language):
                check = partial(self._refused_syntax, grader, target, problem.key)
                if refused := await self._syntax.get((target.name, grader), check):
                    raise ProblemProgramError(f"the problem's grader does not compile: {refused}")
            return ()
        std = rules.standard(problem, self._policy.std)
        self.checks.require_known_standard(std, target, language)
        graders = recipes.grader_recipes(problem, target.toolchain, std=self._policy.std, language=language)
        objects = [
            (recipe.artifacts[0], await self._ensure_artifact(recipe, target, std, language, problem=problem.key))
            for recipe in graders
        ]
        return tuple(objects)

    async def _refused_syntax(self, grader: SourceFile, target: Target, problem: ProblemKey) -> str:
        interpreter = await self.tools.interpreter(target)
        recipe = replace(harness.submission_recipe(interpreter, (grader,)), what="grader")
        with self._emit_preparation(problem, recipe.what, target):
            answer = await self.compile(recipe, target)
            answer = await self.repeat_if_in_doubt(recipe, answer, target, Language.PYTHON)
            outcome = compiling.compile_outcome(recipe, answer, self._trusted_limits)
            if outcome.verdict is Verdict.JE:
                raise TransientError(f"the problem's grader could not be checked: {outcome.message}")
        return "" if outcome.verdict is None else outcome.message.partition("\n")[2] or outcome.message

    async def compile(
        self, recipe: recipes.Recipe, target: Target, *, limits: CompileLimits | None = None, alone: bool = False
    ) -> CompileAnswer:
        """Execute a compile recipe on a target; `limits`: by default those for submissions, or for trusted sources.

        Raises:
            SetupError: boxes there cannot see the compiler.
            TargetLostError: the compilers of all workers that were tried do not work any more; other targets are left.
        """
        try:
            return await self._execute(recipe, target, limits=limits, alone=alone)
        except TransientError as error:
            if isinstance(error, BrokenCompilerError) or compiling.was_not_found(error):
                await self.checks.require_working_compiler(compiled_rules(Language.CPP).known_good_standard, target)
                if target.is_remote and not target.is_only:
                    raise TargetLostError(str(error)) from error
            raise

    async def repeat_if_in_doubt(
        self, recipe: recipes.Recipe, answer: CompileAnswer, target: Target, language: Language
    ) -> CompileAnswer:
        """The answer to a compilation, or to its repetition if it failed and the machine may be the cause: alone, or
        after the known good program, or both. Raises as `compile`.
        """
        alone = compiling.is_doubtful(answer)
        lacks_a_part = not answer.succeeded and compiling.may_lack_a_part(answer.last.output if answer.last else "")
        if not (alone or lacks_a_part):
            return answer
        if isinstance(rules_of(language), CompiledLanguage):
            toolchain = await self.tools.toolchain(language, target)
            recipe = with_known_good_if_in_doubt(recipe, answer, target, toolchain, language) or recipe
        return await self.compile(recipe, target, alone=alone)

    async def _execute(
        self, recipe: recipes.Recipe, target: Target, *, limits: CompileLimits | None = None, alone: bool = False
    ) -> CompileAnswer:
        runner = await self.runner(target)
        least = self._policy.least_isolation
        limits = limits or (self._trusted_limits if recipe.is_trusted else self._policy.compile)

        async def ask(retries: Retries) -> CompileAnswer:
            nonce = secrets.token_hex(16)
            job = compiling.compile_job(recipe, runner, limits, least, nonce=nonce, alone=alone)
            execution = await self._sandbox.execute(replace(job, retries=retries), target)
            try:
                answer = compile_answer(execution.run, nonce, execution.returned, least=least)
                return without_known_good(recipe, answer, limits)
            except TransientError as error:
                if isinstance(error, BrokenCompilerError) or compiling.was_not_found(error):
                    retries.useless += retries.tried[-1:]
                raise

        return await with_retries(ask)

    async def _ensure_artifact(
        self, recipe: recipes.Recipe, target: Target, std: str, language: Language, *, problem: ProblemKey | None
    ) -> Blob:
        """The artifact of a trusted recipe, from the store or newly built; one with an error is not tried again."""
        key = f"{recipe.key(target.toolchain)}-{recipe.artifacts[0]}"

        async def build() -> bytes:
            if key in self._errors:  # perhaps while this task waited
                raise ProblemProgramError(self._errors[key])
            with self._emit_preparation(problem, recipe.what, target):
                try:
                    return await self._compile_own(recipe, target, std, language)
                except ProblemProgramError as error:
                    self._errors[key] = str(error)
                    raise

        return await self._artifacts.ensure(key, build)

    async def _compile_own(self, recipe: recipes.Recipe, target: Target, std: str, language: Language) -> bytes:
        """Compile one of a problem's own programs; ProblemProgramError if that certainly fails."""
        state = self.tools.state_of_compiler(language, target)
        first = await self.compile(recipe, target)
        answer = await self.repeat_if_in_doubt(recipe, first, target, language)
        if answer.artifacts:
            return answer.artifacts[recipe.artifacts[0]]
        output = answer.output("the compiler was not started")
        stopped = compiling.limit_that_stopped_all((first, answer), self._trusted_limits)
        if not (stopped or compiling.found_error(answer)):
            raise TransientError(f"the machine could not finish compiling the problem's {recipe.what}: {output}")
        await self.checks.require_working_compiler(
            std, target, language=language, what=recipe.what, message=output, state=state
        )
        why = "\n".join(filter(None, (stopped, output, _hint(output))))
        raise ProblemProgramError(f"the problem's {recipe.what} does not compile: {why}")

    @contextmanager
    def _emit_preparation(self, problem: ProblemKey | None, program: str, target: Target) -> Iterator[None]:
        """Emit events when the compilation of one of a problem's own programs begins and ends."""
        what = {"problem": problem, "program": program, "target": target.name}
        begun, error = time.monotonic(), None
        self._events.emit("problem_preparing", **what)
        try:
            yield
        except IoiEvalError as failure:
            error = str(failure)
            raise
        finally:
            seconds = round(time.monotonic() - begun, 3)
            self._events.emit("problem_prepared", **what, seconds=seconds, error=error)


def _hint(output: str) -> str:
    """Advice if testlib.h, which authors often leave out, is missing."""
    if "testlib.h: No such file" not in output:
        return ""
    return "testlib.h is not ours: put it beside the program that includes it (grader_files: checker/testlib.h)"
