"""The links by which judge programs, and the processes that they start, open their files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.graders.runner_box import JUDGE, LIMITS, Box, Files, line, plan, run_batch, run_game

PYTHON = "/usr/bin/python3"
needs_python = pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"no {PYTHON}")

CHECKER = f"""#!{PYTHON} -sS
import subprocess, sys
done = subprocess.run(["cmp", sys.argv[2], sys.argv[3]], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
print(int(done.returncode == 0))
print(done.returncode, done.stderr.decode().strip(), file=sys.stderr)
""".encode()


@needs_python
def test_a_process_of_a_checker_opens_its_files(box: Box, program: Callable[..., Path]) -> None:
    """Python's `subprocess` closes the checker's descriptors in the process that it starts."""
    answer = run_batch(
        box, program("contestant"), "sum 1", "sum 2", files={"checker": CHECKER},
        checker=line("checker", protocol="cms", file="checker", **JUDGE),
    )  # fmt: skip
    assert [(entry["verdict"], entry["message"]) for entry in answer.lines] == [("AC", "0"), ("WA", "1")]


def test_a_process_of_a_compiled_checker_opens_its_files(box: Box, program: Callable[..., Path]) -> None:
    """The same for a checker that is no script."""
    answer = run_batch(
        box,
        program("contestant"),
        *(f"print 1\ncompare {name}" for name in ("input.txt", "output.txt")),
        answer=b"answer\n",
        files={"checker": program("checker")},
        checker=line("checker", protocol="cms", file="checker", **JUDGE),
    )
    messages = [("AC", "cmp ended with 0"), ("WA", "cmp ended with 1")]
    assert [(entry["verdict"], entry["message"]) for entry in answer.lines] == messages


MOVES = b"""#!/bin/bash
mkdir moved && mv *.txt moved && cp -P moved/output.txt copied && cp -rL . ../"${PWD##*/}-whole" || exit 3
cmp -s copied moved/correct_output.txt && rm -r ../"${PWD##*/}-whole" && echo 1
"""


def test_a_checker_may_move_and_copy_its_files(box: Box, program: Callable[..., Path]) -> None:
    """The links lead to the files from everywhere, and nothing else is in the directory."""
    answer = run_batch(
        box, program("contestant"), "sum 1", files={"checker": MOVES},
        checker=line("checker", protocol="cms", file="checker", **JUDGE),
    )  # fmt: skip
    assert answer.verdicts == ["AC"], answer.lines


MANAGER = f"""#!{PYTHON} -sS
import os, subprocess, sys
texts = subprocess.run(["cat", "input.txt", "correct_output.txt"], stdout=subprocess.PIPE).stdout
right = texts == b"some\\nanswer\\n"
for number in range(1, len(sys.argv), 2):
    with open(sys.argv[number + 1], "w") as to, open(sys.argv[number]) as back:
        print("peek", os.getpid(), file=to, flush=True)
        right &= back.readline().split() == [str(2 * os.getpid())]
        print("end 0", file=to, flush=True)
        back.read()
print(int(right))
""".encode()


@needs_python
@pytest.mark.parametrize("processes", [1, 2])
def test_a_process_of_a_manager_opens_its_files(box: Box, program: Callable[..., Path], processes: int) -> None:
    """The contestant's program runs meanwhile, and cannot open them, although it knows the manager's process id."""
    entry = run_game(box, program, "some\n", files={"manager": MANAGER}, processes=processes).only
    assert (entry["verdict"], entry["stderr"]) == ("AC", ""), entry


INTERACTOR = f"""#!{PYTHON} -sS
import subprocess, sys
print("play 3", flush=True)
number = int(sys.stdin.readline())
print("end 0", flush=True)
same = subprocess.run(["cmp", sys.argv[1], sys.argv[2]]).returncode == 0
sys.exit(42 if number == 6 and same else 43)
""".encode()


@needs_python
def test_a_process_of_an_interactor_opens_its_files(box: Box, program: Callable[..., Path]) -> None:
    """It compares the input with the answer."""
    job = plan(
        "run",
        "program file=program",
        line("limits", **LIMITS),
        "task kind=communication io=std_io",
        line("manager", file="manager", protocol="kattis", **JUDGE),
        "order run=all",
        "test id=0 input=in answer=same",
        "test id=1 input=in answer=other",
    )
    files: Files = {"program": program("stub"), "manager": INTERACTOR, "in": b"1\n", "same": b"1\n", "other": b"2\n"}
    assert box.run(job, files).verdicts == ["AC", "WA"]
