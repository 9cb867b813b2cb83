"""Checkers that are built by a script of the package: the result, and what the script may not do."""

from __future__ import annotations

from typing import Any

import pytest

from ioi_eval.model import CheckerProtocol, SourceFile, Verdict

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
BESIDE = (
    SourceFile(path="checker/validator.cpp", content=VALIDATOR),
    SourceFile(path="checker/codes.h", content=b"constexpr int kRight = 42, kWrong = 43;\n"),
)
COMPILES = "c++ -O1 -static -isystem. -o run validator.cpp\n"


def problem_with(problem_from: Any, script: str) -> Any:
    """A problem with a test whose answer is printed and one whose answer is not."""
    tests = {"right": (b"", b"printed\n"), "wrong": (b"", b"something else\n")}
    return problem_from(
        tests,
        checker=SourceFile(path="checker/build", content=script.encode()),
        checker_files=BESIDE,
        checker_protocol=CheckerProtocol.KATTIS,
    )


def judged(bench: Any, problem_from: Any, script: str) -> dict[str, Any]:
    """The outcomes of the two tests."""
    return dict(bench.outcomes(problem_with(problem_from, script), PROGRAM))


@pytest.mark.parametrize(
    "script",
    [
        f"#!/bin/sh\nexec {COMPILES}",
        f"#!/bin/bash\nset -o pipefail\nmkdir out && cp *.cpp *.h out && cd out && {COMPILES}ln -s out/run ../run\n",
    ],
)
def test_the_program_that_it_leaves_is_the_checker(bench: Any, problem_from: Any, script: str) -> None:
    """Under the name `run`, a file or a link to one."""
    seen = judged(bench, problem_from, script)
    assert {name: (test.verdict, test.score) for name, test in seen.items()} == {
        "right": (Verdict.AC, 1.0),
        "wrong": (Verdict.WA, 0.0),
    }


def test_it_reads_nothing_but_its_folder_and_the_system_s_programs(bench: Any, problem_from: Any) -> None:
    """As a compiler in its place would: no file of this machine's users, no other process, no network."""
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
    seen = judged(bench, problem_from, f"#!/bin/sh\n{tried}{COMPILES}")["right"]
    assert (seen.verdict, seen.message) == (Verdict.AC, "")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("#!/bin/sh\necho no boost here >&2\nexit 3\n", "no boost here"),
        ("#!/bin/sh\ntrue\n", "cannot stat 'run'"),
        ("#!/usr/bin/there-is-no-such\n", "not found"),
    ],
)
def test_one_that_fails_is_a_judge_error_in_its_words(
    full_bench: Any, problem_from: Any, script: str, words: str
) -> None:
    """Of the whole submission, without a score."""
    result = full_bench.result(problem_with(problem_from, script), PROGRAM)
    assert (result.verdict, result.score) == (Verdict.JE, None)
    assert words in result.compile.message
