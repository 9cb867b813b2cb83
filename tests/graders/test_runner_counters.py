"""Two processes of a submission could communicate through counters that the kernel keeps for all processes.

No number that the second process can read may depend on what the first can do. In random order, the first process acts
or rests for the same time. After each turn the second makes every call that a contestant may make, and notes all
numbers in the answers. A number depends on the first process if it changes more in every turn in which that acts than
in every turn in which it rests, or is always higher, or always lower. Without confinement, the same programs must find
the counters that are known: otherwise this test would prove nothing.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ioi_eval.sandbox.local.compiler import detect
from tests.graders.runner_box import JUDGE, ROOT, Box, Files, communication_plan, line

TURNS = 12
PATIENCE_MS = 900_000
"""For two processes that share one processor with whatever else a machine does."""

NOT_FOR_LOOKING = {
    "execveat": "of the launcher alone, with a descriptor that a program cannot own",
    "exit": "does not return",
    "exit_group": "does not return",
    "getrandom": "answers at random",
    "getpeername": "of pairs of sockets, which siblings have not",
    "getsockname": "of pairs of sockets, which siblings have not",
    "pause": "waits for ever",
    "recvfrom": "of pairs of sockets, which siblings have not",
    "restart_syscall": "of the kernel's own",
    "rseq": "answers by memory, as getcpu does",
    "rt_sigreturn": "of the kernel's own",
    "rt_sigsuspend": "waits for ever",
    "sendmsg": "of the launcher alone, with a descriptor that a program cannot own",
    "sendto": "of pairs of sockets, which siblings have not",
    "set_robust_list": "answers nothing",
    "set_tid_address": "answers its own number, which gettid does",
    "shutdown": "of pairs of sockets, which siblings have not",
}
"""Calls that are allowed in some way and are not made to look, and why not."""

PROCESSOR = re.compile(r"(clock_gettime -?\d+|getrusage \S+|times |getcpu |sched_yield )")
"""The time of a processor that both use, which changes with how much the other has worked (caches, who runs where).

docs/security.md tells of it. No filter could keep it away: a loop of one's own tells the same.
"""


PLAIN = ("-U_FORTIFY_SOURCE",)
"""Ubuntu's compiler has it by default: calls with sizes that no buffer has would end the program in its own library."""


def drawn() -> str:
    """An order in which the first process acts as often as it rests."""
    turns = ["a", "r"] * (TURNS // 2)
    random.shuffle(turns)
    return "".join(turns)


def found(box: Box, program: Callable[..., Path], *, static: bool = True) -> set[str]:
    """Numbers that tell of the first process, in two games: what only looks so by chance is in one of them."""
    games = []
    processors = os.sched_getaffinity(0)
    for turns in (drawn(), drawn()):
        test = ["test id=0 input=in answer=ans"]
        plan = communication_plan(test, manager={**JUDGE, "wall_ms": PATIENCE_MS}, processes=2, cpu_ms=60_000)
        sees = [] if static else detect("g++").libraries
        own = line("program", file="program", static=int(static), sees=sees)
        plan = plan.replace(b"program file=program", own.encode())
        counters = program("counters", *PLAIN, static=static)
        files: Files = {"program": counters, "manager": program("counters_manager"), "in": turns.encode(), "ans": b""}
        try:
            os.sched_setaffinity(0, {min(processors)})  # some numbers are counted for each processor
            entry = box.run(plan, files, timeout=PATIENCE_MS / 1000).only
        finally:
            os.sched_setaffinity(0, processors)
        assert entry["verdict"] == "AC", entry
        games.append({name for name in entry["message"].split(",") if name and not PROCESSOR.match(name)})
    return games[0] & games[1]


def test_no_number_tells_what_the_other_does(box: Box, program: Callable[..., Path]) -> None:
    """In every box: root and user, full and reduced."""
    assert found(box, program) == set()


def test_nor_with_libraries(boxes: Callable[[str], Box], program: Callable[..., Path]) -> None:
    """With full isolation siblings may be linked dynamically."""
    assert found(boxes("dir-full"), program, static=False) == set()


def test_the_same_programs_find_what_is_counted(boxes: Callable[[str], Box], program: Callable[..., Path]) -> None:
    """Unconfined: the numbers of pipes and sockets. (Those of threads are moved by whatever else runs meanwhile.)"""
    box = replace(boxes("dir-reduced"), name="none", most="none", level="none")
    numbers = found(box, program)
    known = {f"fstat of {made}.1" for made in ("pipe", "pipe2", "socket", "socketpair")}
    assert known <= numbers, numbers


def test_every_call_that_is_allowed_is_made(program: Callable[..., Path]) -> None:
    """Whoever allows another call has it looked at, or says why that is for nothing."""
    words: list[str | Path] = [program("counters", *PLAIN), "list"]
    made = set(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split())
    allowed = allowed_calls()
    assert len(allowed) > 150
    assert allowed - made == NOT_FOR_LOOKING.keys()


def allowed_calls() -> set[str]:
    """The calls of the table that are allowed in some way."""
    table = (ROOT / "graders" / "runner" / "system_calls.h").read_text().partition("kRules[] = {")[2]
    table = re.sub(r"//[^\n]*|/\*.*?\*/", "", table)
    rules = re.findall(r"\{Let::(\w+),(.*?\})\},\n", table, re.DOTALL)
    calls: set[str] = set()
    for let, rest in rules:
        if let not in ("Never", "Deadly"):
            calls |= set(re.findall(r"C\((\w+)\)", rest)) | set(re.findall(r'\{\w+, "(\w+)"\}', rest))
    return calls
