"""Communication tasks: one or several processes, both kinds of `io`, and who is at fault after a failure."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.graders.runner_box import JUDGE, RUNNER_UID, Box, in_each_kind_of_box, line, run_game

CMS_CHECKER = line("checker", protocol="cms", file="checker", **JUDGE)
PATIENT = {**JUDGE, "wall_ms": 100_000}  # for a manager that needs seconds of CPU time


@pytest.mark.parametrize("io", ["std_io", "fifo_io"])
@pytest.mark.parametrize("processes", [1, 2, 3])
def test_right_and_wrong_answers(box: Box, program: Callable[..., Path], io: str, processes: int) -> None:
    """Right and wrong answers get the manager's score and message, for each `io` and number of processes."""
    answer = run_game(box, program, "play play", "play wrong", "play play 0.25", io=io, processes=processes)
    assert [(entry["verdict"], entry["score"], entry["message"]) for entry in answer.lines] == [
        ("AC", "1.0", "all numbers came back"),
        ("WA", "0", "a wrong number came back"),
        ("PA", "0.25", "all numbers came back"),
    ]
    assert answer.last["isolation"] == box.level


@pytest.mark.parametrize("io", ["std_io", "fifo_io"])
def test_only_several_processes_get_an_index(plain_box: Box, program: Callable[..., Path], io: str) -> None:
    """As in CMS, the index is the last argument if there are several processes."""
    alone = run_game(plain_box, program, "play index", io=io).only
    assert alone["stderr"].startswith("argc 1 \n")
    second = run_game(plain_box, program, "play second-fail", io=io, processes=2).only
    assert (second["verdict"], second["code"]) == ("RE", 5)


@pytest.mark.root
@pytest.mark.parametrize("level", ["bwrap-root", "fds-reduced-user"])
def test_a_user_with_too_many_pipes(
    boxes: Callable[[str], Box], level: str, program: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manager and a program may rely on the usual size of FIFOs. If they are smaller, it is our fault."""
    box, user = boxes(level), RUNNER_UID + 2
    monkeypatch.setattr("tests.graders.runner_box.RUNNER_UID", user)  # not the user of other tests
    become = ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups")
    command = ("prlimit", "--nofile=4096:4096", *become, "--", program("pipes"))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        answer = run_game(box, program, "play play")
    assert answer.last["fault"] == "system", answer
    assert "too many pipes" in answer.last["explanation"]


def test_arguments_of_the_manager(plain_box: Box, program: Callable[..., Path]) -> None:
    """The first arguments are FIFOs, two for each process; then come the arguments of the plan."""
    manager = {**JUDGE, "args": "one,two%20words,%,a%2Cb"}
    entry = run_game(plain_box, program, "arguments x", processes=2, manager=manager, stub=['-DEARLY="exit"']).only
    assert (entry["verdict"], entry["message"]) == ("AC", "fifo fifo fifo fifo one two words  a,b")


@in_each_kind_of_box
@pytest.mark.parametrize("processes", [1, 2])
def test_failures_of_the_program(box: Box, program: Callable[..., Path], processes: int) -> None:
    """The program's failure decides, although the manager then prints 0 and a message."""
    modes = ["play fail", "play abort", "play burn", "play sleep", "play eat"]
    answer = run_game(box, program, *modes, processes=processes, cpu_ms=200, memory_bytes=16 << 20)
    seen = [(entry["verdict"], entry["code"], entry["signal"], entry["limit"]) for entry in answer.lines]
    assert seen[:2] == [("RE", 5, 0, None), ("RE", 0, 6, None)]
    assert [(verdict, limit) for verdict, _, _, limit in seen[2:]] == [
        ("TLE", "cpu"),
        ("TLE", "idle"),
        ("MLE", "memory"),
    ]
    assert {entry["score"] for entry in answer.lines} == {"0"}


def test_failure_of_the_second_process(plain_box: Box, program: Callable[..., Path]) -> None:
    """If the second process fails, the test fails."""
    modes = ["play second-fail", "play second-abort", "play second-burn"]
    answer = run_game(plain_box, program, *modes, processes=2, cpu_ms=200)
    assert answer.verdicts == ["RE", "RE", "TLE"]


def test_cpu_time_of_all_processes_counts(plain_box: Box, program: Callable[..., Path]) -> None:
    """The sum of CPU times is compared with the limit, as in CMS: two processes of 0.2 s each are over 0.35 s."""
    three = run_game(plain_box, program, "play burn-a-bit", processes=1, cpu_ms=350).only
    assert three["verdict"] == "AC"
    six = run_game(plain_box, program, "play burn-a-bit", processes=2, cpu_ms=350).only
    assert (six["verdict"], six["limit"]) == ("TLE", "cpu")
    assert six["cpu_us"] >= 350_000


def test_program_that_ends_early(box: Box, program: Callable[..., Path]) -> None:
    """A program that ends early without failure gets the manager's score and message."""
    entry = run_game(box, program, "play leave").only
    assert (entry["verdict"], entry["message"]) == ("WA", "Judge Failure: nothing came back")


@pytest.mark.parametrize("io", ["std_io", "fifo_io"])
@pytest.mark.parametrize("processes", [1, 2])
def test_program_that_ends_before_it_opens(box: Box, program: Callable[..., Path], io: str, processes: int) -> None:
    """The manager does not wait for FIFOs that the program cannot open any more."""
    for early, expected in {"exit": "WA", "fail": "RE", "abort": "RE"}.items():
        answer = run_game(box, program, "play play", stub=[f'-DEARLY="{early}"'], io=io, processes=processes)
        assert answer.verdicts == [expected], early


def test_program_that_fails_before_it_opens_what_the_manager_holds(
    plain_box: Box, program: Callable[..., Path]
) -> None:
    """The program fails first: that the manager closes a FIFO afterwards, because it is killed, does not excuse it."""
    entry = run_game(plain_box, program, "opens-its-input-only x", stub=['-DEARLY="fail-later"'], io="fifo_io").only
    assert (entry["verdict"], entry["code"]) == ("RE", 7), entry


def test_program_that_never_opens(plain_box: Box, program: Callable[..., Path]) -> None:
    """A program that sleeps before it opens its FIFOs is idle, although the manager waits for it."""
    entry = run_game(plain_box, program, "play play", stub=['-DEARLY="sleep"'], io="fifo_io", cpu_ms=200).only
    assert (entry["verdict"], entry["limit"]) == ("TLE", "idle")


@pytest.mark.parametrize("io", ["std_io", "fifo_io"])
def test_manager_that_gives_up(box: Box, program: Callable[..., Path], io: str) -> None:
    """The manager ends first with 0: the verdict is WA, and later failures of the program do not count."""
    answer = run_game(box, program, "gives-up play 0", "ends-unopened play 0", io=io, processes=2)
    assert [(entry["verdict"], entry["message"]) for entry in answer.lines] == [
        ("WA", "I have seen enough"),
        ("WA", "I do not care"),
    ]


def test_closing_fifos_does_not_affect_later_tests(plain_box: Box, program: Callable[..., Path]) -> None:
    """If a program closes its FIFOs many times, later tests still know who ended first."""
    later = ["gives-up play 0"] * 20
    answer = run_game(plain_box, program, "play churn", *later, io="fifo_io")
    assert answer.verdicts == ["AC", *["WA"] * len(later)]


def test_manager_that_prints_points_and_ends(plain_box: Box, program: Callable[..., Path]) -> None:
    """If a process fails after the manager printed points, the verdict is RE, because CMS gives 0."""
    entry = run_game(plain_box, program, "gives-up play 1").only
    assert (entry["verdict"], entry["score"], entry["code"]) == ("RE", "0", 3)


@pytest.mark.parametrize("score", ["0", "fails"])
def test_manager_that_still_reads_has_not_ended_first(plain_box: Box, program: Callable[..., Path], score: str) -> None:
    """The manager has closed its output and still reads. If the program then fails, the verdict is RE."""
    entry = run_game(plain_box, program, f"hangs-up-half fail {score}").only
    assert (entry["verdict"], entry["score"], entry["code"]) == ("RE", "0", 5)


def test_manager_that_closes_both_fifos_has_ended_first(plain_box: Box, program: Callable[..., Path]) -> None:
    """Also if its process ends later than the program, which then fails because its input has ended."""
    entry = run_game(plain_box, program, "hangs-up play 0").only
    assert (entry["verdict"], entry["message"], entry["code"]) == ("WA", "I have seen enough", 3)


def test_program_killed_by_a_broken_pipe(plain_box: Box, program: Callable[..., Path]) -> None:
    """A program that writes after the manager's end is killed by SIGPIPE: the manager's 0 counts."""
    for _ in range(5):
        entry = run_game(plain_box, program, "play flood").only
        assert (entry["verdict"], entry["message"]) == ("WA", "a wrong number came back")


def test_program_that_sends_without_end(plain_box: Box, program: Callable[..., Path]) -> None:
    """If a program sends so much that a correct manager cannot end, it is OLE, and not the manager's fault."""
    inputs = ("skips-blanks blanks", "skips-blanks many-blanks")
    honest, flood = run_game(plain_box, program, *inputs, cpu_ms=20_000, output_bytes=1 << 20, manager=PATIENT).lines
    assert (honest["verdict"], honest["message"]) == ("AC", "a number after blanks"), honest
    assert (flood["verdict"], flood["limit"], flood["judge"]["cpu_us"] > 0) == ("OLE", "output", True)


def test_program_that_asks_without_end(plain_box: Box, program: Callable[..., Path]) -> None:
    """A manager that is over its CPU limit, but ends when the program has ended, is not at fault: it is TLE."""
    asks = b"trap '' PIPE; exec 4>$2 3<$1; echo play 1 >&4; while read -r x <&3; do echo play 1 >&4; done; echo 1"
    busy = {**PATIENT, "cpu_ms": 300}
    entry = run_game(plain_box, program, "play", manager=busy, files={"manager": b"#!/bin/sh\n" + asks}).only
    assert (entry["verdict"], entry["limit"], entry["judge"]["cpu_us"] > 300_000) == ("TLE", "idle", True), entry


SHELL_THAT_ANSWERS = b"""#!/bin/sh
exec 4>$2 3<$1
echo play 1 >&4
while read -r x <&3; do echo play 1 >&4; done
"""
PYTHON_THAT_ANSWERS = b"""#!/usr/bin/python3 -sS
import sys
to, back = open(sys.argv[2], "w"), open(sys.argv[1])
print("play 1", file=to, flush=True)
for line in back:
    print("play 1", file=to, flush=True)
"""


@pytest.mark.parametrize("manager", [SHELL_THAT_ANSWERS, PYTHON_THAT_ANSWERS], ids=["by SIGPIPE", "by an exception"])
def test_program_that_asks_a_manager_that_then_fails(
    boxes: Callable[[str], Box], program: Callable[..., Path], manager: bytes
) -> None:
    """The same if the manager fails because it writes to the program that the runner has ended. It need not: it may be
    reading at that moment.
    """
    if b"python3" in manager and not Path("/usr/bin/python3").exists():
        pytest.skip("no /usr/bin/python3")
    box, busy = boxes("fds-reduced-user"), {**PATIENT, "cpu_ms": 150}
    answer = run_game(box, program, *["play"] * 6, cpu_ms=20_000, manager=busy, files={"manager": manager})
    assert [(entry["verdict"], entry["limit"]) for entry in answer.lines] == [("TLE", "idle")] * 6, answer.lines


def test_program_that_asks_in_advance(boxes: Callable[[str], Box], program: Callable[..., Path]) -> None:
    """The same if the manager reads many questions at once, and more of them wait in the FIFO: it is TLE."""
    box = boxes("fds-reduced-user")  # in both isolation levels, the manager is measured as in the test before
    entry = run_game(box, program, "answers flood", manager={**PATIENT, "cpu_ms": 500}).only
    assert (entry["verdict"], entry["limit"], entry["judge"]["cpu_us"] > 500_000) == ("TLE", "idle", True), entry


def test_program_that_asks_while_the_manager_is_measured(
    boxes: Callable[[str], Box], program: Callable[..., Path]
) -> None:
    """The same if the manager goes over its limit while the runner measures it, which takes long for many threads."""
    box = boxes("fds-reduced-user")
    answer = run_game(box, program, *["many-threads play"] * 3, cpu_ms=20_000, manager={**PATIENT, "cpu_ms": 100})
    assert [(entry["verdict"], entry["limit"]) for entry in answer.lines] == [("TLE", "idle")] * 3, answer.lines


def test_manager_that_ends_just_over_its_limit(plain_box: Box, program: Callable[..., Path]) -> None:
    """It may use 0.4 s more, also if it ends before the runner has seen that it is over its limit."""
    manager = {**PATIENT, "cpu_ms": 100}
    answer = run_game(plain_box, program, *["computes-for play 100.1"] * 8, manager=manager)
    assert answer.verdicts == ["AC"] * 8, answer.lines


def test_manager_that_still_answers_when_the_program_has_ended(
    boxes: Callable[[str], Box], program: Callable[..., Path]
) -> None:
    """Then it may use its CPU limit once more: a program cannot make it fail by leaving while questions wait.

    It needs at least 1.4 s. With the 0.4 s that it gets otherwise, it would have 1.3 s.
    """
    manager = {**PATIENT, "cpu_ms": 900}
    entry = run_game(boxes("fds-reduced-user"), program, "answers ask-and-leave", manager=manager).only
    assert (entry["verdict"], entry["message"]) == ("WA", "no more questions"), entry
    assert entry["judge"]["cpu_us"] > 1_300_000


def test_manager_killed_by_the_programs_end(plain_box: Box, program: Callable[..., Path]) -> None:
    """A manager that is killed by SIGPIPE because the program ended is not JE: the score is 0."""
    entry = run_game(plain_box, program, "default-sigpipe leave", processes=2).only
    assert (entry["verdict"], entry["score"]) == ("WA", "0")


PYTHON_MANAGER = b"""#!/usr/bin/python3 -sS
import sys
to, back = open(sys.argv[2], "w"), open(sys.argv[1])
print("leave 1", file=to, flush=True)
back.read()
writes = sys.stdin.read() == "writes"
while writes:  # the first may succeed: for a moment, the runner opens a FIFO in place of a program that has ended
    print("play 1", file=to, flush=True)
raise ValueError
"""


@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="no /usr/bin/python3")
def test_manager_in_python_whose_program_has_ended(plain_box: Box, program: Callable[..., Path]) -> None:
    """Python ignores SIGPIPE. An exception because the program has ended has the same effect, another one is JE."""
    answer = run_game(plain_box, program, "writes", "fails", files={"manager": PYTHON_MANAGER})
    assert answer.verdicts == ["WA", "JE"]
    assert (answer.lines[1]["fault"], answer.lines[1]["program"]) == ("exit", "manager")


FAULTS = {
    "crashes play": "signal",
    "exits-badly play": "exit",
    "loops play": "time",
    "garbage play": "score",
    "too-much play": "score",
    "silent play": "score",
}


@in_each_kind_of_box
@pytest.mark.parametrize("processes", [1, 2])
def test_faults_of_the_manager(box: Box, program: Callable[..., Path], processes: int) -> None:
    """A manager that fails first is JE with the manager at fault, whatever happens to the program."""
    manager = {"cpu_ms": 200, "wall_ms": 20_000, "memory_bytes": 1 << 30}
    answer = run_game(box, program, *FAULTS, "play play", manager=manager, processes=processes)
    assert answer.verdicts == ["JE"] * len(FAULTS) + ["AC"]
    assert [(e["fault"], e["program"]) for e in answer.lines[:-1]] == [(fault, "manager") for fault in FAULTS.values()]


def test_end_of_a_manager_is_seen_before_its_fifos_are_closed(plain_box: Box, program: Callable[..., Path]) -> None:
    """The kernel closes its highest descriptor first. If that is a FIFO, a process that then fails seems to fail before
    the manager: RE, and not JE if the manager has crashed.
    """
    entry = run_game(plain_box, program, "counts x", processes=8).only
    assert (entry["verdict"], entry["message"]) == ("AC", "1")


def test_manager_that_crashes_as_the_program_crashed(plain_box: Box, program: Callable[..., Path]) -> None:
    """The program fails first and decides, although the manager crashes immediately after it."""
    for _ in range(5):
        entry = run_game(plain_box, program, "crashes-at-end x", stub=['-DEARLY="abort"']).only
        assert (entry["verdict"], entry["signal"]) == ("RE", 6)


def test_manager_that_never_opens(plain_box: Box, program: Callable[..., Path]) -> None:
    """The program waits for the manager to open its FIFOs: JE with the manager at fault, not idle time."""
    entry = run_game(plain_box, program, "never-opens play", cpu_ms=200).only
    assert (entry["verdict"], entry["fault"], entry["program"]) == ("JE", "stall", "manager")


def test_program_that_sleeps_while_the_manager_serves_one_process_after_another(
    plain_box: Box, program: Callable[..., Path]
) -> None:
    """The first process sleeps, so the manager does not open the FIFOs of the second: the program is at fault."""
    answer = run_game(plain_box, program, "one-by-one play", "one-by-one sleep", processes=2, cpu_ms=200)
    ends = [(entry["verdict"], entry["limit"]) for entry in answer.lines]
    assert ends == [("AC", None), ("TLE", "idle")], answer.lines


def test_manager_that_begins_with_the_wrong_fifo_of_the_second_process(
    plain_box: Box, program: Callable[..., Path]
) -> None:
    """The first process waits for input as it should, so it is not at fault."""
    entry = run_game(plain_box, program, "one-by-one play swapped", processes=2, cpu_ms=200).only
    assert (entry["verdict"], entry["fault"], entry["program"]) == ("JE", "stall", "manager")
    assert "it waits in opening argument 3 for reading" in entry["explanation"]


def test_manager_over_its_wall_clock(plain_box: Box, program: Callable[..., Path]) -> None:
    """A manager over its wall clock limit is JE. If the program's limit of idle time is smaller, it is TLE."""
    manager = {"cpu_ms": 5000, "wall_ms": 500, "memory_bytes": 1 << 30}
    entry = run_game(plain_box, program, "waits play", manager=manager, cpu_ms=2000).only
    assert (entry["verdict"], entry["fault"], entry["program"]) == ("JE", "stall", "manager")
    entry = run_game(plain_box, program, "waits play", cpu_ms=200).only
    assert (entry["verdict"], entry["limit"]) == ("TLE", "idle")


def test_waiting_for_a_busy_manager_is_not_idle(plain_box: Box, program: Callable[..., Path]) -> None:
    """The time in which the manager computes is not idle time of the program."""
    entry = run_game(plain_box, program, "busy play", cpu_ms=100).only
    assert entry["verdict"] == "AC"
    assert entry["idle_us"] < 1_100_000


def test_waiting_for_a_process_of_the_manager_is_not_idle(plain_box: Box, program: Callable[..., Path]) -> None:
    """The same if the manager waits for a process that it has started, as scripts do that start the manager proper."""
    entry = run_game(plain_box, program, "busy-child play", cpu_ms=100).only
    assert entry["verdict"] == "AC", entry
    assert entry["idle_us"] < 1_100_000


def test_manager_that_reads_first(plain_box: Box, program: Callable[..., Path]) -> None:
    """With FIFOs as arguments, the program opens them in any order, and the manager can open them in the same order."""
    assert run_game(plain_box, program, "reads-first play", io="fifo_io", stub=["-DOUT_FIRST"]).verdicts == ["AC"]


def test_standard_texts(plain_box: Box, program: Callable[..., Path]) -> None:
    """A manager can use CMS's standard texts, like a checker."""
    entry = run_game(plain_box, program, "translates play").only
    assert (entry["verdict"], entry["message"]) == ("AC", "Output is correct")


def test_checker_after_the_manager(box: Box, program: Callable[..., Path]) -> None:
    """With a line `checker`, the checker judges the manager's stdout."""
    script = b'#!/bin/sh\nread word score < output.txt\ntest "$word" = cms && echo $score\nsed -n 2p output.txt >&2\n'
    answer = run_game(
        box, program, "output play 0.5", "output wrong 0.5", checker=CMS_CHECKER, files={"checker": script}
    )
    first, second = answer.lines
    assert (first["verdict"], first["score"], first["message"]) == ("PA", "0.5", "the checker's words")
    assert (second["verdict"], second["fault"], second["program"]) == ("JE", "score", "checker")


SCRIPT = b"""#!/bin/sh
exec 3>$2 4<$1
read a b < input.txt
echo $a 21 >&3
read c <&4
echo end 0 >&3
test $c = 42 && echo 1 || echo 0
"""


def test_manager_may_be_a_script_that_reads_its_directory(box: Box, program: Callable[..., Path]) -> None:
    """A manager can be a script that reads `./input.txt`, as in CMS's own tests."""
    answer = run_game(box, program, "play 1", files={"manager": SCRIPT})
    assert answer.verdicts == ["AC"]


def test_threads_are_refused_if_they_could_be_a_channel(box: Box, program: Callable[..., Path]) -> None:
    """Threads work, except for several processes with reduced isolation: each could see the others' thread ids."""
    assert run_game(box, program, "play thread", processes=1).verdicts == ["AC"]
    two = run_game(box, program, "play thread", processes=2).only
    assert two["verdict"] == ("AC" if box.level == "full" else "RE")
    if box.level == "reduced":
        assert set(two["attempted"]) == {"clone"}
