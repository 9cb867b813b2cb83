"""C++."""

from __future__ import annotations

import re
from functools import lru_cache

from ioi_eval.extract.cpp import CPP_TAGS, extract_cpp
from ioi_eval.extract.fences import Extracted
from ioi_eval.languages.rules import C_INCLUDES, ObjectLanguage
from ioi_eval.model import Language, Problem

_SMALL = 16_384  # characters; a dump holds many copies, and is read several times
_extract_small = lru_cache(maxsize=1024)(extract_cpp)


class Cpp(ObjectLanguage):
    """C++, compiled by GCC or Clang to the problem's standard."""

    language = Language.CPP
    name = "C++"
    names = re.compile(
        r"(?:(?:gnu |ms )?c\+\+|(?:clan|gnu )?g\+\+|gnu\+\+|cpp|cxx|cc)(?![a-z]| ?/ ?cli\b| ?\.net\b).*",
        re.IGNORECASE,
    )
    header_endings = (".h", ".hpp", ".hh", ".hxx")
    has_precompiled_header = True
    known_good_standard = "gnu++17"  # what every compiler that builds the runner knows
    large_headers = b"""#ifdef __has_include
#if __has_include(<bits/stdc++.h>)
#include <bits/stdc++.h>
#endif
#endif
"""
    known_good_program = (
        "good.cpp",
        large_headers
        + f"""#include <vector>
{C_INCLUDES}int main() {{ return static_cast<int>(std::vector<int>().size()); }}
""".encode(),
    )

    def extract(self, generation: str) -> Extracted:
        """The last complete block tagged C++, else the last untagged one that is C++."""
        return (_extract_small if len(generation) <= _SMALL else extract_cpp)(generation, CPP_TAGS)

    def standard(self, problem: Problem, std: str | None) -> str:
        """The problem's, unless another is asked for."""
        return std or problem.cxx_std
