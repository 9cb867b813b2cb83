"""Checkers that a script of the package builds: which program becomes the checker, and how the script is confined."""

from __future__ import annotations

from typing import Any

import pytest

from ioi_eval.model import Batch, CheckerProtocol, JudgeProgram, SourceFile, Verdict

PROGRAM = '#include <cstdio>\nint main() { std::puts("printed"); }'
VALIDATOR = b"""#include "codes.h"
#include <fstream>
#include <iostream>
int main(int, char **argv) {
  std::string wanted, said;
  std::ifstream(argv[2]) >> wanted;
  std::cin >> said;
  return said == wanted ? kRight : kWrong;
}
"""
OTHER_FILES = (
    SourceFile(path="checker/validator.cpp", content=VALIDATOR),
    SourceFile(path="checker/codes.h", content=b"constexpr int kRight = 42, kWrong = 43;\n"),
)
COMPILES = "c++ -O1 -static -isystem. -o run validator.cpp\n"


def problem_with(problem_from: Any, script: str) -> Any:
    """A problem with two tests: the program prints the answer of one, and not that of the other."""
    tests = {"right": (b"", b"printed\n"), "wrong": (b"", b"something else\n")}
    build = SourceFile(path="checker/build", content=script.encode())
    checker = JudgeProgram(source=build, files=OTHER_FILES, protocol=CheckerProtocol.KATTIS)
    return problem_from(tests, method=Batch(check=checker))


def outcomes_with(bench: Any, problem_from: Any, script: str) -> dict[str, Any]:
    """The outcomes of the two tests."""
    return dict(bench.outcomes(problem_with(problem_from, script), PROGRAM))


@pytest.mark.parametrize(
    "script",
    [
        f"#!/bin/sh\nexec {COMPILES}",
        f"#!/bin/bash\nset -o pipefail\nmkdir out && cp *.cpp *.h out && cd out && {COMPILES}ln -s out/run ../run\n",
    ],
)
def test_script_leaves_the_checker(bench: Any, problem_from: Any, script: str) -> None:
    """The checker is the script's result with the name `run`: a file or a link to a file."""
    seen = outcomes_with(bench, problem_from, script)
    assert {name: (test.verdict, test.score) for name, test in seen.items()} == {
        "right": (Verdict.AC, 1.0),
        "wrong": (Verdict.WA, 0.0),
    }


def test_script_is_confined_like_a_compiler(bench: Any, problem_from: Any) -> None:
    """It can read its directory and the programs of the system, but no files of users, no processes and no network."""
    stops = [
        "cat /etc/shadow",
        "cat /etc/passwd",
        "ls /root",
        "ls /home",
        "ls /tmp",
        "cat /proc/1/environ",
        "touch /usr/left",
        "touch /dev/shm/left",
        "kill -0 1",
        'python3 -c "import socket; socket.socket()"',
    ]
    tried = "".join(f"if {stop}; then echo could {number}; exit 1; fi\n" for number, stop in enumerate(stops))
    seen = outcomes_with(bench, problem_from, f"#!/bin/sh\n{tried}{COMPILES}")["right"]
    assert (seen.verdict, seen.message) == (Verdict.AC, "")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("#!/bin/sh\necho no boost here >&2\nexit 3\n", "no boost here"),
        ("#!/bin/sh\ntrue\n", "cannot stat 'run'"),
        ("#!/usr/bin/there-is-no-such\n", "not found"),
    ],
)
def test_script_that_fails_is_a_judge_error(full_bench: Any, problem_from: Any, script: str, message: str) -> None:
    """The submission gets JE without a score, and the message contains the script's stderr."""
    result = full_bench.result(problem_with(problem_from, script), PROGRAM)
    assert (result.verdict, result.score) == (Verdict.JE, None)
    assert message in result.compile.message
