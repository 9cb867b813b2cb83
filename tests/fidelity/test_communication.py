"""The exact rules of Communication: a manager's input, its output, and when it is at fault.

Source of the rules: CMS, `cms/grading/tasktypes/Communication.py`: a process that fails makes the outcome 0 whatever
the manager says; a manager that fails makes no outcome at all. CMS has no rule for the case that one failure causes the
other; here the first failure decides.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.model import CheckerProtocol, Communication, JudgeProgram, SourceFile
from tests.fidelity.managers import (
    AC,
    COMMUNICATION,
    ECHO,
    HEAD,
    JE,
    PA,
    RE,
    TALKS,
    TLE,
    WA,
    Case,
    managers,
    mismatches,
)


def test_manager_prints_the_score(bench: Any, problem_from: Any) -> None:
    """Like a checker: the first line of its stdout is the score, the first line of its stderr the message."""
    cases = {
        "right": Case(f"{TALKS} && echo 1 && echo well done >&2", AC, 1.0, "well done"),
        "partial": Case(f"{TALKS} && echo 0.25 && echo translate:partial >&2", PA, 0.25, "Output is partially correct"),
        "wrong": Case(f"{TALKS} && echo 0 && echo Protocol Violation >&2", WA, 0.0, "Protocol Violation"),
        "nearly": Case(f"{TALKS} && echo 0.99996", PA, 0.99996),
        "blanks": Case(f"{TALKS} && echo ' 1 '", AC, 1.0),
        "more lines": Case(f"{TALKS} && echo 0.5 && echo 1", PA, 0.5),
        "nan": Case(f"{TALKS} && echo nan", JE, None, "score"),
        "of 100": Case(f"{TALKS} && echo 100", JE, None, "score"),
        "two words": Case(f"{TALKS} && echo 1 extra", JE, None, "score"),
        "nothing": Case(TALKS, JE, None, "score"),
    }
    assert mismatches(bench, problem_from, ECHO, cases, COMMUNICATION) == []


def test_manager_gets_its_files(bench: Any, problem_from: Any) -> None:
    """It gets the input as stdin and `input.txt`, the answer, its own directory, and two FIFOs as arguments."""
    cases = {
        "stdin": Case("read -r first; speak $1 $2; [[ $first = read* ]] && echo 1", AC, 1.0),
        "input.txt": Case("speak $1 $2; cmp input.txt - && echo 1", AC, 1.0),
        "answer": Case("speak $1 $2; [ -e correct_output.txt ] && echo 1", AC, 1.0),
        "own directory": Case("speak $1 $2; echo x > output.txt && [ -s output.txt ] && echo 1", AC, 1.0),
        "arguments": Case("speak $1 $2; [ $# = 2 ] && echo 1", AC, 1.0),
    }
    assert mismatches(bench, problem_from, ECHO, cases, COMMUNICATION) == []


def test_manager_arguments_follow_the_fifos(bench: Any, problem_from: Any) -> None:
    """Arguments of the task come after the FIFOs, with any characters."""
    cases = managers(("all", 'speak $1 $2; [ "$3|$4|$5|$#" = "7|a b,c||5" ] && echo 1', AC, 1.0))
    method = replace(COMMUNICATION, manager=replace(COMMUNICATION.manager, args=("7", "a b,c", "")))
    assert mismatches(bench, problem_from, ECHO, cases, method) == []


def test_manager_that_exits_first(bench: Any, problem_from: Any) -> None:
    """Its score counts if the program then ends without failure, even if the manager has not opened its FIFOs."""
    cases = managers(
        ("without a word", "speak $1 $2; echo 1", AC, 1.0),
        ("with part of it", "speak $1 $2; echo 0.5", PA, 0.5),
        ("with a refusal", "speak $1 $2; echo 0", WA, 0.0),
        ("without opening", "echo 1", AC, 1.0),
        ("opening one", "exec 4>$2; echo 1", AC, 1.0),
    )
    assert mismatches(bench, problem_from, ECHO, cases, COMMUNICATION) == []


def test_manager_that_fails_is_at_fault(bench: Any, problem_from: Any) -> None:
    """A crash or a non-zero exit code is a final JE. The program did nothing wrong."""
    cases = {
        "exit 3": Case(
            f"{TALKS}; echo 1; echo why >&2; exit 3", JE, None, "exit code 3, which protocol cms does not have: why"
        ),
        "at once": Case("exit 1", JE, None, "exit code 1"),
        "segfault": Case(f"{TALKS}; echo 1; kill -SEGV $$", JE, None, "signal 11"),
    }
    assert mismatches(bench, problem_from, ECHO, cases, COMMUNICATION) == []


def test_manager_over_its_time_is_at_fault(full_bench: Any, problem_from: Any) -> None:
    """A manager over its time limit is JE, whether or not it has opened its FIFOs."""
    cases = {
        "busy": Case(f"{TALKS}; echo 1; while :; do :; done", JE, None, "over its"),
        "busy before it opens": Case("while :; do :; done", JE, None, "over its"),
    }
    assert mismatches(full_bench, problem_from, ECHO, cases, COMMUNICATION) == []


def test_manager_that_hangs_after_the_program_is_at_fault(full_bench: Any, problem_from: Any) -> None:
    """The program has ended without failure and the manager is idle: JE."""
    cases = {"hangs": Case(f"{TALKS}; hang_up; echo 1; exec sleep 1000", JE, None, "does nothing")}
    assert mismatches(full_bench, problem_from, ECHO, cases, COMMUNICATION) == []


def test_manager_that_never_opens_its_fifos_is_at_fault(full_bench: Any, problem_from: Any) -> None:
    """JE, because the program waits for the manager. The message says which FIFO is not opened, and the right order."""
    waits = "it waits in opening argument 1 for reading; argument 2, for writing, comes first"
    cases = {
        "hangs": Case("exec sleep 1000", JE, None, "first argument 2 for writing, then argument 1 for reading"),
        "wrong order": Case("exec 3<$1; exec 4>$2; echo 1", JE, None, f"it does not open its FIFOs: {waits}"),
        "half": Case("exec 4>$2; exec sleep 1000", JE, None, "argument 1 is not opened for reading"),
    }
    assert mismatches(full_bench, problem_from, ECHO, cases, COMMUNICATION) == []


def test_program_that_waits_for_a_silent_manager_is_too_slow(bench: Any, problem_from: Any) -> None:
    """TLE, as in CMS, where the program's wall clock limit is reached long before the manager's."""
    cases = managers(("hangs", "speak $1 $2; echo 1; exec sleep 1000", TLE, 0.0), limit="idle")
    assert mismatches(bench, problem_from, ECHO, cases, COMMUNICATION) == []


PYTHON_MANAGER = b"""#!/usr/bin/python3 -sS
import io, sys
from_program, to_program = sys.argv[1:]
to = io.open(to_program, "wb", buffering=0)
back = io.open(from_program, "rb", buffering=0)
value = int(io.open("input.txt").readline())
to.write(b"%d\\n" % value)
print(1 if back.readline() == b"%d\\n" % value else 0)
print("heard", file=sys.stderr)
"""


@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="no /usr/bin/python3")
def test_manager_may_be_a_python_script(bench: Any, problem_from: Any) -> None:
    """A Python manager like those of CMS's tests: unbuffered, and it reads the input from `./input.txt`."""
    manager = JudgeProgram(source=SourceFile(path="graders/manager", content=PYTHON_MANAGER))
    problem = problem_from({"a": (b"41\n", b"")}, method=Communication(manager=manager))
    outcome = bench.outcomes(problem, HEAD + ECHO)["a"]
    assert (outcome.verdict, outcome.message) == (AC, "heard")


CHECKER = SourceFile(
    path="checker/checker.sh",
    content=b"""#!/bin/bash
[ "$(cat input.txt)" = "crash checker" ] && exit 9
output=output.txt
[ "$3" = feedback/ ] && output=/dev/stdin
if [ "$(cat $output)" = "$(cat correct_output.txt)" ]; then score=1 code=42; else score=0 code=43; fi
[ "$3" = feedback/ ] && exit $code
[ "$3" = correct_output.txt ] && exit $((1 - score))
echo $score
echo checked >&2
""",
)

RELAY = SourceFile(
    path="graders/manager.sh",
    content=b"""#!/bin/bash
exec 4>"$2" 3<"$1"
read -r order
[ "$order" = "crash manager" ] && exit 9
echo "$order" >&4
exec 4>&-
cat <&3
""",
)


@pytest.mark.parametrize("protocol", [protocol for protocol in CheckerProtocol if protocol.has_program])
def test_checker_after_the_manager(full_bench: Any, problem_from: Any, protocol: CheckerProtocol) -> None:
    """The checker judges the manager's stdout, which is not read as a score."""
    tests = {
        "right": (b"hello", b"hello\n"),
        "wrong": (b"hello", b"bye\n"),
        "not a score": (b"1", b"2\n"),
        "crash": (b"crash program", b""),
        "manager": (b"crash manager", b""),
        "checker": (b"crash checker", b""),
    }
    checker = JudgeProgram(source=CHECKER, protocol=protocol)
    problem = problem_from(tests, method=Communication(manager=JudgeProgram(source=RELAY), check=checker))
    code = 'int main() { if (fgets(block, 99, stdin) && strstr(block, "crash p")) abort(); fputs(block, stdout); }'
    seen = full_bench.outcomes(problem, HEAD + code)
    found = {name: (outcome.verdict, outcome.failed_program) for name, outcome in seen.items()}
    assert found == {
        "right": (AC, None),
        "wrong": (WA, None),
        "not a score": (WA, None),
        "crash": (RE, None),
        "manager": (JE, "manager"),
        "checker": (JE, "checker"),
    }
    assert seen["right"].message == ("checked" if protocol is CheckerProtocol.CMS else "")
