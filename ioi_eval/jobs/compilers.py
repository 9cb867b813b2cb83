"""Asks a target for its compiler of a language that the C++ compiler does not compile. Pure."""

from __future__ import annotations

from ioi_eval.errors import SetupError
from ioi_eval.jobs.recipes import Recipe, Step
from ioi_eval.jobs.runner_answer import CompileAnswer
from ioi_eval.languages import OwnToolLanguage
from ioi_eval.toolchain import Toolchain, outermost

_SCRIPT, _FOUND = "finder", "found"
_ONCE = ("command", "version", "machine")


def compiler_recipe(rules: OwnToolLanguage, cpp: Toolchain) -> Recipe:
    """The compile plan that asks a target for its compiler of a language; it has no files of a submission."""
    step = Step(
        argv=("bash", "-c", f'bash {_SCRIPT} "$1" > {_FOUND}.part && mv {_FOUND}.part {_FOUND}', _SCRIPT, cpp.command),
        files=((_SCRIPT, rules.finder.encode()),),
    )
    return Recipe(what="compiler", steps=(step,), artifacts=(_FOUND,), sees=cpp.sees, sees_system=True)


def compiler_of(answer: CompileAnswer, rules: OwnToolLanguage, cpp: Toolchain) -> Toolchain:
    """The compiler from the answer to `compiler_recipe`. It links with the C++ compiler, so boxes also show its files.

    Raises:
        SetupError: there is none.
    """
    if _FOUND not in answer.artifacts:
        output = answer.steps[-1].output.strip()[-2000:] if answer.steps else "it was not looked for"
        raise SetupError(f"no compiler for {rules.name} is found: {output}. Install one ({rules.advice})")
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
