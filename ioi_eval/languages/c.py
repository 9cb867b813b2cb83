"""C."""

from __future__ import annotations

import re

from ioi_eval.extract.cpp import C_TAGS, extract_cpp
from ioi_eval.extract.fences import Extracted
from ioi_eval.languages.rules import C_INCLUDES, ObjectLanguage
from ioi_eval.model import Language
from ioi_eval.toolchain import Toolchain


class C(ObjectLanguage):
    """C, compiled by the C++ compiler."""

    language = Language.C
    name = "C"
    names = re.compile(r"(?:gnu )?c(?:89|90|99|11|17|18|23)?(?: \([^()]*\))?|ansi c|gcc", re.IGNORECASE)
    header_endings = (".h",)
    known_good_standard = "gnu17"  # Source: Kattis's language configuration; GCC's own default since version 8
    known_good_program = (
        "good.c",
        f"{C_INCLUDES}int main(void) {{ int *class = malloc(1); return class == 0; }}\n".encode(),
    )

    def extract(self, generation: str) -> Extracted:
        """As in C++, with blocks tagged C."""
        return extract_cpp(generation, C_TAGS)

    def flags(self, std: str) -> str:
        """The standard as a GCC option."""
        return f"-x c -std={std}"

    def compile_argv(self, toolchain: Toolchain, source: str, output: str, *, std: str) -> tuple[str, ...]:
        """By the same compiler as C++."""
        return toolchain.compile_c_argv(source, output, std=std)
