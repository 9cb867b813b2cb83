"""A program that every working compiler compiles: if it fails, the compiler is broken, not a submission. Pure."""

from __future__ import annotations

from ioi_eval.jobs.compile import Recipe, Step
from ioi_eval.languages import compiled
from ioi_eval.model import Language
from ioi_eval.toolchain import Toolchain


def good_recipe(toolchain: Toolchain, std: str | None = None, language: Language = Language.CPP) -> Recipe:
    """How the good program of a language is compiled.

    Args:
        toolchain: compiles the language on the target.
        std: the standard; `None` for one that every compiler of the language knows.
        language: the program's language.
    """
    rules = compiled(language)
    name, source = rules.good_program
    commands = rules.commands(toolchain, [name], [], "good", std=std or rules.good_standard)
    steps = (Step(argv=argv, sees=() if index else ((name, source),)) for index, argv in enumerate(commands))
    return Recipe(what="good program", steps=tuple(steps), artifacts=("good",), reads=toolchain.sees)
