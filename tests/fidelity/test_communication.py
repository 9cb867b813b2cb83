"""Communication to the letter: who ended first, who is blamed, and that nobody can hang the others.

The manager is a script that does what the test's input says; each program below meets several managers in one run.

Source of the rules: CMS, `cms/grading/tasktypes/Communication.py`: a process that fails makes the outcome 0 whatever
the manager says; a manager that fails makes no outcome at all. Who is to blame where one failure causes the other is
left open there; DESIGN's rule is that the first decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.model import CheckerProtocol, ProcessIO, SourceFile, TaskType, TestOutcome, Verdict

MANAGER = SourceFile(
    path="graders/manager.sh",
    content=b"""#!/bin/bash
# The order in which a sandbox opens its ends as stdin and stdout: first what the program reads.
speak() { exec 4>"$2" 3<"$1"; }
hang_up() { exec 4>&- 3<&-; }
. ./input.txt
""",
)
JE, AC, PA, WA, RE, TLE, MLE = (
    *(Verdict.JE, Verdict.AC, Verdict.PA, Verdict.WA),
    *(Verdict.RE, Verdict.TLE, Verdict.MLE),
)
COMMUNICATION: dict[str, Any] = {"task_type": TaskType.COMMUNICATION, "manager": MANAGER}
FIFO_IO: dict[str, Any] = {**COMMUNICATION, "process_io": ProcessIO.FIFO_IO}

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
    """What a manager does, and what must come of it.

    Args:
        does: shell commands.
        verdict, score: the test's.
        words: what the message is; for JE, what it contains. `None` for anything.
        limit: the limit that stopped the program.
        code: its exit code. `None` for anything.
    """

    does: str
    verdict: Verdict
    score: float | None
    words: str | None = None
    limit: str | None = None
    code: int | None = None


def wrong(cases: dict[str, Case], outcomes: dict[str, TestOutcome], program: str = "manager") -> list[str]:
    """The cases that came out otherwise."""
    found = []
    for name, case in cases.items():
        seen = outcomes[name]
        fits = case.words is None or (case.words in seen.message if case.verdict is JE else case.words == seen.message)
        fits &= (seen.verdict, seen.score, seen.limit) == (case.verdict, case.score, case.limit)
        fits &= case.code is None or seen.exit_code == case.code
        if not fits:
            found.append(f"{name}: {seen} for {case}")
        if case.verdict is JE and (seen.judge_program, seen.final) != (program, True):
            found.append(f"{name}: blames {seen.judge_program}, final {seen.final}")
    return found


def judged(bench: Any, problem_from: Any, code: str, cases: dict[str, Case], **fields: Any) -> list[str]:
    """Run a program against the managers; the cases that came out otherwise."""
    problem = problem_from({name: (case.does.encode(), b"") for name, case in cases.items()}, **fields)
    return wrong(cases, bench.outcomes(problem, HEAD + code))


def managers(*rows: tuple[str, str, Verdict, float | None], **same: Any) -> dict[str, Case]:
    """Cases of few words: name, what the manager does, verdict and score."""
    return {name: Case(does, verdict, score, **same) for name, does, verdict, score in rows}


# ---------------------------------------------------------------------------------------- a program that behaves

ECHO = "int main() { echo(0, 1); }"
TALKS = "speak $1 $2; echo hi >&4; read -r word <&3; [ $word = hi ]"


def test_manager_gives_the_score(bench: Any, problem_from: Any) -> None:
    """The first line of its stdout is the score, the first of its stderr the message, as a checker's."""
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
    assert judged(bench, problem_from, ECHO, cases, **COMMUNICATION) == []


def test_manager_gets_its_files(bench: Any, problem_from: Any) -> None:
    """The input as stdin and as `input.txt`, the answer beside it, a directory of its own; no more arguments."""
    cases = {
        "stdin": Case("read -r first; speak $1 $2; [[ $first = read* ]] && echo 1", AC, 1.0),
        "input.txt": Case("speak $1 $2; cmp input.txt - && echo 1", AC, 1.0),
        "answer": Case("speak $1 $2; [ -e correct_output.txt ] && echo 1", AC, 1.0),
        "own directory": Case("speak $1 $2; echo x > output.txt && [ -s output.txt ] && echo 1", AC, 1.0),
        "arguments": Case("speak $1 $2; [ $# = 2 ] && echo 1", AC, 1.0),
    }
    assert judged(bench, problem_from, ECHO, cases, **COMMUNICATION) == []


def test_manager_arguments_follow_the_fifos(bench: Any, problem_from: Any) -> None:
    """Whatever characters are in them."""
    cases = managers(("all", 'speak $1 $2; [ "$3|$4|$5|$#" = "7|a b,c||5" ] && echo 1', AC, 1.0))
    assert judged(bench, problem_from, ECHO, cases, **COMMUNICATION, manager_args=("7", "a b,c", "")) == []


def test_manager_that_exits_first(bench: Any, problem_from: Any) -> None:
    """Its word holds, if the program then ends well, whether or not it had opened or used its FIFOs."""
    cases = managers(
        ("without a word", "speak $1 $2; echo 1", AC, 1.0),
        ("with part of it", "speak $1 $2; echo 0.5", PA, 0.5),
        ("with a refusal", "speak $1 $2; echo 0", WA, 0.0),
        ("without opening", "echo 1", AC, 1.0),
        ("opening one", "exec 4>$2; echo 1", AC, 1.0),
    )
    assert judged(bench, problem_from, ECHO, cases, **COMMUNICATION) == []


def test_manager_that_fails_is_at_fault(bench: Any, problem_from: Any) -> None:
    """A crash, an exit code: a judge error, twice the same and so final. The program has done nothing wrong."""
    cases = {
        "exit 3": Case(f"{TALKS}; echo 1; echo why >&2; exit 3", JE, None, "exit code 3: why"),
        "at once": Case("exit 1", JE, None, "exit code 1"),
        "segfault": Case(f"{TALKS}; echo 1; kill -SEGV $$", JE, None, "signal 11"),
    }
    assert judged(bench, problem_from, ECHO, cases, **COMMUNICATION) == []


def test_manager_over_its_time_is_at_fault(full_bench: Any, problem_from: Any) -> None:
    """Whether or not it ever came to talk."""
    cases = {
        "busy": Case(f"{TALKS}; echo 1; while :; do :; done", JE, None, "over its"),
        "busy before it opens": Case("while :; do :; done", JE, None, "over its"),
    }
    assert judged(full_bench, problem_from, ECHO, cases, **COMMUNICATION) == []


def test_manager_that_hangs_after_the_program_is_at_fault(full_bench: Any, problem_from: Any) -> None:
    """The program has ended well; nobody else is left to blame."""
    cases = {"hangs": Case(f"{TALKS}; hang_up; echo 1; exec sleep 1000", JE, None, "does nothing")}
    assert judged(full_bench, problem_from, ECHO, cases, **COMMUNICATION) == []


def test_manager_that_never_opens_its_fifos_is_at_fault(full_bench: Any, problem_from: Any) -> None:
    """The program has not even been started."""
    cases = {"hangs": Case("exec sleep 1000", JE, None, "does not open its FIFOs")}
    assert judged(full_bench, problem_from, ECHO, cases, **COMMUNICATION) == []


def test_program_that_waits_for_a_silent_manager_is_too_slow(bench: Any, problem_from: Any) -> None:
    """As in CMS, where the wall clock limit of the program comes long before the manager's."""
    cases = managers(("hangs", "speak $1 $2; echo 1; exec sleep 1000", TLE, 0.0), limit="idle")
    assert judged(bench, problem_from, ECHO, cases, **COMMUNICATION) == []


# ---------------------------------------------------------------------------------------- programs that end early

WAITS = "speak $1 $2; read -r word <&3"
SENDS = "speak $1 $2; for i in {1..50000}; do echo question >&4; done"


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


# ---------------------------------------------------------------------------------------- programs that misbehave


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
    listens = managers(("all", "speak $1 $2; cat <&3 > /dev/null; echo 1", TLE, 0.0), limit="cpu")
    assert judged(bench, problem_from, code, listens, **COMMUNICATION) == []


def test_program_that_floods_stderr(bench: Any, problem_from: Any) -> None:
    """It fills nothing, blocks nothing, and its first bytes are kept."""
    cases = managers(("fine", "speak $1 $2; wc -c <&3 > /dev/null; echo 1", AC, 1.0))
    code = 'int main() { for (int i = 0; i < 100000; i++) write(2, "complaint\\n", 10); }'
    problem = problem_from({name: (case.does.encode(), b"") for name, case in cases.items()}, **COMMUNICATION)
    outcomes = bench.outcomes(problem, HEAD + code)
    assert wrong(cases, outcomes) == []
    assert outcomes["fine"].evidence.startswith("complaint\n")


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
    assert judged(bench, problem_from, code, cases, **COMMUNICATION) == []


# ---------------------------------------------------------------------------------------- FIFOs by name

OPENS = "int in = open(argv[1], O_RDONLY), out = open(argv[2], O_WRONLY); argc = in < 0 || out < 0;"


def test_fifos_by_name(bench: Any, problem_from: Any) -> None:
    """In, then out; no index where there is one process; stdin and stdout are not the manager's."""
    cases = managers(
        ("talks", f"{TALKS} && echo 1", AC, 1.0),
        ("exits first", "speak $1 $2; echo 1", AC, 1.0),
        ("never opens", "echo 1", AC, 1.0),
    )
    code = (
        f'int main(int argc, char** argv) {{ if (argc != 3) return 3; puts("0"); {OPENS} echo(in, out); return argc; }}'
    )
    assert judged(bench, problem_from, code, cases, **FIFO_IO) == []


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("int main() {}", WA),
        ("int main() { return 1; }", RE),
        ("int main() { abort(); }", RE),
        ("int main(int, char** argv) { return open(argv[1], O_RDONLY) < 0; }", WA),
        ("int main(int, char** argv) { return open(argv[2], O_WRONLY) > 0; }", None),
    ],
)
def test_program_that_dies_before_it_opens_its_fifos(
    bench: Any, problem_from: Any, code: str, verdict: Verdict | None
) -> None:
    """The manager, blocked in open, is let go and sees the end of file."""
    if verdict is None:  # each waits for the other to open the other FIFO
        cases = managers(("deadlock", f"{WAITS} || echo 0", TLE, 0.0), limit="idle")
    else:
        cases = managers(("refuses", f"{WAITS} || echo 0", verdict, 0.0))
    assert judged(bench, problem_from, code, cases, **FIFO_IO) == []


def test_program_that_opens_one_fifo_and_waits(bench: Any, problem_from: Any) -> None:
    """The manager waits for the other: it is the program that is too slow."""
    cases = managers(("waits", f"{WAITS}; echo 1", TLE, 0.0), limit="idle")
    code = "int main(int, char** argv) { open(argv[1], O_RDONLY); sleep(1000); }"
    assert judged(bench, problem_from, code, cases, **FIFO_IO) == []


# ---------------------------------------------------------------------------------------- several processes

BOTH = 'speak $1 $2; exec 6>"$4" 5<"$3"'


def test_several_processes(bench: Any, problem_from: Any) -> None:
    """Each knows its index, and talks to the manager over FIFOs of its own."""
    asks = "echo hi >&4; echo hi >&6; read -r first <&3; read -r second <&5"
    cases = managers(("both", f'{BOTH}; {asks}; [ "$first$second" = 01 ] && echo 1', AC, 1.0))
    code = "int main(int argc, char** argv) { read(0, block, 1); puts(argv[1]); return argc != 2; }"
    assert judged(bench, problem_from, code, cases, **COMMUNICATION, processes=2) == []
    three = managers(
        ("three", '[ "$#" = 6 ] && for i in 1 3 5; do cat < ${!i}; done | cmp - <(echo 012) && echo 1', AC, 1.0)
    )
    code = "int main(int argc, char** argv) { int out = open(argv[2], O_WRONLY); write(out, argv[3], 1); "
    code += "if (argv[3][0] == '2') write(out, \"\\n\", 1); return argc != 4; }"
    assert judged(bench, problem_from, code, three, **FIFO_IO, processes=3) == []


@pytest.mark.parametrize(("how", "verdict"), [("return 1;", RE), ("abort();", RE), ("return 0;", WA)])
def test_one_of_two_processes_ends_early(bench: Any, problem_from: Any, how: str, verdict: Verdict) -> None:
    """Its failure is the program's; its mere end is for the manager to judge."""
    cases = managers(
        ("refuses", f"{BOTH}; read -r word <&5 || echo 0", verdict, 0.0),
        (
            "does not care",
            f"{BOTH}; read -r word <&5; echo 1",
            verdict if verdict is RE else AC,
            0.0 if verdict is RE else 1.0,
        ),
    )
    code = f"int main(int, char** argv) {{ if (argv[1][0] == '1') {{ {how} }} echo(0, 1); }}"
    assert judged(bench, problem_from, code, cases, **COMMUNICATION, processes=2) == []


def test_time_of_all_processes_counts(bench: Any, problem_from: Any) -> None:
    """Two that use 0.7 of the limit each are over it together."""
    cases = managers(("sum", f"{BOTH}; echo go >&4; echo go >&6; cat <&3; cat <&5; echo 1", TLE, 0.0), limit="cpu")
    code = "#include <time.h>\nint main() { read(0, block, 1); while (clock() < 0.28 * CLOCKS_PER_SEC) {} }"
    assert judged(bench, problem_from, code, cases, **COMMUNICATION, processes=2) == []


def test_memory_of_each_process_counts(bench: Any, problem_from: Any) -> None:
    """Two that use 0.7 of the limit each are both below it."""
    cases = managers(("each", f"{BOTH}; read -r a <&3; read -r b <&5; echo go >&4; echo go >&6; echo 1", AC, 1.0))
    code = 'int main() { touch(45); write(1, "\\n", 1); read(0, block, 1); }'
    assert judged(bench, problem_from, code, cases, **COMMUNICATION, processes=2) == []


# ---------------------------------------------------------------------------------------- other managers

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
    """As those of CMS's own test-suite: unbuffered, with the input read from `./input.txt`."""
    manager = SourceFile(path="graders/manager", content=PYTHON_MANAGER)
    problem = problem_from({"a": (b"41\n", b"")}, task_type=TaskType.COMMUNICATION, manager=manager)
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


@pytest.mark.parametrize("protocol", [CheckerProtocol.CMS, CheckerProtocol.TESTLIB, CheckerProtocol.KATTIS])
def test_checker_after_the_manager(full_bench: Any, problem_from: Any, protocol: CheckerProtocol) -> None:
    """The manager's stdout is the output that the checker judges, and no score."""
    tests = {
        "right": (b"hello", b"hello\n"),
        "wrong": (b"hello", b"bye\n"),
        "not a score": (b"1", b"2\n"),
        "crash": (b"crash program", b""),
        "manager": (b"crash manager", b""),
        "checker": (b"crash checker", b""),
    }
    problem = problem_from(
        tests,
        task_type=TaskType.COMMUNICATION,
        manager=RELAY,
        checker=CHECKER,
        checker_protocol=protocol,
        checker_after_manager=True,
    )
    code = 'int main() { if (fgets(block, 99, stdin) && strstr(block, "crash p")) abort(); fputs(block, stdout); }'
    seen = full_bench.outcomes(problem, HEAD + code)
    found = {name: (outcome.verdict, outcome.judge_program) for name, outcome in seen.items()}
    assert found == {
        "right": (AC, None),
        "wrong": (WA, None),
        "not a score": (WA, None),
        "crash": (RE, None),
        "manager": (JE, "manager"),
        "checker": (JE, "checker"),
    }
    assert seen["right"].message == ("checked" if protocol is CheckerProtocol.CMS else "")
