"""A program that compiles wherever anything does: it tells a broken compiler from broken programs. Pure.

It includes all headers that programs usually include, as a box may hide a file that one of them needs: then it is not
the program's fault that it does not compile.
"""

from __future__ import annotations

from ioi_eval.jobs.compile import Recipe, Step, compile_argv
from ioi_eval.model import Language
from ioi_eval.toolchain import Toolchain

GOOD_STD = "gnu++17"  # what every compiler that builds the runner knows

_C_HEADERS = "".join(
    f"#include <{name}.h>\n"
    for name in (
        *("errno", "limits", "math", "pthread", "signal", "stdio"),
        *("stdlib", "string", "sys/time", "time", "unistd"),
    )
)
_GOOD = {
    Language.C: (
        "good.c",
        f"{_C_HEADERS}int main(void) {{ int *class = malloc(1); return class == 0; }}\n".encode(),
    ),
    Language.CPP: (
        "good.cpp",
        f"""#ifdef __has_include
#if __has_include(<bits/stdc++.h>)
#include <bits/stdc++.h>
#endif
#endif
#include <vector>
{_C_HEADERS}int main() {{ return static_cast<int>(std::vector<int>().size()); }}
""".encode(),
    ),
}


def good_recipe(toolchain: Toolchain, std: str = GOOD_STD, language: Language = Language.CPP) -> Recipe:
    """How the good program of a language is compiled, to a standard."""
    name, source = _GOOD[language]
    argv = compile_argv(language, name, "good.o", toolchain, std=std)
    return Recipe(
        what="good program",
        steps=(
            Step(argv=argv, sees=((name, source),)),
            Step(argv=toolchain.link_argv(("good.o",), "good")),
        ),
        artifacts=("good",),
        reads=toolchain.sees,
    )
