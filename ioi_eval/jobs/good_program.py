"""A program that compiles wherever anything does: it tells a broken compiler from broken programs. Pure."""

from __future__ import annotations

from ioi_eval.jobs.compile import Recipe, Step
from ioi_eval.languages import compiled
from ioi_eval.model import Language
from ioi_eval.toolchain import Toolchain


def good_recipe(toolchain: Toolchain, std: str | None = None, language: Language = Language.CPP) -> Recipe:
    """How the good program of a language is compiled, to a standard; `None` for the one that is surely known.

    Args:
        toolchain: that compiles the language on the target.
        std: the standard.
        language: what it is written in.
    """
    rules = compiled(language)
    name, source = rules.good_program
    commands = rules.commands(toolchain, [name], [], "good", std=std or rules.good_standard)
    steps = (Step(argv=argv, sees=() if index else ((name, source),)) for index, argv in enumerate(commands))
    return Recipe(what="good program", steps=tuple(steps), artifacts=("good",), reads=toolchain.sees)
