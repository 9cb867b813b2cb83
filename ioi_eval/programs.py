"""Everything that is compiled before a submission can run: the runner, a problem's grader, checker and manager.

Each is compiled once per source and toolchain, on the target that will run it, and kept in the artifact store. A
problem whose own programs do not compile cannot be judged at all, which is JE for each of its submissions, with the
compiler's words, and no retry will help: `ProblemProgramError`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import (
    OverloadError,
    SandboxError,
    SetupError,
    TransientError,
    TransportError,
    UnavailableError,
)
from ioi_eval.jobs import compile as compiling
from ioi_eval.jobs.harness import SYSTEM, Interpreter, interpreter_of, interpreter_recipe
from ioi_eval.jobs.protocol import CompileAnswer, compile_answer
from ioi_eval.model import Blob, Content, Problem, SourceFile
from ioi_eval.sandbox import LOCAL, Sandbox, Target
from ioi_eval.sandbox.shown import refusal_to_show

ATTEMPTS = 3
"""How often a job is sent whose answer was lost, here: a cluster has its own budget below this."""


class UnfitError(SandboxError):
    """A target's compiler does not know the C++ standard that is asked for. Another target's may."""


class ProblemProgramError(SandboxError):
    """A program of the problem's own (grader, checker, manager) does not compile. Final: the package is at fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemPrograms:
    """A problem's own programs on one target.

    Args:
        runner: the in-box judge.
        objects: what is linked with a submission, by file name.
        checker, manager: ready to start; `None` where the problem has none.
    """

    runner: Content
    objects: tuple[tuple[str, Content], ...] = ()
    checker: Content | None = None
    manager: Content | None = None


class Builder:
    """Compiles on one sandbox, through one artifact store.

    Args:
        sandbox: executes the compile jobs.
        artifacts: keeps what may be kept.
        policy: its compile limits hold.
    """

    def __init__(self, sandbox: Sandbox, artifacts: ArtifactStore, policy: Policy) -> None:
        self._sandbox = sandbox
        self._artifacts = artifacts
        self._policy = policy
        self._refused: dict[str, ProblemProgramError] = {}
        self._refusals: dict[tuple[str, str], str | None] = {}
        self._trying: dict[tuple[str, str], asyncio.Lock] = {}
        self._interpreters: dict[tuple[str, str], Interpreter] = {}
        self._asking = asyncio.Lock()

    async def runner(self, target: Target) -> Blob:
        """The runner for a target; a lost answer is asked for again.

        Raises:
            SetupError: it does not compile there, asked twice: one worker's bad day must not end the run.
            SandboxError: the job could not be run.
        """

        async def build() -> bytes:
            refused = False
            for attempt in range(ATTEMPTS):
                nonce = secrets.token_hex(16)
                job = compiling.runner_job(target.toolchain, nonce=nonce)
                try:
                    return compiling.runner_binary(await self._sandbox.execute(job, target), nonce)
                except UnavailableError:
                    raise
                except TransientError:
                    if attempt == ATTEMPTS - 1:
                        raise
                except SetupError as error:
                    if refused:
                        raise
                    if attempt == ATTEMPTS - 1:
                        raise TransientError(f"{error} (said once; the other answers were lost)") from error
                    refused = True
            raise AssertionError("unreachable")

        return await self._artifacts.ensure(compiling.runner_key(target.toolchain), build)

    async def interpreter(self, python: str, target: Target) -> Interpreter:
        """A Python on a target, asked once what it is; its command may be another one in the next run.

        Raises:
            SetupError: there is none, or it does not work in a box, or that would have to show too much.
            SandboxError: the job could not be run.
        """
        if target.name == LOCAL:
            _require_there(python)
        key = (target.name, python)
        async with self._asking:
            if key not in self._interpreters:
                recipe = interpreter_recipe(python, _places_of(python))
                runner = await self.runner(target)
                try:
                    answer = await self.compile(recipe, runner, target, trusted=True)
                except (TransportError, OverloadError, UnavailableError):
                    raise  # says nothing of the interpreter
                except TransientError as error:
                    raise SetupError(f"the interpreter {python} cannot be started in a box: {error}") from error
                found = interpreter_of(answer, python)
                _require_narrow(python, found.sees)
                self._interpreters[key] = found
        return self._interpreters[key]

    async def judge_program(self, what: str, source: SourceFile, target: Target, *, std: str) -> Content:
        """A checker or manager that stands alone, ready to start; a script as it is.

        Raises:
            ProblemProgramError: it does not compile.
            SandboxError: the job could not be run.
        """
        if not compiling.is_compiled(source):
            return source.content
        runner = await self.runner(target)
        await self._try_compiler(std, runner, target)
        return await self._kept(
            compiling.program_recipe(what, source, (), target.toolchain, std=std), what, runner, target
        )

    async def problem_programs(self, problem: Problem, target: Target) -> ProblemPrograms:
        """A problem's own programs.

        Raises:
            ProblemProgramError: one of them does not compile.
            UnfitError: this target's compiler does not know the problem's standard.
            SandboxError: a job could not be run.
        """
        runner = await self.runner(target)
        await self._try_compiler(self._policy.std or problem.cxx_std, runner, target)
        return ProblemPrograms(
            runner=runner,
            objects=await self._objects(problem, runner, target),
            checker=await self._judge_program("checker", problem, runner, target),
            manager=await self._judge_program("manager", problem, runner, target),
        )

    async def _try_compiler(self, std: str, runner: Content, target: Target) -> None:
        """Compile a program that is known to be good, once a run: a compiler that cannot is not the programs' fault.

        Raises:
            SetupError: it cannot.
            UnfitError: it can, but not to this standard.
            SandboxError: the job could not be run, or the compiler did not come to its end: that says neither.
        """
        if await self._refusal(std, runner, target) is None:
            return
        words = await self._refusal(compiling.GOOD_STD, runner, target)
        if words is not None:
            raise SetupError(
                f"the compiler {target.toolchain.command} does not work inside a box of {target.name}: {words}. "
                "Compilers outside of /usr cannot be seen there; install one from the system's packages, or set CXX"
            )
        words = f"{target.toolchain.version} on {target.name} does not know -std={std}"
        raise UnfitError(f"{words}; use workers with a newer compiler, or --std")

    async def _refusal(self, std: str, runner: Content, target: Target) -> str | None:
        """Why a good program does not compile to a standard; `None` if it does. Many who ask wait for one try.

        Kept for the run is only what was said for certain: by the compiler, or by a box that could not find it.
        """
        key = (target.name, std)
        async with self._trying.setdefault(key, asyncio.Lock()):
            if key not in self._refusals:
                self._refusals[key] = await self._try_good(std, runner, target)
        return self._refusals[key]

    async def _try_good(self, std: str, runner: Content, target: Target) -> str | None:
        try:
            answer = await self.compile(compiling.good_recipe(target.toolchain, std), runner, target)
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
        self, recipe: compiling.Recipe, runner: Content, target: Target, *, trusted: bool = False, alone: bool = False
    ) -> CompileAnswer:
        """Follow a recipe on a target; a lost answer is asked for again.

        Raises:
            SandboxError: the job could not be run.
        """
        for attempt in range(ATTEMPTS):
            nonce = secrets.token_hex(16)
            job = compiling.compile_job(recipe, runner, self._policy, nonce=nonce, trusted=trusted, alone=alone)
            try:
                execution = await self._sandbox.execute(job, target)
                return compile_answer(execution.run, nonce)
            except UnavailableError:
                raise
            except TransientError:
                if attempt == ATTEMPTS - 1:
                    raise
        raise AssertionError("unreachable")

    async def _objects(self, problem: Problem, runner: Content, target: Target) -> tuple[tuple[str, Content], ...]:
        recipe = compiling.grader_recipe(problem, target.toolchain, std=self._policy.std)
        if recipe is None:
            return ()
        return tuple([(name, await self._kept(recipe, name, runner, target)) for name in recipe.artifacts])

    async def _judge_program(self, what: str, problem: Problem, runner: Content, target: Target) -> Content | None:
        """A checker or manager, ready to start, compiled to the standard of its contest; a script as it is."""
        source, beside = {
            "checker": (problem.checker, problem.checker_files),
            "manager": (problem.manager, problem.manager_files),
        }[what]
        if source is None:
            return None
        if not compiling.is_compiled(source):
            return source.content
        recipe = compiling.program_recipe(what, source, beside, target.toolchain, std=problem.cxx_std)
        return await self._kept(recipe, what, runner, target)

    async def _kept(self, recipe: compiling.Recipe, name: str, runner: Content, target: Target) -> Blob:
        """One artifact of a trusted recipe, from the store or newly built; one that is refused is not tried again."""
        key = f"{recipe.key(target.toolchain)}-{name}"
        if key in self._refused:
            raise self._refused[key]

        async def build() -> bytes:
            answer = await self.compile(recipe, runner, target, trusted=True)
            if compiling.is_doubtful(answer):
                answer = await self.compile(recipe, runner, target, trusted=True, alone=True)
            if name in answer.artifacts:
                return answer.artifacts[name]
            words = answer.steps[-1].output.strip()[-2000:] if answer.steps else "the compiler was not started"
            if answer.steps and compiling.says_no(answer.steps[-1]):
                self._refused[key] = ProblemProgramError(f"the problem's {recipe.what} does not compile: {words}")
                raise self._refused[key]
            raise TransientError(f"the problem's {recipe.what} could not be compiled to its end: {words}")

        return await self._artifacts.ensure(key, build)


def _require_there(python: str) -> None:
    """Refuse an interpreter of this machine by a path at which there is nothing.

    Raises:
        SetupError: there is nothing.
    """
    if python.startswith("/") and not os.path.exists(python):
        raise SetupError(f"there is no interpreter {python} on this machine; give another one with --python")


def _places_of(python: str) -> tuple[str, ...]:
    """Where an interpreter that is given by its path lies on this machine: its prefix, and what that stands on.

    A prefix is what a program lies in the `bin` of, and which holds Python's library. A virtual environment stands on
    the interpreter that its `home` names. On another machine none of this may exist. The system's own is always shown.

    Raises:
        SetupError: such a prefix holds more than an interpreter.
    """
    if not python.startswith("/"):
        return ()
    path = Path(python)
    programs = {path, path.resolve()}
    with contextlib.suppress(OSError):
        lines = (path.parent.parent / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
        homes = [line.partition("=")[2].strip() for line in lines if line.partition("=")[0].strip() == "home"]
        programs |= {Path(home) / path.name for home in homes}
    prefixes = {
        program.parent.parent
        for program in programs
        if program.parent.name == "bin" and not any(program.is_relative_to(root) for root in SYSTEM)
    }
    # (And nothing else: `/home/me/bin/python` does not make a home directory part of an interpreter.)
    places = [str(one) for one in prefixes if (one / "pyvenv.cfg").is_file() or any(one.glob("lib/python3*"))]
    _require_narrow(python, places)
    return tuple(places)


def _require_narrow(python: str, places: Iterable[str]) -> None:
    """Refuse to show a box more than an interpreter.

    Raises:
        SetupError: one of the places holds more.
    """
    if refusals := list(filter(None, map(refusal_to_show, places))):
        raise SetupError(
            f"the interpreter {python} cannot be used: {'; '.join(refusals)}. Give --python one with a directory of "
            "its own, as a virtual environment has"
        )
