"""Tests of `boxfiles`, which reads the files that are sent to the box."""

from __future__ import annotations

from pathlib import Path

from ioi_eval import boxfiles

SOURCES = Path(__file__).parents[1] / "graders"


def test_the_runner_is_sent_as_one_file() -> None:
    """The source contains the program and every header of `runner/` once, and no `#include` of our own headers."""
    lines = boxfiles.runner_source().decode("utf-8").splitlines()
    assert not [line for line in lines if line.startswith('#include "')]
    for source in (SOURCES / "runner.cpp", *sorted((SOURCES / "runner").glob("*.h"))):
        opening = source.read_text(encoding="utf-8").partition("\n")[0]
        assert lines.count(opening) == 1, source.name
