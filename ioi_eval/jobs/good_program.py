"""A program that compiles wherever anything does: it tells a broken compiler from broken programs. Pure."""

from __future__ import annotations

from ioi_eval.jobs.compile import Recipe, Step
from ioi_eval.languages import compiled
from ioi_eval.model import Language
from ioi_eval.toolchain import Toolchain

GOOD_STD = "gnu++17"  # what every compiler that builds the runner knows


def good_recipe(toolchain: Toolchain, std: str = GOOD_STD, language: Language = Language.CPP) -> Recipe:
    """How the good program of a language is compiled, to a standard."""
    rules = compiled(language)
    name, source = rules.good_program
    return Recipe(
        what="good program",
        steps=(
            Step(argv=rules.compile_argv(toolchain, name, "good.o", std=std), sees=((name, source),)),
            Step(argv=toolchain.link_argv(("good.o",), "good")),
        ),
        artifacts=("good",),
        reads=toolchain.sees,
    )
