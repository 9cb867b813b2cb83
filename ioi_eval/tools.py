"""The tools of targets for languages: the requested Python, and compilers other than that of C++.

Each target is asked once for each tool. The answer is kept for the run; so is the answer that there is none, if it is
certain. Of an interpreter of this machine, it is checked first that boxes may see the directories that it needs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Awaitable, Callable, Hashable, Iterable
from pathlib import Path
from typing import TypeVar

from ioi_eval.errors import OverloadError, SetupError, TransientError, TransportError, UnavailableError
from ioi_eval.jobs.compile import is_machine_failure, was_not_found
from ioi_eval.jobs.harness import Interpreter, interpreter_of, interpreter_recipe
from ioi_eval.jobs.recipes import Recipe, Step
from ioi_eval.jobs.runner_answer import CompileAnswer
from ioi_eval.languages import CompiledLanguage, OwnToolLanguage, rules_of
from ioi_eval.model import Isolation, Language
from ioi_eval.sandbox import LOCAL, Target
from ioi_eval.sandbox.local.compiler import identity_of_compiler
from ioi_eval.sandbox.local.confinement import SYSTEM, why_hidden, why_not_shown
from ioi_eval.slots import Once
from ioi_eval.toolchain import Toolchain, outermost

T = TypeVar("T")
Tool = Interpreter | Toolchain
"""The compiler or interpreter for a submission on a target."""

Ask = Callable[[Recipe, Target], Awaitable[CompileAnswer]]
"""A function that executes a recipe on a target."""

_ANOTHER = "give another one with --python (python= in Python)"


class Tools:
    """The tools of targets. `ask` executes the recipes that ask for them; `python` is the command of the interpreter.

    `ready` prepares a target before it is asked for its interpreter: so no failure of the runner's compilation there
    is taken for one of the interpreter."""

    def __init__(self, ask: Ask, ready: Callable[[Target], Awaitable[object]], python: str) -> None:
        self._ask, self._ready, self._python = ask, ready, python
        self._interpreters: Once[tuple[str, str], Interpreter | str] = Once()  # or why there is none
        self._compilers: Once[tuple[str, str], Toolchain | str] = Once()

    async def of(self, language: Language, target: Target) -> Tool:
        """The compiler or interpreter for a language on a target; raises as `toolchain` or `interpreter`."""
        if isinstance(rules_of(language), CompiledLanguage):
            return await self.toolchain(language, target)
        return await self.interpreter(target)

    def known(self, language: Language, target: Target) -> Tool | None:
        """What `of` returns; `None` if the target was not asked for it yet, or has none."""
        rules = rules_of(language)
        tool: Tool | str | None
        if not isinstance(rules, CompiledLanguage):
            tool = self._interpreters.known.get((target.name, self._command_on(target)))
        elif isinstance(rules, OwnToolLanguage):
            tool = self._compilers.known.get((target.name, rules.name))
        else:
            return target.toolchain
        return None if isinstance(tool, str) else tool

    async def toolchain(self, language: Language, target: Target) -> Toolchain:
        """The compiler for a language on a target; SetupError if there is none."""
        rules = rules_of(language)
        if not isinstance(rules, OwnToolLanguage):
            return target.toolchain
        key = (target.name, rules.name)
        return _existing(await self._compilers.get(key, lambda: self._ask_compiler(rules, target)))

    def known_toolchain(self, language: Language, target: Target) -> Toolchain:
        """The compiler for a language on a target, if the target was already asked for it; else its C++ compiler."""
        compiler = self._compilers.known.get((target.name, rules_of(language).name))
        return compiler if isinstance(compiler, Toolchain) else target.toolchain

    def state_of_compiler(self, language: Language, target: Target) -> Hashable:
        """A value that changes when this machine's compiler is replaced; `None` for compilers of workers."""
        if target.is_remote:
            return None
        try:
            return identity_of_compiler(self.known_toolchain(language, target))
        except OSError as error:  # a file of the compiler is missing
            return str(error)

    async def interpreter(self, target: Target) -> Interpreter:
        """The Python interpreter of a target. SetupError if there is none, or it does not work in a box, or the box
        would have to show too much for it."""
        python = self._command_on(target)
        if target.name == LOCAL:
            _require_existing(python)
            if target.isolation is Isolation.FULL:
                require_visible(python)
        key = (target.name, python)
        return _existing(await self._interpreters.get(key, lambda: self._ask_interpreter(python, target)))

    def _command_on(self, target: Target) -> str:
        return located(self._python) if target.name == LOCAL else self._python

    async def _ask_compiler(self, rules: OwnToolLanguage, target: Target) -> Toolchain | str:
        """The compiler of a language; or the reason if there certainly is none. SetupError if there may be later."""
        answer = await self._ask(compiler_recipe(rules, target.toolchain), target)
        try:
            return compiler_of(answer, rules, target.toolchain)
        except SetupError as error:
            if not _is_certain(answer):
                raise
            return f"{target.name}: {error}"

    async def _ask_interpreter(self, python: str, target: Target) -> Interpreter | str:
        """The interpreter; or the reason if it certainly cannot be used. SetupError if it may be usable later."""
        recipe = interpreter_recipe(python, prefixes_of(python))
        await self._ready(target)
        try:
            answer = await self._ask(recipe, target)
        except (TransportError, OverloadError, UnavailableError):
            raise  # not the interpreter's fault
        except TransientError as error:
            if was_not_found(error):
                where = "this machine" if target.name == LOCAL else target.name
                advice = "" if "/" in python else "install it there, or "
                return f"the interpreter {python} cannot be started on {where}; {advice}{_ANOTHER}"
            raise SetupError(f"the interpreter {python} cannot be started in a box: {error}") from error
        try:
            interpreter = interpreter_of(answer, python)
            _require_showable(python, interpreter.sees)
        except SetupError as error:
            if not _is_certain(answer):
                raise
            return str(error)
        return interpreter


def _existing(tool: T | str) -> T:
    """The tool; SetupError if the text says why there is none."""
    if isinstance(tool, str):
        raise SetupError(tool)
    return tool


def _is_certain(answer: CompileAnswer) -> bool:
    """Whether a target's answer about a tool would be the same if the target were less busy."""
    last = answer.last
    return last is not None and not (last.limit or last.signal or last.killed or is_machine_failure(last.output))


# --------------------------------------------------------------------------- compilers

_SCRIPT, _FOUND = "finder", "found"
_ONCE = ("command", "version", "machine")


def compiler_recipe(rules: OwnToolLanguage, cpp: Toolchain) -> Recipe:
    """The recipe that asks a target for its compiler of a language."""
    step = Step(
        argv=("bash", "-c", f'bash {_SCRIPT} "$1" > {_FOUND}.part && mv {_FOUND}.part {_FOUND}', _SCRIPT, cpp.command),
        files=((_SCRIPT, rules.finder.encode()),),
    )
    return Recipe(what="compiler", steps=(step,), artifacts=(_FOUND,), sees=cpp.sees, sees_system=True)


def compiler_of(answer: CompileAnswer, rules: OwnToolLanguage, cpp: Toolchain) -> Toolchain:
    """The compiler from the answer to `compiler_recipe`; SetupError if there is none. It links with the C++ compiler,
    so boxes also show its files."""
    if _FOUND not in answer.artifacts:
        reasons = "; ".join(answer.output("it was not looked for").splitlines())
        raise SetupError(f"no compiler for {rules.name} is found: {reasons}. Install one ({rules.advice})")
    lines = [line.partition("\t") for line in answer.artifacts[_FOUND].decode("utf-8", "replace").splitlines()]
    values = {kind: [value for name, _, value in lines if name == kind] for kind, _, _ in lines}
    if any(len(values.get(kind, ())) != 1 for kind in _ONCE):
        raise SetupError(f"the compiler for {rules.name} does not say what it is, but {lines[:3]}")
    return Toolchain(
        **{kind: values[kind][0] for kind in _ONCE},
        static=cpp.static,
        sees=outermost((*cpp.sees, *values.get("sees", ()))),
        libraries=cpp.libraries,
        arguments=tuple(values.get("argument", ())),
        linker=cpp,
    )


# --------------------------------------------------------------------------- this machine's interpreters


def located(python: str) -> str:
    """The command of an interpreter of this machine: a relative path is relative to the working directory, as in a
    shell; a name without `/` is looked up in the box."""
    return os.path.abspath(python) if "/" in python else python


def require_visible(python: str) -> None:
    """Refuse an interpreter if it, or one on which it depends, is in a directory that every box replaces by its own."""
    for path in (python, *prefixes_of(python)):
        if reason := why_hidden(path):
            where = "" if path == python else f"{path}: "
            raise SetupError(
                f"the interpreter {python} cannot be used: {where}{reason}; {_ANOTHER}, in a directory such as /opt "
                "or /var/tmp"
            )


def _require_existing(python: str) -> None:
    """Refuse the path of an interpreter that does not exist on this machine."""
    if python.startswith("/") and not os.path.exists(python):
        raise SetupError(f"there is no interpreter {python} on this machine; {_ANOTHER}")


def prefixes_of(python: str) -> tuple[str, ...]:
    """The directories that a box must show for an interpreter that is given by its path: the prefixes that it needs.

    A prefix is a directory with the interpreter in its `bin`, and with Python's library. A virtual environment also
    needs the interpreter that its `home` names. On another machine these may not exist. The system's own Python is
    left out, as every box shows it. SetupError if a prefix contains more than an interpreter.
    """
    if not python.startswith("/"):
        return ()
    path = Path(python)
    programs = {path, path.resolve()}
    with contextlib.suppress(OSError):
        lines = (path.parent.parent / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
        homes = [line.partition("=")[2].strip() for line in lines if line.partition("=")[0].strip() == "home"]
        programs |= {Path(home) / path.name for home in homes}
    candidates = {
        program.parent.parent
        for program in programs
        if program.parent.name == "bin" and not any(program.is_relative_to(root) for root in SYSTEM)
    }
    # Other directories are not prefixes: because of `/home/me/bin/python`, the box must not show all of `/home/me`.
    prefixes = [
        str(prefix) for prefix in candidates if (prefix / "pyvenv.cfg").is_file() or any(prefix.glob("lib/python3*"))
    ]
    _require_showable(python, prefixes)
    return tuple(prefixes)


def _require_showable(python: str, directories: Iterable[str]) -> None:
    """Refuse directories that contain more than an interpreter: a box must not show the rest."""
    if reasons := list(filter(None, map(why_not_shown, directories))):
        raise SetupError(
            f"the interpreter {python} cannot be used: {'; '.join(reasons)}; {_ANOTHER}, which has a "
            "directory of its own, as a virtual environment does"
        )
