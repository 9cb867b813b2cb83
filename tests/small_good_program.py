"""A known good program without large headers, for tests that compile it often and are not about it."""

from __future__ import annotations

import pytest

from ioi_eval.languages.cpp import Cpp


def use_small_good_program(patch: pytest.MonkeyPatch) -> None:
    """Replace the known good program in C++ by one that is compiled in 0.2 s of CPU time, not 1.7 s."""
    name, source = Cpp.known_good_program
    patch.setattr(Cpp, "known_good_program", (name, source.removeprefix(Cpp.large_headers)))
    patch.setattr(Cpp, "large_headers", b"")
