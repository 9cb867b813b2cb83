"""What a language is to the judge."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import ClassVar

from ioi_eval.extract.fences import Extracted
from ioi_eval.model import Language, Problem
from ioi_eval.toolchain import Toolchain


class LanguageRules(ABC):
    """One language."""

    language: ClassVar[Language]
    name: ClassVar[str]
    """What messages call it."""

    names: ClassVar[re.Pattern[str]]
    """What data sets call it; the whole name matches."""

    header_endings: ClassVar[tuple[str, ...]] = ()
    """Of files that are included and not compiled themselves."""

    @abstractmethod
    def extract(self, generation: str) -> Extracted:
        """The program in what a model said."""


class CompiledLanguage(LanguageRules):
    """One whose sources become objects, which are linked with those of the problem."""

    good_program: ClassVar[tuple[str, bytes]]
    """A file name and its text: a program that compiles wherever anything does. It includes all headers that programs
    usually include, as a box may hide a file that one of them needs."""

    has_precompiled_header: ClassVar[bool] = False
    """Whether `jobs/precompiled.py` is for it."""

    @abstractmethod
    def standard(self, problem: Problem, std: str | None) -> str:
        """To which standard submissions to a problem are compiled; `std` overrides the problem's of C++."""

    @abstractmethod
    def flags(self, std: str) -> str:
        """How the compiler is told language and standard, for messages."""

    @abstractmethod
    def compile_argv(self, toolchain: Toolchain, source: str, output: str, *, std: str) -> tuple[str, ...]:
        """The command that makes an object of one source file."""
