"""The C++ program in a generation, and the mending that the reference offers. Pure."""

from __future__ import annotations

import re

from ioi_eval.extract.fences import Extracted
from ioi_eval.extract.tagged import extract_tagged

CPP_TAGS = frozenset({"cpp", "c++", "cc", "cxx"})
C_TAGS = frozenset({"c"})

# Words that only C++ has (or C, which compiles as C++), and declarations of functions, as IOI submissions without any
# include begin with one.
_SURE = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[<\"]|\busing[ \t]+namespace[ \t]+\w|\bint[ \t]+main[ \t]*\(|\btemplate[ \t]*<"
    r"|\b(?:vector|pair|map|set|queue|array|unordered_map)[ \t]*<[^\n<>]*>",
    re.MULTILINE,
)
_LIKELY = re.compile(
    r"\bstd::\w"
    r"|^[ \t]*(?:(?:static|inline|const|unsigned|signed)[ \t]+)*"
    r"(?:void|bool|char|int|long|float|double|auto|string|int64_t|ll)\b[^\n;{}()]*\([^\n;{}]*\)[ \t]*\n?[ \t]*\{",
    re.MULTILINE,
)
_OTHER = re.compile(
    r"^[ \t]*(?:def|fn|func|fun|function|let|use|impl|package|import)[ \t]"
    r"|\b(?:public|private|protected)[ \t]+(?:static|class|final|int|void)\b|\bSystem\.out\b|\bConsole\.",
    re.MULTILINE,
)
_LOOKED_AT = 1 << 16


def extract_cpp(generation: str, tags: frozenset[str] = CPP_TAGS) -> Extracted:
    """The program in C++ that a model handed in, by the rule of `extract_tagged`.

    Args:
        generation: everything the model said.
        tags: of the blocks that count as tagged, without a year (`C_TAGS` for a program in C).
    """
    return extract_tagged(generation, name="cpp", tags=tags, looks_right=looks_like_cpp)


def looks_like_cpp(code: str) -> bool:
    """Whether code without a tag is C++ (or C), going by its first 64 kB."""
    beginning = code[:_LOOKED_AT]
    if _SURE.search(beginning):
        return True
    return _LIKELY.search(beginning) is not None and _OTHER.search(beginning) is None


def fix_includes(code: str, header_name: str | None) -> tuple[str, bool]:
    """Put in front of the code what models forget: a header with everything, the problem's own, and the namespace.

    Args:
        code: the program.
        header_name: the problem's own header; `None` if it has none.

    Returns:
        The code, and whether it was changed. Only empty code is not.

    Source: what the reference does under `--add_includes`: `bits/stdc++.h` always; `<id>.h` unless that very directive
    is there (also for problems without one, which we do not repeat); `using namespace std` unless it or any `std::` is.
    """
    if not code:
        return code, False
    header = ["#include <bits/stdc++.h>\n"]
    own = f'#include "{header_name}"'
    if header_name is not None and own not in code:
        header.append(f"{own}\n")
    if "using namespace std;" not in code and "std::" not in code:
        header.append("\nusing namespace std;\n\n")
    return "".join(header) + code, True
