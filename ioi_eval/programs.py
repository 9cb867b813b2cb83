"""Everything that is compiled before a submission can run: the runner, a problem's grader, checker and manager.

Each is compiled once per source and toolchain, on the target that will run it, and kept in the artifact store. A
problem whose own programs do not compile cannot be judged at all, which is JE for each of its submissions, with the
compiler's words, and no retry will help: `ProblemProgramError`.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from ioi_eval import shipped
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import (
    IoiEvalError,
    SandboxError,
    SetupError,
    TransientError,
    UnavailableError,
)
from ioi_eval.events import Events
from ioi_eval.jobs import compile as compiling
from ioi_eval.jobs.harness import Interpreter
from ioi_eval.jobs.protocol import CompileAnswer, compile_answer
from ioi_eval.jobs.runner import runner_binary, runner_job, runner_key
from ioi_eval.languages import CompiledLanguage, compiled, rules_of
from ioi_eval.model import Blob, Content, Language, Problem, ProblemKey, Retries, SourceFile
from ioi_eval.sandbox import Sandbox, Target
from ioi_eval.sandbox.slots import Slots
from ioi_eval.toolchain import Toolchain
from ioi_eval.tools import Tool, Tools

ATTEMPTS = 3
"""How often a job is executed whose answer came and cannot be used, or was lost on this machine.

What a cluster's workers do not answer is repeated in `sandbox/cluster.py` alone. Both take from the job's `Retries`.
"""

T = TypeVar("T")


async def repeated(ask: Callable[[Retries], Awaitable[T]]) -> T:
    """What `ask` returns; it is called again where the answer was of no use, `ATTEMPTS` times at most.

    Args:
        ask: executes a job, with the `retries` that it is given, and reads the answer.

    Raises:
        UnavailableError: at once, as nobody is left to ask.
        SandboxError: what repeating cannot help, or what the last attempt came to.
    """
    retries = Retries()
    for _ in range(ATTEMPTS - 1):
        try:
            return await ask(retries)
        except UnavailableError:
            raise
        except TransientError:
            if not retries.take():
                raise
    return await ask(retries)


class UnfitError(SandboxError):
    """A target's compiler does not know the language, or the standard of C++, that is asked for. Another's may."""


class ProblemProgramError(SandboxError):
    """A program of the problem's own (grader, checker, manager) does not compile. Final: the package is at fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePrograms:
    """A problem's own programs that run beside a submission, ready to start; `None` where it has none."""

    checker: Content | None = None
    manager: Content | None = None


class Builder:
    """Compiles on one sandbox, through one artifact store.

    Args:
        sandbox: executes the compile jobs.
        artifacts: keeps what may be kept.
        policy: its compile limits hold.
        events: are told when a problem's own program is compiled.
    """

    def __init__(
        self, sandbox: Sandbox, artifacts: ArtifactStore, policy: Policy, events: Events | None = None
    ) -> None:
        self._events = events or Events()
        self._sandbox = sandbox
        self._artifacts = artifacts
        self._policy = policy
        self._refused: dict[str, str] = {}  # words only: an error that is raised keeps the frames it went through
        self._refusals: dict[tuple[str, Language, str], str | None] = {}
        self._trying: dict[tuple[str, Language, str], Slots] = {}
        self._tools = Tools(self._ask, self.runner)

    async def runner(self, target: Target) -> Blob:
        """The runner for a target: as the package brings it, or compiled there. A lost answer is asked for again.

        Raises:
            SetupError: it does not compile there, asked twice: one worker's bad day must not end the run.
            SandboxError: the job could not be run.
        """
        refused = False

        async def ask(retries: Retries) -> bytes:
            nonlocal refused
            ready = shipped.program(shipped.RUNNER, target.toolchain.machine)
            nonce = secrets.token_hex(16)
            job = replace(runner_job(target.toolchain, nonce=nonce, shipped=ready), retries=retries)
            try:
                return runner_binary(await self._sandbox.execute(job, target), nonce, ready)
            except SetupError as error:
                if refused:
                    raise
                refused = True
                raise TransientError(f"{error} (said once; the other answers were lost)") from error

        return await self._artifacts.ensure(runner_key(target.toolchain), lambda: repeated(ask))

    def has_runner(self, target: Target) -> bool:
        """Whether the runner for a target has been compiled before."""
        return self._artifacts.holds(runner_key(target.toolchain))

    async def ready_runner(self, target: Target) -> Blob:
        """The runner for a target, before anything is judged there: without it nothing can be.

        Raises:
            SetupError: it cannot be compiled there.
            UnavailableError: no endpoint is left.
        """
        try:
            return await self.runner(target)
        except UnavailableError:
            raise
        except SandboxError as error:
            killed = "; the kernel killed the compiler: is there memory left? It needs 400 MiB"
            raise SetupError(f"{error}{killed if 'Killed signal' in str(error) else ''}") from error

    async def tool(self, language: Language, target: Target) -> Tool:
        """What compiles or interprets submissions in a language on a target, as `Tools.of` says it."""
        return await self._tools.of(language, target, python=self._policy.python)

    async def toolchain(self, language: Language, target: Target) -> Toolchain:
        """What compiles a language on a target, as `Tools.toolchain` says it."""
        return await self._tools.toolchain(language, target)

    async def interpreter(self, python: str, target: Target) -> Interpreter:
        """A Python on a target, as `Tools.interpreter` says it."""
        return await self._tools.interpreter(python, target)

    async def _ask(self, recipe: compiling.Recipe, target: Target) -> CompileAnswer:
        """Follow a recipe that is not a submission's, by the runner that is there."""
        return await self._follow(recipe, await self.runner(target), target, trusted=True)

    async def judge_program(self, what: str, source: SourceFile, target: Target, *, std: str) -> Content:
        """A checker or manager that stands alone, ready to start; a script as it is.

        Raises:
            ProblemProgramError: it does not compile.
            UnfitError: this target's compiler does not know the standard.
            SandboxError: the job could not be run.
        """
        return await self._judge_program(what, source, (), target, std, problem=None)

    async def judge_programs(self, problem: Problem, target: Target) -> JudgePrograms:
        """A problem's checker and manager, compiled to the standard of its contest.

        Raises:
            ProblemProgramError: one of them does not compile.
            UnfitError: this target's compiler does not know the problem's standard.
            SandboxError: a job could not be run.
        """
        built = {
            what: await self._judge_program(what, source, beside, target, problem.cxx_std, problem=problem.key)
            for what, source, beside in (
                ("checker", problem.checker, problem.checker_files),
                ("manager", problem.manager, problem.manager_files),
            )
            if source is not None
        }
        return JudgePrograms(checker=built.get("checker"), manager=built.get("manager"))

    async def objects(
        self, problem: Problem, target: Target, *, language: Language = Language.CPP
    ) -> tuple[tuple[str, Content], ...]:
        """What is linked with every submission to a problem in a language, by file name; nothing in Python.

        Raises:
            ProblemProgramError: it does not compile.
            UnfitError: this target's compiler does not know the problem's standard.
            SandboxError: a job could not be run.
        """
        rules = rules_of(language)
        if not isinstance(rules, CompiledLanguage):
            return ()
        std = rules.standard(problem, self._policy.std)
        self._refuse_unfit(std, target, language)
        recipe = compiling.grader_recipe(problem, target.toolchain, std=self._policy.std, language=language)
        if recipe is None:
            return ()
        return tuple(
            [
                (name, await self._kept(recipe, name, target, std, language, problem=problem.key))
                for name in recipe.artifacts
            ]
        )

    async def require_good_compiler(
        self, std: str, target: Target, *, language: Language = Language.CPP, refused: str = "", crashed: bool = False
    ) -> None:
        """Before a refusal counts: compile a program that is known to be good, once a run.

        A compiler that cannot is not the programs' fault. As long as none is refused, nobody needs to know.

        Args:
            std: to which standard.
            target: where.
            language: what the refused program is written in: one that is compiled.
            refused: the words of the refusal: where they speak of the machine (a full disk), the program is compiled
                anew, as what was found an hour ago says nothing of that.
            crashed: the compiler did not refuse, but was brought down: by the program, or by the machine. The program
                is compiled anew then, too.

        Raises:
            SetupError: it cannot.
            UnfitError: it can, but not to this standard of this language.
            SandboxError: the job could not be run, or the compiler did not come to its end: that says neither.
        """
        runner = await self.runner(target)
        if crashed or compiling.blames_the_machine(refused):
            await self._try_good(std, runner, target, language)
        if await self._refusal(std, runner, target, language) is None:
            return
        words = await self._refusal(compiled(Language.CPP).good_standard, runner, target, Language.CPP)
        if words is not None:
            raise SetupError(
                f"the compiler {target.toolchain.command} does not work inside a box of {target.name}: {words}. "
                "Compilers outside of /usr cannot be seen there; install one from the system's packages, or set CXX"
            )
        self._refuse_unfit(std, target, language)

    def _refuse_unfit(self, std: str, target: Target, language: Language) -> None:
        """Once it is known, no job more is spent on it.

        Raises:
            UnfitError: this target's compiler is known not to know a standard.
        """
        if self._refusals.get((target.name, language, std)) is None:
            return
        compiler = f"{self._tools.known(language, target).version} on {target.name}"
        flags = compiled(language).flags(std)
        if language is not Language.CPP:
            name = rules_of(language).name
            raise UnfitError(f"{compiler} does not compile {name} ({flags}); use workers whose compiler does")
        raise UnfitError(f"{compiler} does not know {flags}; use workers with a newer compiler, or --std")

    async def _refusal(self, std: str, runner: Content, target: Target, language: Language) -> str | None:
        """Why a good program does not compile to a standard; `None` if it does. Many who ask wait for one try.

        Kept for the run is only what was said for certain: by the compiler, or by a box that could not find it.
        """
        key = (target.name, language, std)
        async with self._trying.setdefault(key, Slots(1)).take():
            if key not in self._refusals:
                self._refusals[key] = await self._try_good(std, runner, target, language)
        return self._refusals[key]

    async def _try_good(self, std: str, runner: Content, target: Target, language: Language) -> str | None:
        recipe = compiling.good_recipe(await self.toolchain(language, target), std, language)
        try:
            answer = await self._follow(recipe, runner, target, trusted=True)
        except TransientError as error:
            if compiling.was_not_found(error):
                return str(error)
            raise
        if answer.artifacts:
            return None
        words = answer.steps[-1].output.strip()[-2000:] if answer.steps else "it was not started"
        if answer.steps and compiling.says_no(answer.steps[-1]) and not compiling.blames_the_machine(words):
            return words
        raise TransientError(f"the compiler on {target.name} did not come to its end with -std={std}: {words}")

    async def compile(
        self, recipe: compiling.Recipe, target: Target, *, trusted: bool = False, alone: bool = False
    ) -> CompileAnswer:
        """Follow a recipe of the compiler's on a target; a lost answer is asked for again.

        Raises:
            SetupError: boxes there cannot see the compiler.
            SandboxError: the job could not be run.
        """
        runner = await self.runner(target)
        try:
            return await self._follow(recipe, runner, target, trusted=trusted, alone=alone)
        except TransientError as error:
            if compiling.was_not_found(error):
                await self.require_good_compiler(compiled(Language.CPP).good_standard, target)
            raise

    async def _follow(
        self, recipe: compiling.Recipe, runner: Content, target: Target, *, trusted: bool = False, alone: bool = False
    ) -> CompileAnswer:
        async def ask(retries: Retries) -> CompileAnswer:
            nonce = secrets.token_hex(16)
            job = compiling.compile_job(recipe, runner, self._policy, nonce=nonce, trusted=trusted, alone=alone)
            execution = await self._sandbox.execute(replace(job, retries=retries), target)
            return compile_answer(execution.run, nonce, execution.returned)

        return await repeated(ask)

    async def _judge_program(
        self,
        what: str,
        source: SourceFile,
        beside: Iterable[SourceFile],
        target: Target,
        std: str,
        *,
        problem: ProblemKey | None,
    ) -> Content:
        if not compiling.is_compiled(source):
            return source.content
        self._refuse_unfit(std, target, Language.CPP)
        recipe = compiling.program_recipe(what, source, beside, target.toolchain, std=std)
        return await self._kept(recipe, what, target, std, Language.CPP, problem=problem)

    async def _kept(
        self,
        recipe: compiling.Recipe,
        name: str,
        target: Target,
        std: str,
        language: Language,
        *,
        problem: ProblemKey | None,
    ) -> Blob:
        """One artifact of a trusted recipe, from the store or newly built; one that is refused is not tried again."""
        key = f"{recipe.key(target.toolchain)}-{name}"

        async def build() -> bytes:
            if key in self._refused:  # perhaps while this one waited for its turn
                raise ProblemProgramError(self._refused[key])
            with self._preparing(problem, recipe.what, target):
                return await compile_it()

        async def compile_it() -> bytes:
            answers = [await self.compile(recipe, target, trusted=True)]
            if compiling.is_doubtful(answers[0]):
                answers.append(await self.compile(recipe, target, trusted=True, alone=True))
            answer = answers[-1]
            if name in answer.artifacts:
                return answer.artifacts[name]
            words = answer.steps[-1].output.strip()[-2000:] if answer.steps else "the compiler was not started"
            stopped = compiling.stopped_twice(answers, compiling.trusted_limits(self._policy.compile))
            if stopped or (answer.steps and compiling.says_no(answer.steps[-1])):
                await self.require_good_compiler(std, target, language=language)
                why = "\n".join(filter(None, (stopped, words, _hint(words))))
                self._refused[key] = f"the problem's {recipe.what} does not compile: {why}"
                raise ProblemProgramError(self._refused[key])
            raise TransientError(f"the problem's {recipe.what} could not be compiled to its end: {words}")

        return await self._artifacts.ensure(key, build)

    @contextmanager
    def _preparing(self, problem: ProblemKey | None, program: str, target: Target) -> Iterator[None]:
        """Tell that one of a problem's own programs is compiled, and when it is done."""
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


def _hint(words: str) -> str:
    """What to do about what authors most often leave out."""
    if "testlib.h: No such file" not in words:
        return ""
    return "testlib.h is not ours: put it beside the program that includes it (grader_files: checker/testlib.h)"
