"""How programs are compiled: recipes of commands and files. Pure.

A submission is compiled with the problem's headers only; the grader's object is put into the box after that,
for the link step. So a submission cannot make the compiler read (`.incbin`, `#include`) a grader, a checker, a manager
or test data. Grader objects and judge programs are compiled once for each source and toolchain, and stored.

Most submissions begin with `<bits/stdc++.h>`, and it takes longer to compile than the rest, so it is precompiled. With
`-include NAME` GCC reads `NAME.gch` before the source file if the options are the same, and then skips the header,
which is included already. If that is the first thing in the source file, the object is the same to the byte
(`tests/scorer/test_precompiled_headers.py`), so only such source files use it. If a compilation with it fails, it is
repeated without it: CE and its message always come from a compilation with the header itself. It is built in a compile
box from the machine's own headers only. A worker of a cluster builds it when it installs our package.
Measured with g++ 12 and gnu++20: 4.9 CPU-s and 124 MB to build; then 0.4 CPU-s per program instead of 1.7.
Source: the GCC manual, "Using Precompiled Headers".
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ioi_eval import boxfiles
from ioi_eval.config import CompileLimits
from ioi_eval.languages import ObjectLanguage, compiled_rules
from ioi_eval.model import Content, JudgeProgram, Language, Problem, SourceFile, by_include, size_of
from ioi_eval.problems.judge_sources import BUILD_SCRIPT
from ioi_eval.toolchain import Toolchain

_BUILD = f"chmod +x {BUILD_SCRIPT} && ./{BUILD_SCRIPT} && cp -fT run {{0}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command of a recipe, and the files that are put into the box for it and the later steps."""

    argv: tuple[str, ...]
    files: tuple[tuple[str, Content], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How something is compiled: pure data, so that its `key` identifies the result.

    Args:
        what: what is compiled (`checker`, `grader`, `submission`).
        artifacts: the files to return, by their path in the work directory.
        sees: files and directories of the machine that the steps see.
        sees_system: whether the steps see the system's programs and libraries too. Only for recipes without a
            submission's files.
        error_code: the exit code with which a step says that its input is wrong; `None` for any but 0.
        precompiled: if the steps use a worker's precompiled header: for which standard, and as which file.
        known_good_steps: how many of the first steps compile the known good program, which shows that the compiler
            works.
    """

    what: str
    steps: tuple[Step, ...]
    artifacts: tuple[str, ...]
    sees: tuple[str, ...] = ()
    sees_system: bool = False
    error_code: int | None = None
    precompiled: tuple[str, str] | None = None
    known_good_steps: int = 0

    @property
    def is_trusted(self) -> bool:
        """Whether none of its files is a submission's."""
        return self.what != "submission"

    def key(self, toolchain: Toolchain) -> str:
        """The artifact's name in the store: a hash of everything that determines it."""
        digest = hashlib.sha256(f"{boxfiles.RUNNER_VERSION}\0{toolchain.fingerprint}".encode())
        for step in self.steps:
            digest.update(b"\0s")
            for part in step.argv:
                digest.update(b"\0a" + part.encode())
            for path, content in step.files:
                body = content if isinstance(content, bytes) else content.sha256.encode()
                digest.update(f"\0f{path}\0{len(body)}\0".encode() + body)
        digest.update(("\0o" + "\0".join(self.artifacts)).encode())
        return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncompiled:
    """A program that the job which runs it compiles first, so that it need not be sent. The recipe has one artifact."""

    recipe: Recipe
    limits: CompileLimits

    @property
    def size(self) -> int:
        """The bytes of its files."""
        contents = (content for step in self.recipe.steps for _, content in step.files)
        return sum(map(size_of, contents))


def submission_recipe(
    problem: Problem,
    sources: Sequence[SourceFile],
    objects: Sequence[tuple[str, Content]],
    toolchain: Toolchain,
    *,
    std: str | None,
    language: Language = Language.CPP,
) -> Recipe:
    """How a submission in a compiled language becomes the program `a.out`.

    All its `sources` are in the box when one that is not a header is compiled; the grader's `objects` are put there
    after that. `std` overrides the problem's C++ standard.
    """
    rules = compiled_rules(language)
    dialect = rules.standard(problem, std)
    parts = [source.name for source in sources if source.name.endswith(language.endings)]
    # of two headers with one name the problem's is used, but no source of the submission is replaced
    headers = {name: text for name, text in by_include(problem.headers, "graders/").items() if name not in parts}
    seen = [*((file.name, file.content) for file in sources), *headers.items()]
    commands = rules.commands(toolchain, parts, [name for name, _ in objects], "a.out", std=dialect)
    last = len(commands) - 1
    steps = (
        Step(argv=argv, files=(*(() if index else seen), *(objects if index == last else ())))
        for index, argv in enumerate(commands)
    )
    return Recipe(what="submission", steps=tuple(steps), artifacts=("a.out",), sees=toolchain.sees)


def grader_recipes(
    problem: Problem, toolchain: Toolchain, *, std: str | None, language: Language = Language.CPP
) -> tuple[Recipe, ...]:
    """How each of the sources with which submissions in a language are linked becomes an object."""
    linked = problem.linked_with(language)
    if not linked:
        return ()
    rules = compiled_rules(language)
    if not isinstance(rules, ObjectLanguage):
        raise TypeError(f"nothing is linked with programs in {rules.name}")
    seen = tuple(by_include((*problem.headers, *linked), "graders/").items())
    recipes = []
    for index, source in enumerate(linked):
        name = f"linked{index}.o"
        argv = rules.compile_argv(toolchain, source.name, name, std=rules.standard(problem, std))
        step = Step(argv=argv, files=seen)
        recipes.append(Recipe(what="grader", steps=(step,), artifacts=(name,), sees=toolchain.sees))
    return tuple(recipes)


def program_recipe(what: str, program: JudgeProgram, toolchain: Toolchain, *, std: str) -> Recipe:
    """How a checker or manager becomes the program `what`: by the compiler, or by its own build script."""
    source = program.source
    seen = by_include(program.files, source.directory)
    seen[source.name] = source.content
    recipe = partial(Recipe, what=what, artifacts=(what,), sees=toolchain.sees)
    if source.name == BUILD_SCRIPT:
        step = Step(argv=("/bin/sh", "-c", _BUILD.format(what)), files=tuple(seen.items()))
        return recipe(steps=(step,), sees_system=True)
    if source.name.endswith(Language.C.endings):
        argv = toolchain.compile_c_argv(source.name, f"{what}.o", std=compiled_rules(Language.C).known_good_standard)
    else:
        argv = toolchain.compile_argv(source.name, f"{what}.o", std=std)
    link = Step(argv=toolchain.link_argv((f"{what}.o",), what, drop_unused=True))
    return recipe(steps=(Step(argv=argv, files=tuple(seen.items())), link))


def known_good_recipe(
    toolchain: Toolchain, std: str | None = None, language: Language = Language.CPP, *, was_compiled: bool = False
) -> Recipe:
    """A program that every working compiler compiles: if it fails, the compiler is broken, not a submission. `std` is
    `None` for a standard that every compiler of the language knows. If it `was_compiled` before, the question is only
    if a part of the compiler is missing now. Large headers are then only read: 0.3 s of CPU time in C++, not 1.7 s."""
    rules = compiled_rules(language)
    dialect = std or rules.known_good_standard
    name, source = rules.known_good_program
    reading: tuple[Step, ...] = ()
    if was_compiled and rules.large_headers:
        argv = toolchain.read_headers_argv("headers.cpp", "headers.ii", std=dialect)
        reading = (Step(argv=argv, files=(("headers.cpp", rules.large_headers),)),)
        source = source.removeprefix(rules.large_headers)
    commands = rules.commands(toolchain, [name], [], "good", std=dialect)
    steps = (Step(argv=argv, files=() if index else ((name, source),)) for index, argv in enumerate(commands))
    return Recipe(what="known good program", steps=(*reading, *steps), artifacts=("good",), sees=toolchain.sees)


def with_known_good(recipe: Recipe, toolchain: Toolchain, std: str, language: Language) -> Recipe:
    """A recipe that first compiles the known good program: with the same compiler, on the same worker of a target."""
    steps = known_good_recipe(toolchain, std, language, was_compiled=True).steps
    return replace(recipe, steps=(*steps, *recipe.steps), known_good_steps=len(steps))


def known_good_key(toolchain: Toolchain, std: str, language: Language = Language.CPP) -> str:
    """The name in the store of the known good program, compiled as a whole."""
    return f"{known_good_recipe(toolchain, std, language).key(toolchain)}-good"


# --------------------------------------------------------------------------- the precompiled header

HEADER = "bits/stdc++.h"
_SOURCE = "all.h"
_ARTIFACT = "all.h.gch"
_FIRST = re.compile(rb"(?>\s+|//[^\n]*\n|/\*.*?\*/)*#[ \t]*include[ \t]*<bits/stdc\+\+\.h>", re.DOTALL)
_SPLICED = re.compile(rb"(?:\\|\?\?/)\s*\n")
"""A line that continues in the next one: a comment may then end at another place."""


def begins_with_header(source: bytes) -> bool:
    """Whether the header is the first thing in a source file, except blanks and comments."""
    first = _FIRST.match(source)
    return first is not None and not _SPLICED.search(first[0])


def header_recipe(toolchain: Toolchain, std: str) -> Recipe:
    """How the header is precompiled for a C++ standard."""
    argv = toolchain.precompile_argv(_SOURCE, _ARTIFACT, std=std)
    step = Step(argv=argv, files=((_SOURCE, f"#include <{HEADER}>\n".encode()),))
    return Recipe(what="precompiled header", steps=(step,), artifacts=(_ARTIFACT,), sees=toolchain.sees)


def with_header(recipe: Recipe, header: Content, directory: str) -> Recipe:
    """A submission's recipe, changed so that sources that begin with the header use `header`, the precompiled one for
    the same toolchain and standard. Its directory in the compile box is below the work directory, where the limit of
    file sizes does not hold. No submission may know the name, because it could find out whether the header is there."""
    name = f"{directory}/all.h"
    return _reading_first(recipe, name, (f"{name}.gch", header))


def with_workers_header(recipe: Recipe, std: str, name: str) -> Recipe:
    """A submission's recipe, changed so that sources that begin with the header use the worker's precompiled one, if it
    has one for the standard (`piston/packages/`). If not, GCC reads an empty file, which changes nothing.
    """
    return replace(_reading_first(recipe, name, (name, b"")), precompiled=(std, f"{name}.gch"))


def _reading_first(recipe: Recipe, name: str, file: tuple[str, Content]) -> Recipe:
    """A submission's recipe with a further file, and the option to read `name` before sources that have the header."""
    sources = dict(recipe.steps[0].files)
    first, *others = (_with_header_option(step, sources, name) for step in recipe.steps)
    first = replace(first, files=(*first.files, file))
    return replace(recipe, steps=(first, *others))


def _with_header_option(step: Step, sources: Mapping[str, Content], name: str) -> Step:
    if "-c" not in step.argv:
        return step  # it links
    at = step.argv.index("-c")
    source = sources[step.argv[at + 1]]
    if not (isinstance(source, bytes) and begins_with_header(source)):
        return step
    return replace(step, argv=(*step.argv[:at], "-include", name, *step.argv[at:]))
