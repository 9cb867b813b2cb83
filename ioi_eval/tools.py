"""The tools of targets for languages: the requested Python, and compilers other than that of C++.

Each target is asked once for each tool. The answer is kept for the run; so is the answer that there is none, if it is
certain.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ioi_eval.errors import OverloadError, SetupError, TransientError, TransportError, UnavailableError
from ioi_eval.interpreters import located, prefixes_of, require_existing, require_narrow, require_visible
from ioi_eval.jobs.compile import compiler_of, compiler_recipe, is_machine_failure, was_not_found
from ioi_eval.jobs.harness import Interpreter, interpreter_of, interpreter_recipe
from ioi_eval.jobs.recipes import Recipe
from ioi_eval.jobs.runner_answer import CompileAnswer
from ioi_eval.languages import CompiledLanguage, OwnToolLanguage, rules_of
from ioi_eval.model import Isolation, Language
from ioi_eval.sandbox import LOCAL, Target
from ioi_eval.sandbox.local.slots import TaskLock
from ioi_eval.toolchain import Toolchain

T = TypeVar("T")
Tool = Interpreter | Toolchain
"""The compiler or interpreter for a submission on a target."""

Ask = Callable[[Recipe, Target], Awaitable[CompileAnswer]]
"""A function that executes a recipe on a target."""


class Tools:
    """The tools of targets; see the module.

    Args:
        ask: executes the recipes that ask for tools.
        ready: prepares a target for that. If it fails, nothing is known about the target's tools.
    """

    def __init__(self, ask: Ask, ready: Callable[[Target], Awaitable[object]]) -> None:
        self._ask = ask
        self._ready = ready
        self._interpreters: dict[tuple[str, str], Interpreter | str] = {}  # or why there is none
        self._compilers: dict[tuple[str, str], Toolchain | str] = {}
        self._asking: dict[tuple[str, str], TaskLock] = {}  # one question at a time to each target, about each thing

    async def of(self, language: Language, target: Target, *, python: str) -> Tool:
        """The compiler or interpreter for submissions in a language on a target.

        Args:
            language: the language.
            target: the target.
            python: the command of the interpreter, for submissions in Python.

        Raises:
            SetupError: the target has none.
            SandboxError: a job could not be run.
        """
        if isinstance(rules_of(language), CompiledLanguage):
            return await self.toolchain(language, target)
        return await self.interpreter(python, target)

    async def toolchain(self, language: Language, target: Target) -> Toolchain:
        """The compiler for a language on a target.

        Raises:
            SetupError: there is no such compiler.
            SandboxError: a job could not be run.
        """
        rules = rules_of(language)
        if not isinstance(rules, OwnToolLanguage):
            return target.toolchain
        return await self._once(self._compilers, (target.name, rules.name), lambda: self._ask_compiler(rules, target))

    def known_toolchain(self, language: Language, target: Target) -> Toolchain:
        """The compiler for a language on a target, if the target was already asked for it; else its C++ compiler."""
        compiler = self._compilers.get((target.name, rules_of(language).name))
        return compiler if isinstance(compiler, Toolchain) else target.toolchain

    async def interpreter(self, python: str, target: Target) -> Interpreter:
        """The Python interpreter of a target, by its command.

        Raises:
            SetupError: there is none, or it does not work in a box, or the box would have to show too much for it.
            SandboxError: the job could not be run.
        """
        if target.name == LOCAL:
            python = located(python)
            require_existing(python)
            if target.isolation is Isolation.FULL:
                require_visible(python)
        return await self._once(
            self._interpreters, (target.name, python), lambda: self._ask_interpreter(python, target)
        )

    async def _once(
        self, answers: dict[tuple[str, str], T | str], key: tuple[str, str], ask: Callable[[], Awaitable[T | str]]
    ) -> T:
        """A tool of a target; the target is asked at the first call.

        Raises:
            SetupError: the target certainly does not have it.
        """
        if key not in answers:
            async with self._asking.setdefault(key, TaskLock()):
                if key not in answers:
                    answers[key] = await ask()
        answer = answers[key]
        if isinstance(answer, str):
            raise SetupError(answer)
        return answer

    async def _ask_compiler(self, rules: OwnToolLanguage, target: Target) -> Toolchain | str:
        """Ask for the compiler of a language. Returns it; or, if there certainly is none, the reason.

        Raises:
            SetupError: there is none now, but there may be later.
            SandboxError: the job could not be run.
        """
        answer = await self._ask(compiler_recipe(rules, target.toolchain), target)
        try:
            return compiler_of(answer, rules, target.toolchain)
        except SetupError as error:
            if not _is_certain(answer):
                raise
            return f"{target.name}: {error}"

    async def _ask_interpreter(self, python: str, target: Target) -> Interpreter | str:
        """Ask an interpreter about itself. Returns the answer; or, if it certainly cannot be used, the reason.

        Raises:
            SetupError: it cannot be used now, but may be later.
            SandboxError: the job could not be run.
        """
        recipe = interpreter_recipe(python, prefixes_of(python))
        await self._ready(target)
        try:
            answer = await self._ask(recipe, target)
        except (TransportError, OverloadError, UnavailableError):
            raise  # not the interpreter's fault
        except TransientError as error:
            message = f"the interpreter {python} cannot be started in a box: {error}"
            if was_not_found(error):
                return message
            raise SetupError(message) from error
        try:
            interpreter = interpreter_of(answer, python)
            require_narrow(python, interpreter.sees)
        except SetupError as error:
            if not _is_certain(answer):
                raise
            return str(error)
        return interpreter


def _is_certain(answer: CompileAnswer) -> bool:
    """Whether a target's answer about a tool would be the same if the target were less busy."""
    last = answer.steps[-1] if answer.steps else None
    return last is not None and not (last.limit or last.signal or last.killed or is_machine_failure(last.output))
