"""Each language has everything that judging needs."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval import ArtifactStore, LocalSandbox, boxfiles
from ioi_eval.config import Policy
from ioi_eval.errors import InputError, SetupError
from ioi_eval.jobs.compile import may_lack_a_part
from ioi_eval.jobs.recipes import Recipe, known_good_recipe
from ioi_eval.jobs.runner_answer import CompileAnswer
from ioi_eval.languages import CompiledLanguage, all_names, language_called, rules_of
from ioi_eval.languages.rules import C_INCLUDES
from ioi_eval.model import Language
from ioi_eval.programs import Builder
from ioi_eval.toolchain import Toolchain, check_std


@pytest.mark.parametrize("language", Language)
def test_every_language_has_rules_of_its_own(language: Language) -> None:
    """They have the names that data sets use, and extract the code of the language."""
    rules = rules_of(language)
    assert rules.language is language
    assert language_called(rules.name) is language
    assert rules.name in all_names()
    tag = language.endings[0][1:]
    assert rules.extract(f"So:\n```{tag}\nx\n```\n").code == "x\n"


def test_each_ending_and_name_has_one_language() -> None:
    """So each file and each row has one language."""
    endings = [ending for language in Language for ending in language.endings]
    assert len(endings) == len(set(endings))
    names = ("C++17", "cpp", "gnu c++", "C", "c11", "C (GCC 9.2.1)", "Python 3", "PyPy", "PyPy 3-64", "py")
    called = [language_called(name) for name in names]
    assert called == [Language.CPP] * 3 + [Language.C] * 3 + [Language.PYTHON] * 4
    assert language_called("Cobol") is None


@pytest.mark.parametrize(
    "name",
    ["Python 2", "PyPy2 (5.6.0)", "Python (2.7.6)", "cpython (2.7)", "Python (CPython 2.7.18)", "C++/CLI", "cpp.net"],
)
def test_other_languages_are_not_taken_for_ours(name: str) -> None:
    """Python 2 was judged as Python 3, and C++/CLI as C++."""
    assert language_called(name) is None


@pytest.mark.parametrize(
    "name", ["Python3 (3.4.3)", "Python (3.8.2)", "PyPy3 (2.4.0)", "PyPy (2.4.0)", "Python (CPython 3.11.4)"]
)
def test_python_3_is_known_with_its_version(name: str) -> None:
    """As AtCoder names it; after `PyPy` the number is that of PyPy itself."""
    assert language_called(name) is Language.PYTHON


YEARS = ("11", "14", "17", "20", "23")


@pytest.mark.parametrize(
    "name",
    [
        *("cpp{}", "c++{}", "C++{}", "gnu++{}", "GNU C++{}", "g++{}", "GNU G++{} 7.3.0", "C++{} (GCC 13-64)"),
        *("Clang++{} Diagnostics", "cxx{}"),
    ],
)
def test_cpp_is_known_by_the_name_of_each_standard(name: str) -> None:
    """Names as data sets write them. They do not choose the standard: the problem or `--std` does."""
    assert {language_called(name.format(year)) for year in YEARS} == {Language.CPP}


def test_the_compiler_here_knows_each_accepted_standard_of_cpp(cache: Path) -> None:
    """C++11 to C++23 and their GNU variants, as `--std` and problems name them."""
    names = [f"{family}++{year}" for family in ("c", "gnu") for year in YEARS]

    for name in names:
        check_std(name)
        subprocess.run(["g++", f"-std={name}", "-fsyntax-only", "-x", "c++", os.devnull], check=True)

    async def main() -> None:
        async with LocalSandbox() as sandbox:
            (target,) = sandbox.targets()
            builder = Builder(sandbox, ArtifactStore(cache), Policy())
            for name in (names[0], names[-1]):
                await builder.checks.require_working_compiler(name, target)

    asyncio.run(main())


@pytest.mark.parametrize("name", ["C++17", "gnu17", "c++18", "c++2a", "", "gnu++17 -DX", "17"])
def test_an_unknown_standard_of_cpp_is_refused(name: str) -> None:
    """The message gives an example of a valid name."""
    with pytest.raises(InputError, match="give one as g"):
        check_std(name)


async def compiled_known_good(
    cache: Path, recipe_of: Callable[[Toolchain], Recipe], language: Language
) -> CompileAnswer:
    """The answer of this machine's compiler to a recipe for it."""
    async with LocalSandbox() as sandbox:
        (target,) = sandbox.targets()
        builder = Builder(sandbox, ArtifactStore(cache), Policy())
        try:
            toolchain = await builder.tools.toolchain(language, target)
        except SetupError as error:
            pytest.skip(str(error))
        assert builder.tools.known(language, target) is toolchain
        return await builder.compile(recipe_of(toolchain), target)


@pytest.mark.parametrize("was_compiled", [False, True])
@pytest.mark.parametrize("language", [one for one in Language if isinstance(rules_of(one), CompiledLanguage)])
def test_the_known_good_program_of_a_compiled_language_compiles_here(
    cache: Path, language: Language, was_compiled: bool
) -> None:
    """If it did not compile, every compile error would be taken for a fault of the machine."""
    answer = asyncio.run(
        compiled_known_good(
            cache, lambda toolchain: known_good_recipe(toolchain, None, language, was_compiled=was_compiled), language
        )
    )
    assert set(answer.artifacts) == {"good"}, answer.steps


@pytest.mark.parametrize("part", ["include/c++/{release}/regex", "bin/as"])
def test_a_missing_part_is_found_without_compiling_all_headers(cache: Path, part: str) -> None:
    """A header that only `<bits/stdc++.h>` includes, and a program of the compiler. Boxes do not show it."""
    done = subprocess.run(["g++", "-dumpversion"], capture_output=True, text=True, check=True)
    hidden = Path("/usr", part.format(release=done.stdout.strip()))  # others may be installed too
    if not hidden.exists():
        pytest.skip(f"no {hidden}")

    def recipe(toolchain: Toolchain) -> Recipe:
        good = known_good_recipe(toolchain, was_compiled=True)
        sees = [str(path) for each in good.sees for path in visible_without(Path(each), hidden)]
        assert set(sees) != set(good.sees)
        return replace(good, sees=tuple(sees))

    answer = asyncio.run(compiled_known_good(cache, recipe, Language.CPP))
    assert answer.artifacts == {}
    assert may_lack_a_part(answer.steps[-1].output), answer.steps


def visible_without(path: Path, hidden: Path) -> Iterator[Path]:
    """The path. If the hidden one is in it, all other paths in it, without links to the hidden one."""
    if path in hidden.parents:
        for inner in path.iterdir():
            yield from visible_without(inner, hidden)
    elif path.resolve() != hidden.resolve():
        yield path


def test_the_script_for_classic_jobs_has_the_same_known_good_program() -> None:
    """The script is written in bash and cannot import the list, so it has its own copy of the header names."""
    names = re.search(r"vector \{(.+)\}\.h$", boxfiles.read("compile").decode(), re.MULTILINE)
    assert names is not None
    assert "".join(f"#include <{name}.h>\n" for name in names[1].split(",")) == C_INCLUDES
