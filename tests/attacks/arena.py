"""The problems that attacks are tried on. Each can be solved by cheating only, and answers are drawn anew for each run.

A test's input is the name of the attack to try, so one program holds many. Behind each attack stands an honest test of
the same program: it must be judged as if nothing had happened.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path

from ioi_eval.blobs import BlobStore
from ioi_eval.config import MIB, CompileLimits, JudgeLimits, Policy
from ioi_eval.model import (
    Isolation,
    Problem,
    ProblemKey,
    ProcessIO,
    SourceFile,
    Subtask,
    TaskType,
    TestCase,
)

HERE = Path(__file__).resolve().parent
_FILES = {path.name: path.read_bytes() for path in (HERE / "problems").iterdir() if path.is_file()}
"""Read now: a person who becomes an ordinary user later may not be able to."""

HONEST = "honest-after-"
TIME_LIMIT_S = 0.3
SIBLINGS_S = 1.0
"""Time for two processes. They cannot sleep, so they work while one waits for the other."""
UNHURRIED_S = 10.0
"""Time for programs that are to reach another limit, or none. A page that a virtual machine does not have yet takes
some 13 µs of CPU time, ten times as much as another, and a thread takes 100 µs on a slow machine."""
MEMORY_LIMIT_BYTES = 128 * MIB


COMPILING = CompileLimits(cpu_s=2.5, wall_s=60, memory_bytes=384 * MIB, processes=100, file_bytes=24 * MIB)
"""What attacks on the compiler may use of it. Reaching these limits takes no long time."""


def policy(level: Isolation, *, compiling: CompileLimits | None = None) -> Policy:
    """Limits in the proportions of real ones, small enough that reaching them takes no long time.

    Args:
        level: the weakest isolation that is accepted.
        compiling: the compiler's limits, if not the usual ones.
    """
    return Policy(
        isolation=level,
        compile=compiling or CompileLimits(cpu_s=60),
        judge=JudgeLimits(cpu_s=1, wall_s=5, memory_bytes=256 * MIB),
        output_bytes=8 * MIB,
    )


def problem(name: str, attacks: Sequence[str], cache: Path, *, unhurried: bool = False) -> Problem:
    """One of the problems, with a test for each attack and an honest one after it.

    Args:
        name: `secret` (answers nobody can know), `filed` (the same, with input and output by name), `stored` (one
            of two answers, its tests in the cache as those of a real data set are), `sum` (to be solved), `naive`
            (the checker believes the program), `fragile` (the checker can be broken), `whisper`, `whisper-fifo` and
            `whisper-turns` (two processes that must not talk), `pair` (two to be solved by), `relay` (a manager
            that can be broken).
        attacks: their names.
        cache: the cache directory.
        unhurried: whether they have much time.
    """
    siblings = name.startswith("whisper") or name == "pair"
    communication = siblings or name == "relay"
    tests: dict[str, TestCase] = {}
    for attack in attacks:
        tests[attack] = _test(name, attack, cache)
        honest = HONEST + attack
        tests[honest] = _honest_test(name, honest, len(tests))
    checker = {
        "secret": "witness.cpp",
        "filed": "witness.cpp",
        "naive": "naive.cpp",
        "fragile": "fragile.cpp",
    }.get(name)
    managers = {"relay": "relay_manager.cpp", "whisper-turns": "turns_manager.cpp", "pair": "pair_manager.cpp"}
    manager = managers.get(name, "whisper_manager.cpp") if communication else None
    return Problem(
        key=ProblemKey(year=2000, id=name),
        name=name,
        task_type=TaskType.COMMUNICATION if communication else TaskType.BATCH,
        time_limit_s=UNHURRIED_S if unhurried else SIBLINGS_S if siblings else TIME_LIMIT_S,
        memory_limit_bytes=MEMORY_LIMIT_BYTES,
        subtasks=(Subtask(name="all", points=100, tests=tuple(tests)),),
        tests=tests,
        headers=(source("attack.h"),),
        checker=source(checker) if checker else None,
        manager=source(manager) if manager else None,
        input_file="task.in" if name == "filed" else "",
        output_file="task.out" if name == "filed" else "",
        processes=2 if siblings else 1,
        process_io=ProcessIO.FIFO_IO if name == "whisper-fifo" else ProcessIO.STD_IO,
        cxx_std="gnu++17",
    )


def sealed_problem(secret: str) -> Problem:
    """The problem of the compile-time attacks: its grader holds what the program must print.

    Args:
        secret: 26 letters or digits.
    """
    grader = source("sealed_grader.cpp")
    assert b'"SECRET"' in grader.content
    hidden = SourceFile(path="graders/grader.cpp", content=grader.content.replace(b'"SECRET"', f'"{secret}"'.encode()))
    return Problem(
        key=ProblemKey(year=2000, id="sealed"),
        name="sealed",
        task_type=TaskType.BATCH,
        time_limit_s=TIME_LIMIT_S,
        memory_limit_bytes=MEMORY_LIMIT_BYTES,
        subtasks=(Subtask(name="all", points=100, tests=("only",)),),
        tests={"only": TestCase(name="only", input=b"", answer=secret.encode() + b"\n")},
        linked=(hidden,),
        headers=(source("sealed.h"),),
        checker=source("witness.cpp"),
        cxx_std="gnu++17",
    )


def source(name: str) -> SourceFile:
    """One of the files in `problems/`."""
    return SourceFile(path=f"graders/{name}", content=_FILES[name])


def _test(problem_name: str, attack: str, cache: Path) -> TestCase:
    if problem_name == "stored":
        return _stored_test(attack, cache)
    if problem_name == "sum":
        return TestCase(name=attack, input=f"{attack} 20 22\n".encode(), answer=b"42\n")
    if problem_name == "pair":
        return TestCase(name=attack, input=f"{attack} 21\n".encode(), answer=b"")
    if problem_name.startswith("whisper"):
        return TestCase(name=attack, input=f"{attack} {2 + secrets.randbelow(0xFFFE)}\n".encode(), answer=b"")
    return TestCase(name=attack, input=f"{attack} 0 0\n".encode(), answer=f"{secrets.token_hex(16)}\n".encode())


def _stored_test(attack: str, cache: Path) -> TestCase:
    store = BlobStore(cache)
    token = secrets.token_hex(16)
    answer = f"{secrets.choice(['YES', 'NO'])} {token}\n".encode()
    given = f"{attack} {cache / 'blobs'} {token}\n".encode()
    return TestCase(name=attack, input=store.put(given), answer=store.put(answer))


def _honest_test(problem_name: str, name: str, number: int) -> TestCase:
    if problem_name == "pair":
        return TestCase(name=name, input=f"honest {number}\n".encode(), answer=b"")
    if problem_name.startswith("whisper"):
        return TestCase(name=name, input=b"honest 1\n", answer=b"")  # the processes hear 0 1 and 1 0, and add
    return TestCase(name=name, input=f"honest {number} 1\n".encode(), answer=f"{number + 1}\n".encode())
