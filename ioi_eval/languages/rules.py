"""The rules that each language defines for judging."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from ioi_eval.extract.cpp import looks_like_cpp
from ioi_eval.extract.fences import Extracted
from ioi_eval.model import Language, Problem
from ioi_eval.toolchain import Toolchain

Command = tuple[str, ...]

C_INCLUDES = "".join(
    f"#include <{name}.h>\n"
    for name in (
        *("errno", "limits", "math", "pthread", "signal", "stdio"),
        *("stdlib", "string", "sys/time", "time", "unistd"),
    )
)
"""The headers of C that programs usually include, in C and in C++."""


class LanguageRules(ABC):
    """One language."""

    language: ClassVar[Language]
    name: ClassVar[str]
    """Its name in messages."""

    names: ClassVar[re.Pattern[str]]
    """Its names in data sets; the whole name must match."""

    header_endings: ClassVar[tuple[str, ...]] = ()
    """Endings of files that are included and not compiled themselves."""

    takes_graders: ClassVar[bool]
    """Whether a problem's own source in the language can be joined with a submission."""

    needs_own_tool: ClassVar[bool]
    """Whether each target is asked for its compiler or interpreter; otherwise the C++ compiler is used."""

    @abstractmethod
    def extract(self, generation: str) -> Extracted:
        """Extract the program from a model's text."""

    def looks_unfenced(self, text: str) -> bool:  # noqa: ARG002 - of Python a bare program is found by `extract`
        """Whether a text in which no code block was found may itself be a program, without a fence."""
        return False


class CompiledLanguage(LanguageRules):
    """A language that is compiled to machine code."""

    known_good_program: ClassVar[tuple[str, bytes]]
    """A file name and its text: a program that every working compiler compiles. It includes all headers that programs
    usually include, because a box may hide a file that one of them needs."""

    large_headers: ClassVar[bytes] = b""
    """The beginning of that program: headers that take most of the time to compile. When the program is compiled again
    to see whether a part of the compiler is missing, these headers are only read. Empty if there are none."""

    known_good_standard: ClassVar[str]
    """The standard by which that program is compiled; every compiler of the language knows it. In all languages but
    C++, submissions are compiled by it too."""

    has_precompiled_header: ClassVar[bool] = False
    """Whether programs can use the precompiled header of `jobs/recipes.py`."""

    def standard(self, problem: Problem, std: str | None) -> str:  # noqa: ARG002 - these are of C++
        """The standard for submissions to a problem; `std` overrides the problem's C++ standard."""
        return self.known_good_standard

    @abstractmethod
    def flags(self, std: str) -> str:
        """The compiler options for language and standard, for messages."""

    @abstractmethod
    def commands(
        self, toolchain: Toolchain, sources: Sequence[str], objects: Sequence[str], output: str, *, std: str
    ) -> tuple[Command, ...]:
        """The commands that make a program of these sources (without headers), in order; only the last one may need the
        problem's objects."""


class ObjectLanguage(CompiledLanguage):
    """A language that the C++ compiler compiles: each source becomes an object, and objects can be linked."""

    takes_graders = True
    needs_own_tool = False

    def looks_unfenced(self, text: str) -> bool:
        """Whether it contains words that only C++ or C has."""
        return looks_like_cpp(text)

    def flags(self, std: str) -> str:
        """The standard as a GCC option."""
        return f"-std={std}"

    def compile_argv(self, toolchain: Toolchain, source: str, output: str, *, std: str) -> Command:
        """The command that makes an object of one source file."""
        return toolchain.compile_argv(source, output, std=std)

    def commands(
        self, toolchain: Toolchain, sources: Sequence[str], objects: Sequence[str], output: str, *, std: str
    ) -> tuple[Command, ...]:
        """One command for each source, and one that links."""
        made = [f"submission{index or ''}.o" for index in range(len(sources))]
        compiling = (
            self.compile_argv(toolchain, source, name, std=std) for source, name in zip(sources, made, strict=True)
        )
        return (*compiling, toolchain.link_argv((*objects, *made), output))


class OwnToolLanguage(CompiledLanguage):
    """A language with its own compiler, which a target may lack: it is asked before the first submission."""

    needs_own_tool = True

    finder: ClassVar[str]
    """A bash script that describes the target's compiler of the language, in a box that sees the system's programs and
    libraries. Its argument is the command of the C++ compiler, which links. It prints lines of words separated by tabs:
    `command`, `version`, `machine`; `argument` for each argument that all calls need there; and `sees` for each file or
    directory that the compiler reads and the C++ compiler does not. If there is no compiler, it prints nothing to
    stdout, and the reason to stderr."""

    advice: ClassVar[str]
    """What to install if there is none."""
