"""The C++ program in a generation, and the reference's repair of missing includes. Pure."""

from __future__ import annotations

import re

from ioi_eval.extract.fences import LOOKED_AT, Extracted, extract_tagged

CPP_TAGS = frozenset({"cpp", "c++", "cc", "cxx", "g++", "gnu++"})
C_TAGS = frozenset({"c"})

# Words that only C++ has (or C, which compiles as C++), and declarations of functions, because IOI submissions without
# includes begin with one.
_SURE = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[<\"]|\busing[ \t]+namespace[ \t]+\w|\bint[ \t]+main[ \t]*\(|\btemplate[ \t]*<"
    r"|\b(?:vector|pair|map|set|queue|array|unordered_map)[ \t]*<[^\n<>]*>",
    re.MULTILINE,
)
_LIKELY = re.compile(
    r"\bstd::\w"
    r"|^[ \t]*(?:(?:static|inline|const|unsigned|signed)[ \t]+)*"
    r"(?:void|bool|char|int|long|float|double|auto|string|int64_t|ll)\b[^\n;{}()]*\([^\n;{}]*\)[ \t]*+(?:\n[ \t]*+)?\{",
    re.MULTILINE,
)
_OTHER = re.compile(
    r"^[ \t]*(?:def|fn|func|fun|function|let|use|impl|package|import)[ \t]"
    r"|\b(?:public|private|protected)[ \t]+(?:static|class|final|int|void)\b|\bSystem\.out\b|\bConsole\.",
    re.MULTILINE,
)


def extract_cpp(generation: str, tags: frozenset[str] = CPP_TAGS) -> Extracted:
    """The C++ program in a generation, by the rule of `extract_tagged`."""
    name = "c" if tags == C_TAGS else "cpp"
    return extract_tagged(generation, name=name, tags=tags, looks_right=looks_like_cpp)


def looks_like_cpp(code: str) -> bool:
    """Whether code without a tag is C++ (or C), judged by its first 64 kB."""
    beginning = code[:LOOKED_AT]
    if _SURE.search(beginning):
        return True
    return _LIKELY.search(beginning) is not None and _OTHER.search(beginning) is None


def fix_includes(code: str, header_name: str | None) -> tuple[str, bool]:
    """Add the lines that models forget: a header that includes everything, the problem's header if it has one, and the
    namespace. Returns the code, and whether it was changed: always, unless it is empty.

    Source: the reference with `--add_includes`. It always adds `bits/stdc++.h`; `<id>.h` unless exactly that directive
    is there (also for problems without such a header, where we do not); `using namespace std` unless it or any `std::`
    is there.
    """
    if not code:
        return code, False
    header = ["#include <bits/stdc++.h>\n"]
    own = f'#include "{header_name}"'
    if header_name is not None and own not in code:
        header.append(f"{own}\n")
    if "using namespace std;" not in code and "std::" not in code:
        header.append("\nusing namespace std;\n\n")
    return "".join(header) + code.removeprefix("\ufeff"), True  # only a file may begin with a byte order mark
