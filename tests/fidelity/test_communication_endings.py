"""Communication to the letter: programs that end early, fall silent, or never end."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fidelity.managers import (
    AC,
    COMMUNICATION,
    HEAD,
    JE,
    MLE,
    RE,
    SENDS,
    TLE,
    WA,
    WAITS,
    Case,
    judged,
    managers,
    wrong,
)


def test_program_that_exits_early(bench: Any, problem_from: Any) -> None:
    """Exit code 0: the manager's word holds. One that is killed by SIGPIPE for it has not failed: it is a 0."""
    cases = {
        "end of file": Case(f"{WAITS} || echo 0; echo no answer >&2", WA, 0.0, "no answer"),
        "does not care": Case(f"{WAITS}; echo 1", AC, 1.0),
        "SIGPIPE": Case(f"{SENDS}; echo 1", WA, 0.0, "The program ended before the manager was done"),
        "EPIPE": Case(f"trap '' PIPE; {SENDS} 2>/dev/null; echo 0; echo no listener >&2", WA, 0.0),
        "fails afterwards": Case(f"{WAITS}; exit 1", JE, None, "exit code 1"),
    }
    assert judged(bench, problem_from, "int main() {}", cases, **COMMUNICATION) == []


@pytest.mark.parametrize(
    ("how", "code"), [("return 7;", 7), ("abort();", None), ("raise(SIGSEGV);", None), ("raise(SIGPIPE);", None)]
)
def test_program_that_dies_early(bench: Any, problem_from: Any, how: str, code: int | None) -> None:
    """It is its own failure whatever the manager then prints, also if that makes the manager fail."""
    cases = managers(
        ("refuses", f"{WAITS} || echo 0", RE, 0.0),
        ("does not care", f"{WAITS}; echo 1", RE, 0.0),
        ("SIGPIPE", f"{SENDS}; echo 1", RE, 0.0),
        ("fails", f"{WAITS} || exit 1", RE, 0.0),
        ("crashes", f"{WAITS} || kill -SEGV $$", RE, 0.0),
        ("prints no score", WAITS, RE, 0.0),
        ("hangs", f"{WAITS}; exec sleep 1000", RE, 0.0),
        code=code,
    )
    assert judged(bench, problem_from, f"int main() {{ {how} }}", cases, **COMMUNICATION) == []


def test_program_that_dies_at_last(bench: Any, problem_from: Any) -> None:
    """After the manager's end: a score does not stand if the program crashes, as in CMS; a refusal is a refusal."""
    cases = managers(
        ("after a score", "speak $1 $2; echo 1", RE, 0.0),
        ("after part of it", "speak $1 $2; echo 0.5", RE, 0.0),
        ("after a refusal", "speak $1 $2; echo 0", WA, 0.0),
    )
    assert judged(bench, problem_from, "int main() { echo(0, 1); return 1; }", cases, **COMMUNICATION) == []


def test_manager_that_failed_first_is_at_fault(bench: Any, problem_from: Any) -> None:
    """A program that fails for want of an answer is not to blame for the manager's crash."""
    cases = {
        "exit": Case("speak $1 $2; exit 1", JE, None, "exit code 1"),
        "crash": Case("speak $1 $2; kill -SEGV $$", JE, None, "signal 11"),
        "no score": Case("speak $1 $2; echo", JE, None, "score"),
    }
    code = "int main() { if (read(0, block, 1) != 1) return 1; }"
    assert judged(bench, problem_from, code, cases, **COMMUNICATION) == []


def test_program_that_closes_its_output(bench: Any, problem_from: Any) -> None:
    """The manager sees the end of file while the program runs on."""
    cases = managers(
        ("refuses", f"{WAITS} || echo 0", WA, 0.0),
        ("does not care", f"{WAITS}; echo 1", AC, 1.0),
    )
    code = "int main() { close(1); while (read(0, block, sizeof block) > 0) {} }"
    assert judged(bench, problem_from, code, cases, **COMMUNICATION) == []


def test_program_that_closes_its_input(bench: Any, problem_from: Any) -> None:
    """The manager cannot speak to it any more; what it said before counts as said."""
    cases = {
        "hears": Case(f"{WAITS}; [ $word = hi ] && echo 1", AC, 1.0),
        "speaks": Case(f"{WAITS}; echo more >&4; echo 1", WA, 0.0),
    }
    code = 'int main() { close(0); puts("hi"); }'
    assert judged(bench, problem_from, code, cases, **COMMUNICATION) == []


def test_program_that_writes_garbage(bench: Any, problem_from: Any) -> None:
    """It is for the manager to say so; bytes of all kinds come through."""
    cases = {
        "refused": Case("speak $1 $2; read -r word <&3; echo 0; echo Protocol Violation >&2", WA, 0.0),
        "counted": Case("speak $1 $2; [ $(wc -c <&3) = 25600 ] && echo 1", AC, 1.0),
    }
    code = "int main() { for (int i = 0; i < 25600; i++) putchar(i); }"
    assert judged(bench, problem_from, code, cases, **COMMUNICATION) == []


def test_program_that_never_reads(bench: Any, problem_from: Any) -> None:
    """A manager that is blocked by a full pipe is not the one that idles."""
    cases = managers(("blocked", f"{SENDS}; echo 1", TLE, 0.0), limit="idle")
    assert judged(bench, problem_from, "int main() { sleep(1000); }", cases, **COMMUNICATION) == []


def test_program_that_floods(bench: Any, problem_from: Any) -> None:
    """Whether somebody listens, or nobody does: it ends, and has no score."""
    cases = {
        "nobody listens": Case("speak $1 $2; read -r word <&3; echo 1; exit", RE, 0.0),
        "refused": Case("speak $1 $2; read -r word <&3; echo 0; exit", WA, 0.0),
        "deaf": Case("speak $1 $2; exec sleep 1000", TLE, 0.0, limit="idle"),
    }
    code = 'int main() { for (;;) puts("flood"); }'
    assert judged(bench, problem_from, code, cases, **COMMUNICATION) == []
    listens = managers(("all", "speak $1 $2; echo 1; exec cat <&3 > /dev/null", TLE, 0.0), limit="cpu")
    assert judged(bench, problem_from, code, listens, **COMMUNICATION) == []


def test_program_that_floods_stderr(bench: Any, problem_from: Any) -> None:
    """It fills nothing, blocks nothing, and its first bytes are kept."""
    cases = managers(("fine", "speak $1 $2; wc -c <&3 > /dev/null; echo 1", AC, 1.0))
    code = 'int main() { for (int i = 0; i < 100000; i++) write(2, "complaint\\n", 10); }'
    problem = problem_from({name: (case.does.encode(), b"") for name, case in cases.items()}, **COMMUNICATION)
    outcomes = bench.outcomes(problem, HEAD + code)
    assert wrong(cases, outcomes) == []
    assert outcomes["fine"].stderr.startswith("complaint\n")


def test_program_that_runs_on(bench: Any, problem_from: Any) -> None:
    """After the manager's end the clock of the program goes on, as in CMS; a score does not stand."""
    cases = managers(
        ("after a score", "speak $1 $2; echo 1", TLE, 0.0), ("after a refusal", "speak $1 $2; echo 0", TLE, 0.0)
    )
    busy = {name: Case(case.does, TLE, 0.0, limit="cpu") for name, case in cases.items()}
    assert judged(bench, problem_from, "int main() { for (;;) block[0]++; }", busy, **COMMUNICATION) == []
    idle = {name: Case(case.does, TLE, 0.0, limit="idle") for name, case in cases.items()}
    assert judged(bench, problem_from, "int main() { sleep(1000); }", idle, **COMMUNICATION) == []


def test_program_over_memory(bench: Any, problem_from: Any) -> None:
    """MLE, whatever the manager makes of its silence."""
    cases = managers(
        ("refuses", f"{WAITS} || echo 0", MLE, 0.0), ("fails", f"{WAITS} || exit 1", MLE, 0.0), limit="memory"
    )
    code = "int main() { touch(200); sleep(1000); }"
    assert judged(bench, problem_from, code, cases, **COMMUNICATION, time_limit_s=10.0) == []
