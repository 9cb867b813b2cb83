"""The runner is compiled before the first program. The compilation is announced, and its failure ends the command."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.cli.addition import PROBLEMS, TESTS, Start, Write, submission_row
from tests.refusing_compiler import refusing_compiler

FIRST = "first, the judge's own program (the runner) is compiled: 6 to 10 s of processor time, once for each compiler"


@pytest.fixture
def killed_compiler() -> Iterator[Path]:
    """A compiler that is killed when it compiles the runner."""
    with refusing_compiler("*runner.cpp*", "g++: fatal error: Killed signal terminated program cc1plus") as path:
        yield path


@pytest.mark.parametrize(
    "command",
    [
        ("score", "dump.jsonl", "--problems", "problems.jsonl", "--tests", "tests.jsonl", "--out", "out"),
        ("validate", "solutions.jsonl", "--problems", "problems.jsonl", "--tests", "tests.jsonl"),
        ("apps", "score", "programs.jsonl", "--dataset", "apps.jsonl", "--out", "out"),
        ("demo",),
        ("serve", "--port", "0"),
    ],
    ids=["score", "validate", "apps score", "demo", "serve"],
)
def test_a_compilation_is_announced_and_its_failure_ends_the_command(
    start: Start, write: Write, tmp_path: Path, killed_compiler: Path, command: tuple[str, ...]
) -> None:
    """A compiler that is killed because memory is short gives exit code 2, not a JE for each row. The message has the
    cause.
    """
    if command[0] == "serve" and shutil.which("bwrap") is None:
        pytest.skip("no bwrap")
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *TESTS)
    write("dump.jsonl", submission_row("right"))
    write("solutions.jsonl", submission_row("right", expected="AC"))
    write("apps.jsonl", {"problem_id": 1, "question": "", "input_output": '{"inputs": ["1"], "outputs": ["1"]}'})
    write("programs.jsonl", {"problem_id": 1, "code": "print(input())"})
    ended = start(*command, env={"CXX": str(killed_compiler), "IOI_EVAL_CACHE": str(tmp_path / "cache")})
    if "isolation 'full' is not available" in ended.stderr:
        pytest.skip("no full isolation here")
    assert ended.returncode == 2, ended.stderr
    assert FIRST in ended.stderr
    assert "the kernel killed the compiler: is there memory left?" in ended.stderr
    assert not (tmp_path / "out").exists()


def test_a_compiled_runner_is_not_announced(score: Start, write: Write, environment: Mapping[str, str]) -> None:
    """The compilation is announced once for each compiler."""
    write("dump.jsonl", submission_row("right"))
    score("dump.jsonl")
    ended = score("dump.jsonl", "--no-resume")
    assert ended.returncode == 0, ended.stderr
    assert "first, " not in ended.stderr
