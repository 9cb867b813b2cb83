"""The exact rules of Communication: programs that end early, stop writing or reading, or never end."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fidelity.managers import (
    AC,
    COMMUNICATION,
    HEAD,
    JE,
    MLE,
    OLE,
    RE,
    SENDS,
    TLE,
    WA,
    WAITS,
    Case,
    managers,
    mismatches,
    wrong,
)


def test_program_that_exits_early(bench: Any, problem_from: Any) -> None:
    """With exit code 0, the manager's score counts. A manager killed by SIGPIPE has not failed: the score is 0."""
    cases = {
        "end of file": Case(f"{WAITS} || echo 0; echo no answer >&2", WA, 0.0, "no answer"),
        "does not care": Case(f"{WAITS}; echo 1", AC, 1.0),
        "SIGPIPE": Case(f"{SENDS}; echo 1", WA, 0.0, "The program ended before the manager was done"),
        "EPIPE": Case(f"trap '' PIPE; {SENDS} 2>/dev/null; echo 0; echo no listener >&2", WA, 0.0),
        "fails afterwards": Case(f"{WAITS}; exit 1", JE, None, "exit code 1"),
    }
    assert mismatches(bench, problem_from, "int main() {}", cases, COMMUNICATION) == []


@pytest.mark.parametrize(
    ("how", "code"), [("return 7;", 7), ("abort();", None), ("raise(SIGSEGV);", None), ("raise(SIGPIPE);", None)]
)
def test_program_that_dies_early(bench: Any, problem_from: Any, how: str, code: int | None) -> None:
    """The verdict is RE whatever the manager prints then, also if the manager fails because of it."""
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
    assert mismatches(bench, problem_from, f"int main() {{ {how} }}", cases, COMMUNICATION) == []


def test_program_that_dies_after_the_manager(bench: Any, problem_from: Any) -> None:
    """The program crashes after the manager's end: a score above 0 does not count, as in CMS; a score of 0 does."""
    cases = managers(
        ("after a score", "speak $1 $2; echo 1", RE, 0.0),
        ("after part of it", "speak $1 $2; echo 0.5", RE, 0.0),
        ("after a refusal", "speak $1 $2; echo 0", WA, 0.0),
    )
    assert mismatches(bench, problem_from, "int main() { echo(0, 1); return 1; }", cases, COMMUNICATION) == []


def test_manager_that_failed_first_is_at_fault(bench: Any, problem_from: Any) -> None:
    """The manager crashes, and the program fails because it gets no answer: JE."""
    cases = {
        "exit": Case("speak $1 $2; exit 1", JE, None, "exit code 1"),
        "crash": Case("speak $1 $2; kill -SEGV $$", JE, None, "signal 11"),
        "no score": Case("speak $1 $2; echo", JE, None, "score"),
    }
    code = "int main() { if (read(0, block, 1) != 1) return 1; }"
    assert mismatches(bench, problem_from, code, cases, COMMUNICATION) == []


def test_manager_that_opens_its_stderr_again(bench: Any, problem_from: Any) -> None:
    """That it closes what it opened by name does not count as its end: the program's later crash is RE."""
    again = "speak $1 $2; echo note > /dev/stderr; echo hi >&4; exec 4>&-; read -r word <&3"
    cases = managers(
        ("refuses", f"{again}; echo 0", RE, 0.0),
        ("fails", f"{again}; exit 1", RE, 0.0),
        ("closes it", f"exec 2>&-; {again}; echo 0", RE, 0.0),
    )
    code = "int main() { if (read(0, block, 3) == 3) return 1; }"
    assert mismatches(bench, problem_from, code, cases, COMMUNICATION) == []


def test_program_that_closes_its_output(bench: Any, problem_from: Any) -> None:
    """The manager reads the end of file while the program still runs."""
    cases = managers(
        ("refuses", f"{WAITS} || echo 0", WA, 0.0),
        ("does not care", f"{WAITS}; echo 1", AC, 1.0),
    )
    code = "int main() { close(1); while (read(0, block, sizeof block) > 0) {} }"
    assert mismatches(bench, problem_from, code, cases, COMMUNICATION) == []


def test_program_that_closes_its_input(bench: Any, problem_from: Any) -> None:
    """The manager cannot write to it any more. It still reads what the program has written."""
    cases = {
        "hears": Case(f"{WAITS}; [ $word = hi ] && echo 1", AC, 1.0),
        "speaks": Case(f"{WAITS}; echo more >&4; echo 1", WA, 0.0),
    }
    code = 'int main() { close(0); puts("hi"); }'
    assert mismatches(bench, problem_from, code, cases, COMMUNICATION) == []


def test_program_that_writes_garbage(bench: Any, problem_from: Any) -> None:
    """The manager gets all bytes unchanged, and decides."""
    cases = {
        "refused": Case("speak $1 $2; read -r word <&3; echo 0; echo Protocol Violation >&2", WA, 0.0),
        "counted": Case("speak $1 $2; [ $(wc -c <&3) = 25600 ] && echo 1", AC, 1.0),
    }
    code = "int main() { for (int i = 0; i < 25600; i++) putchar(i); }"
    assert mismatches(bench, problem_from, code, cases, COMMUNICATION) == []


def test_program_that_never_reads(bench: Any, problem_from: Any) -> None:
    """If a full pipe blocks the manager, the idle time is the program's: TLE."""
    cases = managers(("blocked", f"{SENDS}; echo 1", TLE, 0.0), limit="idle")
    assert mismatches(bench, problem_from, "int main() { sleep(1000); }", cases, COMMUNICATION) == []


def test_program_that_floods(bench: Any, problem_from: Any) -> None:
    """A program that writes without end is stopped and scores 0, whether or not the manager reads."""
    cases = {
        "nobody listens": Case("speak $1 $2; read -r word <&3; echo 1; exit", RE, 0.0),
        "refused": Case("speak $1 $2; read -r word <&3; echo 0; exit", WA, 0.0),
        "deaf": Case("speak $1 $2; exec sleep 1000", TLE, 0.0, limit="idle"),
    }
    code = 'int main() { for (;;) puts("flood"); }'
    assert mismatches(bench, problem_from, code, cases, COMMUNICATION) == []
    # It is over the output limit long before 10 s, and over a short time limit before that.
    listens = managers(("all", "speak $1 $2; echo 1; exec cat <&3 > /dev/null", OLE, 0.0), limit="output")
    assert mismatches(bench, problem_from, code, listens, COMMUNICATION, time_limit_s=10.0) == []
    late = managers(("all", "speak $1 $2; echo 1; exec cat <&3 > /dev/null", TLE, 0.0), limit="cpu")
    assert mismatches(bench, problem_from, code, late, COMMUNICATION, time_limit_s=0.01) == []


def test_program_that_floods_stderr(bench: Any, problem_from: Any) -> None:
    """Much stderr does not block the program, and the first bytes are kept."""
    cases = managers(("fine", "speak $1 $2; wc -c <&3 > /dev/null; echo 1", AC, 1.0))
    code = 'int main() { for (int i = 0; i < 100000; i++) write(2, "complaint\\n", 10); }'
    problem = problem_from({name: (case.commands.encode(), b"") for name, case in cases.items()}, method=COMMUNICATION)
    outcomes = bench.outcomes(problem, HEAD + code)
    assert wrong(cases, outcomes) == []
    assert outcomes["fine"].stderr.startswith("complaint\n")


def test_program_that_runs_on(bench: Any, problem_from: Any) -> None:
    """A program that runs on after the manager's end still has its limits, as in CMS: the manager's score is lost."""
    cases = managers(
        ("after a score", "speak $1 $2; echo 1", TLE, 0.0), ("after a refusal", "speak $1 $2; echo 0", TLE, 0.0)
    )
    busy = {name: Case(case.commands, TLE, 0.0, limit="cpu") for name, case in cases.items()}
    assert mismatches(bench, problem_from, "int main() { for (;;) block[0]++; }", busy, COMMUNICATION) == []
    idle = {name: Case(case.commands, TLE, 0.0, limit="idle") for name, case in cases.items()}
    assert mismatches(bench, problem_from, "int main() { sleep(1000); }", idle, COMMUNICATION) == []


def test_program_over_memory(bench: Any, problem_from: Any) -> None:
    """The verdict is MLE, whatever the manager does when the program ends."""
    cases = managers(
        ("refuses", f"{WAITS} || echo 0", MLE, 0.0), ("fails", f"{WAITS} || exit 1", MLE, 0.0), limit="memory"
    )
    code = "int main() { touch(200); sleep(1000); }"
    assert mismatches(bench, problem_from, code, cases, COMMUNICATION, time_limit_s=10.0) == []
