"""What a language is to the judge."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from ioi_eval.extract.fences import Extracted
from ioi_eval.model import Language, Problem
from ioi_eval.toolchain import Toolchain

Command = tuple[str, ...]


class LanguageRules(ABC):
    """One language."""

    language: ClassVar[Language]
    name: ClassVar[str]
    """What messages call it."""

    names: ClassVar[re.Pattern[str]]
    """What data sets call it; the whole name matches."""

    header_endings: ClassVar[tuple[str, ...]] = ()
    """Of files that are included and not compiled themselves."""

    takes_graders: ClassVar[bool]
    """Whether a problem's own source in the language can be joined with a submission."""

    is_found: ClassVar[bool]
    """Whether each target is asked what it has for it; for the others the C++ compiler says it all."""

    @abstractmethod
    def extract(self, generation: str) -> Extracted:
        """The program in what a model said."""

    @abstractmethod
    def looks_unfenced(self, text: str) -> bool:
        """Whether a text in which no program was found may be one as it stands, without a fence."""


class CompiledLanguage(LanguageRules):
    """One whose sources become a program of the machine's."""

    good_program: ClassVar[tuple[str, bytes]]
    """A file name and its text: a program that compiles wherever anything does. It includes all headers that programs
    usually include, as a box may hide a file that one of them needs."""

    good_standard: ClassVar[str]
    """To which standard that compiles wherever the language is known."""

    has_precompiled_header: ClassVar[bool] = False
    """Whether `jobs/precompiled.py` is for it."""

    crashes: ClassVar[frozenset[int]] = frozenset()
    """Signals by which its compiler ends where a program is too much for it. GCC's driver never ends so: it says it."""

    @abstractmethod
    def standard(self, problem: Problem, std: str | None) -> str:
        """To which standard submissions to a problem are compiled; `std` overrides the problem's of C++."""

    @abstractmethod
    def flags(self, std: str) -> str:
        """How the compiler is told language and standard, for messages."""

    @abstractmethod
    def commands(
        self, toolchain: Toolchain, sources: Sequence[str], objects: Sequence[str], output: str, *, std: str
    ) -> tuple[Command, ...]:
        """The commands that make a program, in order; only the last one may need the problem's objects.

        Args:
            toolchain: that compiles the language on the target.
            sources: the names of the submission's sources, without headers.
            objects: what is linked with them.
            output: what the program is called.
            std: the standard.
        """


class ObjectLanguage(CompiledLanguage):
    """One that the C++ compiler compiles: each source becomes an object, and objects of it can be linked."""

    takes_graders = True
    is_found = False

    @abstractmethod
    def compile_argv(self, toolchain: Toolchain, source: str, output: str, *, std: str) -> Command:
        """The command that makes an object of one source file."""

    def commands(
        self, toolchain: Toolchain, sources: Sequence[str], objects: Sequence[str], output: str, *, std: str
    ) -> tuple[Command, ...]:
        """One for each source, and one that links."""
        made = [f"submission{index or ''}.o" for index in range(len(sources))]
        compiling = (
            self.compile_argv(toolchain, source, name, std=std) for source, name in zip(sources, made, strict=True)
        )
        return (*compiling, toolchain.link_argv((*objects, *made), output))


class FoundLanguage(CompiledLanguage):
    """One with a compiler of its own, which a target may have or not: it is asked before the first submission."""

    is_found = True

    finder: ClassVar[str]
    """A script for bash that says which compiler of the language there is, in a box that sees the system's programs and
    libraries. Its argument is the command of the C++ compiler, which links. In lines of words with tabs between:
    `command`, `version`, `machine`; `argument` for what each call needs there, and `sees` for each file or directory
    that the compiler reads and the C++ compiler does not. It says nothing, and why on stderr, if there is none."""

    advice: ClassVar[str]
    """What to install where there is none."""
