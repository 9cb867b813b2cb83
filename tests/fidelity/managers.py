"""Managers that execute the commands in the input, so that one program, compiled once, is judged by many managers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ioi_eval.model import Communication, JudgeProgram, ProcessIO, RunMethod, SourceFile, TestOutcome, Verdict

_SCRIPT = SourceFile(
    path="graders/manager.sh",
    content=b"""#!/bin/bash
# The order in which a sandbox opens its ends as stdin and stdout: first what the program reads.
speak() { exec 4>"$2" 3<"$1"; }
hang_up() { exec 4>&- 3<&-; }
. ./input.txt
""",
)

JE, AC, PA, WA, RE, TLE, MLE, OLE = (
    *(Verdict.JE, Verdict.AC, Verdict.PA, Verdict.WA),
    *(Verdict.RE, Verdict.TLE, Verdict.MLE, Verdict.OLE),
)

COMMUNICATION = Communication(manager=JudgeProgram(source=_SCRIPT))

FIFO_IO = replace(COMMUNICATION, process_io=ProcessIO.FIFO_IO)

HEAD = """
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char block[4096];
static void echo(int from, int to) {
  for (ssize_t n; (n = read(from, block, sizeof block)) > 0;)
    if (write(to, block, n) != n) _exit(9);
}
static void touch(int mebibytes) {
  volatile char* pages = (char*)malloc(mebibytes << 20);
  for (int i = 0; i < mebibytes << 20; i += 4096) pages[i] = 1;
}
"""


@dataclass(frozen=True, slots=True)
class Case:
    """What a manager or a checker does, and the expected outcome.

    Args:
        commands: its shell commands.
        verdict, score: the verdict and score of the test.
        message: the message; for JE, a part of it. `None` if any message is right.
        limit: the limit that stopped the program.
        code: the program's exit code. `None` if any code is right.
    """

    commands: str
    verdict: Verdict
    score: float | None
    message: str | None = None
    limit: str | None = None
    code: int | None = None


def wrong(cases: dict[str, Case], outcomes: dict[str, TestOutcome], program: str = "manager") -> list[str]:
    """Descriptions of the cases with another outcome than expected."""
    found = []
    for name, case in cases.items():
        seen = outcomes[name]
        fits = case.message is None or (
            case.message in seen.message if case.verdict is JE else case.message == seen.message
        )
        fits &= (seen.verdict, seen.score, seen.limit) == (case.verdict, case.score, case.limit)
        fits &= case.code is None or seen.exit_code == case.code
        if not fits:
            found.append(f"{name}: {seen} for {case}")
        if case.verdict is JE and (seen.failed_program, seen.final) != (program, True):
            found.append(f"{name}: blames {seen.failed_program}, final {seen.final}")
    return found


def mismatches(
    bench: Any, problem_from: Any, code: str, cases: dict[str, Case], method: RunMethod, **fields: Any
) -> list[str]:
    """Judge a program with each manager. Returns descriptions of the cases with another outcome than expected."""
    tests = {name: (case.commands.encode(), b"") for name, case in cases.items()}
    problem = problem_from(tests, method=method, **fields)
    return wrong(cases, bench.outcomes(problem, HEAD + code))


def managers(*rows: tuple[str, str, Verdict, float | None], **same: Any) -> dict[str, Case]:
    """Cases from rows: name, the manager's commands, verdict and score."""
    return {name: Case(commands, verdict, score, **same) for name, commands, verdict, score in rows}


ECHO = "int main() { echo(0, 1); }"

TALKS = "speak $1 $2; echo hi >&4; read -r word <&3; [ $word = hi ]"


WAITS = "speak $1 $2; read -r word <&3"

SENDS = "speak $1 $2; for i in {1..10000}; do echo question >&4; done"
