"""The C++ program in a generation, and the mending that the reference offers. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

from ioi_eval.extract.fences import Block, Extracted, blocks, encodable, split_thoughts

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


def extract_cpp(generation: str, tags: Collection[str] = CPP_TAGS) -> Extracted:
    """The program that a model handed in: the last complete block tagged C++, else the last untagged one that is C++.

    What the model said outside of its thoughts is its answer, and is looked through first: a draft inside
    `<think>…</think>` never wins over it. Only where the answer holds no program at all (the model was cut off while it
    thought, or did not repeat itself) are the thoughts looked through by the same rules, as the reference does; the
    rule's name says so, for those who would rather not count these.

    A last block without its closing fence was cut off in the middle of the program: an earlier complete one is taken,
    else there is none. Blank blocks are passed over.

    Args:
        generation: everything the model said.
        tags: of the blocks that count as tagged, without a year (`C_TAGS` for a program in C).

    Returns:
        The code with line feeds for line ends, and the rule: `fence:cpp`, `fence:untagged`, `think:cpp`,
        `think:untagged` or `none`.
    """
    answer, thoughts = split_thoughts(generation)
    for where, pieces in (("fence", answer), ("think", thoughts)):
        found = _last_block(pieces, tags)
        if found is not None:
            how = "cpp" if found.tag else "untagged"
            return Extracted(code=encodable(found.body()), rule=f"{where}:{how}")
    return Extracted(code=None, rule="none")


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


def _last_block(pieces: list[str], tags: Collection[str]) -> Block | None:
    """The last tagged block of all pieces, else the last untagged one that looks like C++ (or C)."""
    tagged: Block | None = None
    untagged: Block | None = None
    for piece in pieces:
        for block in blocks(piece):
            if block.tag.rstrip("0123456789") in tags:
                tagged = tagged if block.blank else block
            elif not (block.tag or block.blank) and looks_like_cpp(block.text[block.start : block.end]):
                untagged = block
    return tagged or untagged
