"""`<bits/stdc++.h>`, precompiled: most submissions begin with it, and it costs more than all that follows. Pure.

GCC reads a precompiled header in place of the header itself where that is the first thing in a source file and the
options are the same; the object is the same to the byte (`tests/scorer/test_precompiled_headers.py`). So it is offered
to such source files only, and where a compilation fails it is done again without: what a compiler says, and whether a
program compiles, comes from the header itself.

It is built in a compile box from the machine's own headers and nothing else. Its key holds the state of all files in
the directories that the compiler reads, so that an upgrade of the system makes it anew.
Measured with g++ 12 and gnu++20: 4.9 CPU-s and 124 MB to build; then 0.4 CPU-s a program in place of 1.7.
Source: the GCC manual, "Using Precompiled Headers".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ioi_eval.config import MIB, CompileLimits
from ioi_eval.jobs.compile import Recipe, Step
from ioi_eval.model import Content
from ioi_eval.toolchain import Toolchain

HEADER = "bits/stdc++.h"
DIRECTORY = ".precompiled"
"""Where a compile box has it, below the work directory: no file of a submission is named so."""

_FILES = f"{DIRECTORY}/{HEADER}"
_NEXT = f"#include_next <{HEADER}>\n".encode()
"""Beside it, for a source file that includes the header again: there GCC takes what has this name, or fails."""

WORTH_BUILDING = 5
"""How many programs of a run ask for it before it is built: by then they would have cost as much as building it."""

_SOURCE = "all.h"
_ARTIFACT = "all.h.gch"
_MOST_BYTES = 512 * MIB
_FIRST = re.compile(rb"(?>\s+|//[^\n]*\n|/\*.*?\*/)*+#[ \t]*include[ \t]*<bits/stdc\+\+\.h>", re.DOTALL)
_SPLICED = re.compile(rb"(?:\\|\?\?/)\s*\n")
"""A line that goes on in the next one, so that a comment may end elsewhere."""


def begins_with_it(source: bytes) -> bool:
    """Whether the header is the first thing in a source file, but for blanks and comments."""
    first = _FIRST.match(source)
    return first is not None and not _SPLICED.search(first[0])


def header_recipe(toolchain: Toolchain, std: str) -> Recipe:
    """How it is built for a standard of C++."""
    return Recipe(
        what="precompiled header",
        steps=(
            Step(
                argv=toolchain.precompile_argv(_SOURCE, _ARTIFACT, std=std),
                sees=((_SOURCE, f"#include <{HEADER}>\n".encode()),),
            ),
        ),
        artifacts=(_ARTIFACT,),
        reads=toolchain.sees,
    )


def with_header(recipe: Recipe, header: Content) -> Recipe:
    """A submission's recipe whose sources find the precompiled header, those that begin with it.

    Args:
        recipe: of `submission_recipe`.
        header: what `header_recipe` has built, for the same toolchain and standard.
    """
    first, *others = recipe.steps
    sources = dict(first.sees)
    first = replace(first, sees=(*first.sees, (_FILES, _NEXT), (f"{_FILES}.gch", header)))
    return replace(recipe, steps=tuple(_finding(step, sources) for step in (first, *others)))


def _finding(step: Step, sources: Mapping[str, Content]) -> Step:
    """The step, with the option by which the compiler looks there, if its source begins with the header."""
    if "-c" not in step.argv:
        return step  # it links
    at = step.argv.index("-c")
    source = sources[step.argv[at + 1]]
    if not (isinstance(source, bytes) and begins_with_it(source)):
        return step
    return replace(step, argv=(*step.argv[:at], "-isystem", DIRECTORY, *step.argv[at:]))


def header_limits(limits: CompileLimits) -> CompileLimits:
    """What building it may use: it is much larger than any program."""
    return replace(limits, file_bytes=max(limits.file_bytes, _MOST_BYTES))


def can_precompile(toolchain: Toolchain) -> bool:
    """Whether the compiler is GCC: others have precompiled headers of another kind."""
    return "clang" not in toolchain.version.lower()
