"""Problems for the attacks. Each can be solved only by cheating, and its answers are random and new in each run.

A test's input is the name of the attack to try, so one program can contain many attacks. After each attack comes an
honest test of the same program: the attack must not change its verdict.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ioi_eval.blobs import BlobStore
from ioi_eval.config import MIB, CompileLimits, JudgeLimits, Policy
from ioi_eval.model import (
    Batch,
    Communication,
    Isolation,
    JudgeProgram,
    Problem,
    ProblemKey,
    ProcessIO,
    SourceFile,
    Subtask,
    TestCase,
    WhiteDiff,
)
from tests.attacks.catalogue import Program

HERE = Path(__file__).resolve().parent
_FILES = {path.name: path.read_bytes() for path in (HERE / "problems").iterdir() if path.is_file()}
"""Read at import: after a process has given up root, it may not have the right to read these files."""

HONEST = "honest-after-"
TIME_LIMIT_S = 0.3
TWO_PROCESSES_TIME_LIMIT_S = 1.0
"""Time limit for two processes. They cannot sleep: while one waits for the other, it uses CPU time."""
LONG_TIME_LIMIT_S = 10.0
"""Time limit for programs that must reach another limit first, or none. On a virtual machine, the first use of a page
can take about 13 µs of CPU time, ten times as much as usual; starting a thread takes 100 µs on a slow machine."""
MEMORY_LIMIT_BYTES = 128 * MIB
PADDING = b" " * 127 + b"\n"
"""At the end of inputs and answers: so they are large enough to be taken from a worker's package, not sent."""


COMPILING = CompileLimits(cpu_s=1, wall_s=60, memory_bytes=384 * MIB, processes=100, file_bytes=24 * MIB)
"""Compiler limits for the attacks on the compiler. They are reached in a short time."""


def policy(level: Isolation, *, compiling: CompileLimits | None = None) -> Policy:
    """Limits in the same proportions as the defaults, but small: they are reached in a short time.

    Args:
        level: the weakest isolation that is accepted.
        compiling: limits of the compiler, if not the defaults.
    """
    return Policy(
        least_isolation=level,
        compile=compiling or CompileLimits(cpu_s=60),
        judge=JudgeLimits(cpu_s=0.5, wall_s=5, memory_bytes=256 * MIB),
        output_bytes=8 * MIB,
    )


def problem(name: str, attacks: Sequence[str], cache: Path, *, long_limit: bool = False) -> Problem:
    """One of the problems, with a test for each attack and an honest test after each.

    Args:
        name: `secret` (the answers are random), `filed` (the same, with an input file and an output file), `stored`
            (one of two answers; the tests are in the cache, like those of a real data set), `sum` (an ordinary
            problem), `naive` (the checker prints the score that the program prints), `fragile` (a checker with
            faults), `whisper`, `whisper-fifo` and `whisper-turns` (two processes that must not communicate), `pair`
            (an ordinary problem for two processes), `relay` (a manager with faults).
        attacks: names of attacks.
        cache: the cache directory.
        long_limit: whether the time limit is `LONG_TIME_LIMIT_S`.
    """
    two_processes = name.startswith("whisper") or name == "pair"
    tests: dict[str, TestCase] = {}
    for attack in attacks:
        tests[attack] = _padded(_test(name, attack, cache))
        honest = HONEST + attack
        tests[honest] = _padded(_honest_test(name, honest, len(tests)))
    if name == "stored":
        tests |= {attack: _stored(tests[attack], cache) for attack in attacks}
    return Problem(
        key=ProblemKey(year=2000, id=name),
        name=name,
        method=_communication(name) if two_processes or name == "relay" else _batch(name),
        time_limit_s=LONG_TIME_LIMIT_S if long_limit else TWO_PROCESSES_TIME_LIMIT_S if two_processes else TIME_LIMIT_S,
        memory_limit_bytes=MEMORY_LIMIT_BYTES,
        subtasks=(Subtask(name="all", points=100, tests=tuple(tests)),),
        tests=tests,
        headers=(source("attack.h"), source("text.h")),
        cxx_std="gnu++17",
    )


def task_of(program: Program, cache: Path) -> Problem:
    """The problem of a program, with a test for each of its attacks."""
    return problem(program.problem, [attack.name for attack in program.attacks], cache, long_limit=program.long_limit)


def _batch(name: str) -> Batch:
    checkers = {
        "secret": "witness.cpp",
        "stored": "witness.cpp",
        "filed": "witness.cpp",
        "naive": "naive.cpp",
        "fragile": "fragile.cpp",
    }
    check = JudgeProgram(source=source(checkers[name])) if name in checkers else WhiteDiff()
    is_filed = name == "filed"
    return Batch(check=check, input_file="task.in" if is_filed else "", output_file="task.out" if is_filed else "")


def _communication(name: str) -> Communication:
    managers = {"relay": "relay_manager.cpp", "whisper-turns": "turns_manager.cpp", "pair": "pair_manager.cpp"}
    return Communication(
        manager=JudgeProgram(source=source(managers.get(name, "whisper_manager.cpp"))),
        processes=1 if name == "relay" else 2,
        process_io=ProcessIO.FIFO_IO if name == "whisper-fifo" else ProcessIO.STD_IO,
    )


def sealed_problem(secret: str) -> Problem:
    """The problem of the compile-time attacks: the program must print a secret that is in the grader's source.

    Args:
        secret: 26 letters or digits.
    """
    grader = source("sealed_grader.cpp")
    assert b'"SECRET"' in grader.content
    hidden = SourceFile(path="graders/grader.cpp", content=grader.content.replace(b'"SECRET"', f'"{secret}"'.encode()))
    return Problem(
        key=ProblemKey(year=2000, id="sealed"),
        name="sealed",
        method=Batch(check=JudgeProgram(source=source("witness.cpp"))),
        time_limit_s=TIME_LIMIT_S,
        memory_limit_bytes=MEMORY_LIMIT_BYTES,
        subtasks=(Subtask(name="all", points=100, tests=("only",)),),
        tests={"only": TestCase(name="only", input=b"", answer=secret.encode() + b"\n")},
        linked=(hidden,),
        headers=(source("sealed.h"),),
        cxx_std="gnu++17",
    )


def source(name: str) -> SourceFile:
    """One of the files in `problems/`."""
    return SourceFile(path=f"graders/{name}", content=_FILES[name])


def _test(problem_name: str, attack: str, cache: Path) -> TestCase:
    if problem_name == "stored":
        token = secrets.token_hex(16)
        answer = f"{secrets.choice(['YES', 'NO'])} {token}\n".encode()
        return TestCase(name=attack, input=f"{attack} {cache} {token}\n".encode(), answer=answer)
    if problem_name == "sum":
        return TestCase(name=attack, input=f"{attack} 20 22\n".encode(), answer=b"42\n")
    if problem_name == "pair":
        return TestCase(name=attack, input=f"{attack} 21\n".encode(), answer=b"")
    if problem_name.startswith("whisper"):
        return TestCase(name=attack, input=f"{attack} {2 + secrets.randbelow(0xFFFE)}\n".encode(), answer=b"")
    return TestCase(name=attack, input=f"{attack} 0 0\n".encode(), answer=f"{secrets.token_hex(16)}\n".encode())


def _padded(case: TestCase) -> TestCase:
    """The test with `PADDING`. An empty answer stays empty."""
    assert isinstance(case.input, bytes)
    assert isinstance(case.answer, bytes)
    return replace(case, input=case.input + PADDING, answer=case.answer and case.answer + PADDING)


def _stored(case: TestCase, cache: Path) -> TestCase:
    """The test in the cache, like those of a real data set."""
    store = BlobStore(cache)
    assert isinstance(case.input, bytes)
    assert isinstance(case.answer, bytes)
    return replace(case, input=store.put(case.input), answer=store.put(case.answer))


def _honest_test(problem_name: str, name: str, number: int) -> TestCase:
    if problem_name == "pair":
        return TestCase(name=name, input=f"honest {number}\n".encode(), answer=b"")
    if problem_name.startswith("whisper"):
        return TestCase(name=name, input=b"honest 1\n", answer=b"")  # the processes read "0 1" and "1 0", and add
    return TestCase(name=name, input=f"honest {number} 1\n".encode(), answer=f"{number + 1}\n".encode())
