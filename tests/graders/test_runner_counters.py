"""Two processes of a submission could communicate through counters that the kernel keeps for all processes.

No number that the second process can read may depend on the first. In random order, the first process acts, or rests
for the same time. After each turn, the second makes all calls that a contestant may make, and records all numbers in
the results. A number depends on the first process in these cases: in each turn in which the first acts, it changes more
than in all turns in which it rests; or it is always higher; or always lower. Without confinement, the same programs
must find the known counters, which shows that the test works.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ioi_eval.sandbox.local.compiler import detect
from tests.graders.runner_box import JUDGE, ROOT, Box, Files, communication_plan, in_each_kind_of_box, line
from tests.one_processor import one_processor

TURNS = 12
TIMEOUT_MS = 900_000
"""Time limit for two processes that share one processor with all other load of the machine."""

NOT_TRIED = {
    "execveat": "of the launcher alone, with a number that a program does not know",
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
"""Allowed calls that the second process does not make, with the reason."""

PROCESSOR = re.compile(r"(clock_gettime -?\d+|getrusage \S+|times |getcpu |sched_yield )")
"""Numbers that depend on the processor that both use: its time depends on the other's work (caches, scheduling).

docs/security.md describes this. No filter can prevent it: a process can measure the same with a loop.
"""


QUICKLY = ("-O0",)
"""How counters.cpp is compiled: twice as fast. If Ubuntu's compiler optimises, it also sets _FORTIFY_SOURCE: then libc
ends the program at calls with sizes over that of the buffer."""


def random_turns() -> str:
    """A random order in which the first process acts in half of the turns."""
    turns = ["a", "r"] * (TURNS // 2)
    random.shuffle(turns)
    return "".join(turns)


def moved_numbers(box: Box, program: Callable[..., Path], *, static: bool = True) -> set[str]:
    """Numbers that depend on the first process in one run. Chance may cause it."""
    test = ["test id=0 input=in answer=ans"]
    plan = communication_plan(test, manager={**JUDGE, "wall_ms": TIMEOUT_MS}, processes=2, cpu_ms=60_000)
    sees = [] if static else detect("g++").libraries
    own = line("program", file="program", static=int(static), sees=sees)
    plan = plan.replace(b"program file=program", own.encode())
    counters, manager = program("counters", *QUICKLY, static=static), program("counters_manager")
    files: Files = {"program": counters, "manager": manager, "in": random_turns().encode(), "ans": b""}
    with one_processor():  # some numbers are counted for each processor
        entry = box.run(plan, files, timeout=TIMEOUT_MS / 1000).only
    assert entry["verdict"] == "AC", entry
    return {name for name in entry["message"].split(",") if name and not PROCESSOR.match(name)}


@in_each_kind_of_box
def test_no_number_depends_on_the_other_process(box: Box, program: Callable[..., Path]) -> None:
    """No number depends on the other process in each of two runs, in each kind of box."""
    assert moved_numbers(box, program) & moved_numbers(box, program) == set()


def test_no_number_depends_on_the_other_process_with_shared_libraries(
    boxes: Callable[[str], Box], program: Callable[..., Path]
) -> None:
    """The same for dynamically linked processes, which full isolation allows."""
    first, second = (moved_numbers(boxes("dir-full"), program, static=False) for _ in range(2))
    assert first & second == set()


def test_known_counters_are_found_without_confinement(
    boxes: Callable[[str], Box], program: Callable[..., Path]
) -> None:
    """Without confinement, the inode numbers of pipes and sockets are found. (Thread ids also depend on other load.)

    They are not found if another process of the machine makes pipes meanwhile. So there are several attempts.
    """
    box = replace(boxes("dir-reduced"), name="none", most="none", level="none")
    known = {f"fstat of {made}.1" for made in ("pipe", "pipe2", "socket", "socketpair")}
    assert any(known <= moved_numbers(box, program) for _ in range(5))


def test_all_allowed_calls_are_tried(program: Callable[..., Path]) -> None:
    """Each allowed call is made by counters.cpp, or has a reason in `NOT_TRIED`."""
    words: list[str | Path] = [program("counters", *QUICKLY), "list"]
    made = set(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split())
    allowed = allowed_calls()
    assert len(allowed) > 140
    assert allowed - made == NOT_TRIED.keys()


def allowed_calls() -> set[str]:
    """The calls of contestants' table that are allowed, also those with conditions."""
    table = (ROOT / "graders" / "runner" / "system_calls.h").read_text().partition("kCallRules[] = {")[2]
    table = table.partition("\n};")[0]
    table = re.sub(r"//[^\n]*|/\*.*?\*/", "", table)
    rules = re.findall(r"\{Let::(\w+),(.*?\})\},\n", table, re.DOTALL)
    calls: set[str] = set()
    for let, rest in rules:
        if let not in ("Never", "Deadly"):
            calls |= set(re.findall(r"C\((\w+)\)", rest)) | set(re.findall(r'\{\w+, "(\w+)"\}', rest))
    return calls
