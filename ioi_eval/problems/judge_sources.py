"""How a judge program is made from its source: it is compiled, or runs as it is. Part of the fingerprint's rules."""

from __future__ import annotations

import re

from ioi_eval.model import Language, SourceFile

BUILD_SCRIPT = "build"
"""A script that builds a checker or interactor as `run`. Source: Kattis problem package format, "Programs"."""

_NAMES_PYTHON = re.compile(rb"#![^\n]*[/ ]python3(?![\w.])")


def is_compiled(source: SourceFile) -> bool:
    """Whether a judge program is C++ or C source or is made by a script, rather than a script that runs as it is."""
    return source.name == BUILD_SCRIPT or source.name.endswith((*Language.CPP.endings, *Language.C.endings))


def needs_python(source: SourceFile) -> bool:
    """Whether a judge program is a script that `python3` runs."""
    return _NAMES_PYTHON.match(source.content) is not None
