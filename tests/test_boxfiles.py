"""Tests of the accessor of the box files."""

from __future__ import annotations

from ioi_eval import boxfiles


def test_the_runner_travels_as_one_file() -> None:
    """Every header of `runner/` is in the text, once, and none of ours is still included."""
    text = boxfiles.runner_source().decode("utf-8")
    assert '#include "' not in text
    for phrase in (
        "// Scores: what a judge program's words mean",
        "class TestRun {",
        "int main(int argc, char** argv)",
    ):
        assert text.count(phrase) == 1, phrase
