"""Whether a target's compiler works. Before an error of it counts, it must compile a program that is known to be good.

A target on a cluster has many workers, and any of them may have a full disk, or a compiler that lacks a part, while the
others work. So a compilation whose error may have such a reason is repeated with the known good program before it, in
the same job (`with_known_good_if_in_doubt`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import replace

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import CompileLimits
from ioi_eval.errors import BrokenCompilerError, BrokenTargetError, TargetLostError, TransientError, UnsuitableError
from ioi_eval.jobs import compile as compiling
from ioi_eval.jobs import recipes
from ioi_eval.jobs.recipes import Recipe
from ioi_eval.jobs.runner_answer import CompileAnswer
from ioi_eval.languages import compiled_rules, rules_of
from ioi_eval.model import Isolation, Language
from ioi_eval.sandbox import Target
from ioi_eval.sandbox.local.confinement import why_hidden
from ioi_eval.slots import Once
from ioi_eval.toolchain import Toolchain
from ioi_eval.tools import Tools


def with_known_good_if_in_doubt(
    recipe: Recipe, answer: CompileAnswer, target: Target, toolchain: Toolchain, language: Language
) -> Recipe | None:
    """The recipe for compiling something once more, after the known good program (by a standard that every compiler
    knows); `None` if no worker can be at fault. `answer` is the first answer."""
    output = answer.last.output if answer.last else ""
    is_in_doubt = compiling.is_machine_failure(output) or compiling.may_lack_a_part(output)
    if not (target.is_remote and is_in_doubt):
        return None
    return recipes.with_known_good(recipe, toolchain, compiled_rules(language).known_good_standard, language)


def without_known_good(recipe: Recipe, answer: CompileAnswer, limits: CompileLimits) -> CompileAnswer:
    """The answer to the recipe's own steps, within their own limit of CPU time: the job's is larger (`compile_job`).
    BrokenCompilerError if the compiler did not compile the known good program."""
    if not recipe.known_good_steps:
        return answer
    own = answer.steps[recipe.known_good_steps :]
    if not (own or answer.artifacts):
        why = compiling.compile_outcome(recipe, answer, compiling.with_time_for_known_good(limits)).message
        raise BrokenCompilerError(f"the compiler there does not work: {why}")
    if sum(step.cpu_ms for step in own) > 1000 * limits.cpu_s:
        return replace(answer, steps=(*own[:-1], replace(own[-1], limit="cpu")), artifacts={})
    return replace(answer, steps=own)


class CompilerChecks:
    """What is known about the compilers of targets. `compile_` executes a recipe on a target; `artifacts` has the known
    good program, if an earlier run compiled it with this machine's compiler."""

    def __init__(
        self, compile_: Callable[[Recipe, Target], Awaitable[CompileAnswer]], tools: Tools, artifacts: ArtifactStore
    ) -> None:
        self._compile, self._tools, self._artifacts = compile_, tools, artifacts
        self._checks: Once[tuple[str, Language, str], str | None] = Once()  # errors of the known good program
        self._checked: dict[tuple[str, Language, str], Hashable] = {}  # states of compilers that compiled this program

    async def require_working_compiler(
        self,
        std: str,
        target: Target,
        *,
        language: Language = Language.CPP,
        what: str = "submission",
        message: str = "",
        crashed: bool = False,
        state: Hashable = None,
    ) -> None:
        """Before a compile error counts, check that the compiler compiles a program that is known to be good.

        If it does not, the error is not the program's fault. The check is made at the first error in a run, and again
        if the compiler was replaced.

        Args:
            language: the language of the program that did not compile.
            what: as in its recipe.
            message: the compiler's message. If it mentions the machine (a full disk), or a part of the compiler that is
                missing, the check is made again, because the machine may have changed since the last one.
            crashed: the compiler reported no error, but was killed, because of the program or the machine.
                The check is made again then, too.
            state: `Tools.state_of_compiler` before it was started; `None` if that does not matter.

        Raises:
            BrokenTargetError: the compiler does not work.
            UnsuitableError: it works, but not for this standard of this language.
            SandboxError: neither is certain: the job could not be run, the compiler was stopped or replaced, or it
                worked before (`TargetLostError`, if other targets are left).
        """
        key, now = (target.name, language, std), self._tools.state_of_compiler(language, target)
        may_be_machine = crashed or compiling.is_machine_failure(message) or self._checked.get(key) != now
        is_in_doubt = may_be_machine or compiling.may_lack_a_part(message)
        has_worked = self._checks.known.get(key, "unknown") is None
        if is_in_doubt and has_worked:
            error = await self._compile_known_good(std, target, language, was_compiled=not may_be_machine)
            if error is not None:
                failure = TargetLostError if target.is_remote and not target.is_only else TransientError
                raise failure(f"the compiler on {target.name} does not work any more: {error}")
        elif await self._known_good_error(std, target, language) is not None:
            error = await self._known_good_error(compiled_rules(Language.CPP).known_good_standard, target, Language.CPP)
            if error is not None:
                command = target.toolchain.command
                advice = (
                    "It sees only the compiler's own files there, so a wrapper (ccache, a script) cannot start another "
                    "program: name the compiler itself in CXX, or install one from the system's packages"
                )
                if not target.is_remote and target.isolation is Isolation.FULL and (reason := why_hidden(command)):
                    error, advice = reason, "Name one elsewhere in CXX, such as in /opt or /var/tmp"
                raise BrokenTargetError(
                    f"the compiler {command} does not work inside a box of {target.name}: {error}. {advice}"
                )
            self.require_known_standard(std, target, language, what)
        self._checked[key] = now
        if state not in (None, self._tools.state_of_compiler(language, target)):
            raise TransientError(f"the compiler on {target.name} was replaced meanwhile: {message}")

    def require_known_standard(self, std: str, target: Target, language: Language, what: str = "submission") -> None:
        """Raise UnsuitableError if a target's compiler was found to lack a standard. `what` is to be compiled, as in
        its recipe: `--std` does not apply to a checker or manager."""
        if self._checks.known.get((target.name, language, std)) is None:
            return
        compiler = f"{self._tools.known_toolchain(language, target).version} on {target.name}"
        flags = compiled_rules(language).flags(std)
        if language is not Language.CPP:
            name = rules_of(language).name
            raise UnsuitableError(f"{compiler} does not compile {name} ({flags}); use workers whose compiler does")
        if what in ("checker", "manager"):
            raise UnsuitableError(
                f"{compiler} does not know {flags}, which the problem's {what} needs; use workers with a newer "
                "compiler, or set another cxx_std in the problem's row"
            )
        raise UnsuitableError(f"{compiler} does not know {flags}; use workers with a newer compiler, or --std")

    async def _known_good_error(self, std: str, target: Target, language: Language) -> str | None:
        """Why the known good program does not compile with a standard; `None` if it does. Concurrent callers share one
        attempt.

        The answer is kept for the run only if it is certain: from the compiler, or from a box without a compiler. If an
        earlier run compiled the program with this machine's compiler, only a missing part is looked for now.
        """

        async def check() -> str | None:
            stored = recipes.known_good_key(await self._tools.toolchain(language, target), std, language)
            was_compiled = not target.is_remote and self._artifacts.holds(stored)
            return await self._compile_known_good(std, target, language, was_compiled=was_compiled)

        return await self._checks.get((target.name, language, std), check)

    async def _compile_known_good(
        self, std: str, target: Target, language: Language, *, was_compiled: bool
    ) -> str | None:
        toolchain = await self._tools.toolchain(language, target)
        recipe = recipes.known_good_recipe(toolchain, std, language, was_compiled=was_compiled)
        try:
            answer = await self._compile(recipe, target)
        except TransientError as error:
            if compiling.was_not_found(error):
                return str(error)
            raise
        repeated = with_known_good_if_in_doubt(recipe, answer, target, toolchain, language)
        if repeated is not None and not answer.artifacts:
            with contextlib.suppress(BrokenCompilerError):  # other workers do not compile it either: the answer counts
                answer = await self._compile(repeated, target)
        if answer.artifacts:
            if not (target.is_remote or was_compiled):
                self._artifacts.put(recipes.known_good_key(toolchain, std, language), answer.artifacts["good"])
            return None
        output = answer.output("it was not started")
        if compiling.found_error(answer):
            return output
        flags = compiled_rules(language).flags(std)
        raise TransientError(f"the compiler on {target.name} did not finish with {flags}: {output}")
