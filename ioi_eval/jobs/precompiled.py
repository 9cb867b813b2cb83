"""Precompiles `<bits/stdc++.h>`: most submissions begin with it, and it takes longer to compile than the rest. Pure.

GCC reads a precompiled header in place of the header itself if that is the first thing in a source file and the
options are the same; the object is the same to the byte (`tests/scorer/test_precompiled_headers.py`). So only such
source files use it. If a compilation with it fails, it is repeated without it: CE and its message always come from a
compilation with the header itself.

It is built in a compile box from the machine's own headers only. Its key includes the state of all files in the
directories that the compiler reads, so it is built again after an upgrade of the system.
Measured with g++ 12 and gnu++20: 4.9 CPU-s and 124 MB to build; then 0.4 CPU-s a program in place of 1.7.
Source: the GCC manual, "Using Precompiled Headers".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ioi_eval.config import MIB, CompileLimits
from ioi_eval.jobs.recipes import Recipe, Step
from ioi_eval.model import Content
from ioi_eval.toolchain import Toolchain

HEADER = "bits/stdc++.h"
DIRECTORY = ".precompiled"
"""Its directory in a compile box, below the work directory: no file of a submission has this name."""

_FILES = f"{DIRECTORY}/{HEADER}"
_NEXT = f"#include_next <{HEADER}>\n".encode()
"""An ordinary header in the same directory. If a source file includes the header twice, GCC reads this file the second
time; without it, the compilation would fail."""

WORTH_BUILDING = 5
"""How many programs of a run must begin with it before it is built: building it costs as much as compiling it for so
many programs."""

_SOURCE = "all.h"
_ARTIFACT = "all.h.gch"
_MAX_BYTES = 512 * MIB
_FIRST = re.compile(rb"(?>\s+|//[^\n]*\n|/\*.*?\*/)*+#[ \t]*include[ \t]*<bits/stdc\+\+\.h>", re.DOTALL)
_SPLICED = re.compile(rb"(?:\\|\?\?/)\s*\n")
"""A line that continues in the next one: a comment may then end at another place."""


def begins_with_it(source: bytes) -> bool:
    """Whether the header is the first thing in a source file, except blanks and comments."""
    first = _FIRST.match(source)
    return first is not None and not _SPLICED.search(first[0])


def header_recipe(toolchain: Toolchain, std: str) -> Recipe:
    """How the header is precompiled for a C++ standard."""
    return Recipe(
        what="precompiled header",
        steps=(
            Step(
                argv=toolchain.precompile_argv(_SOURCE, _ARTIFACT, std=std),
                files=((_SOURCE, f"#include <{HEADER}>\n".encode()),),
            ),
        ),
        artifacts=(_ARTIFACT,),
        sees=toolchain.sees,
    )


def with_header(recipe: Recipe, header: Content) -> Recipe:
    """A submission's recipe, changed so that sources that begin with the header use the precompiled one.

    Args:
        recipe: from `submission_recipe`.
        header: the result of `header_recipe`, for the same toolchain and standard.
    """
    first, *others = recipe.steps
    sources = dict(first.files)
    first = replace(first, files=(*first.files, (_FILES, _NEXT), (f"{_FILES}.gch", header)))
    return replace(recipe, steps=tuple(_with_header_option(step, sources) for step in (first, *others)))


def _with_header_option(step: Step, sources: Mapping[str, Content]) -> Step:
    """The step; if its source begins with the header, with the option that makes the compiler look for it."""
    if "-c" not in step.argv:
        return step  # it links
    at = step.argv.index("-c")
    source = sources[step.argv[at + 1]]
    if not (isinstance(source, bytes) and begins_with_it(source)):
        return step
    return replace(step, argv=(*step.argv[:at], "-isystem", DIRECTORY, *step.argv[at:]))


def header_limits(limits: CompileLimits) -> CompileLimits:
    """The limits for building it: it is much larger than any program."""
    return replace(limits, file_bytes=max(limits.file_bytes, _MAX_BYTES))


def can_precompile(toolchain: Toolchain) -> bool:
    """Whether the compiler is GCC: others have precompiled headers of another kind."""
    return "clang" not in toolchain.version.lower()
