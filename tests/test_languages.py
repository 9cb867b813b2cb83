"""Each language is whole: nothing that judging asks of it is missing."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from ioi_eval import ArtifactStore, LocalSandbox, boxfiles
from ioi_eval.config import Policy
from ioi_eval.jobs.good_program import GOOD_STD, good_recipe
from ioi_eval.languages import CompiledLanguage, all_names, language_called, rules_of
from ioi_eval.languages.c_headers import INCLUDES
from ioi_eval.model import Language
from ioi_eval.programs import Builder

STANDARDS = {Language.CPP: GOOD_STD, Language.C: "gnu17"}


@pytest.mark.parametrize("language", Language)
def test_every_language_has_rules_of_its_own(language: Language) -> None:
    """They name it as data sets do, and find its code."""
    rules = rules_of(language)
    assert rules.language is language
    assert language_called(rules.name) is language
    assert rules.name in all_names()
    tag = language.endings[0][1:]
    assert rules.extract(f"So:\n```{tag}\nx\n```\n").code == "x\n"


def test_endings_and_names_are_each_of_one_language() -> None:
    """So a file, or a row, is in one language."""
    endings = [ending for language in Language for ending in language.endings]
    assert len(endings) == len(set(endings))
    names = ("C++17", "cpp", "gnu c++", "C", "c11", "Python 3", "PyPy", "py")
    called = [language_called(name) for name in names]
    assert called == [Language.CPP] * 3 + [Language.C] * 2 + [Language.PYTHON] * 3
    assert language_called("Cobol") is None


@pytest.mark.parametrize("language", [one for one in Language if isinstance(rules_of(one), CompiledLanguage)])
def test_the_good_program_of_a_compiled_language_compiles_here(cache: Path, language: Language) -> None:
    """Else every refusal would be taken for the machine's fault."""

    async def main() -> None:
        async with LocalSandbox() as sandbox:
            (target,) = sandbox.targets()
            recipe = good_recipe(target.toolchain, STANDARDS[language], language)
            answer = await Builder(sandbox, ArtifactStore(cache), Policy()).compile(recipe, target)
            assert set(answer.artifacts) == {"good"}, answer.steps

    asyncio.run(main())


def test_the_script_of_the_classic_profile_has_the_same_good_program() -> None:
    """It is bash, and travels alone: it has the names of the headers itself."""
    names = re.search(r"vector \{(.+)\}\.h$", boxfiles.read("compile").decode(), re.MULTILINE)
    assert names is not None
    assert "".join(f"#include <{name}.h>\n" for name in names[1].split(",")) == INCLUDES
